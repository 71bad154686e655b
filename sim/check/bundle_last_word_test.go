package check

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

func TestLastWord(t *testing.T) {
	settings := metav1.ObjectMeta{Namespace: "shop", Name: "settings"}
	says := func(reason string, had bool, generation int64) func(*v1alpha1.ConfigBundle) {
		return func(o *v1alpha1.ConfigBundle) {
			o.Status.ObservedGeneration = o.Generation + 1 + generation // the server of a bench knows no subresource of it
			o.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason}}
			if had {
				o.Status.ConfigMap = &v1alpha1.ManagedConfigMap{Name: "settings", UID: "uid"}
			}
		}
	}
	taken := says("NameTaken", false, 0)
	for name, tt := range map[string]struct {
		status func(*v1alpha1.ConfigBundle)
		last   func(*bench) // before the pass ends
		pass   Pass
		words  string
	}{
		"its name was taken":      {taken, nil, Pass{Shown: true}, ""},
		"it was refused":          {says("Forbidden", false, 0), nil, Pass{Shown: true}, ""},
		"it had one":              {says("NameTaken", true, 0), nil, Pass{Shown: true}, "ConfigBundle shop/settings, made no ConfigMap for it and will not look again, but it had one"},
		"it waited":               {says("Terminating", false, 0), nil, Pass{Shown: true}, "the one that it waited for is gone"},
		"declared anew":           {says("NameTaken", false, -1), nil, Pass{Shown: true}, "it was declared anew"},
		"it looks again":          {says("NameTaken", true, 0), nil, Pass{Shown: true, After: time.Second}, ""},
		"it looks again at once":  {says("NameTaken", true, 0), nil, Pass{Shown: true, Again: true}, ""},
		"the cache shows nothing": {says("NameTaken", true, 0), nil, Pass{}, ""},
		"of another controller":   {says("NameTaken", true, 0), nil, Pass{Shown: true, Controller: "source"}, ""},
		"it is there": {says("NameTaken", true, 0), func(b *bench) {
			b.create(Manager, &corev1.ConfigMap{ObjectMeta: settings})
		}, Pass{Shown: true}, ""},
		"it was tried": {says("NameTaken", true, 0), func(b *bench) {
			b.laws.OnCall(Write{Verb: "create", Kind: configMapKind, Key: key("settings")})
		}, Pass{Shown: true}, ""},
		"it went meanwhile": {says("NameTaken", true, 0), func(b *bench) {
			b.create("kubectl", &corev1.ConfigMap{ObjectMeta: settings})
			b.delete("kubectl", configMapKind, "settings")
		}, Pass{Shown: true}, ""},
		"the bundle is gone": {says("NameTaken", true, 0), func(b *bench) { b.delete("kubectl", bundleKind, "settings") }, Pass{Shown: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawLastWord)
			b.create("kubectl", &v1alpha1.ConfigBundle{ObjectMeta: settings})
			edit(b, Manager, bundleKind, "settings", tt.status)
			b.wait(time.Second)
			tt.pass.Began = b.loop.Now()
			b.wait(time.Millisecond)
			if tt.last != nil {
				tt.last(b)
			}
			tt.pass.Key = "ConfigBundle shop/settings"
			if tt.pass.Controller == "" {
				tt.pass.Controller = "bundle"
			}
			b.laws.OnPass(tt.pass)
			b.judged(tt.words)
		})
	}
}
