package check

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

func TestQuiet(t *testing.T) {
	for name, tt := range map[string]struct {
		reason string
		until  time.Duration // from the opening
		edited bool
		words  string
	}{
		"in time":           {"Settling", 100 * time.Second, false, ""},
		"for ever":          {"Settling", 101 * time.Second, false, "request shop/deployment-web waits 1m41s for its changes to end, and its settle delay is 10s"},
		"another wait":      {"RateLimited", time.Hour, false, ""},
		"the policy is new": {"Settling", time.Hour, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawQuiet)
			settle := func(p *v1alpha1.KickPolicy) {
				p.Spec.Restart.SettleDelay = &metav1.Duration{Duration: 10 * time.Second}
			}
			edit(b, "kubectl", policyKind, "web", settle)
			b.wait(time.Minute)
			opened := b.loop.Now()
			b.create(Manager, request("deployment-web"))
			if tt.edited {
				b.wait(time.Second)
				edit(b, "kubectl", policyKind, "web", func(p *v1alpha1.KickPolicy) { p.Labels = map[string]string{"a": "b"} })
			}
			reach(b, v1alpha1.PhaseWaitingForGate, func(r *v1alpha1.KickRequest) {
				r.Status.OpenedAt = new(metav1.NewMicroTime(opened))
				r.Status.Gate = &v1alpha1.GateStatus{Reason: tt.reason, RequeueAt: new(metav1.NewMicroTime(opened.Add(tt.until)))}
			})
			b.judged(tt.words)
		})
	}
}
