package fingerprint_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/corewire/kick/kick/model/fingerprint"
)

// Proves: KICK-FEAT-001.
func TestWhatIsContent(t *testing.T) {
	base := func() *corev1.Secret {
		return &corev1.Secret{Type: corev1.SecretTypeOpaque, Data: map[string][]byte{"a": []byte("1"), "b": nil}}
	}
	tests := map[string]struct {
		change func(s *corev1.Secret)
		same   bool
	}{
		"nothing":                  {func(*corev1.Secret) {}, true},
		"metadata":                 {func(s *corev1.Secret) { s.ObjectMeta = metav1.ObjectMeta{Name: "x", ResourceVersion: "7"} }, true},
		"immutable false is unset": {func(s *corev1.Secret) { s.Immutable = new(false) }, true},
		"immutable true":           {func(s *corev1.Secret) { s.Immutable = new(true) }, false},
		"type unset is Opaque":     {func(s *corev1.Secret) { s.Type = "" }, true},
		"other type":               {func(s *corev1.Secret) { s.Type = corev1.SecretTypeTLS }, false},
		"a byte of a value":        {func(s *corev1.Secret) { s.Data["a"] = []byte("2") }, false},
		"name of a key":            {func(s *corev1.Secret) { s.Data = map[string][]byte{"A": []byte("1"), "b": nil} }, false},
		"key with no value gone":   {func(s *corev1.Secret) { delete(s.Data, "b") }, false},
		"empty value is no value":  {func(s *corev1.Secret) { s.Data["b"] = []byte{} }, true},
		"values swapped":           {func(s *corev1.Secret) { s.Data["a"], s.Data["b"] = s.Data["b"], s.Data["a"] }, false},
		"stringData repeats data":  {func(s *corev1.Secret) { s.StringData = map[string]string{"a": "1"} }, true},
		"stringData covers data":   {func(s *corev1.Secret) { s.StringData = map[string]string{"a": "2"} }, false},
		"stringData moved to data": {func(s *corev1.Secret) {
			s.Data, s.StringData = map[string][]byte{"b": nil}, map[string]string{"a": "1"}
		}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			changed := base()
			tt.change(changed)
			if got := fingerprint.Secret(base()) == fingerprint.Secret(changed); got != tt.same {
				t.Errorf("same digest: %v, want %v", got, tt.same)
			}
		})
	}
}

// Case B28: each of these pairs must differ. The last ones would join to the same
// text if keys and values were put together with separators, or with none.
func TestNoTwoOfTheseLookAlike(t *testing.T) {
	data := func(pairs ...string) *corev1.ConfigMap {
		m := &corev1.ConfigMap{Data: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			m.Data[pairs[i]] = pairs[i+1]
		}
		return m
	}
	blob := func(key, value string) *corev1.ConfigMap {
		return &corev1.ConfigMap{BinaryData: map[string][]byte{key: []byte(value)}}
	}
	maps := map[string]*corev1.ConfigMap{
		"empty":                      data(),
		"data":                       data("k", "v"),
		"moved to binaryData":        blob("k", "v"),
		"one bit of binaryData":      blob("k", "w"),
		"key with empty value":       data("k", ""),
		"empty key":                  data("", "v"),
		"immutable":                  {Data: map[string]string{"k": "v"}, Immutable: new(true)},
		"two keys":                   data("a", "1", "b", "2"),
		"newline in the value":       data("a", "1\nb=2"),
		"newline and colon":          data("a", "1\nb:2"),
		"value swallows the key":     data("a", "1b2"),
		"key swallows the value":     data("a1", "b2"),
		"key swallows it all":        data("a1b2", ""),
		"NUL between":                data("a", "1\x00b\x002"),
		"length imitated":            data("a", "1\x00\x00\x00\x00\x00\x00\x00\x01bd\x00\x00\x00\x00\x00\x00\x00\x012"),
		"value in both maps, equal":  {Data: map[string]string{"k": "v"}, BinaryData: map[string][]byte{"k": []byte("v")}},
		"value in both maps, others": {Data: map[string]string{"k": "v"}, BinaryData: map[string][]byte{"k": []byte("w")}},
		"the same, the other way":    {Data: map[string]string{"k": "w"}, BinaryData: map[string][]byte{"k": []byte("v")}},
	}
	seen := map[fingerprint.Digest]string{}
	for name, m := range maps {
		d := fingerprint.ConfigMap(m)
		if other, taken := seen[d]; taken {
			t.Errorf("%q and %q have the same digest", name, other)
		}
		seen[d] = name
	}
	if _, taken := seen[fingerprint.Secret(&corev1.Secret{Data: map[string][]byte{"k": []byte("v")}})]; taken {
		t.Error("a Secret looks like a ConfigMap")
	}
}

// The values of the format: if one of these changes, the format changed, and its
// name (const format) must change with it.
func TestTheFormatIsFixed(t *testing.T) {
	key := testKey(t, 7)
	m := &corev1.ConfigMap{Data: map[string]string{"a": "1"}, BinaryData: map[string][]byte{"b": {2}}, Immutable: new(true)}
	s := &corev1.Secret{Data: map[string][]byte{"a": []byte("1")}}
	tests := map[string]struct{ got, want string }{
		"configmap": {key.Seal(fingerprint.ConfigMap(m)), "iq84TKbEC3a4bJf53Mr7L_lrw_Ly5mOnR8FCdnRygpg"},
		"secret":    {key.Seal(fingerprint.Secret(s)), "hc_TUdXFNFrRnDap-DtChDsUEjv91EFJ1AOQnPHpVYY"},
		"other":     {key.Seal(fingerprint.Of("SecretProviderClass", map[string]string{"a": "1"})), "K02T3kPBeTJCCXSw5GikALrB-5F5QVUxZia6mZoovCU"},
		"nothing":   {key.Seal(fingerprint.Digest{}), "QAiAPDD-PpcC0ZNpqRpDXX_idu4IbyR6RwsdB98LuDI"},
		"name":      {key.SealName("Secret/app", "password"), "mG6imLMw"},
		"id":        {key.ID(), "YRdm2WqM"},
	}
	for name, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s = %s, want %s", name, tt.got, tt.want)
		}
	}
}

func TestSealedValuesBelongToOneKey(t *testing.T) {
	one, two := testKey(t, 1), testKey(t, 2)
	d := fingerprint.ConfigMap(&corev1.ConfigMap{})
	if one.Seal(d) == two.Seal(d) || one.SealName("s", "k") == two.SealName("s", "k") || one.ID() == two.ID() {
		t.Error("two keys compute the same")
	}
	if one.Seal(d) != testKey(t, 1).Seal(d) || one.ID() != testKey(t, 1).ID() {
		t.Error("one key computes two things")
	}
	if raw, err := base64.RawURLEncoding.DecodeString(one.Seal(d)); err != nil || len(raw) != 32 {
		t.Errorf("Seal = %q: not 32 bytes of URL-safe base64 (%v)", one.Seal(d), err)
	}
	if one.Seal(d) == fingerprint.Absent {
		t.Error("a sealed digest is Absent")
	}
}

func TestNamesAreSealedPerSource(t *testing.T) {
	key := testKey(t, 1)
	seen := map[string]string{}
	for _, at := range [][2]string{{"a", "b"}, {"", "ab"}, {"ab", ""}, {"b", "a"}, {"a", "c"}, {"", ""}} {
		got := key.SealName(at[0], at[1])
		if len(got) != 8 {
			t.Errorf("SealName(%q) = %q, want 8 characters", at, got)
		}
		if other, taken := seen[got]; taken {
			t.Errorf("%q and %s look alike", at, other)
		}
		seen[got] = fmt.Sprint(at)
	}
	if _, taken := seen[key.ID()]; taken || len(key.ID()) != 8 {
		t.Errorf("ID = %q", key.ID())
	}
}

func TestNewKey(t *testing.T) {
	for _, n := range []int{0, 1, 31} {
		key, err := fingerprint.NewKey(make([]byte, n))
		if err == nil || !key.IsZero() {
			t.Errorf("NewKey of %d bytes: error %v, key made: %v", n, err, !key.IsZero())
		}
	}
	raw := bytes.Repeat([]byte{3}, 48)
	key, err := fingerprint.NewKey(raw)
	if err != nil {
		t.Fatal(err)
	}
	before := key.ID()
	clear(raw)
	if key.ID() != before {
		t.Error("the key changed with the caller's bytes")
	}
	defer func() {
		if recover() == nil {
			t.Error("the zero Key sealed something")
		}
	}()
	fingerprint.Key{}.ID()
}

func TestPrintsSayRedacted(t *testing.T) {
	values := []any{fingerprint.Digest{}, testKey(t, 1)}
	for _, value := range values {
		raw, err := json.Marshal(map[string]any{"a": value})
		if err != nil || string(raw) != `{"a":"redacted"}` {
			t.Errorf("json of %T = %s (%v)", value, raw, err)
		}
		if got := fmt.Sprintf("%v %x %#v", value, value, value); got != "redacted redacted redacted" {
			t.Errorf("%T prints as %q", value, got)
		}
		if got := value.(fmt.Stringer).String(); got != "redacted" {
			t.Errorf("%T.String = %q", value, got)
		}
	}
}

// Maps are iterated in random order; the digest is the same each time, however
// the map was built.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.MapOfN(rapid.String(), rapid.String(), 0, 20).Draw(t, "data")
		var keys []string
		for key := range data {
			keys = append(keys, key)
		}
		rebuilt := map[string]string{}
		for _, key := range keys {
			rebuilt[key] = data[key]
		}
		one, two := fingerprint.ConfigMap(&corev1.ConfigMap{Data: data}), fingerprint.ConfigMap(&corev1.ConfigMap{Data: rebuilt})
		if one != two {
			t.Fatal("the digest depends on the order of a map")
		}
	})
}

func TestDigestingChangesNothing(t *testing.T) {
	s := &corev1.Secret{Data: map[string][]byte{"a": []byte("1")}, StringData: map[string]string{"a": "2", "b": "3"}}
	before := s.DeepCopy()
	fingerprint.Secret(s)
	if fmt.Sprint(before) != fmt.Sprint(s) {
		t.Error("Secret changed its argument")
	}
}

func ExampleKey_Seal() {
	key, err := fingerprint.NewKey(bytes.Repeat([]byte{1}, fingerprint.KeySize)) // random in real life
	if err != nil {
		panic(err)
	}
	before := key.Seal(fingerprint.ConfigMap(&corev1.ConfigMap{Data: map[string]string{"level": "info"}}))
	after := key.Seal(fingerprint.ConfigMap(&corev1.ConfigMap{Data: map[string]string{"level": "debug"}}))
	fmt.Println(before != after)
	// Output: true
}

func testKey(t *testing.T, seed byte) fingerprint.Key {
	t.Helper()
	key, err := fingerprint.NewKey(bytes.Repeat([]byte{seed}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func BenchmarkConfigMap10KB(b *testing.B) { benchmarkConfigMap(b, 10, 1<<10) }
func BenchmarkConfigMap1MiB(b *testing.B) { benchmarkConfigMap(b, 16, 1<<16) }

func benchmarkConfigMap(b *testing.B, keys, size int) {
	m := &corev1.ConfigMap{Data: map[string]string{}}
	for i := range keys {
		m.Data[fmt.Sprint("key", i)] = strings.Repeat("x", size)
	}
	b.SetBytes(int64(keys * size))
	b.ReportAllocs()
	for b.Loop() {
		fingerprint.ConfigMap(m)
	}
}

func BenchmarkSecret10KB(b *testing.B) { benchmarkSecret(b, 10, 1<<10) }
func BenchmarkSecret1MiB(b *testing.B) { benchmarkSecret(b, 16, 1<<16) }

func benchmarkSecret(b *testing.B, keys, size int) {
	s := &corev1.Secret{Data: map[string][]byte{}}
	for i := range keys {
		s.Data[fmt.Sprint("key", i)] = bytes.Repeat([]byte("x"), size)
	}
	b.SetBytes(int64(keys * size))
	b.ReportAllocs()
	for b.Loop() {
		fingerprint.Secret(s)
	}
}

func BenchmarkSeal(b *testing.B) {
	key, err := fingerprint.NewKey(make([]byte, 32))
	if err != nil {
		b.Fatal(err)
	}
	d := fingerprint.Digest{}
	b.ReportAllocs()
	for b.Loop() {
		key.Seal(d)
	}
}
