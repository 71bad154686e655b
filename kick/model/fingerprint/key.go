package fingerprint

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
)

// Absent is recorded instead of a sealed digest for a source that does not exist.
// No sealed value can equal it, since those are 43 characters long.
const Absent = "absent"

// Unseen is recorded for what stood between the creation of a source and a write of
// its content, if KICK saw neither. No content equals it.
const Unseen = "unseen"

// KeySize is the least number of bytes a Key is made of: as many as its hash has.
const KeySize = sha256.Size

// The purposes for which a key computes something. Each has its own, so that a
// value of one kind can never pass for a value of another.
const (
	sealing = "/seal"
	naming  = "/name"
	knowing = "/id"
)

// Key is the key of one installation. It turns digests into values that may be
// stored where others can read them.
//
// A Key cannot be printed: its bytes live in a closure, where neither fmt nor
// reflection finds them, whatever holds the Key. The zero Key seals nothing and
// panics, since a seal without a key would protect nothing.
type Key struct {
	mac func(purpose string, parts ...[]byte) [sha256.Size]byte
}

// NewKey makes a key of at least 32 random bytes. It keeps a copy of them.
func NewKey(b []byte) (Key, error) {
	if len(b) < KeySize {
		return Key{}, fmt.Errorf("fingerprint key has %d bytes, want at least %d", len(b), KeySize)
	}
	secret := bytes.Clone(b)
	mac := func(purpose string, parts ...[]byte) (sum [sha256.Size]byte) {
		h := hmac.New(sha256.New, secret)
		w := writer{to: h}
		w.text(format + purpose)
		for _, part := range parts {
			w.put(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
			w.put(part)
		}
		h.Sum(sum[:0])
		return sum
	}
	return Key{mac: mac}, nil
}

// Seal returns what is stored for a digest: 43 characters of URL-safe base64.
func (k Key) Seal(d Digest) string {
	sum := k.sum(sealing, d.bytes())
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// SealName returns a short keyed digest (8 characters) of the name of one key of
// a payload. It serves to tell that a set of key names lost nothing, without
// storing the names. Source is whatever identifies the source; the same name in
// two sources yields two values, so that records cannot be matched to each other.
//
// 48 bits make a chance of one in 10^14 that two given names look alike.
func (k Key) SealName(source, keyName string) string {
	sum := k.sum(naming, []byte(source), []byte(keyName))
	return base64.RawURLEncoding.EncodeToString(sum[:6])
}

// ID is a short name (8 characters) of key and format together. Values are
// comparable only if they were sealed under the same ID; a record with another
// one has to be sealed anew.
func (k Key) ID() string {
	sum := k.sum(knowing)
	return base64.RawURLEncoding.EncodeToString(sum[:6])
}

// IsZero reports whether the key was never made.
func (k Key) IsZero() bool { return k.mac == nil }

func (k Key) sum(purpose string, parts ...[]byte) [sha256.Size]byte {
	if k.mac == nil {
		panic("fingerprint: zero Key used; make one with NewKey")
	}
	return k.mac(purpose, parts...)
}

// String returns "redacted".
func (Key) String() string { return redacted }

// Format writes "redacted" for every verb.
func (Key) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, redacted) }

// MarshalText yields "redacted", for JSON, YAML and structured logs.
func (Key) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON yields "redacted".
func (Key) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
