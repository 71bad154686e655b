package timeline_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/corewire/kick/kick/timeline"
)

// screenshotsDir names the folder that screenshots go to; unset: none are taken.
const screenshotsDir = "KICK_SCREENSHOTS"

// chromium is the browser of this machine.
func chromium(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium in $PATH: the page is not looked at; install Debian's package chromium to run this test")
	return ""
}

// browser is a tab, and what the page complained about.
type browser struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	problems []string
}

// open starts a browser with a tab of that size.
func open(t testing.TB, url string, width, height int) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.WindowSize(width, height))
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx}
	b.do(chromedp.EmulateViewport(int64(width), int64(height)), berlin, focused)
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	b.do(listening, chromedp.Navigate(url))
	t.Cleanup(b.clean)
	return b
}

type void = chromedp.Void

func berlin(ctx context.Context, tab *chromedp.Target) (void, error) {
	_, err := cdp.Call(ctx, tab, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Europe/Berlin"})
	return void{}, err
}

// focused has the tab believe that it is in front: else an element that gets the focus is not told.
func focused(ctx context.Context, tab *chromedp.Target) (void, error) {
	_, err := cdp.Call(ctx, tab, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	return void{}, err
}

// listening has the browser tell of what it complains about.
func listening(ctx context.Context, tab *chromedp.Target) (void, error) {
	_, err := cdp.Call(ctx, tab, cdplog.Enable, cdp.Empty{})
	return void{}, err
}

// hear notes whatever the browser complains about, a breach of the page's own policy above all.
func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError || e.Entry.Source == cdplog.EntrySourceSecurity || strings.Contains(e.Entry.Text, "Content Security Policy") {
			b.problems = append(b.problems, e.Entry.Text+" "+e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, e.ExceptionDetails.Text+" "+e.ExceptionDetails.Exception.Description)
	case *runtime.EventConsoleAPICalled:
		b.problems = append(b.problems, fmt.Sprint("console: ", e.Type, " ", len(e.Args)))
	}
}

func (b *browser) clean() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		if !strings.Contains(p, "favicon") {
			b.t.Errorf("the browser complains: %s", p)
		}
	}
}

func (b *browser) do(actions ...chromedp.Action[void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// eval is the value of a script.
func (b *browser) eval(script string) string {
	b.t.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[any](script))
	if err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
	return fmt.Sprint(out)
}

// see waits until a script gives a value; one that fails may look for what is not drawn yet.
func (b *browser) see(script, want string) {
	b.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		got, err := chromedp.Run(b.ctx, chromedp.Evaluate[any](script))
		if err == nil && fmt.Sprint(got) == want {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%s: got %q (%v), want %q", script, fmt.Sprint(got), err, want)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// shoot takes a picture, if they are wanted.
func (b *browser) shoot(name string) {
	b.t.Helper()
	folder := os.Getenv(screenshotsDir)
	if folder == "" {
		return
	}
	b.do(chromedp.Sleep(150 * time.Millisecond))
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// watched is a page of the shop, and what serves it.
func watched(t *testing.T, hash string) (*browser, *shelf, *timeline.Server) {
	t.Helper()
	chromium(t)
	facts := &shelf{all: shop()}
	s, h := served(t, facts, timeline.Local{})
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	t.Cleanup(s.Hub.Close)
	b := open(t, server.URL+"/timeline/ui"+hash, 1440, 860)
	b.see(`document.querySelectorAll("#space .lane").length`, "6")
	return b, facts, s
}
