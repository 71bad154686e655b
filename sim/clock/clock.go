// Package clock gives each part of the simulated cluster its own wall clock over
// the loop's true time: the API server, kube-controller-manager, the kubelet and
// KICK disagree, as real machines do.
package clock

import (
	"context"
	"time"

	"github.com/benbjohnson/clock"

	"github.com/corewire/kick/sim/sched"
)

// Domain names a part of the cluster that has a clock of its own.
type Domain string

// The clock domains of a cluster (DESIGN section 9, scenario field world.clockSkew).
const (
	APIServer         Domain = "apiserver"
	ControllerManager Domain = "kcm"
	Kubelet           Domain = "kubelet"
	Kick              Domain = "kick"
)

// Domains lists every clock domain in a fixed order.
var Domains = []Domain{APIServer, ControllerManager, Kubelet, Kick}

// Virtual is the wall clock of one domain: true time plus an offset that a fault
// may step. Only Now, Since and Until exist: simulated code schedules through the
// engine, so a method that would need a goroutine panics and names itself.
type Virtual struct {
	loop      *sched.Loop
	offset    time.Duration
	low, high time.Duration // least and greatest offset there was
	set       time.Time     // true time of the last step
}

var _ clock.Clock = (*Virtual)(nil)

// New returns a clock that shows the loop's time plus offset.
func New(loop *sched.Loop, offset time.Duration) *Virtual {
	return &Virtual{loop: loop, offset: offset, low: offset, high: offset}
}

// Step moves the wall clock by d; timers that already run are not affected, as
// with the monotonic timers of a real process.
func (v *Virtual) Step(d time.Duration) {
	v.offset += d
	v.set = v.loop.Now()
	v.low, v.high = min(v.low, v.offset), max(v.high, v.offset)
}

// Offset is how far this clock is ahead of true time.
func (v *Virtual) Offset() time.Duration { return v.offset }

// Range is the least and the greatest offset this clock ever had.
func (v *Virtual) Range() (low, high time.Duration) { return v.low, v.high }

// Set is the true time of the last step; zero: there was none.
func (v *Virtual) Set() time.Time { return v.set }

// Now is the time this domain believes it is.
func (v *Virtual) Now() time.Time { return v.loop.Now().Add(v.offset) }

// Since is Now minus t.
func (v *Virtual) Since(t time.Time) time.Duration { return v.Now().Sub(t) }

// Until is t minus Now.
func (v *Virtual) Until(t time.Time) time.Duration { return t.Sub(v.Now()) }

// WithDeadline returns the parent unchanged: no call in the simulator blocks.
func (v *Virtual) WithDeadline(parent context.Context, _ time.Time) (context.Context, context.CancelFunc) {
	return context.WithCancel(parent)
}

// WithTimeout returns the parent unchanged: no call in the simulator blocks.
func (v *Virtual) WithTimeout(parent context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
	return context.WithCancel(parent)
}

// After panics: see Virtual.
func (v *Virtual) After(time.Duration) <-chan time.Time { panic("clock.After in simulated code") }

// AfterFunc panics: see Virtual.
func (v *Virtual) AfterFunc(time.Duration, func()) *clock.Timer {
	panic("clock.AfterFunc in simulated code")
}

// Sleep panics: see Virtual.
func (v *Virtual) Sleep(time.Duration) { panic("clock.Sleep in simulated code") }

// Tick panics: see Virtual.
func (v *Virtual) Tick(time.Duration) <-chan time.Time { panic("clock.Tick in simulated code") }

// Ticker panics: see Virtual.
func (v *Virtual) Ticker(time.Duration) *clock.Ticker { panic("clock.Ticker in simulated code") }

// Timer panics: see Virtual.
func (v *Virtual) Timer(time.Duration) *clock.Timer { panic("clock.Timer in simulated code") }
