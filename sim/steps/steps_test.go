package steps_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
	"github.com/corewire/kick/sim/steps"
)

// calls records what steps ask of the operator and of the world.
type calls []string

func (c *calls) Start()   { *c = append(*c, "start") }
func (c *calls) Stop()    { *c = append(*c, "stop") }
func (c *calls) Crash()   { *c = append(*c, "crash") }
func (c *calls) Restart() { *c = append(*c, "restart") }
func (c *calls) Heal()    { *c = append(*c, "heal") }
func (c *calls) Pause(d time.Duration) {
	*c = append(*c, "pause "+d.String())
}
func (c *calls) CrashAtWrite(_ int, landed bool) {
	if landed {
		*c = append(*c, "crashAtWrite landed")
	} else {
		*c = append(*c, "crashAtWrite lost")
	}
}
func (c *calls) AddFault(f steps.Fault) {
	*c = append(*c, "fault "+f.Name+" "+f.Verb+" "+f.Kind+" "+f.ObjectName)
}
func (c *calls) Idle() bool                  { return true }
func (c *calls) NextWake() (time.Time, bool) { return time.Time{}, false }

// hands is a world that records.
type hands struct{ did *calls }

func (h hands) on(verb, namespace, kind, name string) error {
	*h.did = append(*h.did, verb+" "+kind+" "+namespace+"/"+name)
	return nil
}
func (h hands) Undo(ns, kind, name string) error      { return h.on("undo", ns, kind, name) }
func (h hands) Pause(ns, kind, name string) error     { return h.on("pause", ns, kind, name) }
func (h hands) Resume(ns, kind, name string) error    { return h.on("resume", ns, kind, name) }
func (h hands) Restart(ns, kind, name string) error   { return h.on("restart", ns, kind, name) }
func (h hands) FailImage(ns, kind, name string) error { return h.on("failImage", ns, kind, name) }
func (h hands) FixImage(ns, kind, name string) error  { return h.on("fixImage", ns, kind, name) }
func (h hands) Scale(ns, kind, name string, n int32) error {
	return h.on("scale "+string(rune('0'+n)), ns, kind, name)
}
func (h hands) Evict(ns, kind, name string, n int) error {
	return h.on("evict "+string(rune('0'+n)), ns, kind, name)
}
func (h hands) CrashContainers(ns, kind, name string, n int) error {
	return h.on("crashContainers "+string(rune('0'+n)), ns, kind, name)
}

var zero = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// play runs the steps written in YAML and returns the environment and the first error.
func play(t *testing.T, text string) (*steps.Env, calls, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.yaml")
	document := "apiVersion: sim.kick.corewire.io/v1alpha1\nkind: Scenario\nmetadata: {name: x}\nspec:\n  steps:\n" + text
	if err := os.WriteFile(path, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	scenarios, problems := scenario.NewParser(steps.All(), []scenario.Fault{{Name: "conflict"}}).ParseFile(path)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	loop := sched.New(zero, sched.FIFO{})
	var did calls
	env := &steps.Env{
		Loop: loop, API: cluster.New(cluster.Options{Now: loop.Now, Scheme: scenario.Scheme, NamespaceAutoCreate: true}), Zero: zero,
		World: hands{&did}, Operator: &did, Clocks: map[clock.Domain]*clock.Virtual{clock.Kick: clock.New(loop, 0)},
	}
	for _, s := range scenarios[0].Steps {
		if err := steps.Run(env, s); err != nil {
			return env, did, err
		}
	}
	return env, did, nil
}

func secretOf(env *steps.Env) *corev1.Secret {
	object := env.API.Get(schema.GroupKind{Kind: "Secret"}, types.NamespacedName{Namespace: "shop", Name: "db"})
	if object == nil {
		return nil
	}
	return object.(*corev1.Secret)
}

const db = "{apiVersion: v1, kind: Secret, metadata: {namespace: shop, name: db}"

func TestWrites(t *testing.T) {
	tests := map[string]struct {
		steps string
		want  map[string]string // data; nil: no Secret
		err   string
	}{
		"apply creates":          {"  - apply: {resource: " + db + ", stringData: {a: '1'}}}", map[string]string{"a": "1"}, ""},
		"apply takes keys away":  {"  - apply: {resource: " + db + ", data: {a: MQ==, b: Mg==}}}\n  - apply: {resource: " + db + ", data: {b: Mw==}}}", map[string]string{"b": "3"}, ""},
		"apply of another":       {"  - apply: {resource: " + db + ", data: {a: MQ==}}}\n  - apply: {resource: " + db + ", data: {b: Mw==}}, as: helm}", map[string]string{"a": "1", "b": "3"}, ""},
		"create":                 {"  - create: {resource: " + db + ", data: {a: MQ==}}}", map[string]string{"a": "1"}, ""},
		"create of an existing":  {"  - create: {resource: " + db + "}}\n  - create: {resource: " + db + "}}", map[string]string{}, `create Secret shop/db: `},
		"update replaces":        {"  - create: {resource: " + db + ", data: {a: MQ==}}}\n  - update: {resource: " + db + ", data: {b: Mg==}}}", map[string]string{"b": "2"}, ""},
		"update of none":         {"  - update: {resource: " + db + "}}", nil, `update Secret shop/db: `},
		"patch merges":           {"  - create: {resource: " + db + ", data: {a: MQ==, b: Mg==}}}\n  - patch: {resource: " + db + ", data: {a: null, c: Mw==}}}", map[string]string{"b": "2", "c": "3"}, ""},
		"delete":                 {"  - create: {resource: " + db + "}}\n  - delete: {ref: {apiVersion: v1, kind: Secret, namespace: shop, name: db}}", nil, ""},
		"delete of none is fine": {"  - delete: {ref: {apiVersion: v1, kind: Secret, namespace: shop, name: db}}", nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			env, _, err := play(t, tt.steps)
			if (err == nil) != (tt.err == "") || (err != nil && !strings.Contains(err.Error(), tt.err)) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			got := secretOf(env)
			if (got == nil) != (tt.want == nil) {
				t.Fatalf("got %v, want %v", got, tt.want)
			}
			if got == nil {
				return
			}
			if len(got.Data) != len(tt.want) {
				t.Errorf("got %q, want %q", got.Data, tt.want)
			}
			for k, v := range tt.want {
				if string(got.Data[k]) != v {
					t.Errorf("got %q, want %q", got.Data, tt.want)
				}
			}
		})
	}
}

func TestPatchOfStatus(t *testing.T) {
	env, _, err := play(t, `  - create: {resource: {apiVersion: apps/v1, kind: Deployment, metadata: {namespace: shop, name: web}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b}]}}}}}
  - patch: {resource: {apiVersion: apps/v1, kind: Deployment, metadata: {namespace: shop, name: web}, status: {replicas: 2}}, subresource: status, as: someone}`)
	if err != nil {
		t.Fatal(err)
	}
	object := env.API.Get(schema.GroupKind{Group: "apps", Kind: "Deployment"}, types.NamespacedName{Namespace: "shop", Name: "web"})
	if got := object.(*appsv1.Deployment).Status.Replicas; got != 2 {
		t.Errorf("got %d", got)
	}
}

func TestTime(t *testing.T) {
	env, _, err := play(t, "  - {at: 10s, heal: {}}\n  - {after: 5s, heal: {}}\n  - advance: 1m\n  - clock: {domain: kick, step: -2s}\n  - settle: 1h")
	if err != nil {
		t.Fatal(err)
	}
	if got := env.Loop.Now().Sub(zero); got != 75*time.Second {
		t.Errorf("reached %s", got)
	}
	if got := env.Clocks[clock.Kick].Offset(); got != -2*time.Second {
		t.Errorf("offset %s", got)
	}
}

func TestSettleStopsWhenNothingIsDue(t *testing.T) {
	env, _, _ := play(t, "  - heal: {}")
	ran := ""
	env.Loop.After(time.Minute, "a", func() {
		ran += "a"
		env.Loop.After(time.Hour, "b", func() { ran += "b" })
	})
	env.Settle(30 * time.Minute)
	if got := env.Loop.Now().Sub(zero); got != time.Minute || ran != "a" {
		t.Errorf("ran %q up to %s", ran, got)
	}
}

func TestAssert(t *testing.T) {
	create := "  - create: {resource: " + db + ", data: {a: MQ==}}}\n"
	tests := map[string]struct{ steps, err string }{
		"holds":         {create + "  - assert: {resource: " + db + ", data: {a: MQ==}}}", ""},
		"by kind":       {create + "  - assert: {resource: {apiVersion: v1, kind: Secret, metadata: {namespace: shop}, data: {a: MQ==}}}", ""},
		"does not hold": {create + "  - assert: {resource: " + db + ", data: {a: Mg==}}}", "assert: no Secret shop/db matches: data.a: another value"},
		"no object":     {"  - assert: {resource: " + db + "}, within: 3s}", "assert: no Secret shop/db matches within 3s: no such object exists"},
		"error holds":   {"  - error: {resource: " + db + "}}", ""},
		"error":         {create + "  - error: {resource: {apiVersion: v1, kind: Secret, data: {a: MQ==}}}", "error: Secret shop/db matches, and nothing should"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := play(t, tt.steps)
			if got := errorText(err); got != tt.err {
				t.Errorf("got %q, want %q", got, tt.err)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestAssertWaits(t *testing.T) {
	env, _, _ := play(t, "  - heal: {}")
	env.Loop.After(2*time.Second, "write", func() {
		object := &corev1.Secret{}
		object.Namespace, object.Name = "shop", "db"
		if _, err := env.API.Create(object, cluster.WriteOptions{Manager: "kubectl"}); err != nil {
			t.Error(err)
		}
	})
	if !env.Await(zero.Add(time.Minute), func() bool { return secretOf(env) != nil }) {
		t.Fatal("not found")
	}
	if got := env.Loop.Now().Sub(zero); got != 2*time.Second {
		t.Errorf("found at %s", got)
	}
}

func TestOperatorAndRollouts(t *testing.T) {
	_, did, err := play(t, `  - operator: stop
  - operator: start
  - operator: restart
  - operator: crash
  - crashAtWrite: {n: 2, landed: false}
  - crashAtWrite: {n: 2}
  - fault: {name: conflict, on: {verb: patch, kind: Deployment, name: web}, times: 1}
  - heal: {}
  - rollout: {undo: {kind: Deployment, namespace: shop, name: web}}
  - rollout: {pause: {kind: Deployment, namespace: shop, name: web}}
  - rollout: {resume: {kind: Deployment, namespace: shop, name: web}}
  - rollout: {restart: {kind: Deployment, namespace: shop, name: web}}
  - rollout: {failImage: {kind: DaemonSet, namespace: shop, name: web}}
  - rollout: {fixImage: {kind: DaemonSet, namespace: shop, name: web}}
  - rollout: {scale: {kind: StatefulSet, namespace: shop, name: db, replicas: 0}}
  - rollout: {evict: {kind: StatefulSet, namespace: shop, name: db, pods: 2}}
  - rollout: {crashContainers: {kind: StatefulSet, namespace: shop, name: db}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := `stop start restart crash crashAtWrite lost crashAtWrite landed fault conflict patch Deployment web heal ` +
		`undo Deployment shop/web pause Deployment shop/web resume Deployment shop/web restart Deployment shop/web ` +
		`failImage DaemonSet shop/web fixImage DaemonSet shop/web scale 0 StatefulSet shop/db evict 2 StatefulSet shop/db crashContainers 0 StatefulSet shop/db`
	if got := strings.Join(did, " "); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAtInThePast(t *testing.T) {
	env, _, _ := play(t, "  - advance: 1m")
	err := steps.Run(env, scenario.Step{AtSet: true, At: 30 * time.Second})
	if got := errorText(err); got != "at 30s lies in the past: the steps before reached 1m0s" {
		t.Errorf("got %q", got)
	}
}
