package check

import (
	"testing"
	"time"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

func TestPace(t *testing.T) {
	for name, tt := range map[string]struct {
		manager string
		every   time.Duration
		words   string
	}{
		"over and over": {Manager, time.Millisecond, "KickRequest shop/deployment-web was written 100 times by KICK within 99ms"},
		"at a pace":     {Manager, 200 * time.Millisecond, ""},
		"by another":    {"kubectl", time.Millisecond, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawPace)
			b.create("kubectl", request("deployment-web"))
			for i := range paceSize {
				edit(b, tt.manager, requestKind, "deployment-web", func(r *v1alpha1.KickRequest) { r.Status.ObservedGeneration = int64(i + 1) })
				b.wait(tt.every)
			}
			b.judged(tt.words)
		})
	}
}

func TestSpin(t *testing.T) {
	b := shop(t, lawPace)
	calls := func(n int) {
		for range n {
			b.laws.OnAccess(Access{})
		}
	}
	calls(spinSize - 1)
	b.wait(time.Millisecond)
	calls(spinSize - 1)
	b.holds()
	calls(1)
	b.fires("KICK made 5000 calls at one instant")
}
