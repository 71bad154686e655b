package check

import (
	"fmt"
	"time"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/clock"
)

const lawInterval = "restarts keep their distance"

// interval judges a restart when it is sent, against KICK's stamp before it.
func interval() Law {
	return &atRestart{law: lawInterval, words: (*Context).tooSoon}
}

// patched is the workload that a call of KICK is about; its Object is nil if it
// does not exist.
func (c *Context) patched(w Write) (workload, bool) {
	if w.Kind.Group != "apps" && w.Kind != rolloutKind || w.Sub != "" {
		return workload{}, false
	}
	target, _ := c.workload(w.Key.Namespace, w.Kind.Kind, w.Key.Name)
	return target, true
}

// tooSoon says what is wrong with a restart now, given the stamp that stands. A
// stamp that somebody took away is no longer there to keep a distance from, nor does a
// rollback that brings it back make it KICK's again.
func (c *Context) tooSoon(w workload, known Known) string {
	if w.Object == nil {
		return ""
	}
	policies := c.policiesOf(w)
	if len(policies) != 1 || w.stamp() == "" || w.stamp() != c.stamps[w.id()] || !stampedBy(w, Manager) || c.policyEditedSince(w, known) {
		return ""
	}
	passed, err := c.sinceStamp(w)
	if err != nil {
		return ""
	}
	least := minInterval(policies[0])
	// A stamp from the future is what a stepped clock leaves behind: no wait is
	// ever longer than its own length and the clock allowance.
	if least > 0 && passed < least && passed >= -c.Allowance {
		return fmt.Sprintf("KICK restarted it %s before and its policy %s wants %s between restarts", passed.Round(time.Microsecond), policies[0].Name, least)
	}
	return ""
}

// The defaults of a policy's times.
const (
	defaultMinInterval = 30 * time.Second
	defaultSettleDelay = time.Second
)

func minInterval(p *v1alpha1.KickPolicy) time.Duration {
	if d := p.Spec.Restart.MinInterval; d != nil {
		return d.Duration
	}
	return defaultMinInterval
}

func settleDelay(p *v1alpha1.KickPolicy) time.Duration {
	if d := p.Spec.Restart.SettleDelay; d != nil {
		return d.Duration
	}
	return defaultSettleDelay
}

// sinceStamp is how long ago KICK stamped a workload, by the clock that dates its stamps:
// KICK's. That of a Rollout is the API server's, to the second; where that was not set
// meanwhile, the instant at which the stamp landed is nearer to the truth.
func (c *Context) sinceStamp(w workload) (time.Duration, error) {
	stamp, err := time.Parse(time.RFC3339Nano, w.stamp())
	if err != nil || w.rollout == nil {
		return c.KickNow().Sub(stamp), err
	}
	told, passed := c.now(clock.APIServer).Sub(stamp), c.Loop.Now().Sub(c.stampedAt[w.id()])
	if (told - passed).Abs() < 3*time.Second {
		return passed, nil
	}
	return told, nil
}
