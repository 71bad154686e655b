package world

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/corewire/kick/kick/api/secretsstore"
)

// reference is one mention of a source in a pod.
type reference struct {
	ref      SourceRef
	optional bool
	all      bool     // the whole object
	keys     []string // else these keys; all of them must exist unless optional
	env      bool
	subPath  bool
}

// containerPlan is what a container reads when it starts.
type containerPlan struct {
	name    string
	image   string
	init    bool
	sidecar bool        // an init container that keeps running
	env     []reference // resolved at every start
	files   []reference // found in mounted volumes
}

// podPlan is what a pod reads.
type podPlan struct {
	containers []containerPlan // init containers first
	volumes    []reference     // must be there before any container starts
	unmounted  []reference     // volumes that no container mounts
}

// planPod lists all references to Secrets and ConfigMaps of a pod.
func planPod(pod *corev1.Pod) podPlan {
	volumes := map[string][]reference{}
	mounted := map[string]bool{}
	var plan podPlan
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		volumes[volume.Name] = volumeReferences(pod.Namespace, volume)
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		planned := planContainer(pod.Namespace, c, volumes, mounted)
		planned.init = true
		planned.sidecar = c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		plan.containers = append(plan.containers, planned)
	}
	for i := range pod.Spec.Containers {
		plan.containers = append(plan.containers, planContainer(pod.Namespace, &pod.Spec.Containers[i], volumes, mounted))
	}
	for i := range pod.Spec.Volumes {
		refs, used := volumes[pod.Spec.Volumes[i].Name], mounted[pod.Spec.Volumes[i].Name]
		for j := range refs {
			refs[j].optional = refs[j].optional || !used // the kubelet does not wait for what nobody mounts
		}
		plan.volumes = append(plan.volumes, refs...)
		if !used {
			plan.unmounted = append(plan.unmounted, refs...)
		}
	}
	return plan
}

// planContainer lists the references of one container and notes the volumes it mounts.
func planContainer(namespace string, c *corev1.Container, volumes map[string][]reference, mounted map[string]bool) containerPlan {
	out := containerPlan{name: c.Name, image: c.Image}
	for i := range c.EnvFrom {
		from := &c.EnvFrom[i]
		if s := from.SecretRef; s != nil {
			out.env = append(out.env, reference{ref: SourceRef{"Secret", namespace, s.Name}, optional: isTrue(s.Optional), all: true, env: true})
		}
		if s := from.ConfigMapRef; s != nil {
			out.env = append(out.env, reference{ref: SourceRef{"ConfigMap", namespace, s.Name}, optional: isTrue(s.Optional), all: true, env: true})
		}
	}
	for i := range c.Env {
		from := c.Env[i].ValueFrom
		if from == nil {
			continue
		}
		if s := from.SecretKeyRef; s != nil {
			out.env = append(out.env, reference{ref: SourceRef{"Secret", namespace, s.Name}, optional: isTrue(s.Optional), keys: []string{s.Key}, env: true})
		}
		if s := from.ConfigMapKeyRef; s != nil {
			out.env = append(out.env, reference{ref: SourceRef{"ConfigMap", namespace, s.Name}, optional: isTrue(s.Optional), keys: []string{s.Key}, env: true})
		}
	}
	for i := range c.VolumeMounts {
		mount := &c.VolumeMounts[i]
		mounted[mount.Name] = true
		for _, r := range volumes[mount.Name] {
			r.subPath = mount.SubPath != "" || mount.SubPathExpr != ""
			out.files = append(out.files, r)
		}
	}
	return out
}

// volumeReferences lists the references of one volume.
func volumeReferences(namespace string, v *corev1.Volume) []reference {
	var out []reference
	add := func(kind, name string, items []corev1.KeyToPath, optional *bool) {
		r := reference{ref: SourceRef{kind, namespace, name}, optional: isTrue(optional), all: len(items) == 0}
		for _, item := range items {
			r.keys = append(r.keys, item.Key)
		}
		out = append(out, r)
	}
	switch {
	case v.Secret != nil:
		add("Secret", v.Secret.SecretName, v.Secret.Items, v.Secret.Optional)
	case v.ConfigMap != nil:
		add("ConfigMap", v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional)
	case v.CSI != nil && v.CSI.Driver == secretsstore.Driver:
		add(kindClass.Kind, v.CSI.VolumeAttributes[secretsstore.ClassAttribute], nil, nil)
	case v.Projected != nil:
		for _, source := range v.Projected.Sources {
			if s := source.Secret; s != nil {
				add("Secret", s.Name, s.Items, s.Optional)
			}
			if s := source.ConfigMap; s != nil {
				add("ConfigMap", s.Name, s.Items, s.Optional)
			}
		}
	}
	return out
}

// isTrue is an optional flag that defaults to false.
func isTrue(b *bool) bool { return b != nil && *b }

// missing says what keeps a version from satisfying a reference, "" when nothing does.
func (r *reference) missing(v *version) string {
	if r.optional {
		return ""
	}
	if v.object == nil {
		return lower(r.ref.Kind) + " " + quote(r.ref.Name) + " not found"
	}
	for _, key := range r.keys {
		if !v.has(key) {
			return "couldn't find key " + key + " in " + r.ref.Kind + " " + r.ref.Namespace + "/" + r.ref.Name
		}
	}
	return ""
}

// lower is a kind in lower case, as the kubelet's messages have it.
func lower(kind string) string { return strings.ToLower(kind) }

// quote puts a name in double quotes; names need no escaping.
func quote(name string) string { return `"` + name + `"` }

// merge adds one reference to the way a container uses a source.
func (u Use) merge(r *reference, first bool) Use {
	u.Env = u.Env || r.env
	u.Volume = u.Volume || !r.env
	u.SubPath = u.SubPath || r.subPath
	u.Optional = r.optional && (first || u.Optional)
	u.All = u.All || r.all
	if u.All {
		u.Keys = nil
		return u
	}
	keys := append(slices.Clone(u.Keys), r.keys...)
	slices.Sort(keys)
	u.Keys = slices.Compact(keys)
	return u
}
