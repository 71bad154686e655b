package decide

import (
	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model/request"
)

var phaseMarks = map[request.Phase]mark.Mark{
	request.Pending:           mark.PhasePending,
	request.WaitingForGate:    mark.PhaseWaitingForGate,
	request.WaitingForRollout: mark.PhaseWaitingForRollout,
	request.Executing:         mark.PhaseExecuting,
	request.Succeeded:         mark.PhaseSucceeded,
	request.NoLongerRequired:  mark.PhaseNoLongerRequired,
	request.Failed:            mark.PhaseFailed,
	request.DryRun:            mark.PhaseDryRun,
}

// reasonMarks are those of reasons that say more than their phase does.
var reasonMarks = map[request.Reason]mark.Mark{
	request.OutsideSchedule:          mark.ReasonOutsideSchedule,
	request.ConfigurationError:       mark.ReasonConfigurationError,
	request.PolicySuspended:          mark.ReasonPolicySuspended,
	request.PolicyConflict:           mark.ReasonPolicyConflict,
	request.Settling:                 mark.ReasonSettling,
	request.SourceMissing:            mark.ReasonSourceMissing,
	request.NotYet:                   mark.ReasonNotYet,
	request.RateLimited:              mark.ReasonRateLimited,
	request.ConcurrencyLimited:       mark.ReasonConcurrencyLimited,
	request.ClassFlapping:            mark.ReasonClassFlapping,
	request.MirrorPending:            mark.ReasonMirrorPending,
	request.RolloutInProgress:        mark.ReasonRolloutInProgress,
	request.Paused:                   mark.ReasonPaused,
	request.OnDelete:                 mark.ReasonOnDelete,
	request.Partitioned:              mark.ReasonPartitioned,
	request.PodsNotStarted:           mark.ReasonPodsNotStarted,
	request.Fresh:                    mark.ReasonFresh,
	request.NotRunning:               mark.ReasonNotRunning,
	request.NoLongerManaged:          mark.ReasonNoLongerManaged,
	request.RolloutTimeout:           mark.ReasonRolloutTimeout,
	request.ProgressDeadlineExceeded: mark.ReasonProgressDeadlineExceeded,
	request.Reverted:                 mark.ReasonReverted,
	request.TargetNotFound:           mark.ReasonTargetNotFound,
	request.PatchRejected:            mark.ReasonPatchRejected,
}

// note counts what a verdict that is to be written says.
func note(f *facts, v *Verdict) {
	if !mark.Counting() || v.Action != Status && v.Action != Open {
		return
	}
	if m, ok := phaseMarks[v.Phase]; ok {
		mark.Hit(m)
	}
	if v.Action == Open {
		return
	}
	if m, ok := reasonMarks[v.Status.Reason]; ok {
		mark.Hit(m)
	}
	if len(v.Status.Causes) > 1 {
		mark.Hit(mark.ChangesCoalesced)
	}
	noteExecuting(f, v)
}

// noteExecuting counts what neither phase nor reason of a running restart shows.
func noteExecuting(f *facts, v *Verdict) {
	before := f.Request.Status
	if before.Phase == request.Executing && v.Status.LatestChange.After(before.LatestChange) {
		mark.Hit(mark.ChangeWhileExecuting)
	}
	if v.Phase == request.Executing && f.Request.Manual {
		mark.Hit(mark.ManualRequestServed)
	}
	if v.Decisive.Taken {
		mark.Hit(mark.StampTaken)
	}
	if v.Decisive.Taken && v.Phase == request.Succeeded {
		mark.Hit(mark.OthersRolloutAccepted)
	}
}
