package generate

import (
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	kindSecret    = "Secret"
	kindConfigMap = "ConfigMap"
)

// content is what a source holds. A value that is no text is binary data.
type content map[string]string

// plainContents differ in a value or in a key; none is as short as to stand in a
// log by chance.
var plainContents = []content{
	{"a": "alpha-one"}, {"a": "alpha-two"}, {"a": "alpha-three"}, {"a": "alpha-one", "b": "beta-one"},
	{"a": "alpha-one", "b": "beta-two"}, {"a": "alpha-two", "b": "beta-one"},
}

// oddContents are what a careless digest takes for each other, or for nothing.
var oddContents = append([]content{
	{"a": "bc"}, {"ab": "c"}, {"a": "dc"}, {"ad": "c"}, {"a": "1", "b": "2"}, {"a": "", "bc": ""}, {"a": ""}, {"a": "alpha-one", "b": ""}, {}, {"a": "1:b", "b": "1:a"},
	{"a": "alpha-one", "blob": "\x00\xff\xfe\x01"}, {"a": "alpha-one", "blob": "\x00\xff\xfe\x02"}, {"blob": "\xc3\x28"},
	{"a": "alpha-one", "app.yaml": "level: warn\nname: \"x\"\n"},
}, plainContents...)

// source is a Secret or a ConfigMap.
type source struct{ kind, namespace, name string }

// dress is what a source carries besides its content.
type dress struct {
	labels, annotations map[string]string
	immutable           bool
	stringData          bool // of a Secret: written in clear
}

// object is the source as somebody writes it.
func (s source) object(c content, d dress) client.Object {
	meta := metav1.ObjectMeta{Namespace: s.namespace, Name: s.name, Labels: d.labels, Annotations: d.annotations}
	var immutable *bool
	if d.immutable {
		immutable = &d.immutable
	}
	if s.kind == kindConfigMap {
		out := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kindConfigMap}, ObjectMeta: meta, Immutable: immutable}
		for key, value := range c {
			if utf8.ValidString(value) {
				out.Data = with(out.Data, key, value)
			} else {
				out.BinaryData = with(out.BinaryData, key, []byte(value))
			}
		}
		return out
	}
	out := &corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kindSecret}, ObjectMeta: meta, Immutable: immutable}
	for key, value := range c {
		if d.stringData && utf8.ValidString(value) {
			out.StringData = with(out.StringData, key, value)
		} else {
			out.Data = with(out.Data, key, []byte(value))
		}
	}
	return out
}

// with sets a key of a map that may be nil.
func with[V any](m map[string]V, key string, value V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[key] = value
	return m
}

// sources gives one to five sources of a namespace. One that is missing is not
// given, but workloads refer to it.
func (b *builder) sources(namespace string) []source {
	count := 1
	if b.has[moreSources] {
		count = 1 + b.below(4, "sources")
	}
	var out []source
	for _, name := range []string{"db", "app", "tls", "feed"}[:count] {
		s := source{kindSecret, namespace, name}
		if b.has[configMaps] && b.maybe("a ConfigMap") {
			s.kind = kindConfigMap
		}
		out = append(out, s)
	}
	if b.has[sameNames] {
		other := kindConfigMap
		if out[0].kind == kindConfigMap {
			other = kindSecret
		}
		out = append(out, source{other, namespace, out[0].name})
	}
	for _, s := range out {
		if b.has[missingSources] && b.seldom(3, "missing") {
			continue
		}
		b.contents[s] = b.content()
		b.give(s.object(b.contents[s], b.dress()))
	}
	return out
}

func (b *builder) content() content {
	if b.has[contentForms] {
		return pick(b.maker, "content", oddContents)
	}
	return pick(b.maker, "plain content", plainContents)
}

func (b *builder) dress() dress {
	d := dress{stringData: true}
	if b.has[contentForms] {
		d.stringData = !b.maybe("encoded")
	}
	if b.has[immutables] {
		d.immutable = b.maybe("immutable")
	}
	if b.has[sourceLabels] {
		d.labels = pick(b.maker, "source labels", []map[string]string{nil, {"tier": "app"}, {"tier": "infra"}})
	}
	return d
}
