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
	requests, restarts, errors, changes, gates, bundles, notices *prometheus.CounterVec
	reacted, rolled                                              *prometheus.HistogramVec
	dropped                                                      prometheus.Counter
}

// providerNone is the provider label while no GitOps tool is asked.
const providerNone = "none"

// UnknownReason is the reason label of an error nobody classified.
const UnknownReason = "Unknown"

var results = map[request.Phase]string{
	request.Succeeded: "succeeded", request.NoLongerRequired: "no_longer_required",
	request.Failed: "failed", request.DryRun: "dry_run",
}

// Values are the values of labels that are known from the start.
type Values struct {
	Controllers, Sources, Workloads []string
	Version                         string
}

// New returns the series, registered with r.
func New(r prometheus.Registerer, known Values) *Metrics {
	m := &Metrics{
		requests: requests.counter(), restarts: restarts.counter(), errors: failures.counter(), changes: changes.counter(),
		gates: gates.counter(), reacted: reacted.histogram(), rolled: rolled.histogram(),
	}
	for _, result := range results {
		m.requests.WithLabelValues(providerNone, result)
	}
	for _, result := range []string{"started", "succeeded", "failed"} {
		m.restarts.WithLabelValues(providerNone, result)
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
	r.MustRegister(m.requests, m.restarts, m.errors, m.changes, m.gates, m.reacted, m.rolled, m.bundles, m.notices, m.dropped, info)
	return m
}

// Transition counts a status write that moved a request to another phase.
func (m *Metrics) Transition(from, to request.Phase) {
	if from == to {
		return
	}
	if result, ended := results[to]; ended {
		m.requests.WithLabelValues(providerNone, result).Inc()
	}
	switch {
	case to == request.Executing:
		m.restarts.WithLabelValues(providerNone, "started").Inc()
	case from == request.Executing && to == request.Succeeded:
		m.restarts.WithLabelValues(providerNone, "succeeded").Inc()
	case from == request.Executing && to == request.Failed:
		m.restarts.WithLabelValues(providerNone, "failed").Inc()
	}
}

// Error counts a pass that ended in an error.
func (m *Metrics) Error(controller, reason string) {
	if reason == "" {
		reason = UnknownReason
	}
	m.errors.WithLabelValues(controller, reason).Inc()
}

// Change counts a recorded content change.
func (m *Metrics) Change(source model.Key) { m.changes.WithLabelValues(source.Kind).Inc() }
