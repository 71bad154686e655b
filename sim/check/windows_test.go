package check

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

func TestWindows(t *testing.T) {
	allow := func(cron, duration, zone string) v1alpha1.Window {
		d, err := time.ParseDuration(duration)
		if err != nil {
			t.Fatal(err)
		}
		return v1alpha1.Window{Type: v1alpha1.WindowAllow, Cron: cron, Duration: metav1.Duration{Duration: d}, TimeZone: zone}
	}
	deny := func(cron, duration, zone string) v1alpha1.Window {
		w := allow(cron, duration, zone)
		w.Type = v1alpha1.WindowDeny
		return w
	}
	tests := map[string]struct {
		windows []v1alpha1.Window
		at      string
		want    bool
	}{
		"none":                         {nil, "2026-03-01T12:00:00Z", true},
		"first instant":                {[]v1alpha1.Window{allow("0 12 * * *", "1h", "")}, "2026-03-01T12:00:00Z", true},
		"before it":                    {[]v1alpha1.Window{allow("0 12 * * *", "1h", "")}, "2026-03-01T11:59:59.999999Z", false},
		"last instant":                 {[]v1alpha1.Window{allow("0 12 * * *", "1h", "")}, "2026-03-01T12:59:59.999999Z", true},
		"end":                          {[]v1alpha1.Window{allow("0 12 * * *", "1h", "")}, "2026-03-01T13:00:00Z", false},
		"over midnight":                {[]v1alpha1.Window{allow("0 22 * * *", "4h", "")}, "2026-03-02T01:30:00Z", true},
		"deny only":                    {[]v1alpha1.Window{deny("0 12 * * *", "1h", "")}, "2026-03-01T11:00:00Z", true},
		"deny wins":                    {[]v1alpha1.Window{allow("0 12 * * *", "2h", ""), deny("0 13 * * *", "1h", "")}, "2026-03-01T13:30:00Z", false},
		"zone":                         {[]v1alpha1.Window{allow("0 2 * * *", "1h", "Europe/Berlin")}, "2026-03-01T01:30:00Z", true},
		"unknown zone":                 {[]v1alpha1.Window{allow("* * * * *", "1h", "Europe/Atlantis")}, "2026-03-01T01:30:00Z", false},
		"never":                        {[]v1alpha1.Window{deny("0 0 30 2 *", "1h", "")}, "2026-03-01T01:30:00Z", false},
		"gap opens at next instant":    {[]v1alpha1.Window{allow("30 2 * * *", "1h", "America/New_York")}, "2026-03-08T07:00:00Z", true},
		"gap, not before":              {[]v1alpha1.Window{allow("30 2 * * *", "1h", "America/New_York")}, "2026-03-08T06:59:00Z", false},
		"gap, ends after its duration": {[]v1alpha1.Window{allow("30 2 * * *", "1h", "America/New_York")}, "2026-03-08T08:00:00Z", false},
		"deny in the gap":              {[]v1alpha1.Window{deny("30 2 * * *", "1h", "America/New_York")}, "2026-03-08T07:30:00Z", false},
		"twice, the first":             {[]v1alpha1.Window{allow("30 1 * * *", "30m", "America/New_York")}, "2026-11-01T05:45:00Z", true},
		"twice, not the second":        {[]v1alpha1.Window{allow("30 1 * * *", "30m", "America/New_York")}, "2026-11-01T06:45:00Z", false},
		"across the change":            {[]v1alpha1.Window{allow("0 20 * * *", "12h", "America/New_York")}, "2026-03-08T12:59:00Z", true},
		"across the change, elapsed":   {[]v1alpha1.Window{allow("0 20 * * *", "12h", "America/New_York")}, "2026-03-08T13:00:00Z", false},
		"midnight that does not exist": {[]v1alpha1.Window{allow("0 0 * * *", "1h", "America/Sao_Paulo")}, "2018-11-04T03:00:00Z", true},
		"leap day":                     {[]v1alpha1.Window{allow("0 0 29 2 *", "24h", "")}, "2028-02-29T12:00:00Z", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339Nano, tt.at)
			if err != nil {
				t.Fatal(err)
			}
			p := policy("p")
			p.Spec.Schedule.Windows = tt.windows
			if got := open(p, at); got != tt.want {
				t.Errorf("open at %s = %v, want %v", tt.at, got, tt.want)
			}
		})
	}
}

func TestRefs(t *testing.T) {
	local := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	spec := corev1.PodSpec{
		ImagePullSecrets: []corev1.LocalObjectReference{local("pull")},
		InitContainers:   []corev1.Container{{EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: local("init")}}}}},
		Containers: []corev1.Container{{Env: []corev1.EnvVar{
			{Name: "A", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: local("key"), Key: "k", Optional: new(true)}}},
			{Name: "B", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: local("key"), Key: "k"}}},
		}}},
		Volumes: []corev1.Volume{
			{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "vol"}}},
			{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: local("proj"), Items: []corev1.KeyToPath{{Key: "x"}}}},
				{Secret: &corev1.SecretProjection{LocalObjectReference: local("key")}},
			}}}},
		},
	}
	var got []string
	for _, r := range refsOf("shop", &corev1.PodTemplateSpec{Spec: spec}) {
		name := r.source.String()
		if r.required {
			name += " required"
		}
		for _, k := range r.keys {
			name += " " + k
		}
		got = append(got, name)
	}
	want := []string{
		"ConfigMap shop/init required", "ConfigMap shop/key required k", "ConfigMap shop/proj required x",
		"Secret shop/key required", "Secret shop/vol required",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
