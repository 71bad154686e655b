package check

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/corewire/kick/kick/api/secretsstore"
)

// ref is a source a pod template refers to, all its mentions taken together.
type ref struct {
	source   Source
	required bool     // at least one mention cannot do without it
	keys     []string // keys a mention cannot do without
}

// refsOf extracts the references of a template: env, envFrom, volumes and
// projected volumes, of containers and init containers. Pull secrets and
// ephemeral containers are not configuration.
func refsOf(namespace string, template *corev1.PodTemplateSpec) []ref {
	found := map[Source]*ref{}
	mention := func(kind, name string, optional *bool, keys ...string) {
		source := Source{kind, namespace, name}
		r := found[source]
		if r == nil {
			r = &ref{source: source}
			found[source] = r
		}
		if !flag(optional) {
			r.required = true
			r.keys = append(r.keys, keys...)
		}
	}
	for _, c := range slices.Concat(template.Spec.InitContainers, template.Spec.Containers) {
		containerRefs(c, mention)
	}
	for _, v := range template.Spec.Volumes {
		volumeRefs(v, mention)
	}
	out := make([]ref, 0, len(found))
	for _, r := range found {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b ref) int { return compareSources(a.source, b.source) })
	return out
}

type mentionFunc func(kind, name string, optional *bool, keys ...string)

func containerRefs(c corev1.Container, mention mentionFunc) {
	for _, e := range c.EnvFrom {
		if e.SecretRef != nil {
			mention("Secret", e.SecretRef.Name, e.SecretRef.Optional)
		}
		if e.ConfigMapRef != nil {
			mention("ConfigMap", e.ConfigMapRef.Name, e.ConfigMapRef.Optional)
		}
	}
	for _, e := range c.Env {
		if e.ValueFrom == nil {
			continue
		}
		if k := e.ValueFrom.SecretKeyRef; k != nil {
			mention("Secret", k.Name, k.Optional, k.Key)
		}
		if k := e.ValueFrom.ConfigMapKeyRef; k != nil {
			mention("ConfigMap", k.Name, k.Optional, k.Key)
		}
	}
}

func volumeRefs(v corev1.Volume, mention mentionFunc) {
	if v.Secret != nil {
		mention("Secret", v.Secret.SecretName, v.Secret.Optional, itemKeys(v.Secret.Items)...)
	}
	if v.ConfigMap != nil {
		mention("ConfigMap", v.ConfigMap.Name, v.ConfigMap.Optional, itemKeys(v.ConfigMap.Items)...)
	}
	if v.CSI != nil && v.CSI.Driver == secretsstore.Driver {
		mention(classKind.Kind, v.CSI.VolumeAttributes[secretsstore.ClassAttribute], nil)
	}
	if v.Projected == nil {
		return
	}
	for _, p := range v.Projected.Sources {
		if p.Secret != nil {
			mention("Secret", p.Secret.Name, p.Secret.Optional, itemKeys(p.Secret.Items)...)
		}
		if p.ConfigMap != nil {
			mention("ConfigMap", p.ConfigMap.Name, p.ConfigMap.Optional, itemKeys(p.ConfigMap.Items)...)
		}
	}
}

// mounts reports whether a container of a template reads a source through a volume. One
// that no container mounts counts for all of them (docs/decisions/0007).
func mounts(template *corev1.PodTemplateSpec, container string, source Source) bool {
	return slices.ContainsFunc(template.Spec.Volumes, func(v corev1.Volume) bool {
		holds := false
		volumeRefs(v, func(kind, name string, _ *bool, _ ...string) {
			holds = holds || kind == source.Kind && name == source.Name
		})
		by := mounters(template, v.Name)
		return holds && (len(by) == 0 || slices.Contains(by, container))
	})
}

// mounters are the containers of a template that mount a volume.
func mounters(template *corev1.PodTemplateSpec, volume string) []string {
	var out []string
	for _, c := range slices.Concat(template.Spec.InitContainers, template.Spec.Containers) {
		if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume }) {
			out = append(out, c.Name)
		}
	}
	return out
}

func itemKeys(items []corev1.KeyToPath) []string {
	keys := make([]string, 0, len(items))
	for _, item := range items {
		keys = append(keys, item.Key)
	}
	return keys
}

func compareSources(a, b Source) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
