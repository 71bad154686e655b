package metrics_test

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/metrics"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

func newMetrics() (*metrics.Metrics, *prometheus.Registry) {
	r := prometheus.NewRegistry()
	return metrics.New(r, metrics.Values{
		Controllers: []string{"request", "source"}, Sources: []string{"Secret", "ConfigMap"}, Workloads: []string{"Deployment"}, Version: "v1",
		Providers: []string{"Flux"},
	}), r
}

func TestNamesAndHelpPassTheLinter(t *testing.T) {
	_, r := newMetrics()
	r.MustRegister(queue(true))
	problems, err := testutil.GatherAndLint(r)
	if err != nil || len(problems) > 0 {
		t.Errorf("GatherAndLint() = %v, %v, want no problem", problems, err)
	}
}

// Every series is there from the start, so that rate() sees the first event.
const fromTheStart = `
# HELP kick_build_info The version that runs; always 1.
# TYPE kick_build_info gauge
kick_build_info{version="v1"} 1
# HELP kick_changes_observed_total Content changes of consumed sources that were recorded.
# TYPE kick_changes_observed_total counter
kick_changes_observed_total{source="ConfigMap"} 0
kick_changes_observed_total{source="Secret"} 0
# HELP kick_config_bundle_writes_total Writes made for ConfigBundles, by what they did; refused: the API server would not have one.
# TYPE kick_config_bundle_writes_total counter
kick_config_bundle_writes_total{write="create"} 0
kick_config_bundle_writes_total{write="delete"} 0
kick_config_bundle_writes_total{write="heal"} 0
kick_config_bundle_writes_total{write="refused"} 0
kick_config_bundle_writes_total{write="restore_spec"} 0
kick_config_bundle_writes_total{write="update"} 0
# HELP kick_controller_errors_total Reconcile passes that ended in an error.
# TYPE kick_controller_errors_total counter
kick_controller_errors_total{controller="request",reason="Unknown"} 0
kick_controller_errors_total{controller="source",reason="Unknown"} 0
# HELP kick_requests_total Completed KickRequest outcomes.
# TYPE kick_requests_total counter
kick_requests_total{provider="Flux",result="dry_run"} 0
kick_requests_total{provider="Flux",result="failed"} 0
kick_requests_total{provider="Flux",result="no_longer_required"} 0
kick_requests_total{provider="Flux",result="succeeded"} 0
kick_requests_total{provider="unknown",result="dry_run"} 0
kick_requests_total{provider="unknown",result="failed"} 0
kick_requests_total{provider="unknown",result="no_longer_required"} 0
kick_requests_total{provider="unknown",result="succeeded"} 0
# HELP kick_restarts_total Restarts by KICK and how they ended.
# TYPE kick_restarts_total counter
kick_restarts_total{provider="Flux",result="failed"} 0
kick_restarts_total{provider="Flux",result="started"} 0
kick_restarts_total{provider="Flux",result="succeeded"} 0
kick_restarts_total{provider="unknown",result="failed"} 0
kick_restarts_total{provider="unknown",result="started"} 0
kick_restarts_total{provider="unknown",result="succeeded"} 0
`

// Proves: KICK-FEAT-037.
func TestEverySeriesIsThereFromTheStart(t *testing.T) {
	_, r := newMetrics()
	if err := testutil.GatherAndCompare(r, strings.NewReader(fromTheStart),
		"kick_changes_observed_total", "kick_controller_errors_total", "kick_requests_total", "kick_restarts_total", "kick_build_info"); err != nil {
		t.Error(err)
	}
}

// asking are policies that ask these tools.
func asking(tools ...string) (all []model.Policy) {
	for _, tool := range tools {
		all = append(all, model.Policy{Provider: tool})
	}
	return all
}

// Proves: KICK-FEAT-037.
func TestWhatIsCounted(t *testing.T) {
	tests := map[string]struct {
		act    func(*metrics.Metrics)
		series string
		want   string
	}{
		"started":                   {func(m *metrics.Metrics) { m.Transition(nil, request.Pending, request.Executing) }, "kick_restarts_total", `provider="unknown",result="started"} 1`},
		"succeeded":                 {func(m *metrics.Metrics) { m.Transition(nil, request.Executing, request.Succeeded) }, "kick_restarts_total", `provider="unknown",result="succeeded"} 1`},
		"failed":                    {func(m *metrics.Metrics) { m.Transition(nil, request.Executing, request.Failed) }, "kick_restarts_total", `provider="unknown",result="failed"} 1`},
		"failed, outcome":           {func(m *metrics.Metrics) { m.Transition(nil, request.Executing, request.Failed) }, "kick_requests_total", `provider="unknown",result="failed"} 1`},
		"failed without a restart":  {func(m *metrics.Metrics) { m.Transition(nil, request.Pending, request.Failed) }, "kick_restarts_total", `provider="unknown",result="failed"} 0`},
		"nothing to do":             {func(m *metrics.Metrics) { m.Transition(nil, request.Pending, request.NoLongerRequired) }, "kick_requests_total", `provider="unknown",result="no_longer_required"} 1`},
		"of a tool":                 {func(m *metrics.Metrics) { m.Transition(asking("Flux"), request.Pending, request.Executing) }, "kick_restarts_total", `provider="Flux",result="started"} 1`},
		"of no tool":                {func(m *metrics.Metrics) { m.Transition(asking("None"), request.Pending, request.Executing) }, "kick_restarts_total", `provider="unknown",result="started"} 1`},
		"of two policies":           {func(m *metrics.Metrics) { m.Transition(asking("Flux", "Flux"), request.Pending, request.Executing) }, "kick_restarts_total", `provider="unknown",result="started"} 1`},
		"a flapping source":         {func(m *metrics.Metrics) { m.Flapping(model.Key{Kind: "Secret", Namespace: "shop", Name: "db"}) }, "kick_source_flapping_total", `kind="Secret",name="db",namespace="shop"} 1`},
		"same phase counts once":    {func(m *metrics.Metrics) { m.Transition(nil, request.Succeeded, request.Succeeded) }, "kick_requests_total", `provider="unknown",result="succeeded"} 0`},
		"waiting is no outcome":     {func(m *metrics.Metrics) { m.Transition(nil, request.Pending, request.WaitingForGate) }, "kick_requests_total", `provider="unknown",result="succeeded"} 0`},
		"an error without a reason": {func(m *metrics.Metrics) { m.Error("request", "") }, "kick_controller_errors_total", `controller="request",reason="Unknown"} 1`},
		"an error with a reason":    {func(m *metrics.Metrics) { m.Error("request", "Conflict") }, "kick_controller_errors_total", `controller="request",reason="Conflict"} 1`},
		"began to wait": {func(m *metrics.Metrics) {
			m.Moved("Deployment", model.RequestStatus{}, model.RequestStatus{Phase: request.WaitingForGate, Reason: request.RateLimited})
		}, "kick_gate_decisions_total", `gate="pace",reason="RateLimited"} 1`},
		"waits for the same": {func(m *metrics.Metrics) {
			same := model.RequestStatus{Phase: request.WaitingForGate, Reason: request.RateLimited}
			m.Moved("Deployment", same, same)
		}, "kick_gate_decisions_total", `gate="pace",reason="RateLimited"} 0`},
		"restarted": {func(m *metrics.Metrics) {
			m.Moved("Deployment", model.RequestStatus{}, model.RequestStatus{Phase: request.Executing, LatestChange: build.At(0), RolloutStart: build.At(3)})
		}, "kick_change_to_restart_seconds_sum", `kind="Deployment"} 3`},
		"rolled out": {func(m *metrics.Metrics) {
			m.Moved("Deployment", model.RequestStatus{Phase: request.Executing}, model.RequestStatus{Phase: request.Succeeded, RolloutStart: build.At(3), CompletedAt: build.At(10)})
		}, "kick_rollout_seconds_sum", `kind="Deployment",result="succeeded"} 7`},
		"a clock was set back": {func(m *metrics.Metrics) {
			m.Moved("Deployment", model.RequestStatus{Phase: request.Executing}, model.RequestStatus{Phase: request.Failed, RolloutStart: build.At(3), CompletedAt: build.At(1)})
		}, "kick_rollout_seconds_sum", `kind="Deployment",result="failed"} 0`},
		"a change": {func(m *metrics.Metrics) { m.Change(model.Key{Kind: "Secret", Namespace: "shop", Name: "db"}) }, "kick_changes_observed_total", `source="Secret"} 1`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m, r := newMetrics()
			tt.act(m)
			text, err := testutil.CollectAndFormat(r, expfmt.TypeTextPlain, strings.TrimSuffix(tt.series, "_sum"))
			if err != nil {
				t.Fatal(err)
			}
			if want := tt.series + "{" + tt.want + "\n"; !strings.Contains(string(text), want) {
				t.Errorf("got\n%s\nwant %s", text, want)
			}
		})
	}
}

func queue(leads bool) metrics.Queue {
	return metrics.Queue{
		Now: func() time.Time { return build.At(100) },
		Requests: func() ([]model.RequestStatus, bool) {
			return []model.RequestStatus{
				{Phase: request.WaitingForGate, Reason: request.RateLimited, OpenedAt: build.At(70)},
				{Phase: request.WaitingForGate, Reason: request.RateLimited, OpenedAt: build.At(40)},
				{Phase: request.Succeeded, Reason: request.RateLimited, OpenedAt: build.At(0)},
				{Phase: request.WaitingForRollout, Reason: request.Paused, OpenedAt: build.At(200)},
			}, leads
		},
	}
}

func TestWhatWaits(t *testing.T) {
	text, err := testutil.CollectAndFormat(queue(true), expfmt.TypeTextPlain, "kick_requests_waiting", "kick_request_oldest_waiting_seconds")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`kick_requests_waiting{reason="RateLimited"} 2`, `kick_request_oldest_waiting_seconds{reason="RateLimited"} 60`,
		`kick_requests_waiting{reason="Paused"} 1`, `kick_request_oldest_waiting_seconds{reason="Paused"} 0`,
		`kick_requests_waiting{reason="OutsideSchedule"} 0`, `kick_request_oldest_waiting_seconds{reason="OutsideSchedule"} 0`,
	} {
		if !strings.Contains(string(text), want+"\n") {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	if n := testutil.CollectAndCount(queue(false)); n != 0 {
		t.Errorf("a replica that does not lead tells %d series, want none", n)
	}
}

var update = flag.Bool("update", false, "write docs/metrics.md anew")

func TestPageIsUpToDate(t *testing.T) {
	const file = "../../docs/metrics.md"
	if *update {
		if err := os.WriteFile(file, []byte(metrics.Page()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != metrics.Page() {
		t.Error("docs/metrics.md is not what the code says: run go test ./kick/metrics -update")
	}
	_, r := newMetrics()
	r.MustRegister(queue(true))
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if !strings.Contains(string(page), "`"+f.GetName()+"`") {
			t.Errorf("%s is not on the page", f.GetName())
		}
	}
}
