package world

import (
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/argorollouts"
)

// letters are those that generated names and hashes are made of: no vowels, so
// that no words appear, and no digits that look like letters.
const letters = "bcdfghjklmnpqrstvwxz2456789"

// templateOf is an object's pod template in one canonical form: two templates
// that upstream calls semantically equal (label pod-template-hash ignored) have
// equal strings. It is computed once per generation, as a template cannot change
// without one.
func (g *graph) templateOf(object client.Object) string {
	n := g.node(object.GetUID())
	if n.template == "" || n.templateGeneration != object.GetGeneration() {
		n.template, n.templateGeneration = canonicalTemplate(podTemplate(object)), object.GetGeneration()
	}
	return n.template
}

// podTemplate is the pod template of a workload or of a ReplicaSet.
func podTemplate(object client.Object) *corev1.PodTemplateSpec {
	switch o := object.(type) {
	case *appsv1.Deployment:
		return &o.Spec.Template
	case *appsv1.ReplicaSet:
		return &o.Spec.Template
	case *appsv1.StatefulSet:
		return &o.Spec.Template
	case *appsv1.DaemonSet:
		return &o.Spec.Template
	}
	panic("world: object without a pod template")
}

// canonicalTemplate is the template as JSON without the labels that hash it:
// JSON writes nil and empty alike, and quantities in one form.
func canonicalTemplate(t *corev1.PodTemplateSpec) string {
	plain := *t
	plain.Labels = withoutKey(withoutKey(t.Labels, appsv1.DefaultDeploymentUniqueLabelKey), argorollouts.HashLabel)
	raw, err := json.Marshal(&plain)
	if err != nil {
		panic("world: a pod template that is no JSON: " + err.Error())
	}
	return string(raw)
}

// withoutKey is the map without one key; the given one stays as it is.
func withoutKey(m map[string]string, key string) map[string]string {
	if _, ok := m[key]; !ok {
		return m
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		if k != key {
			out[k] = v
		}
	}
	return out
}

// withKey is the map with one more entry; the given one stays as it is.
func withKey(m map[string]string, key, value string) map[string]string {
	out := make(map[string]string, len(m)+1)
	maps.Copy(out, m)
	out[key] = value
	return out
}

// templateHash is the value of pod-template-hash and controller-revision-hash.
func templateHash(template string, collisions *int32) string {
	h := fnv.New32a()
	h.Write([]byte(template))
	if collisions != nil {
		var raw [4]byte
		binary.LittleEndian.PutUint32(raw[:], uint32(*collisions))
		h.Write(raw[:])
	}
	out := []byte(strconv.FormatUint(uint64(h.Sum32()), 10))
	for i, c := range out {
		out[i] = letters[int(c)%len(letters)]
	}
	return string(out)
}

// suffix is five letters as generateName appends them, from a seed.
func suffix(seed string) string {
	h := fnv.New64a()
	h.Write([]byte(seed))
	sum := h.Sum64()
	// FNV moves its low bits little between neighbouring seeds.
	sum ^= sum >> 32
	var out [5]byte
	for i := range out {
		out[i] = letters[sum%uint64(len(letters))]
		sum /= uint64(len(letters))
	}
	return string(out[:])
}
