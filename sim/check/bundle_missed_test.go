package check

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"errors"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

func TestBundleMissed(t *testing.T) {
	settings := metav1.ObjectMeta{Namespace: "shop", Name: "settings"}
	tries := func(b *bench, err error) {
		w := Write{Verb: "create", Kind: configMapKind, Key: key("settings")}
		b.laws.OnCall(w)
		w.Done, w.Err = true, err
		b.laws.OnCall(w)
	}
	passes := func(b *bench, after time.Duration) {
		b.laws.OnPass(Pass{Controller: "bundle", Key: "ConfigBundle shop/settings", After: after})
	}
	denied := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "settings", errors.New("denied"))
	for name, tt := range map[string]struct {
		act   func(*bench)
		words string
	}{
		"made anew":            {func(b *bench) { b.create(Manager, &corev1.ConfigMap{ObjectMeta: settings}); b.wait(time.Hour) }, ""},
		"soon":                 {func(b *bench) { b.wait(missedFor) }, ""},
		"never":                {func(b *bench) { b.wait(missedFor + time.Second) }, "KICK did not try to make it anew for 1m31s"},
		"not needed":           {func(b *bench) { b.delete("kubectl", bundleKind, "settings"); b.wait(time.Hour) }, ""},
		"tried, and late":      {func(b *bench) { b.wait(time.Hour); tries(b, nil) }, "KICK did not try to make it anew for 1h0m0s"},
		"refused, tried again": {func(b *bench) { tries(b, denied); passes(b, missedAgain) }, ""},
		"refused, given up":    {func(b *bench) { tries(b, denied); passes(b, 0) }, "does not look again within 3s"},
		"refused, later":       {func(b *bench) { tries(b, denied); passes(b, 30*time.Second) }, "does not look again within 3s"},
		"not refused":          {func(b *bench) { tries(b, nil); passes(b, 0) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawBundleMissed)
			b.laws.Bundles, b.laws.Healed = true, b.loop.Now()
			b.create("kubectl", &corev1.ConfigMap{ObjectMeta: settings}, &v1alpha1.ConfigBundle{ObjectMeta: settings})
			edit(b, Manager, bundleKind, "settings", func(o *v1alpha1.ConfigBundle) {
				o.Status.ConfigMap = &v1alpha1.ManagedConfigMap{Name: "settings", UID: "uid"}
			})
			b.delete("kubectl", configMapKind, "settings")
			tt.act(b)
			b.laws.AtEnd()
			b.judged(tt.words)
		})
	}
}
