package world

import (
	"crypto/sha1" //nolint:gosec // names a revision as Git does
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/corewire/kick/sim/foreign"
)

// scheme of the URLs whose repository is a ConfigMap: sim://<namespace>/<name>. Whoever
// writes the ConfigMap pushes a commit. GitOps tools are played for such repositories
// only; the others' objects stay as a scenario writes them.
const simScheme = "sim://"

// manifest is one object as a repository declares it.
type manifest struct {
	gvk     schema.GroupVersionKind
	key     types.NamespacedName
	content map[string]any
}

// repository reads a repository at its newest commit; false: this is none that is played.
func (w *World) repository(url string) (all []manifest, revision string, ok bool) {
	path, ours := strings.CutPrefix(url, simScheme)
	namespace, name, _ := strings.Cut(path, "/")
	files, found := w.server.Get(kindConfigMap, types.NamespacedName{Namespace: namespace, Name: name}).(*corev1.ConfigMap)
	if !ours || !found {
		return nil, "", false
	}
	commit := sha1.New() //nolint:gosec // names a revision as Git does
	for _, file := range slices.Sorted(maps.Keys(files.Data)) {
		_, _ = commit.Write([]byte(file + files.Data[file]))
		if m, readable := manifestOf(files.Data[file]); readable {
			all = append(all, m)
		}
	}
	return all, "main@sha1:" + hex.EncodeToString(commit.Sum(nil))[:7], true
}

func manifestOf(text string) (manifest, bool) {
	var content map[string]any
	if err := yaml.Unmarshal([]byte(text), &content); err != nil {
		return manifest{}, false
	}
	content = runtime.DeepCopyJSON(whole(content).(map[string]any))
	f := foreign.Free(content)
	m := manifest{content: content, gvk: schema.FromAPIVersionAndKind(f.Text("apiVersion"), f.Text("kind"))}
	m.key = types.NamespacedName{Namespace: f.Text("metadata", "namespace"), Name: f.Text("metadata", "name")}
	return m, m.gvk.Kind != "" && m.key.Name != ""
}

// whole makes whole numbers of those that are, as the API's decoder does.
func whole(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = whole(v[key])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return value
}
