package timeline_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// The release of axe-core that the page is audited with, and the digest of its script. It
// is under the MPL and no part of this repository: npm fetches it once, into the cache.
const (
	axeVersion = "4.10.3"
	axeSum     = "880970c081707360e64f34cea25ff91892f5bc95675b0776925b9709dd8a68bb"
)

// axeCore is the script: that of $KICK_AXE, the one in the cache, or npm's.
var axeCore = sync.OnceValues(func() (string, error) {
	if file := os.Getenv("KICK_AXE"); file != "" {
		script, err := os.ReadFile(file)
		return string(script), err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	file := filepath.Join(cache, "kick", "axe-core-"+axeVersion+".min.js")
	if script, err := os.ReadFile(file); err == nil && axeIntact(script) {
		return string(script), nil
	}
	script, err := axeFromNPM()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", err
	}
	return string(script), os.WriteFile(file, script, 0o600)
})

func axeIntact(script []byte) bool {
	sum := sha256.Sum256(script)
	return hex.EncodeToString(sum[:]) == axeSum
}

func axeFromNPM() ([]byte, error) {
	folder, err := os.MkdirTemp("", "axe")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "pack", "axe-core@"+axeVersion, "--silent", "--fetch-retries=0", "--fetch-timeout=20000")
	npm.Dir = folder
	if output, err := npm.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("npm pack axe-core: %w %s", err, bytes.TrimSpace(output))
	}
	packed, err := os.Open(filepath.Join(folder, "axe-core-"+axeVersion+".tgz"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = packed.Close() }()
	return axeFrom(packed)
}

// axeFrom finds the script in a package of npm.
func axeFrom(packed io.Reader) ([]byte, error) {
	plain, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	for files := tar.NewReader(plain); ; {
		header, err := files.Next()
		if err != nil {
			return nil, fmt.Errorf("package/axe.min.js of npm's axe-core: %w", err)
		}
		if header.Name != "package/axe.min.js" {
			continue
		}
		script, err := io.ReadAll(files)
		if err == nil && !axeIntact(script) {
			err = errors.New("npm's axe-core " + axeVersion + " is not what it was")
		}
		return script, err
	}
}

// axe fails if axe-core finds anything on the page as it stands.
func axe(b *browser, what, script string) {
	b.t.Helper()
	if got := axeFindings(b, script); got != "done " {
		b.t.Errorf("%s: axe-core finds %s", what, got)
	}
}

// axeFindings runs axe-core over the page as it stands: "done ", and what breaks which rule, a
// line each.
func axeFindings(b *browser, script string) string {
	b.t.Helper()
	b.eval(script + "; 0")
	b.eval(`window.audited = ""; axe.run().then(r => { window.audited = "done " + r.violations.map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.html).join(" ")).join("\n"); }); 0`)
	deadline := time.Now().Add(time.Minute)
	for b.eval(`window.audited`) == "" && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
	}
	return b.eval(`window.audited`)
}

// axeOrSkip is the script of axe-core, where there is a browser to run it in.
func axeOrSkip(t *testing.T) string {
	t.Helper()
	chromium(t)
	script, err := axeCore()
	if err != nil {
		t.Skipf("axe-core cannot be had, so the page is audited without it: %v; name a copy of axe.min.js in KICK_AXE, or have npm and a network", err)
	}
	return script
}

// TestAxe: axe-core finds nothing on any view of the page, in light and in dark.
//
// Proves: KICK-FEAT-043.
func TestAxe(t *testing.T) {
	script := axeOrSkip(t)
	b, _, _ := watched(t, "#theme=light")
	for _, theme := range []string{"light", "dark"} {
		b.eval(`location.hash = "#theme=` + theme + `"`)
		b.see(`document.documentElement.dataset.theme`, theme)
		b.see(laneCount, "6")
		axe(b, theme+" lanes", script)
		b.press("?")
		b.see(`document.querySelector("#help-dialog").open`, "true")
		axe(b, theme+" help", script)
		b.eval(`document.querySelector("#help-dialog").close()`)
		b.eval(`location.hash = "#theme=` + theme + `&lane=shop/Deployment/web"`)
		b.see(`document.querySelectorAll("#detail .sources li").length`, "2")
		axe(b, theme+" workload", script)
		b.eval(`location.hash = "#theme=` + theme + `&q=nothing-is-called-so"`)
		b.see(`document.querySelector("#space").textContent`, "No lane matches the filter.")
		axe(b, theme+" nothing", script)
		b.eval(`location.hash = "#theme=` + theme + `&view=graph&ns=shop"`)
		b.see(`document.querySelectorAll("#graph .node").length`, "8")
		axe(b, theme+" graph", script)
	}
}

// TestAxeFindsFaults: the audit is not blind. A fault that is planted on the page is found, and
// nothing is any more when it is gone.
//
// Proves: KICK-FEAT-043.
func TestAxeFindsFaults(t *testing.T) {
	script := axeOrSkip(t)
	b, _, _ := watched(t, "#theme=light")
	b.see(laneCount, "6")
	for rule, fault := range map[string]string{
		"image-alt":      `Object.assign(document.createElement("img"), {width: 9, height: 9})`,
		"button-name":    `document.createElement("button")`,
		"color-contrast": `Object.assign(document.createElement("p"), {textContent: "hardly to be read", style: "color: #ddd; background: #fff"})`,
	} {
		b.eval(`window.planted = ` + fault + `; document.querySelector("main").prepend(window.planted); 0`)
		if got := axeFindings(b, script); !strings.Contains(got, rule+": ") {
			t.Errorf("a fault against %s is on the page, and axe-core finds %q", rule, got)
		}
		b.eval(`window.planted.remove(); 0`)
	}
	axe(b, "without the faults", script)
}
