package operator_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/crds"
	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/installation"
	"github.com/corewire/kick/kick/operator"
)

// patience is how long anything may take on a machine that has much else to do.
const patience = 2 * time.Minute

// world is a namespace of the shared control plane with a KICK of its own.
type world struct {
	t         *testing.T
	c         client.WithWatch
	plane     *controlplane.ControlPlane
	kick      *installation.Installation
	ns        string
	operators []*installation.Operator
	contents  []map[string]string // of every Secret that was ever written
}

var installCRDs sync.Mutex

// newWorld prepares a namespace; no operator runs yet. When the test is over,
// whatever its operators wrote and said is searched for errors and for the
// Secrets' values.
func newWorld(t *testing.T, name string) *world {
	t.Helper()
	plane := controlplane.Shared(t)
	installCRDs.Lock()
	err := plane.InstallCRDs(t.Context(), crds.FS)
	installCRDs.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.NewWithWatch(plane.Config, client.Options{Scheme: operator.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, c: c, plane: plane, ns: fmt.Sprintf("%s-%d", name, time.Now().UnixNano()%1e9)}
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}})
	if w.kick, err = installation.Prepare(t.Context(), plane, "kick-"+w.ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.end)
	return w
}

func (w *world) end() {
	w.searchForLeaks()
	for _, o := range w.operators {
		w.noErrors(o)
		if err := o.Stop(10 * time.Second); err != nil {
			w.t.Error(err)
		}
		if w.t.Failed() {
			output, _ := o.Output()
			w.t.Logf("the operator said:\n%s", withoutStart(output))
		}
	}
}

// noErrors: whatever a test does to it, an operator with all its rights has no
// error to report; what users can put right are conditions. A lease that could not
// be renewed in time tells of a busy machine only, and one that is given back while
// the process ends is called lost by the library. An event that was on its way when
// the process was told to end may be lost, too; nothing else cancels its context.
func (w *world) noErrors(o *installation.Operator) {
	w.t.Helper()
	output, err := o.Output()
	if err != nil {
		w.t.Error(err)
	}
	for line := range strings.Lines(output) {
		lease := strings.Contains(line, `"logger":"leaderelection"`) || strings.Contains(line, `"error":"leader election lost"`)
		lastEvent := strings.Contains(line, `"logger":"events"`) && strings.Contains(line, "context canceled")
		if strings.Contains(line, `"level":"error"`) && !lease && !lastEvent {
			w.t.Errorf("%s logged an error: %s", o.Name, line)
		}
	}
}

// withoutStart leaves out what every operator says when it starts.
func withoutStart(output string) string {
	var kept []string
	for line := range strings.Lines(output) {
		if !strings.Contains(line, "Starting EventSource") && !strings.Contains(line, "Starting workers") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// start runs an operator for this namespace and waits until it is ready.
func (w *world) start(flags ...string) *installation.Operator {
	w.t.Helper()
	o := w.launch(flags...)
	if err := o.WaitReady(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return o
}

// launch is start without the wait.
func (w *world) launch(flags ...string) *installation.Operator {
	w.t.Helper()
	o, err := w.kick.Start(append([]string{"--watch-namespaces=" + w.ns, "--log-level=debug"}, flags...)...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.operators = append(w.operators, o)
	return o
}

func (w *world) create(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.c.Create(w.t.Context(), o); err != nil {
			w.t.Fatalf("create %T %s: %v", o, o.GetName(), err)
		}
	}
}

// patch merges a JSON document into an object, as kubectl patch --type merge does.
func (w *world) patch(o client.Object, name, document string) {
	w.t.Helper()
	o.SetNamespace(w.ns)
	o.SetName(name)
	if err := w.c.Patch(w.t.Context(), o, client.RawPatch("application/merge-patch+json", []byte(document)), client.FieldOwner("somebody")); err != nil {
		w.t.Fatalf("patch %T %s: %v", o, name, err)
	}
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.ns, Name: name, Labels: map[string]string{"app": name}}
}

// policy makes a policy without delays. It selects what is labelled app=name; an
// empty name selects everything.
func (w *world) policy(name string, change ...func(*v1alpha1.KickPolicySpec)) {
	w.t.Helper()
	p := &v1alpha1.KickPolicy{ObjectMeta: w.meta("policy" + name)}
	p.Spec.Restart = v1alpha1.Restart{SettleDelay: &metav1.Duration{}, MinInterval: &metav1.Duration{}}
	if name != "" {
		p.Spec.Discovery.WorkloadSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	}
	for _, c := range change {
		c(&p.Spec)
	}
	w.create(p)
}

// secret makes or changes a Secret: its value is one that can be searched for.
func (w *world) secret(name, value string) {
	w.t.Helper()
	content := map[string]string{"TOKEN": "canary-" + value + "-of-" + w.ns + "/" + name}
	w.contents = append(w.contents, content)
	s := &corev1.Secret{ObjectMeta: w.meta(name), StringData: content}
	err := w.c.Create(w.t.Context(), s)
	if client.IgnoreAlreadyExists(err) != nil {
		w.t.Fatalf("create Secret %s: %v", name, err)
	}
	if err != nil {
		w.patch(&corev1.Secret{}, name, fmt.Sprintf(`{"stringData":{"TOKEN":%q}}`, content["TOKEN"]))
	}
}

// configMap makes or changes a ConfigMap.
func (w *world) configMap(name, value string) {
	w.t.Helper()
	err := w.c.Create(w.t.Context(), &corev1.ConfigMap{ObjectMeta: w.meta(name), Data: map[string]string{"TOKEN": value}})
	if client.IgnoreAlreadyExists(err) != nil {
		w.t.Fatalf("create ConfigMap %s: %v", name, err)
	}
	if err != nil {
		w.patch(&corev1.ConfigMap{}, name, fmt.Sprintf(`{"data":{"TOKEN":%q}}`, value))
	}
}

// eventually polls until see returns an empty string; otherwise it says what is
// still wrong.
func (w *world) eventually(what string, see func(context.Context) string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	for {
		wrong := see(ctx)
		if wrong == "" {
			return
		}
		select {
		case <-ctx.Done():
			w.t.Fatalf("%s: after %s still: %s", what, patience, wrong)
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// request is the request of a workload, as KICK names it.
func (w *world) request(kind, name string) *v1alpha1.KickRequest {
	w.t.Helper()
	var r v1alpha1.KickRequest
	key := client.ObjectKey{Namespace: w.ns, Name: strings.ToLower(kind) + "-" + name}
	if err := w.c.Get(w.t.Context(), key, &r); err != nil {
		w.t.Fatalf("request of %s %s: %v", kind, name, err)
	}
	return &r
}

// reaches waits until the request of a workload is in a phase for a reason.
func (w *world) reaches(kind, name string, phase v1alpha1.Phase, reason string) {
	w.t.Helper()
	w.eventually(kind+" "+name, func(ctx context.Context) string {
		var r v1alpha1.KickRequest
		err := w.c.Get(ctx, client.ObjectKey{Namespace: w.ns, Name: strings.ToLower(kind) + "-" + name}, &r)
		switch {
		case err != nil:
			return err.Error()
		case r.Status.Gate == nil:
			return "not judged yet"
		case r.Status.Phase != phase || r.Status.Gate.Reason != reason:
			return fmt.Sprintf("%s, %s: %s; want %s, %s", r.Status.Phase, r.Status.Gate.Reason, r.Status.Gate.Message, phase, reason)
		}
		return ""
	})
}
