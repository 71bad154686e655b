// Package metrics declares KICK's Prometheus series. Every series exists from the
// start with value zero, so that rate() and absence alerts work; none carries an
// object's name.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// Metrics is KICK's set of series.
type Metrics struct {
	requests *prometheus.CounterVec
	restarts *prometheus.CounterVec
	errors   *prometheus.CounterVec
	changes  *prometheus.CounterVec
	bundles  *prometheus.CounterVec
}

// providerNone is the provider label while no GitOps tool is asked.
const providerNone = "none"

// UnknownReason is the reason label of an error nobody classified.
const UnknownReason = "Unknown"

var results = map[request.Phase]string{
	request.Succeeded: "succeeded", request.NoLongerRequired: "no_longer_required",
	request.Failed: "failed", request.DryRun: "dry_run",
}

// New returns the series, registered with r.
func New(r prometheus.Registerer, controllers, sourceKinds []string) *Metrics {
	m := &Metrics{
		requests: counter("kick_requests_total", "Completed KickRequest outcomes.", "provider", "result"),
		restarts: counter("kick_restarts_total", "Restarts by KICK and how they ended.", "provider", "result"),
		errors:   counter("kick_controller_errors_total", "Reconcile passes that ended in an error.", "controller", "reason"),
		changes:  counter("kick_changes_observed_total", "Content changes of consumed sources that were recorded.", "source"),
	}
	for _, result := range results {
		m.requests.WithLabelValues(providerNone, result)
	}
	for _, result := range []string{"started", "succeeded", "failed"} {
		m.restarts.WithLabelValues(providerNone, result)
	}
	for _, c := range controllers {
		m.errors.WithLabelValues(c, UnknownReason)
	}
	for _, k := range sourceKinds {
		m.changes.WithLabelValues(k)
	}
	m.bundles = newBundles()
	r.MustRegister(m.requests, m.restarts, m.errors, m.changes, m.bundles)
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
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
