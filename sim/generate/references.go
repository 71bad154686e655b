package generate

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// form is a way in which a pod refers to a source.
type form int

// The forms, the plainest first.
const (
	envFrom form = iota
	envKey
	volume
	volumeItems
	projected
	projectedItems
	subPath
	initEnvFrom
	initEnvKey
	initVolume
	sidecarEnvFrom
	sidecarVolume
	secondEnvFrom
	unmounted
	forms
)

// keyed forms name the keys they read.
func (f form) keyed() bool {
	return f == envKey || f == initEnvKey || f == volumeItems || f == projectedItems
}

// reference is one place in a pod that names a source.
type reference struct {
	form     form
	source   source
	key      string
	optional bool
	beside   []reference // in the same projected volume
}

// reference draws how a pod reads a source, of those that it may read.
func (b *builder) reference(sources []source) reference {
	r := reference{source: pick(b.maker, "referred source", sources)}
	if b.has[referenceForms] {
		r.form = form(b.below(int(forms), "reference"))
	}
	b.detail(&r)
	if r.form == projected || r.form == projectedItems {
		for range b.below(3, "projected beside") {
			beside := reference{form: r.form, source: pick(b.maker, "projected source", sources)}
			if b.maybe("projected by items") {
				beside.form = projectedItems
			}
			b.detail(&beside)
			r.beside = append(r.beside, beside)
		}
	}
	return r
}

// detail draws whether a reference is optional, and its key.
func (b *builder) detail(r *reference) {
	if b.has[optionals] {
		r.optional = b.maybe("optional")
	}
	if r.form.keyed() {
		r.key = b.key(r.source, r.optional)
	}
}

// key is one that the source has, or now and then any: a pod that requires a key that
// is missing does not start, which ends most stories. One that may be missing often is.
func (b *builder) key(s source, optional bool) string {
	has := slices.Sorted(maps.Keys(b.contents[s]))
	if optional && b.maybe("an optional key") {
		return pick(b.maker, "optional key", []string{"debug", "b", "blob"})
	}
	if len(has) == 0 || b.seldom(6, "any key") {
		return pick(b.maker, "key", []string{"a", "b", "blob"})
	}
	return pick(b.maker, "key of the source", has)
}

// refer adds a reference to a pod that has a container app.
func refer(pod *corev1.PodSpec, r reference) {
	switch r.form {
	case envFrom, initEnvFrom, sidecarEnvFrom, secondEnvFrom:
		fromEnv(readerOf(pod, r.form), r)
	case envKey, initEnvKey:
		keyEnv(readerOf(pod, r.form), r)
	case subPath:
		mount(readerOf(pod, r.form), addVolume(pod, r), "a")
	case unmounted:
		addVolume(pod, r)
	default:
		mount(readerOf(pod, r.form), addVolume(pod, r), "")
	}
}

// readerOf is the container that reads the source.
func readerOf(pod *corev1.PodSpec, f form) *corev1.Container {
	switch f {
	case initEnvFrom, initEnvKey, initVolume:
		return initContainer(pod, "setup", false)
	case sidecarEnvFrom, sidecarVolume:
		return initContainer(pod, "proxy", true)
	case secondEnvFrom:
		return container(pod, "helper")
	default:
		return container(pod, "app")
	}
}

func fromEnv(c *corev1.Container, r reference) {
	from := corev1.EnvFromSource{}
	if n := len(c.EnvFrom); n > 0 {
		from.Prefix = fmt.Sprintf("E%d_", n)
	}
	name := corev1.LocalObjectReference{Name: r.source.name}
	if r.source.kind == kindSecret {
		from.SecretRef = &corev1.SecretEnvSource{LocalObjectReference: name, Optional: r.opt()}
	} else {
		from.ConfigMapRef = &corev1.ConfigMapEnvSource{LocalObjectReference: name, Optional: r.opt()}
	}
	c.EnvFrom = append(c.EnvFrom, from)
}

func keyEnv(c *corev1.Container, r reference) {
	from := &corev1.EnvVarSource{}
	name := corev1.LocalObjectReference{Name: r.source.name}
	if r.source.kind == kindSecret {
		from.SecretKeyRef = &corev1.SecretKeySelector{LocalObjectReference: name, Key: r.key, Optional: r.opt()}
	} else {
		from.ConfigMapKeyRef = &corev1.ConfigMapKeySelector{LocalObjectReference: name, Key: r.key, Optional: r.opt()}
	}
	c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("V%d", len(c.Env)), ValueFrom: from})
}

// addVolume adds a volume of the source and returns its name.
func addVolume(pod *corev1.PodSpec, r reference) string {
	v := corev1.Volume{Name: fmt.Sprintf("v%d", len(pod.Volumes))}
	name := corev1.LocalObjectReference{Name: r.source.name}
	switch {
	case r.form == projected || r.form == projectedItems:
		v.Projected = &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{projection(r, "file")}}
		for i, beside := range r.beside {
			v.Projected.Sources = append(v.Projected.Sources, projection(beside, fmt.Sprintf("file%d", i+1)))
		}
	case r.source.kind == kindSecret:
		v.Secret = &corev1.SecretVolumeSource{SecretName: r.source.name, Items: r.items("file"), Optional: r.opt()}
	default:
		v.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: name, Items: r.items("file"), Optional: r.opt()}
	}
	pod.Volumes = append(pod.Volumes, v)
	return v.Name
}

// projection is one source of a projected volume.
func projection(r reference, path string) corev1.VolumeProjection {
	name := corev1.LocalObjectReference{Name: r.source.name}
	if r.source.kind == kindSecret {
		return corev1.VolumeProjection{Secret: &corev1.SecretProjection{LocalObjectReference: name, Items: r.items(path), Optional: r.opt()}}
	}
	return corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: name, Items: r.items(path), Optional: r.opt()}}
}

// items name the one key that a volume shows as a file; none: all of them.
func (r reference) items(path string) []corev1.KeyToPath {
	if r.key == "" {
		return nil
	}
	return []corev1.KeyToPath{{Key: r.key, Path: path}}
}

func mount(c *corev1.Container, volume, path string) {
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: "/" + volume, SubPath: path})
}

func (r reference) opt() *bool {
	if !r.optional {
		return nil
	}
	return new(true)
}

// container returns a container of that name, adding it where there is none.
func container(pod *corev1.PodSpec, name string) *corev1.Container {
	return named(&pod.Containers, name)
}

// initContainer does the same for init containers; a sidecar runs as long as the pod.
func initContainer(pod *corev1.PodSpec, name string, sidecar bool) *corev1.Container {
	c := named(&pod.InitContainers, name)
	if sidecar {
		c.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
	}
	return c
}

func named(list *[]corev1.Container, name string) *corev1.Container {
	for i := range *list {
		if (*list)[i].Name == name {
			return &(*list)[i]
		}
	}
	*list = append(*list, corev1.Container{Name: name, Image: "example.com/" + name})
	return &(*list)[len(*list)-1]
}
