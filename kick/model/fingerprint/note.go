package fingerprint

import (
	"crypto/sha256"
	"encoding/base64"
	"unique"
)

// Note packs a digest into a string for an object that only ever lives in a cache
// of this process. It is the one way out of the type; whatever leaves the process
// is sealed instead (Key.Seal).
func (d Digest) Note() string { return base64.RawStdEncoding.EncodeToString(d.bytes()) }

// FromNote unpacks a noted digest; anything else gives the zero Digest.
func FromNote(note string) Digest {
	b, err := base64.RawStdEncoding.DecodeString(note)
	if err != nil || len(b) != sha256.Size {
		return Digest{}
	}
	return Digest{sum: unique.Make(string(b))}
}
