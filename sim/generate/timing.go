package generate

import (
	"time"

	"github.com/corewire/kick/sim/clock"
)

// flagSets are flags of the operator that belong together.
var flagSets = []map[string]string{
	{"rollout-timeout": "2m"},
	{"rollout-timeout": "1h"},
	{"request-retention": "1h"},
	{"clock-allowance": "10s"},
	{"watch-namespaces": "shop"},
	{"leader-election-lease-duration": "6s", "leader-election-renew-deadline": "4s", "leader-election-retry-period": "1s"},
}

func (b *builder) operator() {
	o := &b.world.Operator
	if b.has[twoReplicas] {
		o.Replicas = 2
	}
	if b.has[lateStart] {
		o.StartAt = pick(b.maker, "operator starts", []time.Duration{0, time.Millisecond, 30 * time.Second, 10 * time.Minute, 26 * time.Hour})
	}
	if b.has[flags] {
		o.Flags = pick(b.maker, "flags", flagSets)
	}
}

func (b *builder) timing() {
	w := &b.world.World
	if b.has[podTiming] {
		w.PodStart = pick(b.maker, "pod start", []time.Duration{w.PodStart, 100 * time.Millisecond, 500 * time.Millisecond, 10 * time.Second, 45 * time.Second})
	}
	if b.has[cacheLag] {
		w.KubeletCacheLag = pick(b.maker, "kubelet cache lag", []time.Duration{0, 500 * time.Millisecond, 3 * time.Second, 30 * time.Second})
	}
	if b.has[skews] {
		b.skew(w.ClockSkew)
	}
}

// skew lets clocks differ, any two of them by less than the clock allowance: one
// domain by much, or all of them by half of that.
func (b *builder) skew(offsets map[clock.Domain]time.Duration) {
	if !b.maybe("clocks of all domains") {
		domain := pick(b.maker, "clock domain", clock.Domains)
		offsets[domain] = pick(b.maker, "clock skew", []time.Duration{-time.Second, time.Second, -4500 * time.Millisecond, 4500 * time.Millisecond})
		return
	}
	for _, domain := range clock.Domains {
		if offset := pick(b.maker, "small clock skew", []time.Duration{0, -2 * time.Second, 2 * time.Second, 300 * time.Millisecond}); offset != 0 {
			offsets[domain] = offset
		}
	}
}
