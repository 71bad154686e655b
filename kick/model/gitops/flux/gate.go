package flux

import (
	"fmt"
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/request"
)

// idleIntervals is how many intervals a Kustomization may have been left alone before
// the message says that its controller seems to stand still.
const idleIntervals = 5

// Question is everything the gate depends on.
type Question struct {
	Owner *Owner
	// Parent is the Kustomization that applies the owner; nil: none is known.
	Parent *Owner
	Now    time.Time
	// Unreconciled leaves out whether the owner is reconciled.
	Unreconciled bool
}

// Judge is the answer of Flux for a workload whose owner is known.
func Judge(q *Question) model.Gate {
	owner := q.Owner
	if reason, detail := deleted(owner); reason != "" {
		return owner.shut(reason, detail)
	}
	if q.Unreconciled {
		return gitops.Open(owner.String() + " is not asked whether it is reconciled")
	}
	if gate, shut := owner.reconciled(); shut {
		return gate
	}
	if q.Parent != nil {
		if gate, shut := q.Parent.reconciled(); shut {
			gate.Detail = fmt.Sprintf("%s is applied by %s", owner.Ref, gate.Detail)
			return gate
		}
	}
	return gitops.Open(fmt.Sprintf("%s is reconciled%s", owner.Ref, owner.idle(q.Now)))
}

// idle flags a controller that seems to stand still: each reconcile of a Kustomization
// takes Ready away and sets it again.
func (o *Owner) idle(now time.Time) string {
	since := o.Conditions["Ready"].Since
	if o.Kind != Kustomization || o.Interval <= 0 || since.IsZero() || now.Sub(since) <= idleIntervals*o.Interval {
		return ""
	}
	return fmt.Sprintf(", but Ready since %s with spec.interval %s: its controller may stand still", since.Format(time.RFC3339), o.Interval)
}

func (o *Owner) shut(reason request.Reason, detail string) model.Gate {
	on := []model.WakeOn{gitops.WakeOnOwner}
	if o.Source != nil {
		on = append(on, gitops.WakeOnArtifact)
	}
	return gitops.Closed(reason, o.String()+": "+detail, on...)
}

// reconciled shuts the gate of an owner that is not done with what it knows, or does not
// know what is new.
func (o *Owner) reconciled() (model.Gate, bool) {
	for _, rule := range []func(*Owner) (request.Reason, string){deleted, suspended, failed, busy, observed, revision, artifact} {
		if reason, detail := rule(o); reason != "" {
			return o.shut(reason, detail), true
		}
	}
	return model.Gate{}, false
}

func deleted(o *Owner) (request.Reason, string) {
	if o.Deleting {
		return request.OwnerReconciling, "metadata.deletionTimestamp is set: what it applied may be pruned"
	}
	return "", ""
}

func suspended(o *Owner) (request.Reason, string) {
	if o.Suspended {
		return request.OwnerOutOfSync, "spec.suspend is true: its status is frozen; resume it, or set requireReconciled: false"
	}
	return "", ""
}

// failed: Ready is False also while a retry is to come, which Reconciling then shows.
func failed(o *Owner) (request.Reason, string) {
	if c := o.Conditions["Stalled"]; c.Status == "True" {
		return request.OwnerOutOfSync, fmt.Sprintf("condition Stalled is True, reason %s: it waits for somebody to mend it", gitops.Quote(c.Reason))
	}
	if c := o.Conditions["Ready"]; c.Status == "False" {
		return request.OwnerOutOfSync, fmt.Sprintf("condition Ready is False, reason %s", gitops.Quote(c.Reason))
	}
	return "", ""
}

func busy(o *Owner) (request.Reason, string) {
	ready, reconciling := o.Conditions["Ready"], o.Conditions["Reconciling"]
	hint := ""
	if o.Waits {
		hint = ". It waits for the health of what it applies; if that is this workload, set requireReconciled: false to let KICK restart it"
	}
	switch {
	case reconciling.Status == "True":
		return request.OwnerReconciling, fmt.Sprintf("condition Reconciling is True, reason %s%s", gitops.Quote(reconciling.Reason), hint)
	case ready.Status == "":
		return request.OwnerReconciling, "there is no condition Ready: it has not been reconciled yet"
	case ready.Status != "True":
		return request.OwnerReconciling, fmt.Sprintf("condition Ready is %s, reason %s%s", gitops.Quote(ready.Status), gitops.Quote(ready.Reason), hint)
	}
	return "", ""
}

func observed(o *Owner) (request.Reason, string) {
	switch {
	case o.Observed != o.Generation:
		return request.OwnerReconciling, fmt.Sprintf("status.observedGeneration is %d and metadata.generation %d: the change has not been reconciled yet", o.Observed, o.Generation)
	case o.Requested != "" && o.Requested != o.Handled:
		return request.OwnerReconciling, fmt.Sprintf("annotation reconcile.fluxcd.io/requestedAt is %s and status.lastHandledReconcileAt %s: a reconcile was asked for", gitops.Quote(o.Requested), gitops.Quote(o.Handled))
	}
	return "", ""
}

func revision(o *Owner) (request.Reason, string) {
	switch {
	case o.Kind == Kustomization && (o.Applied == "" || o.Applied != o.Attempted):
		return request.OwnerReconciling, fmt.Sprintf("status.lastAppliedRevision is %s and status.lastAttemptedRevision %s", gitops.Quote(o.Applied), gitops.Quote(o.Attempted))
	case o.Release != "" && o.Release != "deployed":
		return request.OwnerOutOfSync, fmt.Sprintf("status.history[0].status is %s, not deployed", gitops.Quote(o.Release))
	}
	return "", ""
}

// artifact: Ready may speak of the commit before the newest.
func artifact(o *Owner) (request.Reason, string) {
	switch s := o.Source; {
	case s == nil:
	case s.Missing:
		return request.OwnerOutOfSync, fmt.Sprintf("%s, its spec.sourceRef, does not exist", s)
	case s.Revision == "":
		return request.OwnerReconciling, fmt.Sprintf("%s, its spec.sourceRef, has no status.artifact.revision", s)
	case s.Revision != o.Applied:
		return request.OwnerReconciling, fmt.Sprintf("status.lastAppliedRevision is %s and status.artifact.revision of %s is %s: the newer one has not been applied yet", gitops.Quote(o.Applied), s, gitops.Quote(s.Revision))
	}
	return "", ""
}
