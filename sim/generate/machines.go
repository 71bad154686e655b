package generate

import (
	"bytes"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/model/fingerprint"
	"github.com/corewire/kick/kick/operator"
	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

// operator is something that happens to KICK's processes.
func (s *story) operator() {
	switch s.below(7, "operator") {
	case 1:
		s.do(steps.OperatorStep("crash"))
	case 2:
		s.do(steps.OperatorStep("stop"))
	case 3:
		s.do(steps.OperatorStep("start"))
	case 4:
		s.do(steps.PauseStep(pick(s.maker, "paused for", []time.Duration{20 * time.Second, time.Second, 5 * time.Minute})))
		s.edit()
	case 5, 6:
		s.try(steps.CrashAtWriteStep(1+s.below(6, "write"), s.maybe("landed")))
		s.edit()
	default:
		s.do(steps.OperatorStep("restart"))
	}
}

// downTime is what happens while KICK is down.
func (s *story) downTime() {
	s.do(steps.OperatorStep("stop"))
	for range 1 + s.below(3, "changes while down") {
		s.breathe()
		pick(s.maker, "act while down", []func(*story){
			(*story).edit, (*story).thereAndBack, (*story).keys, (*story).metadata, (*story).replace, (*story).pods, (*story).rollout, (*story).forget,
		})(s)
	}
	if s.maybe("long") {
		s.pause()
	} else {
		s.breathe()
	}
	s.do(steps.OperatorStep("start"))
}

// loseKey takes KICK's installation key away, or puts another one in its place as a
// restored namespace does. KICK finds out when it starts again.
func (s *story) loseKey() {
	if !s.maybe("under a running KICK") {
		s.do(steps.OperatorStep("stop"))
		s.breathe()
	}
	key := scenario.Ref{
		GVK: corev1.SchemeGroupVersion.WithKind(kindSecret),
		Key: types.NamespacedName{Namespace: operator.DefaultNamespace, Name: ledger.KeySecret},
	}
	s.do(steps.DeleteStep(key))
	if s.maybe("another key") {
		other := ledger.KeyObject(key.Key.Namespace, bytes.Repeat([]byte("k"), fingerprint.KeySize))
		other.SetGroupVersionKind(key.GVK)
		s.try(steps.CreateStep(scenario.NewResource(other), "restore"))
	}
	if s.maybe("a change meets it") {
		s.edit()
	}
	s.breathe()
	s.do(steps.OperatorStep("restart"))
}

var (
	watchedKinds = []string{"Secret", "ConfigMap", kindDeployment, kindStatefulSet, kindDaemonSet, "KickRequest", "KickPolicy", "SourceObservation"}
	faultyCalls  = []struct{ verb, kind string }{
		{"", ""}, {"patch", ""}, {"create", "KickRequest"}, {"update", "KickRequest"}, {"create", "SourceObservation"},
		{"update", "SourceObservation"}, {"delete", ""},
	}
)

// fault lets calls of KICK go wrong while something changes.
func (s *story) fault() {
	f := pick(s.maker, "fault", faults.All)
	on := steps.Fault{Name: f.Name}
	switch f.Place {
	case faults.Watch:
		on.Kind = pick(s.maker, "watched kind", watchedKinds)
	case faults.Start:
	default:
		at := pick(s.maker, "call", faultyCalls)
		on.Verb, on.Kind = at.verb, at.kind
		on.Times = s.below(4, "times")
	}
	if f.Place == faults.Start {
		s.oldStart()
		return
	}
	s.fail(on)
	s.edit()
	if s.maybe("healed") {
		s.pause()
		s.do(steps.HealStep())
	}
}

// oldStart lets KICK start again with caches that are older than what it saw and wrote
// before; each kind catches up in its own time.
func (s *story) oldStart() {
	k := s.someSource()
	s.change(k, s.otherContent())
	s.breathe()
	s.fail(steps.Fault{Name: faults.OldCache.Name})
	if !s.seldom(3, "all catch up at once") {
		behind := pick(s.maker, "kind that stays behind", []string{k.kind, "SourceObservation", "KickRequest"})
		s.fail(steps.Fault{Name: faults.LateWatch.Name, Kind: behind, Times: 1})
	}
	s.do(steps.OperatorStep("restart"))
}

// clock steps a clock: KICK's by as much as a wrong time server may, all others
// within the clock allowance.
func (s *story) clock() {
	domain := pick(s.maker, "clock domain", []clock.Domain{clock.Kick, clock.APIServer, clock.ControllerManager, clock.Kubelet})
	small := []time.Duration{-time.Second, time.Second, -2 * time.Second, 2 * time.Second}
	step := pick(s.maker, "clock step", append(small, -time.Hour, time.Hour, -2*time.Hour, 2*time.Hour))
	now := s.world.World.ClockSkew[domain] + s.offsets[domain]
	const most = 2 * time.Second
	if domain != clock.Kick || max(step, -step) <= most {
		step = min(max(now+min(max(step, -most), most), -most), most) - now
	}
	if step == 0 {
		return
	}
	s.offsets[domain] += step
	s.do(steps.ClockStep(domain, step))
}
