package discover

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// The kinds a Ref can have. The last counts only where its integration is on.
const (
	KindSecret              = "Secret"
	KindConfigMap           = "ConfigMap"
	KindSecretProviderClass = "SecretProviderClass"
)

// A volume of the Secrets Store CSI driver, and the attribute of it that names the class.
const (
	csiDriver    = "secrets-store.csi.k8s.io"
	csiAttribute = "secretProviderClass"
)

// Ref names one source. Its namespace is the workload's own, since a pod can
// refer to no other. A Secret and a ConfigMap of one name are two sources.
type Ref struct{ Kind, Name string }

// Compare orders references by kind, then by name.
func (r Ref) Compare(other Ref) int {
	return cmp.Or(cmp.Compare(r.Kind, other.Kind), cmp.Compare(r.Name, other.Name))
}

// Use is one way in which one container consumes a source. References that
// agree in everything but the key are one Use with several keys.
type Use struct {
	// Container is the container's name. It is empty for a volume that no
	// container mounts: see Mounted.
	Container string

	// Init tells an init container, sidecars included.
	Init bool

	// Sidecar tells an init container with restartPolicy Always, which runs as
	// long as the pod.
	Sidecar bool

	// Env: read through env or envFrom. The kubelet resolves these at every
	// start of the container, so a restart in place reads them again.
	Env bool

	// Volume: read through a mounted volume. The kubelet writes the files before
	// the container starts and refreshes them while it runs.
	Volume bool

	// SubPath: the mount takes one path out of the volume. Such a mount is bound
	// when the container starts and does not follow later refreshes.
	SubPath bool

	// Optional: the container starts although the source, or the key, is missing.
	Optional bool

	// Keys are the keys that must exist for the container to start: sorted,
	// without repetition. Nil means that the use names no required key, because
	// it takes the object as a whole or because it is optional.
	Keys []string
}

// Mounted reports whether a container reads the source in this way. It is false
// only for a volume that no container mounts. The kubelet leaves such a volume
// out (it neither mounts it nor waits for it: volume manager,
// GetPodVolumeNames), so nobody reads the source and the pod starts without it;
// the Use is therefore Optional. It is listed all the same, so that the index
// and the explanation know that the template names the source.
func (u Use) Mounted() bool { return u.Container != "" }

// Dependency is a source with every use that the pod makes of it.
type Dependency struct {
	Ref

	// Uses stand in the order in which containers start: init containers, then
	// containers, each in the order of the spec; env before volumes.
	Uses []Use
}

// Required reports whether some container cannot start while the source is
// missing.
func (d Dependency) Required() bool {
	return slices.ContainsFunc(d.Uses, func(u Use) bool { return !u.Optional })
}

// RequiredKeys are the keys without which some container cannot start: sorted,
// without repetition, nil if there are none.
func (d Dependency) RequiredKeys() []string {
	var keys []string
	for _, u := range d.Uses {
		keys = append(keys, u.Keys...)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Read reports whether some container reads the source. It is false only if the
// pod spec names the source in volumes that no container mounts. Freshness counts
// those as read all the same: containers that are injected later may mount them.
func (d Dependency) Read() bool {
	return slices.ContainsFunc(d.Uses, Use.Mounted)
}

// Dependencies returns what the pod consumes, sorted by kind and name. A source
// that is referenced many times is one Dependency. References with an empty
// name are left out: they name nothing.
func Dependencies(spec *corev1.PodSpec) []Dependency {
	var found []reference
	walk(spec, func(r reference) { found = append(found, r) })

	// The sort is stable: within a source the walk's order, which is the order
	// in which containers start, stays.
	slices.SortStableFunc(found, func(a, b reference) int { return a.Compare(b.Ref) })

	var out []Dependency
	for _, r := range found {
		if len(out) == 0 || out[len(out)-1].Ref != r.Ref {
			out = append(out, Dependency{Ref: r.Ref})
		}
		last := &out[len(out)-1]
		last.Uses = merge(last.Uses, r.use())
	}
	return out
}

// Refs returns only the names, in the same order as Dependencies and each once
// no matter how often the pod refers to it. It is what an index function needs.
func Refs(spec *corev1.PodSpec) []Ref {
	var refs []Ref
	walk(spec, func(r reference) { refs = append(refs, r.Ref) })
	slices.SortFunc(refs, Ref.Compare)
	return slices.Compact(refs)
}

// merge adds a use, or its keys to the use that differs in nothing else. A use
// of the whole object and a use of single keys stay apart, since nil Keys would
// otherwise lose its meaning.
func merge(uses []Use, u Use) []Use {
	for i := range uses {
		if !sameWay(uses[i], u) {
			continue
		}
		for _, key := range u.Keys {
			if at, known := slices.BinarySearch(uses[i].Keys, key); !known {
				uses[i].Keys = slices.Insert(uses[i].Keys, at, key)
			}
		}
		return uses
	}
	return append(uses, u)
}

func sameWay(a, b Use) bool {
	return a.Container == b.Container &&
		a.Init == b.Init && a.Sidecar == b.Sidecar &&
		a.Env == b.Env && a.Volume == b.Volume && a.SubPath == b.SubPath &&
		a.Optional == b.Optional &&
		(a.Keys == nil) == (b.Keys == nil)
}
