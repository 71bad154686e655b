package discover

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// reference is one place in a pod spec that names a source.
type reference struct {
	Ref
	container *corev1.Container // nil: a volume that no container mounts
	init      bool
	volume    bool // else env
	subPath   bool
	optional  bool
	key       string             // of a single key reference
	items     []corev1.KeyToPath // of a volume
}

// use turns the place into the way in which its container consumes the source.
func (r reference) use() Use {
	u := Use{Env: !r.volume, Volume: r.volume, SubPath: r.subPath, Optional: r.optional}
	if r.container == nil {
		u.Optional = true
		return u
	}
	u.Container = r.container.Name
	u.Init = r.init
	u.Sidecar = r.init && r.container.RestartPolicy != nil &&
		*r.container.RestartPolicy == corev1.ContainerRestartPolicyAlways
	if !r.optional {
		u.Keys = r.keys()
	}
	return u
}

// keys are the keys the reference names, sorted, or nil. An empty key names
// nothing, like an empty name.
func (r reference) keys() []string {
	if r.key != "" {
		return []string{r.key}
	}
	var keys []string
	for _, item := range r.items {
		if item.Key != "" {
			keys = append(keys, item.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// walk calls visit for every reference of the spec: init containers, then
// containers, then volumes that nobody mounts. It is the one place that knows
// where a pod spec can name a source.
func walk(spec *corev1.PodSpec, visit func(reference)) {
	if spec == nil {
		return
	}
	named := func(r reference) {
		if r.Name != "" {
			visit(r)
		}
	}
	for i := range spec.InitContainers {
		walkContainer(spec, &spec.InitContainers[i], true, named)
	}
	for i := range spec.Containers {
		walkContainer(spec, &spec.Containers[i], false, named)
	}
	for i := range spec.Volumes {
		if !mounted(spec, spec.Volumes[i].Name) {
			walkVolume(&spec.Volumes[i].VolumeSource, reference{volume: true}, named)
		}
	}
}

func walkContainer(spec *corev1.PodSpec, c *corev1.Container, init bool, visit func(reference)) {
	base := reference{container: c, init: init}
	for i := range c.EnvFrom {
		walkEnvFrom(&c.EnvFrom[i], base, visit)
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil {
			walkEnv(from, base, visit)
		}
	}
	for i := range c.VolumeMounts {
		mount := &c.VolumeMounts[i]
		r := base
		r.volume = true
		r.subPath = mount.SubPath != "" || mount.SubPathExpr != ""
		for j := range spec.Volumes {
			if spec.Volumes[j].Name == mount.Name {
				walkVolume(&spec.Volumes[j].VolumeSource, r, visit)
			}
		}
	}
}

func walkEnvFrom(from *corev1.EnvFromSource, r reference, visit func(reference)) {
	if s := from.SecretRef; s != nil {
		r.Ref, r.optional = Ref{KindSecret, s.Name}, isTrue(s.Optional)
		visit(r)
	}
	if c := from.ConfigMapRef; c != nil {
		r.Ref, r.optional = Ref{KindConfigMap, c.Name}, isTrue(c.Optional)
		visit(r)
	}
}

func walkEnv(from *corev1.EnvVarSource, r reference, visit func(reference)) {
	if s := from.SecretKeyRef; s != nil {
		r.Ref, r.key, r.optional = Ref{KindSecret, s.Name}, s.Key, isTrue(s.Optional)
		visit(r)
	}
	if c := from.ConfigMapKeyRef; c != nil {
		r.Ref, r.key, r.optional = Ref{KindConfigMap, c.Name}, c.Key, isTrue(c.Optional)
		visit(r)
	}
}

func walkVolume(v *corev1.VolumeSource, r reference, visit func(reference)) {
	if s := v.Secret; s != nil {
		r.Ref, r.items, r.optional = Ref{KindSecret, s.SecretName}, s.Items, isTrue(s.Optional)
		visit(r)
	}
	if c := v.ConfigMap; c != nil {
		r.Ref, r.items, r.optional = Ref{KindConfigMap, c.Name}, c.Items, isTrue(c.Optional)
		visit(r)
	}
	if c := v.CSI; c != nil && c.Driver == csiDriver {
		r.Ref = Ref{KindSecretProviderClass, c.VolumeAttributes[csiAttribute]}
		visit(r)
	}
	if v.Projected == nil {
		return
	}
	for i := range v.Projected.Sources {
		source := &v.Projected.Sources[i]
		if s := source.Secret; s != nil {
			r.Ref, r.items, r.optional = Ref{KindSecret, s.Name}, s.Items, isTrue(s.Optional)
			visit(r)
		}
		if c := source.ConfigMap; c != nil {
			r.Ref, r.items, r.optional = Ref{KindConfigMap, c.Name}, c.Items, isTrue(c.Optional)
			visit(r)
		}
	}
}

// mounted reports whether a container, in whatever list but the ephemeral ones,
// mounts the volume.
func mounted(spec *corev1.PodSpec, volume string) bool {
	return mountedBy(spec.InitContainers, volume) || mountedBy(spec.Containers, volume)
}

func mountedBy(containers []corev1.Container, volume string) bool {
	for i := range containers {
		for j := range containers[i].VolumeMounts {
			if containers[i].VolumeMounts[j].Name == volume {
				return true
			}
		}
	}
	return false
}

func isTrue(b *bool) bool { return b != nil && *b }
