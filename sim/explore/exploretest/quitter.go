// Package exploretest has an operator with a fault that plain schedules do not show,
// for tests of whatever searches for faults.
package exploretest

import (
	"time"

	"github.com/corewire/kick/sim/check"
	"github.com/corewire/kick/sim/engine"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/run"
)

// Site is the call whose failure Quitter does not survive.
const Site = "patch Deployment"

// afterCrash is a little later than a killed process comes back.
const afterCrash = time.Second + time.Millisecond

// quitter is KICK, but it gives up for good once its restart of a Deployment was
// answered with a server error, or when it died before sending it.
type quitter struct {
	run.Operator
	quit bool
}

// Quitter makes the operator.
func Quitter(o run.OperatorOptions) (run.Operator, error) {
	q := &quitter{}
	hit := o.Hit
	o.Hit = func(site, fault string) {
		hit(site, fault)
		if site != Site || q.quit || fault != faults.ServerError.Name && fault != faults.CrashLost.Name {
			return
		}
		q.quit = true
		o.Loop.After(0, "give up", q.Stop)
		o.Loop.After(afterCrash, "give up", q.Stop)
	}
	kick, err := engine.New(o)
	if err != nil {
		return nil, err
	}
	q.Operator = kick
	return struct {
		*quitter
		check.Operator
	}{q, kick.(check.Operator)}, nil
}

// Start does nothing any more once it gave up.
func (q *quitter) Start() {
	if !q.quit {
		q.Operator.Start()
	}
}

// Heal ends all faults.
func (q *quitter) Heal() {
	q.Operator.Heal()
	if q.quit {
		q.Stop()
	}
}
