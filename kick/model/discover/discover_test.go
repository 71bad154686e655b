package discover_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/corewire/kick/kick/model/discover"
)

func local(name string) corev1.LocalObjectReference {
	return corev1.LocalObjectReference{Name: name}
}

func secretVolume(volume, secret string) corev1.Volume {
	return corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: secret},
	}}
}

// Proves: KICK-FEAT-002.
func TestEachPlaceThatNamesASource(t *testing.T) {
	app := func(c corev1.Container) corev1.PodSpec {
		c.Name = "app"
		return corev1.PodSpec{Containers: []corev1.Container{c}}
	}
	mount := func(source corev1.VolumeSource, mounts ...corev1.VolumeMount) corev1.PodSpec {
		spec := app(corev1.Container{VolumeMounts: mounts})
		spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: source}}
		return spec
	}
	whole := corev1.VolumeMount{Name: "v", MountPath: "/etc/app"}

	tests := map[string]struct {
		spec corev1.PodSpec
		want discover.Dependency
	}{
		"envFrom secret": {
			app(corev1.Container{EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: local("s")}}}}),
			secret("s", discover.Use{Container: "app", Env: true}),
		},
		"envFrom optional configmap": {
			app(corev1.Container{EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: local("c"), Optional: new(true)}}}}),
			configMap("c", discover.Use{Container: "app", Env: true, Optional: true}),
		},
		"two keys are one use": {
			app(corev1.Container{Env: []corev1.EnvVar{secretKey("s", "z", nil), secretKey("s", "a", nil), secretKey("s", "z", nil)}}),
			secret("s", discover.Use{Container: "app", Env: true, Keys: []string{"a", "z"}}),
		},
		"an optional key requires nothing": {
			app(corev1.Container{Env: []corev1.EnvVar{secretKey("s", "a", new(true)), secretKey("s", "b", new(false))}}),
			secret("s",
				discover.Use{Container: "app", Env: true, Optional: true},
				discover.Use{Container: "app", Env: true, Keys: []string{"b"}}),
		},
		"volume, whole object": {
			mount(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}, whole),
			secret("s", discover.Use{Container: "app", Volume: true}),
		},
		"volume with items": {
			mount(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: local("c"), Items: []corev1.KeyToPath{{Key: "b", Path: "x"}, {Key: "a", Path: "y"}}}}, whole),
			configMap("c", discover.Use{Container: "app", Volume: true, Keys: []string{"a", "b"}}),
		},
		"optional volume tolerates missing items": {
			mount(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", Optional: new(true), Items: []corev1.KeyToPath{{Key: "b", Path: "x"}}}}, whole),
			secret("s", discover.Use{Container: "app", Volume: true, Optional: true}),
		},
		"mounted whole and by subPath": {
			mount(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}, whole, corev1.VolumeMount{Name: "v", SubPath: "k"}),
			secret("s", discover.Use{Container: "app", Volume: true}, discover.Use{Container: "app", Volume: true, SubPath: true}),
		},
		"subPathExpr": {
			mount(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}, corev1.VolumeMount{Name: "v", SubPathExpr: "$(POD_NAME)"}),
			secret("s", discover.Use{Container: "app", Volume: true, SubPath: true}),
		},
		"projected secret": {
			mount(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{Secret: &corev1.SecretProjection{LocalObjectReference: local("s"), Items: []corev1.KeyToPath{{Key: "k"}}}},
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "t"}},
				{DownwardAPI: &corev1.DownwardAPIProjection{}},
			}}}, whole),
			secret("s", discover.Use{Container: "app", Volume: true, Keys: []string{"k"}}),
		},
		"projected configmap": {
			mount(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: local("c"), Optional: new(true)}},
			}}}, whole),
			configMap("c", discover.Use{Container: "app", Volume: true, Optional: true}),
		},
		// The kubelet neither mounts such a volume nor waits for it.
		"a volume nobody mounts is named, read by none and not required": {
			mount(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", Items: []corev1.KeyToPath{{Key: "k"}}}}),
			secret("s", discover.Use{Volume: true, Optional: true}),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := discover.Dependencies(&tt.spec)
			if diff := cmp.Diff([]discover.Dependency{tt.want}, got); diff != "" {
				t.Errorf("Dependencies (-want +got):\n%s", diff)
			}
		})
	}
}

// Case B16: a native sidecar counts, in the order in which containers start.
//
// Proves: KICK-FEAT-002.
func TestInitContainersAndSidecarsCount(t *testing.T) {
	from := []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: local("s")}}}
	spec := corev1.PodSpec{
		InitContainers: []corev1.Container{
			{Name: "migrate", EnvFrom: from},
			{Name: "proxy", EnvFrom: from, RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
		},
		Containers: []corev1.Container{{Name: "dns", EnvFrom: from, RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}},
	}
	want := []discover.Dependency{secret("s",
		discover.Use{Container: "migrate", Env: true, Init: true},
		discover.Use{Container: "proxy", Env: true, Init: true, Sidecar: true},
		discover.Use{Container: "dns", Env: true})}
	if diff := cmp.Diff(want, discover.Dependencies(&spec)); diff != "" {
		t.Errorf("Dependencies (-want +got):\n%s", diff)
	}
}

// Case B37: a Secret and a ConfigMap of one name are two sources. Their order is
// fixed whatever the order of the spec.
func TestKindIsPartOfTheIdentity(t *testing.T) {
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "app", EnvFrom: []corev1.EnvFromSource{
		{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: local("app")}},
		{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: local("app")}},
		{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: local("app")}},
		{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: local("")}},
		{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: local("aaa")}},
	}}}}
	want := []discover.Ref{{Kind: "ConfigMap", Name: "app"}, {Kind: "Secret", Name: "aaa"}, {Kind: "Secret", Name: "app"}}
	if diff := cmp.Diff(want, discover.Refs(&spec)); diff != "" {
		t.Errorf("Refs (-want +got):\n%s", diff)
	}
}

// Case B27, the second half: what looks like a reference and is none.
//
// Proves: KICK-FEAT-002, I7.
func TestWhatDoesNotCount(t *testing.T) {
	at := func(name string, source corev1.VolumeSource) corev1.Volume {
		return corev1.Volume{Name: name, VolumeSource: source}
	}
	ref := local("s")
	spec := corev1.PodSpec{
		ImagePullSecrets: []corev1.LocalObjectReference{ref},
		EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{
			Name: "debug", EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: ref}}},
		}}},
		Containers: []corev1.Container{{Name: "app", Env: []corev1.EnvVar{
			{Name: "A", ValueFrom: &corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{VolumeName: "v", Path: "p", Key: "k"}}},
			{Name: "B", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
			{Name: "C", Value: "s"},
		}}},
		Volumes: []corev1.Volume{
			at("csi", corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "d", NodePublishSecretRef: &ref}}),
			at("rbd", corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{SecretRef: &ref}}),
			at("ceph", corev1.VolumeSource{CephFS: &corev1.CephFSVolumeSource{SecretRef: &ref}}),
			at("iscsi", corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{SecretRef: &ref}}),
			at("flex", corev1.VolumeSource{FlexVolume: &corev1.FlexVolumeSource{SecretRef: &ref}}),
			at("azure", corev1.VolumeSource{AzureFile: &corev1.AzureFileVolumeSource{SecretName: "s"}}),
			at("down", corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{}}),
		},
	}
	for _, v := range spec.Volumes {
		spec.Containers[0].VolumeMounts = append(spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: v.Name})
	}
	if got := discover.Dependencies(&spec); got != nil {
		t.Errorf("Dependencies = %v, want none", got)
	}
	if got := discover.Refs(nil); got != nil {
		t.Errorf("Refs(nil) = %v, want none", got)
	}
}

func TestRequiredAndRead(t *testing.T) {
	tests := map[string]struct {
		dependency     discover.Dependency
		required, read bool
		keys           []string
	}{
		"one required use is enough": {
			secret("s", discover.Use{Container: "a", Optional: true}, discover.Use{Container: "b", Keys: []string{"y", "z"}}, discover.Use{Container: "c", Keys: []string{"x", "y"}}),
			true, true, []string{"x", "y", "z"},
		},
		"all optional":    {secret("s", discover.Use{Container: "a", Optional: true}), false, true, nil},
		"unmounted":       {secret("s", discover.Use{Volume: true, Optional: true}), false, false, nil},
		"the whole thing": {secret("s", discover.Use{Container: "a"}), true, true, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.dependency.Required(); got != tt.required {
				t.Errorf("Required = %v, want %v", got, tt.required)
			}
			if got := tt.dependency.Read(); got != tt.read {
				t.Errorf("Read = %v, want %v", got, tt.read)
			}
			if diff := cmp.Diff(tt.keys, tt.dependency.RequiredKeys()); diff != "" {
				t.Errorf("RequiredKeys (-want +got):\n%s", diff)
			}
		})
	}
}

// A new version of Kubernetes may add a place that names a Secret or ConfigMap.
// This test fails then, and somebody decides on which side it stands.
func TestNoPlaceIsForgotten(t *testing.T) {
	counted := []string{
		"*.EnvFrom.SecretRef", "*.EnvFrom.ConfigMapRef",
		"*.Env.ValueFrom.SecretKeyRef", "*.Env.ValueFrom.ConfigMapKeyRef",
		"Volumes.VolumeSource.Secret", "Volumes.VolumeSource.ConfigMap",
		"Volumes.VolumeSource.Projected.Sources.Secret", "Volumes.VolumeSource.Projected.Sources.ConfigMap",
	}
	excluded := []string{
		"ImagePullSecrets",
		"Volumes.VolumeSource.AzureFile.SecretName", "Volumes.VolumeSource.CephFS.SecretRef", "Volumes.VolumeSource.CephFS.SecretFile",
		"Volumes.VolumeSource.Cinder.SecretRef", "Volumes.VolumeSource.CSI.NodePublishSecretRef",
		"Volumes.VolumeSource.FlexVolume.SecretRef", "Volumes.VolumeSource.ISCSI.SecretRef",
		"Volumes.VolumeSource.RBD.SecretRef", "Volumes.VolumeSource.ScaleIO.SecretRef",
		"Volumes.VolumeSource.StorageOS.SecretRef",
		"*.Env.ValueFrom.FileKeyRef",
	}
	var want []string // of the container lists only the ephemeral one is left out
	for _, path := range slices.Concat(counted, excluded) {
		for _, list := range []string{"InitContainers", "Containers", "EphemeralContainers.EphemeralContainerCommon"} {
			want = append(want, strings.Replace(path, "*", list, 1))
		}
	}
	slices.Sort(want)

	got := referencesIn(reflect.TypeFor[corev1.PodSpec](), "")
	slices.Sort(got)
	if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
		t.Errorf("places of a pod spec that name a source (-want +got):\n%s", diff)
	}
}

// referencesIn lists the fields below typ that look like the name of a Secret,
// a ConfigMap, or a key in something.
func referencesIn(typ reflect.Type, path string) []string {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || !strings.HasSuffix(typ.PkgPath(), "/core/v1") {
		return nil
	}
	var found []string
	for field := range typ.Fields() {
		at := strings.TrimPrefix(path+"."+field.Name, ".")
		about := field.Name + " " + fmt.Sprint(field.Type)
		switch {
		case strings.Contains(about, "Secret"), strings.Contains(about, "ConfigMap"),
			strings.Contains(about, "KeySelector"), strings.Contains(about, "LocalObjectReference") && !strings.Contains(about, "Typed"):
			found = append(found, at)
		default:
			found = append(found, referencesIn(field.Type, at)...)
		}
	}
	return found
}

func secret(name string, uses ...discover.Use) discover.Dependency {
	return discover.Dependency{Ref: discover.Ref{Kind: discover.KindSecret, Name: name}, Uses: uses}
}

func configMap(name string, uses ...discover.Use) discover.Dependency {
	return discover.Dependency{Ref: discover.Ref{Kind: discover.KindConfigMap, Name: name}, Uses: uses}
}

func secretKey(name, key string, optional *bool) corev1.EnvVar {
	return corev1.EnvVar{Name: strings.ToUpper(key), ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: local(name), Key: key, Optional: optional},
	}}
}

func ExampleDependencies() {
	spec := &corev1.PodSpec{Containers: []corev1.Container{{
		Name: "web",
		Env:  []corev1.EnvVar{secretKey("database", "password", nil)},
	}}}
	for _, d := range discover.Dependencies(spec) {
		fmt.Println(d.Kind, d.Name, d.Required(), d.RequiredKeys())
	}
	// Output: Secret database true [password]
}

func BenchmarkRefs(b *testing.B) {
	spec := typicalSpec()
	b.ReportAllocs()
	for b.Loop() {
		discover.Refs(spec)
	}
}

func BenchmarkDependencies(b *testing.B) {
	spec := typicalSpec()
	b.ReportAllocs()
	for b.Loop() {
		discover.Dependencies(spec)
	}
}

// typicalSpec has three containers, twelve references, five sources.
func typicalSpec() *corev1.PodSpec {
	spec := &corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "init"}},
		Containers:     []corev1.Container{{Name: "web"}, {Name: "proxy"}},
		Volumes:        []corev1.Volume{secretVolume("tls", "tls"), secretVolume("conf", "conf")},
	}
	for _, c := range []*corev1.Container{&spec.InitContainers[0], &spec.Containers[0], &spec.Containers[1]} {
		c.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: local("settings")}}}
		c.Env = []corev1.EnvVar{secretKey("database", "password", nil), {Name: "PLAIN", Value: "v"}}
		c.VolumeMounts = []corev1.VolumeMount{{Name: "tls"}, {Name: "conf"}}
	}
	return spec
}
