package operator_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// Every kind of workload and every way to read a source: one change, one restart.
// All of them change at the same time.
//
// Proves: KICK-FEAT-001, KICK-FEAT-002, I2, I6.
func TestEveryReferenceRestarts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "references")
	w.policy("")
	tests := []struct {
		kind, name string
		reading    podReading
		configMap  bool
	}{
		{kind: "Deployment", name: "env", reading: byEnv},
		{kind: "Deployment", name: "env-from", reading: byEnvFrom},
		{kind: "Deployment", name: "volume", reading: byVolume},
		{kind: "Deployment", name: "projected", reading: byProjected},
		{kind: "Deployment", name: "init", reading: byInit},
		{kind: "Deployment", name: "sidecar", reading: bySidecar},
		{kind: "Deployment", name: "configmap", reading: byConfigMapEnv, configMap: true},
		{kind: "StatefulSet", name: "ordered", reading: byEnvFrom},
		{kind: "StatefulSet", name: "ordered-configmap", reading: byConfigMapVolume, configMap: true},
		{kind: "DaemonSet", name: "everywhere", reading: byVolume},
	}
	before := map[string]map[string]bool{}
	for _, tt := range tests {
		if tt.configMap {
			w.configMap(tt.name, "before")
		} else {
			w.secret(tt.name, "before")
		}
		w.workload(tt.kind, tt.name, tt.reading(tt.name))
	}
	o := w.start()
	for _, tt := range tests {
		w.rolledOut(tt.kind, tt.name, 1)
		w.reaches(tt.kind, tt.name, v1alpha1.PhaseNoLongerRequired, "Fresh")
		before[tt.name] = w.pods(tt.name)
	}
	for _, tt := range tests {
		if tt.configMap {
			w.configMap(tt.name, "after")
		} else {
			w.secret(tt.name, "after")
		}
	}
	for _, tt := range tests {
		w.restarted(tt.kind, tt.name, 2, before[tt.name])
	}
	n := len(tests)
	w.counts(o, "kick_restarts_total", `provider="unknown",result="started"`, n)
	w.counts(o, "kick_restarts_total", `provider="unknown",result="succeeded"`, n)
	w.counts(o, "kick_changes_observed_total", `source="Secret"`, n-2)
	w.counts(o, "kick_changes_observed_total", `source="ConfigMap"`, 2)
	for _, tt := range tests {
		w.told(tt.kind, tt.name, map[string]int{"KickStarted": 1, "KickSucceeded": 1, "KickFailed": 0})
	}
}

func (w *world) workload(kind, name string, spec corev1.PodSpec) {
	w.t.Helper()
	switch kind {
	case "Deployment":
		w.deployment(name, 2, spec)
	case "StatefulSet":
		w.statefulSet(name, 2, spec)
	case "DaemonSet":
		w.daemonSet(name, spec)
	}
}

// counts waits until a metric with a label stands at a value.
func (w *world) counts(o interface {
	Get(ctx context.Context, address, path string) (int, string, error)
}, metric, label string, want int) {
	w.t.Helper()
	address := w.operators[len(w.operators)-1].Metrics
	w.eventually(metric, func(ctx context.Context) string {
		_, text, err := o.Get(ctx, address, "/metrics")
		if err != nil {
			return err.Error()
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, metric+"{") && strings.Contains(line, label) {
				if strings.HasSuffix(strings.TrimSpace(line), fmt.Sprintf("} %d", want)) {
					return ""
				}
				return fmt.Sprintf("%s, want %d", strings.TrimSpace(line), want)
			}
		}
		return "no such series: " + label
	})
}

// told waits until exactly so many events of each reason are about the request of
// a workload, and name the workload too.
func (w *world) told(kind, name string, want map[string]int) {
	w.t.Helper()
	w.eventually("events of "+kind+" "+name, func(ctx context.Context) string {
		var list eventsv1.EventList
		if err := w.c.List(ctx, &list, client.InNamespace(w.ns)); err != nil {
			return err.Error()
		}
		got := map[string]int{}
		for i := range list.Items {
			e := &list.Items[i]
			if e.Regarding.Kind == "KickRequest" && e.Related != nil && e.Related.Kind == kind && e.Related.Name == name {
				got[e.Reason]++
				if e.Series != nil {
					got[e.Reason] += int(e.Series.Count) - 1
				}
			}
		}
		for reason, n := range want {
			if got[reason] != n {
				return fmt.Sprintf("%d events %s, want %d", got[reason], reason, n)
			}
		}
		return ""
	})
}

// What is no change of content restarts nothing, and neither does a Secret that
// only the kubelet reads. A real change made afterwards tells when KICK is through
// with all of it.
//
// Proves: KICK-FEAT-001, I1.
func TestNoChangeNoRestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "nochange")
	w.policy("")
	for _, name := range []string{"quiet", "pull", "witness"} {
		w.secret(name, "before")
	}
	w.deployment("quiet", 1, byEnvFrom("quiet"))
	w.deployment("pull", 1, byPullSecret("pull"))
	w.deployment("witness", 1, byEnvFrom("witness"))
	w.start()
	for _, name := range []string{"quiet", "witness"} {
		w.reaches("Deployment", name, v1alpha1.PhaseNoLongerRequired, "Fresh")
	}
	var record v1alpha1.SourceObservation
	key := client.ObjectKey{Namespace: w.ns, Name: "secret-quiet"}
	if err := w.c.Get(t.Context(), key, &record); err != nil {
		t.Fatal(err)
	}
	version, request := record.ResourceVersion, w.request("Deployment", "quiet").ResourceVersion

	w.patch(&corev1.Secret{}, "quiet", `{"metadata":{"labels":{"team":"web"},"annotations":{"note":"hello"}}}`)
	w.secret("quiet", "before")
	w.patch(&corev1.Secret{}, "quiet", `{"immutable":false}`)
	w.secret("pull", "after")
	w.secret("witness", "after")
	w.reaches("Deployment", "witness", v1alpha1.PhaseSucceeded, "RestartCompleted")

	w.rolledOut("Deployment", "quiet", 1)
	w.rolledOut("Deployment", "pull", 1)
	if now := w.request("Deployment", "quiet").ResourceVersion; now != request {
		t.Errorf("the request was written for no reason: resourceVersion %s, was %s", now, request)
	}
	if err := w.c.Get(t.Context(), key, &record); err != nil || record.ResourceVersion != version {
		t.Errorf("the record was written for no reason: resourceVersion %s, was %s (%v)", record.ResourceVersion, version, err)
	}
	var list v1alpha1.KickRequestList
	if err := w.c.List(t.Context(), &list, client.InNamespace(w.ns)); err != nil || len(list.Items) != 2 {
		t.Errorf("%d requests, want those of quiet and witness only (%v)", len(list.Items), err)
	}
}

// A Secret and a ConfigMap edited together, and once more within the settle delay,
// give one restart.
//
// Proves: KICK-FEAT-017.
func TestSettleDelayCoalesces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "settle")
	w.policy("", func(p *v1alpha1.KickPolicySpec) { p.Restart.SettleDelay = &metav1.Duration{Duration: 3 * time.Second} })
	w.secret("web", "before")
	w.configMap("web", "before")
	spec := byEnvFrom("web")
	spec.Containers = append(spec.Containers, byConfigMapEnv("web").Containers...)
	w.deployment("web", 2, spec)
	w.start()
	w.reaches("Deployment", "web", v1alpha1.PhaseNoLongerRequired, "Fresh")
	before := w.pods("web")
	w.secret("web", "between")
	w.configMap("web", "after")
	w.secret("web", "after")
	w.restarted("Deployment", "web", 2, before)
	causes := w.request("Deployment", "web").Status.Causes
	kinds := make([]string, 0, len(causes))
	for _, c := range causes {
		kinds = append(kinds, string(c.Kind))
	}
	slices.Sort(kinds)
	if !slices.Equal(kinds, []string{"ConfigMap", "Secret"}) {
		t.Errorf("causes %v, want the ConfigMap and the Secret", causes)
	}
}

// A workload that cannot be restarted says so at once, and is restarted when it can.
//
// Proves: KICK-FEAT-022.
func TestPausedDeploymentWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "paused")
	w.policy("")
	w.secret("web", "before")
	w.deployment("web", 1, byEnvFrom("web"))
	w.start()
	w.reaches("Deployment", "web", v1alpha1.PhaseNoLongerRequired, "Fresh")
	before := w.pods("web")
	w.patch(&appsv1.Deployment{}, "web", `{"spec":{"paused":true}}`)
	w.secret("web", "after")
	w.reaches("Deployment", "web", v1alpha1.PhaseWaitingForRollout, "Paused")
	w.patch(&appsv1.Deployment{}, "web", `{"spec":{"paused":false}}`)
	w.restarted("Deployment", "web", 4, before) // pause, resume, restart
}

// A person's request restarts under the policy's rules, once.
//
// Proves: KICK-FEAT-023.
func TestManualRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "manual")
	w.policy("")
	w.secret("web", "before")
	w.deployment("web", 1, byEnvFrom("web"))
	w.start()
	w.reaches("Deployment", "web", v1alpha1.PhaseNoLongerRequired, "Fresh")
	w.create(&v1alpha1.KickRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "please"},
		Spec: v1alpha1.KickRequestSpec{
			TargetRef: v1alpha1.TargetReference{Kind: "Deployment", Name: "web"},
			Trigger:   v1alpha1.TriggerManual, Reason: "the certificate of the database was renewed",
		},
	})
	w.eventually("request please", func(ctx context.Context) string {
		var r v1alpha1.KickRequest
		if err := w.c.Get(ctx, client.ObjectKey{Namespace: w.ns, Name: "please"}, &r); err != nil {
			return err.Error()
		}
		if r.Status.Phase != v1alpha1.PhaseSucceeded {
			return string(r.Status.Phase)
		}
		return ""
	})
	w.rolledOut("Deployment", "web", 2)
}
