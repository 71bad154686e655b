package metrics

import (
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// family is a series with all its label values. The page docs/metrics.md is made of it.
type family struct {
	name, kind, help string
	labels           []string
	buckets          []float64
}

// Buckets of histograms, in seconds: what is usual lies in the middle.
var (
	reaction = []float64{0.1, 0.5, 1, 2, 5, 15, 60, 300, 1800, 3600, 6 * 3600, 24 * 3600, 7 * 24 * 3600}
	rollouts = []float64{1, 2, 5, 10, 20, 40, 60, 120, 300, 600, 900, 1800, 3600}
)

// The families, in the order of the page.
var (
	requests = family{name: "kick_requests_total", kind: "counter", labels: []string{"provider", "result"}, help: "Completed KickRequest outcomes."}
	restarts = family{name: "kick_restarts_total", kind: "counter", labels: []string{"provider", "result"}, help: "Restarts by KICK and how they ended."}
	failures = family{name: "kick_controller_errors_total", kind: "counter", labels: []string{"controller", "reason"}, help: "Reconcile passes that ended in an error."}
	changes  = family{name: "kick_changes_observed_total", kind: "counter", labels: []string{"source"}, help: "Content changes of consumed sources that were recorded."}
	flaps    = family{name: "kick_source_flapping_total", kind: "counter", labels: []string{"kind", "namespace", "name"}, help: "How often a source began to flap: six changes within ten minutes. There is a series for each source that ever did."}
	gates    = family{name: "kick_gate_decisions_total", kind: "counter", labels: []string{"gate", "reason"}, help: "How often a request began to wait, by what it waits for."}
	reacted  = family{name: "kick_change_to_restart_seconds", kind: "histogram", labels: []string{"kind"}, buckets: reaction, help: "Time from the newest change to the restart that answers it, by the kind of the workload."}
	rolled   = family{name: "kick_rollout_seconds", kind: "histogram", labels: []string{"kind", "result"}, buckets: rollouts, help: "Time from a restart to its success or failure, by the kind of the workload."}
	waiting  = family{name: "kick_requests_waiting", kind: "gauge", labels: []string{"reason"}, help: "KickRequests that wait now, by reason; of the leader only."}
	oldest   = family{name: "kick_request_oldest_waiting_seconds", kind: "gauge", labels: []string{"reason"}, help: "How long ago the request that waits the longest was opened, by reason; 0: none waits. Of the leader only."}
	bundles  = family{name: "kick_config_bundle_writes_total", kind: "counter", labels: []string{"write"}, help: "Writes made for ConfigBundles, by what they did; refused: the API server would not have one."}
	notices  = family{name: "kick_notification_deliveries_total", kind: "counter", labels: []string{"namespace", "policy", "outcome"}, help: "Tries to deliver a notification, by what became of it: success or failure. A try that failed may be followed by another."}
	dropped  = family{name: "kick_notification_dropped_total", kind: "counter", help: "Notifications that had to make room because too many waited."}
	built    = family{name: "kick_build_info", kind: "gauge", labels: []string{"version"}, help: "The version that runs; always 1."}

	families = []family{requests, restarts, failures, changes, flaps, gates, reacted, rolled, waiting, oldest, bundles, notices, dropped, built}
)

func (f family) counter() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: f.name, Help: f.help}, f.labels)
}

func (f family) histogram() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: f.name, Help: f.help, Buckets: f.buckets}, f.labels)
}

func (f family) gauge() *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: f.name, Help: f.help}, f.labels)
}

func (f family) desc() *prometheus.Desc { return prometheus.NewDesc(f.name, f.help, f.labels, nil) }

// Names are the names of all series, in the order of the page.
func Names() []string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.name
	}
	return names
}

// Page is docs/metrics.md.
func Page() string {
	var b strings.Builder
	b.WriteString(`# Metrics

Written by ` + "`go test ./kick/metrics -update`" + ` from the code. KICK serves these on ` + "`--metrics-bind-address`" + ` under ` + "`/metrics`" + `, beside those of
controller-runtime and client-go. Every series exists from the start with value 0, but for error reasons and flapping sources, so that ` + "`rate()`" + ` and alerts on absence work.
None carries the name of an object, but for flapping sources and for deliveries, which exist for each NotificationPolicy from its first visit on.

| series | type | labels | what it tells |
|---|---|---|---|
`)
	for _, f := range families {
		labels := "`" + strings.Join(f.labels, "`, `") + "`"
		if len(f.labels) == 0 {
			labels = ""
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.name, f.kind, labels, f.help)
	}
	b.WriteString("\n`provider` is the policy's `spec.gitOps.provider`, and `unknown` where it asks no tool, or where not exactly one policy selects the workload. `result` of a request is `succeeded`, `no_longer_required`, `failed` or\n`dry_run`; of a restart `started`, `succeeded` or `failed`. `gate` and `reason` of a wait are:\n\n| gate | reason |\n|---|---|\n")
	for _, w := range waits {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", w.gate, w.reason)
	}
	b.WriteString("\nA restart that is overdue, whatever it waits for:\n\n```\nmax by (reason) (kick_request_oldest_waiting_seconds) > 86400\n```\n")
	return b.String()
}
