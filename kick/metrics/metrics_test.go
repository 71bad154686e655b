package metrics_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"

	"github.com/corewire/kick/kick/metrics"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

func newMetrics() (*metrics.Metrics, *prometheus.Registry) {
	r := prometheus.NewRegistry()
	return metrics.New(r, []string{"request", "source"}, []string{"Secret", "ConfigMap"}), r
}

func TestNamesAndHelpPassTheLinter(t *testing.T) {
	_, r := newMetrics()
	problems, err := testutil.GatherAndLint(r)
	if err != nil || len(problems) > 0 {
		t.Errorf("GatherAndLint() = %v, %v, want no problem", problems, err)
	}
}

// Every series is there from the start, so that rate() sees the first event.
const fromTheStart = `
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
kick_requests_total{provider="none",result="dry_run"} 0
kick_requests_total{provider="none",result="failed"} 0
kick_requests_total{provider="none",result="no_longer_required"} 0
kick_requests_total{provider="none",result="succeeded"} 0
# HELP kick_restarts_total Restarts by KICK and how they ended.
# TYPE kick_restarts_total counter
kick_restarts_total{provider="none",result="failed"} 0
kick_restarts_total{provider="none",result="started"} 0
kick_restarts_total{provider="none",result="succeeded"} 0
`

func TestEverySeriesIsThereFromTheStart(t *testing.T) {
	_, r := newMetrics()
	if err := testutil.GatherAndCompare(r, strings.NewReader(fromTheStart)); err != nil {
		t.Error(err)
	}
}

func TestWhatIsCounted(t *testing.T) {
	tests := map[string]struct {
		act    func(*metrics.Metrics)
		series string
		want   string
	}{
		"started":                   {func(m *metrics.Metrics) { m.Transition(request.Pending, request.Executing) }, "kick_restarts_total", `provider="none",result="started"} 1`},
		"succeeded":                 {func(m *metrics.Metrics) { m.Transition(request.Executing, request.Succeeded) }, "kick_restarts_total", `provider="none",result="succeeded"} 1`},
		"failed":                    {func(m *metrics.Metrics) { m.Transition(request.Executing, request.Failed) }, "kick_restarts_total", `provider="none",result="failed"} 1`},
		"failed, outcome":           {func(m *metrics.Metrics) { m.Transition(request.Executing, request.Failed) }, "kick_requests_total", `provider="none",result="failed"} 1`},
		"failed without a restart":  {func(m *metrics.Metrics) { m.Transition(request.Pending, request.Failed) }, "kick_restarts_total", `provider="none",result="failed"} 0`},
		"nothing to do":             {func(m *metrics.Metrics) { m.Transition(request.Pending, request.NoLongerRequired) }, "kick_requests_total", `provider="none",result="no_longer_required"} 1`},
		"same phase counts once":    {func(m *metrics.Metrics) { m.Transition(request.Succeeded, request.Succeeded) }, "kick_requests_total", `provider="none",result="succeeded"} 0`},
		"waiting is no outcome":     {func(m *metrics.Metrics) { m.Transition(request.Pending, request.WaitingForGate) }, "kick_requests_total", `provider="none",result="succeeded"} 0`},
		"an error without a reason": {func(m *metrics.Metrics) { m.Error("request", "") }, "kick_controller_errors_total", `controller="request",reason="Unknown"} 1`},
		"an error with a reason":    {func(m *metrics.Metrics) { m.Error("request", "Conflict") }, "kick_controller_errors_total", `controller="request",reason="Conflict"} 1`},
		"a change":                  {func(m *metrics.Metrics) { m.Change(model.Key{Kind: "Secret", Namespace: "shop", Name: "db"}) }, "kick_changes_observed_total", `source="Secret"} 1`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m, r := newMetrics()
			tt.act(m)
			text, err := testutil.CollectAndFormat(r, expfmt.TypeTextPlain, tt.series)
			if err != nil {
				t.Fatal(err)
			}
			if want := tt.series + "{" + tt.want + "\n"; !strings.Contains(string(text), want) {
				t.Errorf("got\n%s\nwant %s", text, want)
			}
		})
	}
}
