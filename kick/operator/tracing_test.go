package operator_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/kicktest/otlp"
)

// TestARestartIsOneTrace: a running operator sends two spans of a restart, in the one trace
// that the request's status names.
//
// Proves: KICK-FEAT-044.
func TestARestartIsOneTrace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "tracing")
	w.policy("")
	w.secret("web", "alpha")
	w.deployment("web", 1, byEnvFrom("web"))
	r, address := otlp.Listen(t)
	w.start("--otel-otlp-endpoint="+address, "--otel-otlp-insecure")
	w.reaches("Deployment", "web", v1alpha1.PhaseNoLongerRequired, "Fresh")
	w.secret("web", "bravo")
	w.reaches("Deployment", "web", v1alpha1.PhaseSucceeded, "RestartCompleted")
	w.eventually("two spans arrive", func(context.Context) string {
		if n := len(r.Received()); n != 2 {
			return fmt.Sprintf("%d have", n)
		}
		return ""
	})
	got := r.Received()
	changed, restarted := got[0], got[1]
	if changed.GetName() != "dependency.changed" || restarted.GetName() != "restart.executed" {
		t.Fatalf("the spans are %s and %s", changed.GetName(), restarted.GetName())
	}
	var request v1alpha1.KickRequest
	if err := w.c.Get(t.Context(), client.ObjectKey{Namespace: w.ns, Name: "deployment-web"}, &request); err != nil {
		t.Fatal(err)
	}
	if want := "00-" + hex.EncodeToString(changed.GetTraceId()) + "-" + hex.EncodeToString(changed.GetSpanId()) + "-01"; request.Status.Traceparent != want {
		t.Errorf("the request names trace %s, the first span is %s", request.Status.Traceparent, want)
	}
	if string(restarted.GetTraceId()) != string(changed.GetTraceId()) || string(restarted.GetParentSpanId()) != string(changed.GetSpanId()) {
		t.Errorf("the second span is of trace %x below %x, want %x below %x", restarted.GetTraceId(), restarted.GetParentSpanId(), changed.GetTraceId(), changed.GetSpanId())
	}
	stamp := uint64(request.Status.CurrentRollout.StartedAt.UnixNano()) //nolint:gosec // after 1970
	if restarted.GetStartTimeUnixNano() != stamp || changed.GetEndTimeUnixNano() != stamp {
		t.Errorf("the spans meet at %d and %d, the restart was at %d", changed.GetEndTimeUnixNano(), restarted.GetStartTimeUnixNano(), stamp)
	}
}
