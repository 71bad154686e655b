package fingerprint

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"strings"
	"unique"
)

// format names the way content becomes bytes. Changing anything in this file or
// in the functions that fill a content means a new name: it enters what Key
// computes, so that old records are sealed anew and not taken for changes.
const format = "kick.corewire.io/fingerprint/v1"

// field tells which map of a ConfigMap an entry came from.
//
// data and binaryData are one payload: one sorted list in which every key is
// known by its own name. But the entry is marked with its map, because the move
// of a value from data to binaryData under the same key is a change for the
// application although no byte changed: env and envFrom read data only, so the
// variable disappears (case B28 asks for a restart).
type field byte

const (
	inData   field = 'd'
	inBinary field = 'b'
)

// entry is one key of a payload. A value is text or bytes, as its map has it, to
// spare a copy of either.
type entry struct {
	key   string
	field field
	text  string
	bytes []byte
}

// content is everything that is hashed.
type content struct {
	kind      string
	typ       string
	immutable bool
	entries   []entry
}

func (c *content) sort() {
	slices.SortFunc(c.entries, func(a, b entry) int {
		if byKey := strings.Compare(a.key, b.key); byKey != 0 {
			return byKey
		}
		return int(a.field) - int(b.field)
	})
}

// sum hashes the preimage.
func (c *content) sum(h hash.Hash) Digest {
	w := writer{to: h}
	c.encode(&w)
	var sum [sha256.Size]byte
	return Digest{unique.Make(string(h.Sum(sum[:0])))}
}

// encode writes the preimage:
//
//	kind, type          each as length and bytes
//	immutable           one byte, 0 or 1
//	number of entries   length
//	each entry, sorted  key (length and bytes), field (one byte), value (length and bytes)
//
// A length is eight bytes, big endian. Since each part tells its length before it
// begins, the preimage can be read back in one way only: no content of keys or
// values can imitate a boundary, and different content is never the same
// preimage. The tests read it back.
func (c *content) encode(w *writer) {
	w.text(c.kind)
	w.text(c.typ)
	if c.immutable {
		w.octet(1)
	} else {
		w.octet(0)
	}
	w.length(len(c.entries))
	for i := range c.entries {
		e := &c.entries[i]
		w.text(e.key)
		w.octet(byte(e.field))
		w.length(len(e.text) + len(e.bytes))
		w.raw(e.text)
		w.put(e.bytes)
	}
}

// writer feeds a hash. It goes through a small buffer of its own, so that text
// need not be copied as a whole to become bytes.
type writer struct {
	to     hash.Hash
	buffer [512]byte
}

func (w *writer) text(s string) {
	w.length(len(s))
	w.raw(s)
}

func (w *writer) length(n int) {
	w.put(binary.BigEndian.AppendUint64(w.buffer[:0], uint64(n)))
}

func (w *writer) octet(b byte) {
	w.buffer[0] = b
	w.put(w.buffer[:1])
}

func (w *writer) raw(s string) {
	for len(s) > 0 {
		n := copy(w.buffer[:], s)
		w.put(w.buffer[:n])
		s = s[n:]
	}
}

// put ignores the error since a hash never returns one.
func (w *writer) put(b []byte) { _, _ = w.to.Write(b) }
