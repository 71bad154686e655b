package operator_test

import (
	"context"
	"strings"
	"testing"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// TestWaitsAndRestartsShowInTheMetrics: a request that waits shows on a running
// /metrics, and so does its restart once that was made.
//
// Proves: KICK-FEAT-037.
func TestWaitsAndRestartsShowInTheMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "metrics")
	w.secret("db", "first")
	w.deployment("web", 1, byEnv("db"))
	w.rolledOut("Deployment", "web", 1)
	o := w.start()
	shows := func(line string) {
		t.Helper()
		w.eventually(line, func(ctx context.Context) string {
			_, body, err := o.Get(ctx, o.Metrics, "/metrics")
			if err != nil {
				return err.Error()
			}
			if !strings.Contains(body, "\n"+line+"\n") {
				return "it is not there"
			}
			return ""
		})
	}
	w.policy("", func(p *v1alpha1.KickPolicySpec) { p.Suspend = true })
	w.secret("db", "second")
	shows(`kick_requests_waiting{reason="PolicySuspended"} 1`)
	shows(`kick_gate_decisions_total{gate="policy",reason="PolicySuspended"} 1`)
	w.patch(&v1alpha1.KickPolicy{}, "policy", `{"spec":{"suspend":false}}`)
	shows(`kick_change_to_restart_seconds_count{kind="Deployment"} 1`)
	shows(`kick_rollout_seconds_count{kind="Deployment",result="succeeded"} 1`)
	shows(`kick_requests_waiting{reason="PolicySuspended"} 0`)
}
