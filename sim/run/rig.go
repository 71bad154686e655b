package run

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/corewire/kick/sim/check"
	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
	"github.com/corewire/kick/sim/steps"
	"github.com/corewire/kick/sim/world"
)

// rig is one simulated cluster with KICK in it.
type rig struct {
	scenario  scenario.Scenario
	zero      time.Time
	loop      *sched.Loop
	clocks    map[clock.Domain]*clock.Virtual
	server    *cluster.Server
	world     *world.World
	operator  Operator
	laws      *check.Laws
	trail     *Trail
	env       *steps.Env
	script    *sched.Scripted // nil: the scenario answers no question itself
	lastWrite time.Time       // of anything but a lease
}

// The operator's flags that laws must know of.
const (
	flagAllowance         = "clock-allowance"
	flagRolloutTimeout    = "rollout-timeout"
	flagWatched           = "watch-namespaces"
	flagRetention         = "request-retention"
	flagOwn               = "namespace"
	flagBundles           = "enable-config-bundles"
	flagRollouts          = "enable-argo-rollouts"
	flagCSI               = "enable-csi-integration"
	flagRotation          = "csi-rotation-poll-interval"
	flagMaxConcurrent     = "max-concurrent-restarts"
	defaultAllowance      = 5 * time.Second
	defaultRolloutTimeout = 15 * time.Minute
	defaultRetention      = 24 * time.Hour
	defaultOwn            = "kick-system"
	defaultMaxConcurrent  = 25
	defaultRotation       = 2 * time.Minute
)

// maxLead is how long before t=0 the given objects may need at most.
const maxLead = 24 * time.Hour

// prepare builds the cluster and rolls out what is given, up to t=0. How long the
// rollout takes is known only afterwards, and t=0 is fixed, so where the first guess
// of the lead was too short it is done again with a longer one.
func prepare(s scenario.Scenario, o Options) (*rig, error) {
	for lead := firstLead(s); ; lead *= 4 {
		r, err := build(s, o, lead)
		if err != nil {
			return nil, err
		}
		settled, err := r.given(lead)
		if err != nil {
			return nil, err
		}
		if settled || lead >= maxLead {
			return r, nil
		}
	}
}

// build makes an empty cluster whose time stands lead before t=0. Nothing is left
// to choose until then.
func build(s scenario.Scenario, o Options, lead time.Duration) (*rig, error) {
	r := newRig(s, sched.New(s.Start.Add(-lead), sched.FIFO{}))
	installed, err := installedFor(s.World.CRDs)
	if err != nil {
		return nil, inputError{s.At, err}
	}
	r.server = cluster.New(cluster.Options{
		Now: r.clocks[clock.APIServer].Now, Scheme: installed.scheme, CRDs: installed.definitions, NamespaceAutoCreate: true, Fast: o.Fast,
	})
	r.world = world.New(r.worldOptions())
	r.laws = check.New(r.context())
	r.trail = newTrail(r)
	r.connect()
	return r, nil
}

// newRig makes the clocks of a cluster.
func newRig(s scenario.Scenario, loop *sched.Loop) *rig {
	r := &rig{scenario: s, zero: s.Start, loop: loop, clocks: map[clock.Domain]*clock.Virtual{}}
	for _, domain := range clock.Domains {
		r.clocks[domain] = clock.New(r.loop, s.World.ClockSkew[domain])
	}
	return r
}

func (r *rig) worldOptions() world.Options {
	return world.Options{
		Loop: r.loop, Server: r.server,
		KCM: r.clocks[clock.ControllerManager], Kubelet: r.clocks[clock.Kubelet], APIServer: r.clocks[clock.APIServer],
		PodStart: r.scenario.World.PodStart, KubeletCacheLag: r.scenario.World.KubeletCacheLag,
	}
}

func (r *rig) context() check.Context {
	s := &r.scenario
	return check.Context{
		API: r.server, Truth: truth{r.world, r.server}, Loop: r.loop, Clocks: r.clocks,
		World: s.World, Expect: s.Expect, Allowance: duration(s.Operator.Flags, flagAllowance, defaultAllowance),
		RolloutTimeout: duration(s.Operator.Flags, flagRolloutTimeout, defaultRolloutTimeout), Watched: watched(s.Operator.Flags),
		Retention: duration(s.Operator.Flags, flagRetention, defaultRetention), Own: own(s.Operator.Flags),
		Bundles:       s.Operator.Flags[flagBundles] == "true",
		Rollouts:      s.Operator.Flags[flagRollouts] == "true",
		CSI:           s.Operator.Flags[flagCSI] == "true",
		Rotation:      duration(s.Operator.Flags, flagRotation, defaultRotation),
		MaxConcurrent: number(s.Operator.Flags, flagMaxConcurrent, defaultMaxConcurrent),
	}
}

// connect lets trail and laws see what happens, and steps act.
func (r *rig) connect() {
	r.server.Subscribe(r.onWrite)
	r.env = &steps.Env{
		Loop: r.loop, API: r.server, World: r.world, Clocks: r.clocks, Zero: r.zero, Quiet: r.quiet, Note: r.trail.note,
	}
}

// fork copies a cluster that stands at t=0, for a scenario that gives the same.
func (r *rig) fork(s scenario.Scenario) *rig {
	out := newRig(s, r.loop.Fork())
	out.lastWrite = r.lastWrite
	out.server = r.server.Fork(out.clocks[clock.APIServer].Now)
	out.world = r.world.Fork(out.worldOptions())
	out.laws = r.laws.Fork(out.context())
	out.trail = r.trail.fork(out)
	out.connect()
	return out
}

func (r *rig) onWrite(ev cluster.Event) {
	if _, isLease := ev.Object.(*coordinationv1.Lease); !isLease {
		r.lastWrite = r.loop.Now()
	}
	r.trail.write(ev)
	r.laws.OnWrite(ev)
}

// startOperator makes KICK and starts it when the scenario says. From here on there
// are choices.
func (r *rig) startOperator(o Options) error {
	r.loop.Ask(r.chooser(o))
	if r.trail.mute = o.Brief; o.Brief || o.EndBroken {
		r.laws.Broken = r.endBroken
	}
	if o.NewOperator == nil {
		return fmt.Errorf("no operator is linked into this program")
	}
	operator, err := o.NewOperator(OperatorOptions{
		Loop: r.loop, Server: r.server, Clock: r.clocks[clock.Kick],
		Replicas: r.scenario.Operator.Replicas, Flags: r.scenario.Operator.Flags,
		Observe: func(w Write) { r.trail.call(w); r.laws.OnCall(w) },
		Log:     func(line string) { r.trail.log(line); r.laws.OnLog(line) },
		Hit:     r.onHit(o), Touched: o.Touched, Told: r.laws.OnTold, Passed: r.laws.OnPass, Access: r.laws.OnAccess,
		Endpoint: r.world.Endpoint, Notified: func(n check.Notified) { r.trail.notified(n); r.laws.OnNotified(n) },
	})
	if err != nil {
		at := r.scenario.At
		if r.scenario.Operator.At.Line > 0 {
			at = r.scenario.Operator.At
		}
		return inputError{at, fmt.Errorf("operator: %w", err)}
	}
	r.operator, r.env.Operator = operator, operator
	r.laws.Operator, _ = operator.(check.Operator)
	if r.scenario.Operator.StartAt == 0 {
		operator.Start()
		return nil
	}
	r.loop.After(r.scenario.Operator.StartAt, "start operator", operator.Start)
	return nil
}

// endBroken makes time stand still once a law is broken that the scenario does not
// allow to be.
func (r *rig) endBroken() {
	if len(r.laws.Violations()) > 0 {
		r.loop.Halt()
	}
}

// onHit lets the steps and the trail know of faults.
func (r *rig) onHit(o Options) func(site, fault string) {
	return func(site, fault string) {
		if o.Hit != nil {
			o.Hit(site, fault)
		}
		switch fault {
		case faults.None:
			return
		case faults.CrashLost.Name, faults.CrashLanded.Name:
			r.env.Crashed()
		}
		r.trail.fault(fault, site)
	}
}

// silence is how long nothing may have been written until periodic timers, lease
// renewals above all, no longer count as something that happens. It is longer
// than every deadline a rollout has by default.
const silence = 20 * time.Minute

// quiet reports that only periodic timers are left before the deadline.
func (r *rig) quiet(deadline time.Time) bool {
	if r.loop.Now().Sub(r.lastWrite) < silence || r.operator == nil || !r.operator.Idle() || !r.world.Settled() {
		return false
	}
	wake, ok := r.operator.NextWake()
	return !ok || wake.After(deadline)
}

func duration(flags map[string]string, name string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(flags[name]); err == nil {
		return d
	}
	return otherwise
}

func number(flags map[string]string, name string, otherwise int) int {
	if n, err := strconv.Atoi(flags[name]); err == nil {
		return n
	}
	return otherwise
}

func own(flags map[string]string) string {
	if n := flags[flagOwn]; n != "" {
		return n
	}
	return defaultOwn
}

func watched(flags map[string]string) []string {
	if flags[flagWatched] == "" {
		return nil
	}
	return strings.Split(flags[flagWatched], ",")
}

// chooser answers the questions that the scenario names as it says, and all others
// as usual.
func (r *rig) chooser(o Options) sched.Chooser {
	usual := chooser(r.scenario.Seed, o)
	if len(r.scenario.Choices) == 0 {
		return usual
	}
	answers := make([]sched.Answer, len(r.scenario.Choices))
	for i, c := range r.scenario.Choices {
		answers[i] = c.Answer
	}
	r.script = sched.NewScripted(answers, usual)
	return r.script
}

// chooser is the one of the options, else the order of simultaneous events: the
// plain one for seed 1 (the default) and 0, another one for every other seed.
func chooser(seed uint64, o Options) sched.Chooser {
	if o.Chooser != nil {
		return o.Chooser
	}
	if seed <= scenario.DefaultSeed {
		return sched.FIFO{}
	}
	return &shuffled{state: seed}
}

// shuffled answers questions of order by a seeded sequence (splitmix64) and all
// others plainly: a scenario names its faults itself.
type shuffled struct{ state uint64 }

func (s *shuffled) Choose(n int, class sched.Class, _ string) int {
	if class != sched.Order {
		return 0
	}
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	z ^= z >> 31
	return int(z % uint64(n))
}

// ordinal is the number at the end of a StatefulSet's pod name, else -1.
func ordinal(kind, name string) int {
	if kind != "StatefulSet" {
		return -1
	}
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '-' {
			if n, err := strconv.Atoi(name[i+1:]); err == nil {
				return n
			}
			break
		}
	}
	return -1
}
