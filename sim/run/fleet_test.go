package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/engine"
	"github.com/corewire/kick/sim/run"
)

// fleetSize is how many workloads share one ConfigMap.
const fleetSize = 500

// fleet is a scenario in which a ConfigMap that all of them read changes.
func fleet(size int, flags, policy string) string {
	var out strings.Builder
	fmt.Fprintf(&out, `apiVersion: sim.kick.corewire.io/v1alpha1
kind: Scenario
metadata: {name: fleet}
spec:
  summary: "One ConfigMap, %d consumers"
  operator: {flags: {%s}}
  given:
    - {resource: {apiVersion: v1, kind: Namespace, metadata: {name: shop}}}
    - {resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop}, data: {mode: slow}}}
    - {resource: {apiVersion: kick.corewire.io/v1alpha1, kind: KickPolicy, metadata: {name: all, namespace: shop}, spec: {restart: {settleDelay: 0s%s}}}}
`, size, flags, policy)
	for i := range size {
		fmt.Fprintf(&out, `    - resource:
        {apiVersion: apps/v1, kind: Deployment, metadata: {name: web-%[1]d, namespace: shop}, spec: {replicas: 1, selector: {matchLabels: {app: web-%[1]d}},
         template: {metadata: {labels: {app: web-%[1]d}}, spec: {containers: [{name: app, image: example.com/app, envFrom: [{configMapRef: {name: settings}}]}]}}}}
`, i)
	}
	out.WriteString(`  steps:
    - at: 10s
      apply: {resource: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop}, data: {mode: fast}}}
  expect:
    settle: 1h
    restarts:
`)
	for i := range size {
		fmt.Fprintf(&out, "      shop/Deployment/web-%d: 1\n", i)
	}
	return out.String()
}

// underWay counts, from the events of the API server alone, the Deployments whose template
// KICK has changed and whose rollout is not over.
type underWay struct {
	now  map[string]bool
	most int
}

func (u *underWay) tell(e cluster.Event) {
	d, ok := e.Object.(*appsv1.Deployment)
	if !ok {
		return
	}
	s := &d.Status
	switch over := s.ObservedGeneration == d.Generation && s.UpdatedReplicas == *d.Spec.Replicas && s.Replicas == s.UpdatedReplicas && s.AvailableReplicas == s.Replicas; {
	case over || e.Type == cluster.Deleted:
		delete(u.now, d.Name)
	case e.Manager == "kick":
		u.now[d.Name] = true
		u.most = max(u.most, len(u.now))
	}
}

// A ConfigMap that five hundred workloads share restarts each of them once, and never
// more at a time than the limit allows. That none is lost, and none doubled, is judged by
// the scenario and by the laws.
//
// Proves: KICK-FEAT-018.
func TestManyWorkloadsShareOneConfigMap(t *testing.T) {
	collectLess(t)
	for name, c := range map[string]struct {
		flags, policy string
		most          int
		fast          bool // once with all that the API server checks is enough
	}{
		"the default":      {"", "", 25, false},
		"maxConcurrent 10": {"", ", maxConcurrent: 10", 10, true},
		"no limit":         {`max-concurrent-restarts: "0"`, "", fleetSize, true},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "fleet.yaml")
			if err := os.WriteFile(file, []byte(fleet(fleetSize, c.flags, c.policy)), 0o600); err != nil {
				t.Fatal(err)
			}
			seen := &underWay{now: map[string]bool{}}
			result := run.One(parse(t, file)[0], run.Options{Fast: c.fast, NewOperator: func(o run.OperatorOptions) (run.Operator, error) {
				o.Server.Subscribe(seen.tell)
				return engine.New(o)
			}})
			if !result.OK() {
				t.Fatal(result.Problem, result.Failures)
			}
			if seen.most != c.most || len(seen.now) > 0 {
				t.Errorf("at most %d restarts were under way at a time, and %d are at the end; want %d and none", seen.most, len(seen.now), c.most)
			}
			t.Logf("%d restarts, %d events, %s of the world's time", len(result.Restarts), result.Events, result.Virtual)
		})
	}
}
