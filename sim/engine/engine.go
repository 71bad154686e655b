package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/corewire/kick/kick/model/fingerprint"
	"github.com/corewire/kick/kick/operator"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/sched"
	"github.com/corewire/kick/sim/steps"
)

var background = context.Background()

// scheme is made once: nothing changes it.
var scheme = sync.OnceValue(operator.NewScheme)

// Engine is all replicas of the operator and the lease they share.
type Engine struct {
	run.OperatorOptions
	loop     *sched.Loop
	scheme   *runtime.Scheme
	options  operator.Options
	replicas []*process // nil: that replica is not running
	lease    lease
	passes   int64 // how many began
	faults   []activeFault
	reviving int // killed processes whose next life is on its way
	crash    *crashPoint
	healed   bool // nothing but the order of events is left to chance
	sites    map[siteKey]*site
	history  history
	keys     byte // how many installation keys were drawn
}

var _ run.Operator = (*Engine)(nil)

// New returns an operator that is not started. It reports flags that the operator
// does not have, or values it would refuse.
func New(o run.OperatorOptions) (run.Operator, error) {
	options, err := parse(o.Flags)
	if err != nil {
		return nil, err
	}
	e := &Engine{OperatorOptions: o, loop: o.Loop, scheme: scheme(), options: options, sites: map[siteKey]*site{}}
	e.replicas = make([]*process, max(o.Replicas, 1))
	o.Server.Subscribe(e.see)
	return e, nil
}

func parse(flags map[string]string) (operator.Options, error) {
	options := operator.NewOptions()
	set := pflag.NewFlagSet("kick", pflag.ContinueOnError)
	options.AddFlags(set)
	for _, name := range sorted(flags) {
		if set.Lookup(name) == nil {
			return options, fmt.Errorf("flags: unknown flag %q (kick --help lists them)", name)
		}
		if err := set.Set(name, flags[name]); err != nil {
			return options, fmt.Errorf("flags: %w", err)
		}
	}
	return options, options.Validate()
}

// newKey draws installation keys that differ from each other and not from run to
// run.
func (e *Engine) newKey() []byte {
	e.keys++
	key := make([]byte, fingerprint.KeySize)
	for i := range key {
		key[i] = e.keys*31 + byte(i)
	}
	return key
}

// Start starts the replicas that are not running.
func (e *Engine) Start() {
	for i := range e.replicas {
		if e.replicas[i] == nil {
			e.start(i)
		}
	}
}

func (e *Engine) start(replica int) {
	p, err := newProcess(e, replica)
	if err != nil {
		panic(fmt.Sprintf("start replica %d: %v", replica, err)) // the wiring is wrong for every scenario
	}
	e.replicas[replica] = p
}

// Stop ends all replicas in order; a leader gives its lease back.
func (e *Engine) Stop() {
	for i, p := range e.replicas {
		if p == nil {
			continue
		}
		if e.lease.holder == p {
			e.label(p, e.loop.Now())
			e.lease.holder, e.lease.owner, e.lease.until = nil, nil, time.Time{}
		}
		p.die()
		e.replicas[i] = nil
	}
}

// Restart is Stop and Start.
func (e *Engine) Restart() {
	e.Stop()
	e.Start()
}

// Crash kills the leader, or the first replica if none leads.
func (e *Engine) Crash() {
	if victim := e.victim(); victim != nil {
		e.kill(victim)
	}
}

// Pause lets the leader, or the first replica if none leads, stand still.
func (e *Engine) Pause(d time.Duration) {
	if victim := e.victim(); victim != nil && victim.awake {
		victim.freeze(d)
	}
}

// victim is the leader, or the first replica that runs; nil: none does.
func (e *Engine) victim() *process {
	if e.lease.holder != nil {
		return e.lease.holder
	}
	for _, p := range e.replicas {
		if p != nil {
			return p
		}
	}
	return nil
}

// CrashAtWrite kills the operator around its n-th write from now.
func (e *Engine) CrashAtWrite(n int, landed bool) {
	fault := faults.CrashLost
	if landed {
		fault = faults.CrashLanded
	}
	e.crash = &crashPoint{left: n, fault: fault}
}

// AddFault makes calls fail, watches lie, or the next start find an old cluster.
func (e *Engine) AddFault(f steps.Fault) {
	if known := faults.ByName(f.Name); known != nil {
		e.faults = append(e.faults, activeFault{Fault: known, on: f})
	}
}

// Heal ends all faults and starts what is not running. From then on only the order
// of events is left to chance.
func (e *Engine) Heal() {
	e.faults, e.crash, e.healed = nil, nil, true
	e.Start()
	for _, p := range e.replicas {
		p.heal()
	}
}

// Idle reports that nothing is queued, and nobody is about to come back.
func (e *Engine) Idle() bool {
	if e.reviving > 0 {
		return false
	}
	running := false
	for _, p := range e.replicas {
		if p != nil && !p.idle() {
			return false
		}
		running = running || p != nil
	}
	return !running || e.lease.holder != nil // without a leader, one is about to come
}

// see hands a commit to every process.
func (e *Engine) see(ev cluster.Event) {
	e.history.add(ev, e.loop.Now())
	for _, p := range e.replicas {
		if p != nil {
			p.see(ev)
		}
	}
}

// NextWake is the earliest timer of any controller, looks of routine left out.
func (e *Engine) NextWake() (time.Time, bool) {
	var first time.Time
	for _, p := range e.replicas {
		if p == nil {
			continue
		}
		for _, q := range p.queues {
			for _, t := range q.timers {
				if !t.routine && (first.IsZero() || t.due.Before(first)) {
					first = t.due
				}
			}
		}
	}
	return first, !first.IsZero()
}

func sorted(flags map[string]string) []string { return slices.Sorted(maps.Keys(flags)) }
