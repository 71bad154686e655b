package check

import (
	"slices"
	"strings"
	"time"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/clock"
)

// blocked reports that KICK names a block and that this block truly holds.
func (c *Context) blocked(w workload, policies []*v1alpha1.KickPolicy, stale []stalePod, named []string) bool {
	b := blockCase{c, w, policies, stale}
	if requests := c.requestsOf(w); blocks["DryRun"](b) && !slices.ContainsFunc(requests, func(r *v1alpha1.KickRequest) bool { return !c.justOpened(r) }) {
		return true // retention took the request, and the next one says so again
	}
	for _, reason := range named {
		if holds := blocks[reason]; holds != nil && holds(b) {
			return true
		}
	}
	return false
}

// named collects what KICK says about a workload: the reasons and the phase of
// its request or, where there is none, the reasons of its policies. The gate of
// a finished request is history and excuses nothing.
func (c *Context) named(w workload, policies []*v1alpha1.KickPolicy) []string {
	var out []string
	add := func(reason string) {
		if reason != "" && !slices.Contains(out, reason) {
			out = append(out, reason)
		}
	}
	found := c.requestsOf(w)
	for _, r := range found {
		if gate := r.Status.Gate; gate != nil && !terminal(r.Status.Phase) {
			add(gate.Reason)
		}
		for _, condition := range r.Status.Conditions {
			add(condition.Reason)
		}
		add(string(r.Status.Phase))
	}
	if len(found) > 0 {
		return out
	}
	for _, p := range policies {
		for _, condition := range p.Status.Conditions {
			add(condition.Reason)
		}
	}
	return out
}

// blockCase is a stale workload whose block is in question.
type blockCase struct {
	*Context
	w        workload
	policies []*v1alpha1.KickPolicy
	stale    []stalePod
}

// blocks says for each reason or phase KICK may name when it is the truth.
var blocks = map[string]func(blockCase) bool{
	"OnDelete":    func(b blockCase) bool { return b.w.onDelete },
	"Paused":      func(b blockCase) bool { return b.w.paused },
	"Partitioned": blockCase.partitioned,

	"SourceMissing": blockCase.sourceMissing,

	"PolicySuspended": func(b blockCase) bool { return len(b.policies) == 1 && b.policies[0].Spec.Suspend },
	"PolicyConflict":  func(b blockCase) bool { return len(b.policies) > 1 },
	"DryRun":          func(b blockCase) bool { return len(b.policies) == 1 && b.policies[0].Spec.DryRun },

	"OutsideSchedule":    either(blockCase.outsideSchedule, blockCase.toolBlocks),
	"ConfigurationError": either(blockCase.scheduleBroken, blockCase.toolBlocks),

	"OwnerUnknown":        blockCase.toolBlocks,
	"AmbiguousOwner":      blockCase.toolBlocks,
	"OwnerOutOfSync":      blockCase.toolBlocks,
	"OwnerReconciling":    blockCase.toolBlocks,
	"ProjectUnknown":      blockCase.toolBlocks,
	"ProviderUnavailable": blockCase.unasked,

	"Settling":    blockCase.settling,
	"RateLimited": blockCase.rateLimited,

	"ClassFlapping": blockCase.flaps,
	"MirrorPending": blockCase.mirrored,

	"ConcurrencyLimited": blockCase.limited,

	"Failed":                   blockCase.cannotSucceed,
	"RolloutTimeout":           blockCase.cannotSucceed,
	"ProgressDeadlineExceeded": blockCase.cannotSucceed,
	"Reverted":                 blockCase.cannotSucceed,

	"Executing":         blockCase.underWay,
	"WaitingForRollout": blockCase.rolling,
	"RolloutInProgress": blockCase.rolling,
	"PodsNotStarted":    blockCase.rolling,

	"RunByRollout":     blockCase.runByRollout,
	"UpdateInProgress": func(b blockCase) bool { return b.w.rollout != nil && b.w.updating() },
	"RolloutAborted":   func(b blockCase) bool { return b.w.rollout != nil && b.w.rollout.Status.Abort },
	"RolloutInvalid":   func(b blockCase) bool { return b.w.rollout != nil && len(b.w.rollout.Status.Conditions) > 0 },
	"RestartScheduled": blockCase.scheduled,
	"UnreadyPods":      blockCase.cannotSucceed,
	"EvictionRefused":  blockCase.cannotSucceed,
}

// underWay: KICK's restart is so new that its controller has not begun, or it rolls.
func (b blockCase) underWay() bool {
	return b.rolling() || b.Loop.Now().Sub(b.stampedAt[b.w.id()]) < time.Second
}

// rolling: the controller is not done, or its pods do not come up.
func (b blockCase) rolling() bool { return !b.w.complete() }

// partitioned: every stale pod lies below the partition, where a new template
// does not reach it.
func (b blockCase) partitioned() bool {
	for _, s := range b.stale {
		if s.pod.Ordinal < 0 || s.pod.Ordinal >= int(b.w.partition) {
			return false
		}
	}
	return true
}

// unreachable: the workload's strategy keeps every stale pod from a restart, whatever
// else holds.
func (b blockCase) unreachable() bool { return b.w.onDelete || b.partitioned() }

// sourceMissing: a pod of this template could not start.
func (b blockCase) sourceMissing() bool {
	return slices.ContainsFunc(refsOf(b.w.GetNamespace(), b.w.template), func(r ref) bool { return r.required && b.missing(r) != "" })
}

// chance is how long a gate must stand open, with no fault left, until KICK has
// no excuse for not having used it.
const chance = 10 * time.Minute

// outsideSchedule: the window is shut now, and gave no fair chance since the last
// fault ended, the content became stale and nothing else stood against a restart.
func (b blockCase) outsideSchedule() bool { //nolint:cyclop // one condition after another
	if len(b.policies) != 1 {
		return false
	}
	policy, now := b.policies[0], b.KickNow()
	if _, ok := parseWindows(policy); !ok {
		return false
	}
	if b.sleeps() {
		return true
	}
	if open(policy, now) { // for a moment, in which nobody can have acted
		return !open(policy, now.Add(-wakeSlack))
	}
	if policy.Spec.DryRun || b.unreachable() { // no window would have changed anything
		return true
	}
	from := latest(latest(b.Healed, b.busy[b.w.GetNamespace()]), b.clockSet())
	for _, s := range b.stale {
		if last, ok := b.sources.of(s.ref.source).last(); ok {
			from = latest(from, last.at)
		}
	}
	from = now.Add(from.Sub(b.Loop.Now()))
	if stamp, err := time.Parse(time.RFC3339Nano, b.stamps[b.w.id()]); err == nil {
		from = latest(from, stamp.Add(minInterval(policy)))
	}
	var since time.Time
	for t := from; t.Before(now); t = t.Add(time.Minute) {
		if !open(policy, t) {
			since = time.Time{}
			continue
		}
		if since.IsZero() {
			since = t
		}
		if t.Sub(since) >= chance {
			return false
		}
	}
	return true
}

// sleeps: KICK's clock was set while the workload waited for a time, and the timer that runs
// does not follow it.
func (b blockCase) sleeps() bool {
	if !b.stepped() || b.Operator == nil {
		return false
	}
	timer := b.Operator.Wake(b.w.GetNamespace(), b.w.kind, b.w.GetName())
	return !timer.IsZero() && slices.ContainsFunc(b.requestsOf(b.w), func(r *v1alpha1.KickRequest) bool {
		gate := r.Status.Gate
		if gate == nil || gate.RequeueAt == nil {
			return false
		}
		apart := timer.Sub(b.Loop.Now()) - gate.RequeueAt.Sub(b.KickNow())
		return max(apart, -apart) > wakeSlack
	})
}

func (b blockCase) scheduleBroken() bool {
	for _, p := range b.policies {
		if _, ok := parseWindows(p); !ok {
			return true
		}
	}
	return false
}

// settling: a source changed so recently that KICK waits for quiet; the wait is
// capped at ten times the delay.
func (b blockCase) settling() bool {
	delay := settleDelay(b.policies[0])
	for _, s := range b.stale {
		if last, ok := b.sources.of(s.ref.source).last(); ok && b.Loop.Now().Sub(last.at) <= delay+time.Second {
			return true
		}
	}
	return false
}

// rateLimited: KICK's own last stamp is younger than the least interval.
func (b blockCase) rateLimited() bool {
	interval := minInterval(b.policies[0])
	stamp, err := time.Parse(time.RFC3339Nano, b.stamps[b.w.id()])
	if b.w.rollout != nil { // by the API server's clock, to the second
		return err == nil && b.now(clock.APIServer).Sub(stamp) <= interval+2*time.Second+b.Allowance
	}
	return err == nil && b.KickNow().Sub(stamp) <= interval+time.Second
}

// cannotSucceed: KICK restarted the workload and the rollout hangs, somebody took the
// stamp away, or what is stale still no restart reaches.
func (b blockCase) cannotSucceed() bool {
	stamp, restarted := b.stamps[b.w.id()]
	return !b.w.complete() || restarted && (b.w.stamp() != stamp || b.unreachable())
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func join(list []string) string { return strings.Join(list, ", ") }
