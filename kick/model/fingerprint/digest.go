package fingerprint

import (
	"crypto/sha256"
	"fmt"
	"io"
	"unique"

	corev1 "k8s.io/api/core/v1"
)

// redacted is what every way of printing a Digest or a Key yields.
const redacted = "redacted"

// Digest stands for the content of one source. Two digests are equal (==) if and
// only if kind, type, immutable and payload are.
//
// It must not be shown or stored: Seal it. Its bytes lie behind a handle and not
// in the value itself, because package fmt prints the bytes of an array in spite
// of any method where it cannot call methods: in an unexported field of whatever
// struct somebody logs, and for the verb %p.
//
// The zero Digest is the digest of nothing; no content has it.
type Digest struct {
	sum unique.Handle[string]
}

// Secret digests a Secret. An unset immutable is false, an unset type is Opaque
// and stringData lies over data, all as the API server has it on write; an object
// that has not been through the server therefore has the digest of what the
// server will make of it.
func Secret(s *corev1.Secret) Digest {
	c := secretContent(s)
	return c.sum(sha256.New())
}

func secretContent(s *corev1.Secret) content {
	c := content{kind: "Secret", typ: string(s.Type), immutable: isTrue(s.Immutable)}
	if c.typ == "" {
		c.typ = string(corev1.SecretTypeOpaque)
	}
	c.entries = make([]entry, 0, len(s.Data)+len(s.StringData))
	for key, value := range s.Data {
		if _, covered := s.StringData[key]; !covered {
			c.entries = append(c.entries, entry{key: key, field: inData, bytes: value})
		}
	}
	for key, value := range s.StringData {
		c.entries = append(c.entries, entry{key: key, field: inData, text: value})
	}
	c.sort()
	return c
}

// ConfigMap digests a ConfigMap. An unset immutable is false.
func ConfigMap(m *corev1.ConfigMap) Digest {
	c := configMapContent(m)
	return c.sum(sha256.New())
}

func configMapContent(m *corev1.ConfigMap) content {
	c := content{kind: "ConfigMap", immutable: isTrue(m.Immutable)}
	c.entries = make([]entry, 0, len(m.Data)+len(m.BinaryData))
	for key, value := range m.Data {
		c.entries = append(c.entries, entry{key: key, field: inData, text: value})
	}
	for key, value := range m.BinaryData {
		c.entries = append(c.entries, entry{key: key, field: inBinary, bytes: value})
	}
	c.sort()
	return c
}

// Of digests a source that is neither Secret nor ConfigMap and whose content can
// be told as text by key, such as the versions of the objects that a
// SecretProviderClass mounts.
func Of(kind string, payload map[string]string) Digest {
	c := content{kind: kind, entries: make([]entry, 0, len(payload))}
	for key, value := range payload {
		c.entries = append(c.entries, entry{key: key, field: inData, text: value})
	}
	c.sort()
	return c.sum(sha256.New())
}

// IsZero reports whether the digest is that of nothing.
func (d Digest) IsZero() bool { return d == Digest{} }

// bytes hands out what only Seal may see.
func (d Digest) bytes() []byte {
	if d.IsZero() {
		return nil
	}
	return []byte(d.sum.Value())
}

// String returns "redacted".
func (Digest) String() string { return redacted }

// Format writes "redacted" for every verb.
func (Digest) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, redacted) }

// MarshalText yields "redacted", for JSON, YAML and structured logs.
func (Digest) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON yields "redacted".
func (Digest) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

func isTrue(b *bool) bool { return b != nil && *b }
