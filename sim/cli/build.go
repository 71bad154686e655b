package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
)

// revision is the commit in a pseudo-version, with +dirty where that is so.
var revision = regexp.MustCompile(`-([0-9a-f]{12})(\+dirty)?$`)

// Version is what the build information of a program says of it: its module's version,
// else one made of its commit, with +dirty where the tree was another one; else (devel).
func Version(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != devel {
		return v
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	commit, at := settings["vcs.revision"], settings["vcs.time"]
	if len(commit) < 12 {
		return devel
	}
	version := "v0.0.0-" + strings.NewReplacer("-", "", ":", "", "T", "", "Z", "").Replace(at) + "-" + commit[:12]
	if settings["vcs.modified"] == "true" {
		version += "+dirty"
	}
	return version
}

const devel = "(devel)"

// build names this program as short as can be: by its commit, by its version, or,
// where it was built from a tree without either, by its own bytes. A tree that was not
// committed is named by both.
func (p Program) build() string {
	if m := revision.FindStringSubmatch(p.Version); m != nil {
		if m[2] == "" {
			return m[1][:7]
		}
		return m[1][:7] + "-dirty-" + ownBytes() // one tree that is not committed is not another
	}
	if p.Version != "" && p.Version[0] == 'v' && !revision.MatchString(p.Version) {
		return p.Version
	}
	return ownBytes()
}

// ownBytes is the beginning of the digest of the running program.
var ownBytes = sync.OnceValue(func() string {
	const unknown = "unknown"
	path, err := os.Executable()
	if err != nil {
		return unknown
	}
	file, err := os.Open(path)
	if err != nil {
		return unknown
	}
	defer file.Close() //nolint:errcheck // it was only read
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return unknown
	}
	return hex.EncodeToString(hash.Sum(nil))[:7]
})
