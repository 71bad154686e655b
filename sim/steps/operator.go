package steps

import (
	"time"

	"gopkg.in/yaml.v3"

	"github.com/corewire/kick/sim/scenario"
)

// Operator is KICK as a scenario handles it: processes that start, end and die.
type Operator interface {
	// Start starts the replicas that are not running.
	Start()
	// Stop ends all replicas in order: the leader gives its lease back.
	Stop()
	// Crash kills the leader, or the only replica; it comes back after 1s. Its
	// lease stays until it expires.
	Crash()
	// Pause lets the leader, or the only replica, stand still. Its lease is not
	// renewed meanwhile; then it goes on where it stood.
	Pause(time.Duration)
	// Restart is Stop and Start at once.
	Restart()
	// CrashAtWrite kills the operator around its n-th API write from now.
	CrashAtWrite(n int, landed bool)
	// AddFault lets calls of the operator fail.
	AddFault(Fault)
	// Heal ends all faults and brings every replica back.
	Heal()
	// Idle reports that no work is queued and no reconcile is due now. Timers in
	// the future do not count.
	Idle() bool
	// NextWake is the next timer of the operator.
	NextWake() (time.Time, bool)
}

// operatorOps are the arguments of the verb operator.
var operatorOps = map[string]func(Operator){
	"start":   Operator.Start,
	"stop":    Operator.Stop,
	"restart": Operator.Restart,
	"crash":   Operator.Crash,
}

type operatorStep struct {
	op    string
	pause time.Duration
}

var operatorVerb = scenario.Verb{
	Name:    "operator",
	Doc:     "Stop, start, restart or crash KICK, or let it stand still; with several replicas: the leader.",
	Example: "operator: crash        or  operator: {pause: 20s}",
	Decode: func(d *scenario.Decoder, n *yaml.Node) any {
		var s operatorStep
		if n.Kind == yaml.MappingNode {
			d.Map(n, scenario.Fields{"pause": d.DurationField(&s.pause)})
			if s.pause == 0 {
				d.Problemf(n, "operator: name an action (crash, restart, start, stop) or a pause such as {pause: 20s}")
			}
			return s
		}
		if !d.OneOf(n, &s.op, "operator action", []string{"crash", "restart", "start", "stop"}) {
			return nil
		}
		return s
	},
}

func (s operatorStep) run(e *Env) error {
	if s.pause > 0 {
		e.note("fault", "operator stands still for %s", s.pause)
		e.Operator.Pause(s.pause)
		return nil
	}
	e.note("user", "operator %s", s.op)
	operatorOps[s.op](e.Operator)
	return nil
}
