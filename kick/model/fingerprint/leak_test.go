package fingerprint

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// Whatever prints a Digest must not print a byte of it, not even where package
// fmt ignores the methods of the type.
//
// Proves: KICK-FEAT-029.
func TestDigestLeaksNothing(t *testing.T) {
	d := ConfigMap(&corev1.ConfigMap{Data: map[string]string{"k": "hunter2"}})
	type shown struct {
		D Digest
		P *Digest
		L []Digest
		M map[string]Digest
		K map[Digest]int
	}
	type hidden struct {
		d Digest
		l []Digest
		m map[Digest]Digest
	}
	expectNoLeak(t, d.bytes(), map[string]any{
		"digest":            d,
		"pointer":           &d,
		"exported fields":   shown{d, &d, []Digest{d}, map[string]Digest{"a": d}, map[Digest]int{d: 1}},
		"unexported fields": hidden{d, []Digest{d}, map[Digest]Digest{d: d}},
	})
}

// A note is for a cache of this process. It must come back as it went in, and what
// is no note must not pass for one.
func TestNoteComesBack(t *testing.T) {
	d := ConfigMap(&corev1.ConfigMap{Data: map[string]string{"k": "v"}})
	if got := FromNote(d.Note()); got != d {
		t.Error("the digest is not the one that was noted")
	}
	for _, bad := range []string{"", "x", "!", Digest{}.Note(), d.Note() + "AAAA", d.Note()[4:]} {
		if !FromNote(bad).IsZero() {
			t.Errorf("FromNote(%q) is a digest", bad)
		}
	}
}

// Proves: KICK-FEAT-029.
func TestKeyLeaksNothing(t *testing.T) {
	raw := bytes.Repeat([]byte{0xAB}, KeySize)
	key, err := NewKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	type shown struct {
		K Key
		P *Key
	}
	type hidden struct{ key Key }
	expectNoLeak(t, raw, map[string]any{
		"key": key, "pointer": &key, "exported fields": shown{key, &key}, "unexported field": hidden{key},
	})
}

func expectNoLeak(t *testing.T, secret []byte, values map[string]any) {
	t.Helper()
	for name, value := range values {
		for form, text := range printed(t, value) {
			for _, spelling := range spellings(secret) {
				if strings.Contains(strings.ToLower(text), strings.ToLower(spelling)) {
					t.Errorf("%s of %s leaks: %s", form, name, text)
				}
			}
		}
	}
}

// spellings lists how the first bytes may appear in a text.
func spellings(b []byte) []string {
	b = b[:4]
	join := func(verb, separator string) string {
		var parts []string
		for _, octet := range b {
			parts = append(parts, fmt.Sprintf(verb, octet))
		}
		return strings.Join(parts, separator)
	}
	return []string{
		string(b), hex.EncodeToString(b), base64.StdEncoding.EncodeToString(b)[:5], base64.URLEncoding.EncodeToString(b)[:5],
		join("%d", " "), join("%d", ","), join("%d", ", "), join("%x", " "), join("0x%x", ", "), join("%o", " "), join("%b", " "), join("%q", " "),
	}
}

func printed(t *testing.T, value any) map[string]string {
	t.Helper()
	out := map[string]string{}
	for verb := range strings.SplitSeq("v +v #v s q x X # x d o O b c U e E f g G t p T", " ") {
		out["%"+verb] = fmt.Sprintf("%"+verb, value)
	}
	out["Sprint"] = fmt.Sprint(value)
	out["error"] = fmt.Errorf("wrap: %v", value).Error()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	out["json"] = string(raw)
	var buffer bytes.Buffer
	slog.New(slog.NewJSONHandler(&buffer, nil)).Info("m", "value", value)
	slog.New(slog.NewTextHandler(&buffer, nil)).Info("m", "value", value)
	out["slog"] = buffer.String()
	return out
}
