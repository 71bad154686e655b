package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"regexp"
	"sync"
)

// revision is the commit in a pseudo-version, with +dirty where that is so.
var revision = regexp.MustCompile(`-([0-9a-f]{12})(\+dirty)?$`)

// build names this program as short as can be: by its commit, by its version, or,
// where it was built from a tree without either, by its own bytes.
func (p Program) build() string {
	if m := revision.FindStringSubmatch(p.Version); m != nil && m[2] == "" {
		return m[1][:7]
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
