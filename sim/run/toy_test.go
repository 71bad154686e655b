package run

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/scenario"
)

var (
	deployments = schema.GroupKind{Group: "apps", Kind: "Deployment"}
	secrets     = schema.GroupKind{Kind: "Secret"}
)

// toy is an operator of the simplest kind: it remembers in memory and across its
// own restarts which version of each Secret it restarted the consumers of shop
// for. Its faults are what the laws are tried on.
type toy struct {
	o       OperatorOptions
	running bool
	busy    bool
	seen    map[string]string // Secret -> version
	again   bool              // restart on any write, also of metadata
	deaf    bool              // never restart
	says    string            // an indiscreet log line
}

func newToy(change func(*toy)) OperatorFactory {
	return func(o OperatorOptions) (Operator, error) {
		if _, ok := o.Flags["no-such-flag"]; ok {
			return nil, fmt.Errorf("unknown flag %q", "no-such-flag")
		}
		t := &toy{o: o, seen: map[string]string{}}
		if change != nil {
			change(t)
		}
		for _, object := range o.Server.List(secrets, "shop") {
			t.seen[object.GetName()] = t.version(object.GetName())
		}
		o.Server.Subscribe(func(ev cluster.Event) {
			if ev.Kind == secrets {
				t.look()
			}
		})
		return t, nil
	}
}

func (t *toy) version(name string) string {
	object := t.o.Server.Get(secrets, types.NamespacedName{Namespace: "shop", Name: name})
	if object == nil {
		return ""
	}
	if t.again {
		return object.GetResourceVersion()
	}
	return fmt.Sprint(object.(*corev1.Secret).Data)
}

func (t *toy) look() {
	if t.busy || !t.running || t.deaf {
		return
	}
	t.busy = true
	t.o.Loop.After(time.Second, "toy", t.pass)
}

func (t *toy) pass() {
	t.busy = false
	if !t.running {
		return
	}
	changed := false
	for _, object := range t.o.Server.List(secrets, "shop") {
		if v := t.version(object.GetName()); t.seen[object.GetName()] != v {
			t.seen[object.GetName()], changed = v, true
		}
	}
	if !changed {
		return
	}
	for _, object := range t.o.Server.List(deployments, "shop") {
		t.restart(object.(*appsv1.Deployment))
	}
}

func (t *toy) restart(d *appsv1.Deployment) {
	stamp := t.o.Clock.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	body := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":%q}}}}}`, stamp)
	key := types.NamespacedName{Namespace: d.Namespace, Name: d.Name}
	w := Write{Verb: "patch", Kind: deployments, Key: key, At: t.o.Clock.Now()}
	t.o.Observe(w)
	_, err := t.o.Server.Patch(deployments, key, types.MergePatchType, []byte(body), cluster.WriteOptions{Manager: "kick"})
	w.Done, w.Err = true, err
	t.o.Observe(w)
	t.o.Log("restarted " + d.Name)
	if t.says != "" {
		t.o.Log(t.says)
	}
}

func (t *toy) Start() {
	t.running = true
	t.look()
}
func (t *toy) Stop()                       { t.running = false }
func (t *toy) Crash()                      { t.Stop(); t.o.Loop.After(time.Second, "toy back", t.Start) }
func (t *toy) Restart()                    { t.Stop(); t.Start() }
func (t *toy) CrashAtWrite(int, bool)      {}
func (t *toy) Pause(time.Duration)         {}
func (t *toy) AddFault(Fault)              {}
func (t *toy) Heal()                       { t.Start() }
func (t *toy) Idle() bool                  { return !t.busy }
func (t *toy) NextWake() (time.Time, bool) { return time.Time{}, false }

// judged runs a scenario with a toy, which keeps no ledger: that law is not for it.
func judged(s scenario.Scenario, o Options) Result {
	r := One(s, o)
	r.Failures = slices.DeleteFunc(r.Failures, func(f Failure) bool { return f.Law == "the ledger holds what is read" })
	return r
}
