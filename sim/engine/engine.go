package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/corewire/kick/kick/model/fingerprint"
	"github.com/corewire/kick/kick/operator"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/steps"
)

var background = context.Background()

// scheme is made once: nothing changes it.
var scheme = sync.OnceValue(operator.NewScheme)

// Engine is all replicas of the operator and the lease they share.
type Engine struct {
	run.OperatorOptions
	loop     loop
	scheme   *runtime.Scheme
	options  operator.Options
	replicas []*process // nil: that replica is not running
	lease    lease
	faults   []activeFault
	crash    *crashPoint
	keys     byte // how many installation keys were drawn
}

// lease is the leader election of the cluster, seen from outside: who holds it,
// or until when the silence of a dead holder keeps it.
type lease struct {
	holder  *process
	until   time.Time
	renewed time.Time // last renewal by a holder that is gone; zero: none ever
}

// activeFault is a fault with the calls it still hits.
type activeFault struct {
	*faults.Fault
	on steps.Fault
}

// crashPoint kills the process around one of its next writes.
type crashPoint struct {
	left   int
	landed bool
}

var _ run.Operator = (*Engine)(nil)

// New returns an operator that is not started. It reports flags that the operator
// does not have, or values it would refuse.
func New(o run.OperatorOptions) (run.Operator, error) {
	options, err := parse(o.Flags)
	if err != nil {
		return nil, err
	}
	e := &Engine{OperatorOptions: o, loop: o.Loop, scheme: scheme(), options: options}
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
			e.lease = lease{renewed: e.loop.Now()}
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
	victim := e.lease.holder
	for _, p := range e.replicas {
		if victim == nil {
			victim = p
		}
	}
	if victim != nil {
		e.kill(victim)
	}
}

// kill ends a process at once. Its lease stays until it expires, and another life
// starts a second later.
func (e *Engine) kill(p *process) {
	if e.lease.holder == p {
		// The holder renewed every retry period since it began to lead.
		held := e.loop.Now().Sub(p.leaseOwn) / leaseRetry * leaseRetry
		renewed := p.leaseOwn.Add(held)
		e.lease = lease{until: renewed.Add(leaseTime), renewed: renewed}
	}
	p.die()
	e.replicas[p.replica] = nil
	e.loop.After(comeBack, "restart operator", func() {
		if e.replicas[p.replica] == nil {
			e.start(p.replica)
		}
	})
}

// lastAlive is the last renewal of the lease as KICK's clock showed it.
func (e *Engine) lastAlive() time.Time {
	renewed := e.lease.renewed
	if e.lease.holder != nil {
		renewed = e.loop.Now()
	}
	if renewed.IsZero() {
		return time.Time{}
	}
	return renewed.Add(e.Clock.Offset())
}

// compete gives a free lease to the first replica that is ready for it, or lets
// the others look again when it expires.
func (e *Engine) compete() {
	if e.lease.holder != nil {
		return
	}
	if wait := e.lease.until.Sub(e.loop.Now()); wait > 0 {
		e.loop.After(wait, "lease expires", e.compete)
		return
	}
	for _, p := range e.replicas {
		if p != nil && p.synced {
			e.lease.holder = p
			p.lead()
			return
		}
	}
}

// CrashAtWrite kills the operator around its n-th write from now.
func (e *Engine) CrashAtWrite(n int, landed bool) { e.crash = &crashPoint{left: n, landed: landed} }

// AddFault makes calls fail.
func (e *Engine) AddFault(f steps.Fault) {
	if known := faults.ByName(f.Name); known != nil {
		e.faults = append(e.faults, activeFault{known, f})
	}
}

// Heal ends all faults and starts what is not running.
func (e *Engine) Heal() {
	e.faults, e.crash = nil, nil
	e.Start()
	for _, p := range e.replicas {
		for _, s := range p.cache.order {
			p.schedule(s)
		}
	}
}

// Idle reports that nothing is queued.
func (e *Engine) Idle() bool {
	for _, p := range e.replicas {
		if p == nil {
			continue
		}
		if !p.synced {
			return false
		}
		for _, q := range p.queues {
			if q.step != nil {
				return false
			}
		}
		for _, ev := range p.deliver {
			if ev != nil {
				return false
			}
		}
	}
	return true
}

// NextWake is the earliest timer of any controller.
func (e *Engine) NextWake() (time.Time, bool) {
	var first time.Time
	for _, p := range e.replicas {
		if p == nil {
			continue
		}
		for _, q := range p.queues {
			for _, t := range q.timers {
				if first.IsZero() || t.due.Before(first) {
					first = t.due
				}
			}
		}
	}
	return first, !first.IsZero()
}

// watches reports whether the operator looks at a namespace.
func (e *Engine) watches(namespace string) bool {
	return len(e.options.WatchNamespaces) == 0 || slices.Contains(e.options.WatchNamespaces, namespace)
}

// held reports whether deliveries of a kind are held back.
func (e *Engine) held(kind schema.GroupKind) bool {
	for i := range e.faults {
		if f := &e.faults[i]; f.Watch && (f.on.Kind == "" || f.on.Kind == kind.Kind) {
			return true
		}
	}
	return false
}
