package check

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// TestAnswered: where KICK's own stamp proves it all, no date excuses anything.
func TestAnswered(t *testing.T) {
	const fires = "every running pod carried the current content"
	for name, tt := range map[string]struct {
		after func(*bench) // what came after KICK's restart
		words string
	}{
		"nothing came":                 {func(*bench) {}, fires},
		"the change was recorded anew": {(*bench).recorded, ""},
		"a pod does not carry it": {func(b *bench) {
			b.delete("kubectl", schema.GroupKind{Kind: "Pod"}, "pod-0")
			b.create("kubectl", &corev1.Pod{ObjectMeta: meta("pod-0"), Spec: podSpec()})
		}, ""},
		"somebody asked for it": {func(b *bench) {
			r := request("please")
			r.Spec.Trigger = v1alpha1.TriggerManual
			b.create("kubectl", r)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawSpurious)
			b.create(Manager, record())
			b.wait(time.Minute)
			edit(b, "kubectl", secretKind, "db", func(s *corev1.Secret) { s.Data = nil }) // undated
			b.recorded()
			b.wait(time.Second)
			b.restart()
			pod := &corev1.Pod{ObjectMeta: meta("pod-0"), Spec: podSpec()}
			pod.Annotations = map[string]string{Stamp: b.loop.Now().Format(time.RFC3339Nano)}
			b.create("kube-controller-manager", pod)
			b.run(b.now())
			b.wait(time.Minute)
			tt.after(b)
			b.wait(time.Second)
			b.laws.OnCall(patch(false, nil))
			b.restart()
			b.judged(tt.words)
		})
	}
}
