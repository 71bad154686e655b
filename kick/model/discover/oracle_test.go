package discover_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/corewire/kick/kick/model/discover"
)

// The oracle knows a pod spec only as JSON and writes down one line per
// reference; it shares neither types nor code with the package.
func TestDependenciesEqualTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSpec(t)
		if diff := cmp.Diff(oracle(t, spec), lines(discover.Dependencies(spec))); diff != "" {
			t.Fatalf("lines (-oracle +package):\n%s", diff)
		}
	})
}

func TestRefsAreTheNamesOfDependencies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSpec(t)
		var want []discover.Ref
		for _, d := range discover.Dependencies(spec) {
			want = append(want, d.Ref)
		}
		if diff := cmp.Diff(want, discover.Refs(spec)); diff != "" {
			t.Fatalf("Refs (-want +got):\n%s", diff)
		}
	})
}

func TestOrderOfTheSpecDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSpec(t)
		shuffled := spec.DeepCopy()
		shuffled.Containers = rapid.Permutation(shuffled.Containers).Draw(t, "containers")
		shuffled.InitContainers = rapid.Permutation(shuffled.InitContainers).Draw(t, "initContainers")
		shuffled.Volumes = rapid.Permutation(shuffled.Volumes).Draw(t, "volumes")
		if diff := cmp.Diff(lines(discover.Dependencies(spec)), lines(discover.Dependencies(shuffled))); diff != "" {
			t.Fatalf("lines (-as written +shuffled):\n%s", diff)
		}
		if diff := cmp.Diff(discover.Refs(spec), discover.Refs(shuffled)); diff != "" {
			t.Fatalf("Refs (-as written +shuffled):\n%s", diff)
		}
	})
}

func TestMultiplicityDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := drawSpec(t)
		doubled := spec.DeepCopy()
		for i := range doubled.Containers {
			c := &doubled.Containers[i]
			c.Env = append(c.Env, c.Env...)
			c.EnvFrom = append(c.EnvFrom, c.EnvFrom...)
		}
		if diff := cmp.Diff(discover.Dependencies(spec), discover.Dependencies(doubled)); diff != "" {
			t.Fatalf("Dependencies (-once +twice):\n%s", diff)
		}
	})
}

func TestDependenciesAreCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		deps := discover.Dependencies(drawSpec(t))
		for i, d := range deps {
			if i > 0 && deps[i-1].Compare(d.Ref) >= 0 {
				t.Fatalf("%v stands before %v", deps[i-1].Ref, d.Ref)
			}
			if len(d.Uses) == 0 || d.Name == "" {
				t.Fatalf("%v: no name or no use", d)
			}
			for _, u := range d.Uses {
				if !slices.IsSorted(u.Keys) || u.Env == u.Volume || (u.Optional && u.Keys != nil) || (u.Keys != nil && len(u.Keys) == 0) {
					t.Fatalf("%v: bad use %+v", d.Ref, u)
				}
			}
		}
	})
}

// lines flattens dependencies into one line per use and key, sorted.
func lines(deps []discover.Dependency) []string {
	out := []string{}
	for _, d := range deps {
		for _, u := range d.Uses {
			keys := u.Keys
			if keys == nil {
				keys = []string{"*"}
			}
			for _, key := range keys {
				out = append(out, line{
					d.Kind, d.Name, u.Container, u.Init, u.Sidecar, u.Volume, u.SubPath, u.Optional, key,
				}.String())
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

type line struct {
	kind, name, container                    string
	init, sidecar, volume, subPath, optional bool
	key                                      string
}

func (l line) String() string {
	type plain line // without this method
	return fmt.Sprintf("%+v", plain(l))
}

type object = map[string]any

func oracle(t *rapid.T, spec *corev1.PodSpec) []string {
	raw, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	var pod object
	if err := json.Unmarshal(raw, &pod); err != nil {
		t.Fatal(err)
	}
	out := []string{}
	add := func(l line, source object, nameField string, keys []string) {
		l.name, _ = source[nameField].(string)
		if l.name == "" {
			return
		}
		optional, _ := source["optional"].(bool)
		l.optional = l.optional || optional
		if l.optional || len(keys) == 0 {
			keys = []string{"*"}
		}
		for _, l.key = range keys {
			out = append(out, l.String())
		}
	}
	volumes, mounted := map[string]object{}, map[string]bool{}
	for _, v := range list(pod, "volumes") {
		volumes[v["name"].(string)] = v
	}
	for _, where := range []string{"initContainers", "containers"} {
		for _, c := range list(pod, where) {
			base := line{container: c["name"].(string), init: where == "initContainers"}
			base.sidecar = base.init && c["restartPolicy"] == "Always"
			oracleEnv(c, base, add)
			for _, m := range list(c, "volumeMounts") {
				name := m["name"].(string)
				mounted[name] = true
				l := base
				l.volume = true
				l.subPath = m["subPath"] != nil || m["subPathExpr"] != nil
				oracleVolume(volumes[name], l, add)
			}
		}
	}
	for name, v := range volumes {
		if !mounted[name] {
			oracleVolume(v, line{volume: true, optional: true}, add)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

type adder = func(l line, source object, nameField string, keys []string)

func oracleEnv(container object, l line, add adder) {
	for _, e := range list(container, "envFrom") {
		for field, kind := range map[string]string{"secretRef": "Secret", "configMapRef": "ConfigMap"} {
			if source, ok := e[field].(object); ok {
				l.kind = kind
				add(l, source, "name", nil)
			}
		}
	}
	for _, e := range list(container, "env") {
		from, _ := e["valueFrom"].(object)
		for field, kind := range map[string]string{"secretKeyRef": "Secret", "configMapKeyRef": "ConfigMap"} {
			if source, ok := from[field].(object); ok {
				l.kind = kind
				add(l, source, "name", []string{source["key"].(string)})
			}
		}
	}
}

func oracleVolume(volume object, l line, add adder) {
	at := func(parent object, field, kind, nameField string) {
		source, ok := parent[field].(object)
		if !ok {
			return
		}
		var keys []string
		for _, item := range list(source, "items") {
			keys = append(keys, item["key"].(string))
		}
		l.kind = kind
		add(l, source, nameField, keys)
	}
	at(volume, "secret", "Secret", "secretName")
	at(volume, "configMap", "ConfigMap", "name")
	projected, _ := volume["projected"].(object)
	for _, source := range list(projected, "sources") {
		at(source, "secret", "Secret", "name")
		at(source, "configMap", "ConfigMap", "name")
	}
}

func list(parent object, field string) []object {
	raw, _ := parent[field].([]any)
	out := make([]object, 0, len(raw))
	for _, item := range raw {
		out = append(out, item.(object))
	}
	return out
}

// Few names, so that references meet.
var (
	names     = rapid.SampledFrom([]string{"", "a", "b", "c"})
	keys      = rapid.SampledFrom([]string{"k1", "k2", "k3"})
	optionals = rapid.SampledFrom([]*bool{nil, new(false), new(true)})
)

func drawSpec(t *rapid.T) *corev1.PodSpec {
	spec := &corev1.PodSpec{}
	for i := range rapid.IntRange(0, 3).Draw(t, "volumes") {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: fmt.Sprint("v", i), VolumeSource: drawVolume(t)})
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "initContainers") {
		c := drawContainer(t, fmt.Sprint("init", i), len(spec.Volumes))
		c.RestartPolicy = rapid.SampledFrom([]*corev1.ContainerRestartPolicy{nil, new(corev1.ContainerRestartPolicyAlways)}).Draw(t, "restartPolicy")
		spec.InitContainers = append(spec.InitContainers, c)
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "containers") {
		spec.Containers = append(spec.Containers, drawContainer(t, fmt.Sprint("app", i), len(spec.Volumes)))
	}
	spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "pull"}}
	spec.EphemeralContainers = []corev1.EphemeralContainer{{
		EphemeralContainerCommon: corev1.EphemeralContainerCommon(drawContainer(t, "debug", len(spec.Volumes))),
	}}
	return spec
}

func drawContainer(t *rapid.T, name string, volumes int) corev1.Container {
	c := corev1.Container{Name: name}
	for range rapid.IntRange(0, 2).Draw(t, "envFrom") {
		ref, optional := local(names.Draw(t, "name")), optionals.Draw(t, "optional")
		if rapid.Bool().Draw(t, "secret") {
			c.EnvFrom = append(c.EnvFrom, corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: ref, Optional: optional}})
		} else {
			c.EnvFrom = append(c.EnvFrom, corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: ref, Optional: optional}})
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "env") {
		ref, key, optional := local(names.Draw(t, "name")), keys.Draw(t, "key"), optionals.Draw(t, "optional")
		from := &corev1.EnvVarSource{}
		if rapid.Bool().Draw(t, "secret") {
			from.SecretKeyRef = &corev1.SecretKeySelector{LocalObjectReference: ref, Key: key, Optional: optional}
		} else {
			from.ConfigMapKeyRef = &corev1.ConfigMapKeySelector{LocalObjectReference: ref, Key: key, Optional: optional}
		}
		c.Env = append(c.Env, corev1.EnvVar{Name: "X", ValueFrom: from})
	}
	for range rapid.IntRange(0, 2).Draw(t, "mounts") {
		if volumes == 0 {
			break
		}
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{
			Name:    fmt.Sprint("v", rapid.IntRange(0, volumes-1).Draw(t, "volume")),
			SubPath: rapid.SampledFrom([]string{"", "p"}).Draw(t, "subPath"),
		})
	}
	return c
}

func drawVolume(t *rapid.T) corev1.VolumeSource {
	items := func() (out []corev1.KeyToPath) {
		for _, key := range rapid.SliceOfN(keys, 0, 2).Draw(t, "items") {
			out = append(out, corev1.KeyToPath{Key: key, Path: key})
		}
		return out
	}
	ref, optional := local(names.Draw(t, "name")), optionals.Draw(t, "optional")
	switch rapid.IntRange(0, 3).Draw(t, "volume kind") {
	case 0:
		return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: ref.Name, Optional: optional, Items: items()}}
	case 1:
		return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: ref, Optional: optional, Items: items()}}
	case 2:
		return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	}
	other := local(names.Draw(t, "other name"))
	return corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
		{Secret: &corev1.SecretProjection{LocalObjectReference: ref, Optional: optional, Items: items()}},
		{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: other, Items: items()}},
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
	}}}
}
