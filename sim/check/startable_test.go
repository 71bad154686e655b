package check

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
)

func TestStartable(t *testing.T) {
	optional := func(b *bench) {
		edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].EnvFrom[0].SecretRef.Optional = new(true)
		})
	}
	for name, tt := range map[string]struct {
		before func(*bench)
		untold bool
		words  string
	}{
		"all is there":           {before: func(*bench) {}},
		"the source is gone":     {before: func(*bench) {}, words: "its new pods cannot start: Secret shop/db does not exist"},
		"gone, and optional":     {before: optional},
		"gone, and not told yet": {before: func(*bench) {}, untold: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawStartable)
			tt.before(b)
			known := b.loop.Now()
			b.wait(time.Second)
			if name != "all is there" {
				b.delete("kubectl", secretKind, "db")
			}
			b.wait(time.Second)
			if !tt.untold {
				known = b.loop.Now()
			}
			call := Write{Verb: "patch", Kind: deploymentKind, Key: key("web"), Known: Known{Secrets: known}}
			b.laws.OnCall(call)
			b.restart()
			b.judged(tt.words)
		})
	}
}
