package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// waits are the reasons for which a request waits, each with the gate it waits at.
var waits = []struct {
	reason request.Reason
	gate   string
}{
	{request.PolicySuspended, "policy"}, {request.PolicyConflict, "policy"},
	{request.OutsideSchedule, "schedule"}, {request.ConfigurationError, "schedule"},
	{request.ProviderUnavailable, "gitops"}, {request.OwnerUnknown, "gitops"}, {request.AmbiguousOwner, "gitops"},
	{request.OwnerOutOfSync, "gitops"}, {request.OwnerReconciling, "gitops"}, {request.ProjectUnknown, "gitops"},
	{request.Settling, "source"}, {request.MirrorPending, "source"}, {request.ClassFlapping, "source"}, {request.SourceMissing, "source"},
	{request.NotYet, "pace"}, {request.RateLimited, "pace"}, {request.ConcurrencyLimited, "pace"},
	{request.RolloutInProgress, "rollout"}, {request.Paused, "rollout"}, {request.OnDelete, "rollout"},
	{request.Partitioned, "rollout"}, {request.PodsNotStarted, "rollout"},
	{request.RunByRollout, "rollout"}, {request.UpdateInProgress, "rollout"}, {request.RolloutAborted, "rollout"}, {request.RolloutInvalid, "rollout"},
	{request.RestartScheduled, "rollout"}, {request.RestartDropped, "rollout"}, {request.UnreadyPods, "rollout"}, {request.EvictionRefused, "rollout"},
	{request.PatchRejected, "apiserver"},
}

// otherGate is the gate of a reason that waits does not list.
const otherGate = "other"

func gateOf(reason request.Reason) string {
	for _, w := range waits {
		if w.reason == reason {
			return w.gate
		}
	}
	return otherGate
}

// Moved counts a status write that changed what a request of a workload of some kind
// waits for, and times its restart.
func (m *Metrics) Moved(kind string, before, after model.RequestStatus) {
	if after.Phase.Waiting() && after.Reason != before.Reason {
		m.gates.WithLabelValues(gateOf(after.Reason), string(after.Reason)).Inc()
	}
	if after.Phase == request.Executing && before.Phase != request.Executing && !after.LatestChange.IsZero() {
		m.reacted.WithLabelValues(kind).Observe(seconds(after.LatestChange, after.RolloutStart))
	}
	if result := results[after.Phase]; before.Phase == request.Executing && (after.Phase == request.Succeeded || after.Phase == request.Failed) {
		m.rolled.WithLabelValues(kind, result).Observe(seconds(after.RolloutStart, after.CompletedAt))
	}
}

// seconds is never negative: a clock may have been set.
func seconds(from, to time.Time) float64 { return max(to.Sub(from), 0).Seconds() }

// Queue tells, when it is scraped, what requests wait for.
type Queue struct {
	// Requests lists all requests; false: this replica does not lead, and says nothing.
	Requests func() ([]model.RequestStatus, bool)
	Now      func() time.Time
}

var _ prometheus.Collector = Queue{}

// Describe sends what Collect may send.
func (q Queue) Describe(to chan<- *prometheus.Desc) {
	to <- waiting.desc()
	to <- oldest.desc()
}

// Collect counts the requests that wait.
func (q Queue) Collect(to chan<- prometheus.Metric) {
	all, leads := q.Requests()
	if !leads {
		return
	}
	count, age, now := map[request.Reason]int{}, map[request.Reason]float64{}, q.Now()
	for _, st := range all {
		if st.Phase.Waiting() {
			count[st.Reason]++
			age[st.Reason] = max(age[st.Reason], seconds(st.OpenedAt, now))
		}
	}
	for _, w := range waits {
		to <- prometheus.MustNewConstMetric(waiting.desc(), prometheus.GaugeValue, float64(count[w.reason]), string(w.reason))
		to <- prometheus.MustNewConstMetric(oldest.desc(), prometheus.GaugeValue, age[w.reason], string(w.reason))
	}
}
