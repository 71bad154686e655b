// Package metrics declares KICK's Prometheus series. Every series exists from the
// start with value zero, so that rate() and absence alerts work; none carries an
// object's name, but for the deliveries of a NotificationPolicy.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// Metrics is KICK's set of series.
type Metrics struct {
	requests, restarts, errors, changes, flaps, gates, bundles, notices *prometheus.CounterVec
	reacted, rolled                                                     *prometheus.HistogramVec
	dropped                                                             prometheus.Counter
}

// noProvider is the provider label where no GitOps tool is asked, or no single policy says which.
const noProvider = "unknown"

// UnknownReason is the reason label of an error nobody classified.
const UnknownReason = "Unknown"

var results = map[request.Phase]string{
	request.Succeeded: "succeeded", request.NoLongerRequired: "no_longer_required",
	request.Failed: "failed", request.DryRun: "dry_run",
}

// Values are the values of labels that are known from the start.
type Values struct {
	Controllers, Sources, Workloads []string
	Providers                       []string // as spec.gitOps.provider names the tools
	Version                         string
}

// New returns the series, registered with r.
func New(r prometheus.Registerer, known Values) *Metrics {
	m := &Metrics{
		requests: requests.counter(), restarts: restarts.counter(), errors: failures.counter(), changes: changes.counter(), flaps: flaps.counter(),
		gates: gates.counter(), reacted: reacted.histogram(), rolled: rolled.histogram(),
	}
	for _, p := range append([]string{noProvider}, known.Providers...) {
		for _, result := range results {
			m.requests.WithLabelValues(p, result)
		}
		for _, result := range []string{"started", "succeeded", "failed"} {
			m.restarts.WithLabelValues(p, result)
		}
	}
	for _, c := range known.Controllers {
		m.errors.WithLabelValues(c, UnknownReason)
	}
	for _, k := range known.Sources {
		m.changes.WithLabelValues(k)
	}
	for _, w := range waits {
		m.gates.WithLabelValues(w.gate, string(w.reason))
	}
	for _, k := range known.Workloads {
		m.reacted.WithLabelValues(k)
		m.rolled.WithLabelValues(k, results[request.Succeeded])
		m.rolled.WithLabelValues(k, results[request.Failed])
	}
	m.bundles, m.notices = newBundles(), notices.counter()
	m.dropped = dropped.counter().WithLabelValues()
	info := built.gauge()
	info.WithLabelValues(known.Version).Set(1)
	r.MustRegister(m.requests, m.restarts, m.errors, m.changes, m.flaps, m.gates, m.reacted, m.rolled, m.bundles, m.notices, m.dropped, info)
	return m
}

// provider is the label of the tool that the policies have asked.
func provider(policies []model.Policy) string {
	if len(policies) != 1 || policies[0].Provider == "" || policies[0].Provider == "None" {
		return noProvider
	}
	return policies[0].Provider
}

// Transition counts a status write that moved a request to another phase, under the policies that select its workload.
func (m *Metrics) Transition(policies []model.Policy, from, to request.Phase) {
	if from == to {
		return
	}
	tool := provider(policies)
	if result, ended := results[to]; ended {
		m.requests.WithLabelValues(tool, result).Inc()
	}
	switch {
	case to == request.Executing:
		m.restarts.WithLabelValues(tool, "started").Inc()
	case from == request.Executing && to == request.Succeeded:
		m.restarts.WithLabelValues(tool, "succeeded").Inc()
	case from == request.Executing && to == request.Failed:
		m.restarts.WithLabelValues(tool, "failed").Inc()
	}
}

// Error counts a pass that ended in an error.
func (m *Metrics) Error(controller, reason string) {
	if reason == "" {
		reason = UnknownReason
	}
	m.errors.WithLabelValues(controller, reason).Inc()
}

// Flapping counts that a source began to flap. Its name is a label, since somebody has to find it; few sources ever do.
func (m *Metrics) Flapping(source model.Key) {
	m.flaps.WithLabelValues(source.Kind, source.Namespace, source.Name).Inc()
}

// Change counts a recorded content change.
func (m *Metrics) Change(source model.Key) { m.changes.WithLabelValues(source.Kind).Inc() }
