package fingerprint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

// fact is content as a reader of the preimage sees it.
type fact struct {
	Kind, Type string
	Immutable  bool
	Entries    []factEntry
}

type factEntry struct {
	Key   string
	Field byte
	Value string
}

func factsOf(c content) fact {
	f := fact{Kind: c.kind, Type: c.typ, Immutable: c.immutable}
	for _, e := range c.entries {
		f.Entries = append(f.Entries, factEntry{e.key, byte(e.field), e.text + string(e.bytes)})
	}
	return f
}

// recorder is a hash that keeps what it is fed.
type recorder struct {
	hash.Hash
	fed bytes.Buffer
}

func (r *recorder) Write(b []byte) (int, error) { return r.fed.Write(b) }

func preimage(c content) []byte {
	r := &recorder{}
	c.encode(&writer{to: r})
	return r.fed.Bytes()
}

// decode reads a preimage back. That it can be done without knowing the content
// is the proof that encode is injective.
func decode(b []byte) (fact, error) {
	var f fact
	d := decoder{rest: b}
	f.Kind, f.Type = d.text(), d.text()
	f.Immutable = d.octet() == 1
	for n := d.length(); n > 0 && d.err == nil; n-- {
		f.Entries = append(f.Entries, factEntry{Key: d.text(), Field: d.octet(), Value: d.text()})
	}
	if len(d.rest) > 0 && d.err == nil {
		d.err = errors.New("bytes are left over")
	}
	return f, d.err
}

type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) take(n uint64) []byte {
	if d.err != nil || n > uint64(len(d.rest)) {
		d.err = errors.New("preimage is too short")
		return make([]byte, 8)
	}
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *decoder) length() uint64 { return binary.BigEndian.Uint64(d.take(8)) }
func (d *decoder) text() string   { return string(d.take(d.length())) }
func (d *decoder) octet() byte    { return d.take(1)[0] }

// hostile draws strings that imitate boundaries: separators, lengths, neighbours.
var hostile = rapid.OneOf(
	rapid.SampledFrom([]string{"", "a", "b", "ab", "\x00", "\n", "=", "a\nb", "b=c", "d", "\x00\x00\x00\x00\x00\x00\x00\x01a"}),
	rapid.StringN(0, 12, 40),
	rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 1200), func(b []byte) string { return string(b) }),
)

var immutables = rapid.SampledFrom([]*bool{nil, new(false), new(true)})

func drawConfigMap(t *rapid.T) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		Data:       rapid.MapOfN(hostile, hostile, 0, 4).Draw(t, "data"),
		BinaryData: drawBytes(t, "binaryData"),
		Immutable:  immutables.Draw(t, "immutable"),
	}
}

func drawBytes(t *rapid.T, label string) map[string][]byte {
	out := map[string][]byte{}
	for key, value := range rapid.MapOfN(hostile, hostile, 0, 4).Draw(t, label) {
		out[key] = []byte(value)
	}
	return out
}

func drawSecret(t *rapid.T) *corev1.Secret {
	return &corev1.Secret{
		Type:       corev1.SecretType(hostile.Draw(t, "type")),
		Data:       drawBytes(t, "data"),
		StringData: rapid.MapOfN(hostile, hostile, 0, 2).Draw(t, "stringData"),
		Immutable:  immutables.Draw(t, "immutable"),
	}
}

func TestPreimageReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, c := range []content{configMapContent(drawConfigMap(t)), secretContent(drawSecret(t))} {
			got, err := decode(preimage(c))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(factsOf(c), got); diff != "" {
				t.Fatalf("decode(encode(x)) differs from x (-x +got):\n%s", diff)
			}
		}
	})
}

// Nothing of the object's content is lost on the way into content.
func TestContentHoldsTheWholeConfigMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawConfigMap(t)
		data, binary := map[string]string{}, map[string]string{}
		for _, e := range factsOf(configMapContent(m)).Entries {
			map[byte]map[string]string{byte(inData): data, byte(inBinary): binary}[e.Field][e.Key] = e.Value
		}
		want := map[string]string{}
		for key, value := range m.BinaryData {
			want[key] = string(value)
		}
		if !maps.Equal(data, m.Data) || !maps.Equal(binary, want) {
			t.Fatalf("entries %v %v, want %v %v", data, binary, m.Data, want)
		}
	})
}

// Two objects have one digest if and only if their facts are equal.
func TestDigestsAreEqualExactlyIfContentIs(t *testing.T) {
	few := rapid.SampledFrom([]string{"", "a", "b", "ab"})
	draw := func(t *rapid.T) *corev1.ConfigMap {
		m := &corev1.ConfigMap{Data: rapid.MapOfN(few, few, 0, 2).Draw(t, "data"), Immutable: immutables.Draw(t, "immutable")}
		m.BinaryData = map[string][]byte{}
		for key, value := range rapid.MapOfN(few, few, 0, 1).Draw(t, "binaryData") {
			m.BinaryData[key] = []byte(value)
		}
		return m
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t), draw(t)
		same := cmp.Equal(factsOf(configMapContent(a)), factsOf(configMapContent(b)))
		if got := ConfigMap(a) == ConfigMap(b); got != same {
			t.Fatalf("digests equal: %v, content equal: %v", got, same)
		}
	})
}

// Records outlive a version, so what is sealed must not depend on how a map is walked
// nor on the version: entries stand by key, then by map, binaryData first.
func TestEntriesAreSorted(t *testing.T) {
	c := configMapContent(&corev1.ConfigMap{
		Data:       map[string]string{"b": "1", "a": "2"},
		BinaryData: map[string][]byte{"b": []byte("3"), "c": []byte("4")},
	})
	want := []factEntry{{"a", 'd', "2"}, {"b", 'b', "3"}, {"b", 'd', "1"}, {"c", 'b', "4"}}
	if diff := cmp.Diff(want, factsOf(c).Entries); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestDigestIsTheHashOfThePreimage(t *testing.T) {
	m := &corev1.ConfigMap{Data: map[string]string{"a": string(bytes.Repeat([]byte("long "), 1000))}}
	want := sha256.Sum256(preimage(configMapContent(m)))
	if got := ConfigMap(m).bytes(); !bytes.Equal(got, want[:]) {
		t.Error("ConfigMap is not SHA-256 of the preimage")
	}
}
