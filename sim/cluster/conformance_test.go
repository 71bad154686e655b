package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/kicktest/controlplane"
)

// outcome is what an API server answered, without what differs between two clusters.
type outcome struct {
	Name    string
	Code    int32
	Reason  metav1.StatusReason
	Message string
	Object  string // JSON
	Writes  string // how often the object's version moved over the row, as the row saw it
}

// session is what a row works with: a client, a namespace of its own, and a way to let
// time pass.
type session struct {
	client.Client
	ns    string
	pause func()
	notes []string
}

// as gives requests a field manager.
func as(manager string) client.FieldOwner { return client.FieldOwner(manager) }

// meta names an object in the session's namespace.
func (s *session) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: s.ns, Name: name}
}

// merge sends a merge patch.
func (s *session) merge(obj client.Object, manager, patch string) error {
	return s.Patch(ctx, obj, client.RawPatch(types.MergePatchType, []byte(patch)), as(manager))
}

// moved notes whether the stored version differs from the one the caller holds.
func (s *session) moved(obj client.Object) {
	now := obj.DeepCopyObject().(client.Object)
	err := s.Get(ctx, client.ObjectKeyFromObject(obj), now)
	switch {
	case apierrors.IsNotFound(err):
		s.notes = append(s.notes, "gone")
	case now.GetResourceVersion() != obj.GetResourceVersion():
		s.notes = append(s.notes, "moved")
	default:
		s.notes = append(s.notes, "same")
	}
}

// configure applies one key of a ConfigMap.
func (s *session) configure(manager, value string, opts ...client.ApplyOption) error {
	c := corev1apply.ConfigMap("web", s.ns).WithData(map[string]string{"k": value})
	return s.Apply(ctx, c, append(opts, as(manager))...)
}

// deletedBut deletes an object and shows what is left of it.
func (s *session) deletedBut(obj client.Object, opts ...client.DeleteOption) error {
	if err := s.Delete(ctx, obj, opts...); err != nil {
		return err
	}
	err := s.Get(ctx, client.ObjectKeyFromObject(obj), obj)
	if apierrors.IsNotFound(err) {
		s.notes = append(s.notes, "gone")
		return nil
	}
	return err
}

// applying is a row that applies a ConfigMap and shows it.
func applying(name string, f func(*session) error) conformanceRow {
	return conformanceRow{name, func(s *session) (client.Object, error) {
		if err := f(s); err != nil {
			return nil, err
		}
		cm := &corev1.ConfigMap{}
		return cm, s.Get(ctx, types.NamespacedName{Namespace: s.ns, Name: "web"}, cm)
	}}
}

// runConformance runs the table against any API server that knows the kind Order. Rows
// are independent of each other; pause lets at least three seconds pass.
func runConformance(t *testing.T, c client.Client, pause func()) []outcome {
	t.Helper()
	var out []outcome
	for i, row := range conformanceRows {
		s := &session{Client: c, ns: fmt.Sprintf("row-%02d", i), pause: pause}
		must(t, c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.ns}}))
		obj, err := row.run(s)
		out = append(out, normalise(t, row.name, s, obj, err))
	}
	return out
}

var (
	uidPattern     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	versionPattern = regexp.MustCompile(`(record|precondition|meta): ?\(?\d+\)?|in (record|precondition|the precondition) \(\d+\)`)
)

// normalise takes out of an answer what is a cluster's own.
func normalise(t *testing.T, name string, s *session, obj client.Object, err error) outcome {
	t.Helper()
	out := outcome{Name: name, Writes: strings.Join(s.notes, " ")}
	clean := func(text string) string {
		text = uidPattern.ReplaceAllString(text, "<uid>")
		text = versionPattern.ReplaceAllString(text, "<version>")
		return strings.ReplaceAll(text, s.ns, "<ns>")
	}
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &status):
		out.Code, out.Reason, out.Message = status.Status().Code, status.Status().Reason, clean(status.Status().Message)
		return out
	case err != nil:
		t.Errorf("%s: not an answer of the API: %v", name, err)
		return out
	case obj == nil:
		return out
	}
	raw, err := json.Marshal(obj)
	must(t, err)
	var content map[string]any
	must(t, json.Unmarshal(raw, &content))
	delete(content, "apiVersion")
	delete(content, "kind")
	normaliseMeta(content["metadata"].(map[string]any), obj)
	normalisePod(obj, content)
	raw, err = json.MarshalIndent(content, "", " ")
	must(t, err)
	out.Object = clean(string(raw))
	return out
}

// normaliseMeta replaces versions by nothing and times by their rank: those within two
// seconds are one instant.
func normaliseMeta(m map[string]any, obj client.Object) {
	delete(m, "resourceVersion")
	ranks := timeRanks(obj)
	m["creationTimestamp"] = ranks(obj.GetCreationTimestamp().Time)
	if at := obj.GetDeletionTimestamp(); at != nil {
		m["deletionTimestamp"] = "set"
	}
	if generate := obj.GetGenerateName(); generate != "" {
		m["name"] = generate + fmt.Sprintf("<%d>", len(obj.GetName())-len(generate))
	}
	delete(m, "managedFields")
	var managers []any
	for _, e := range obj.GetManagedFields() {
		if e.Subresource == "status" {
			continue // not simulated
		}
		var fields any
		_ = json.Unmarshal(e.FieldsV1.GetRawBytes(), &fields)
		managers = append(managers, map[string]any{
			"manager": e.Manager, "operation": e.Operation, "time": ranks(instant(e.Time)), "fields": fields})
	}
	// The server orders entries by whole seconds, then by name; those within one
	// instant are in the order in which the clock happened to tick.
	slices.SortStableFunc(managers, func(a, b any) int { return strings.Compare(entryOrder(a), entryOrder(b)) })
	switch obj.(type) {
	case *corev1.Pod, *corev1.Namespace, *Order: // not tracked in the simulator
	default:
		m["managedFields"] = managers
	}
}

func entryOrder(entry any) string {
	e := entry.(map[string]any)
	return fmt.Sprint(e["time"], e["manager"], e["operation"])
}

// timeRanks numbers the instants in an object's metadata.
func timeRanks(obj client.Object) func(time.Time) string {
	times := []time.Time{obj.GetCreationTimestamp().Time}
	for _, e := range obj.GetManagedFields() {
		if e.Time != nil {
			times = append(times, e.Time.Time)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	return func(at time.Time) string {
		if at.IsZero() {
			return "none"
		}
		rank := 0
		for i := 1; i < len(times) && !times[i].After(at); i++ {
			if times[i].Sub(times[i-1]) >= 2*time.Second {
				rank++
			}
		}
		return fmt.Sprintf("t%d", rank)
	}
}

// instant is an optional time.
func instant(at *metav1.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.Time
}

// normalisePod drops what admission plugins add that are not simulated.
func normalisePod(obj client.Object, content map[string]any) {
	if _, ok := obj.(*corev1.Pod); !ok {
		return
	}
	spec := content["spec"].(map[string]any)
	for _, f := range []string{"tolerations", "priority", "preemptionPolicy"} {
		delete(spec, f)
	}
	delete(content, "status")
}

// simOutcomes runs the table against the simulator.
func simOutcomes(t *testing.T) []outcome {
	w := orderWorld(t)
	return runConformance(t, w.Client("nobody"), func() { w.advance(3 * time.Second) })
}

// TestConformanceSim shows that every row gets an answer of the API, the same each time.
func TestConformanceSim(t *testing.T) {
	first := simOutcomes(t)
	if diff := cmp.Diff(first, simOutcomes(t)); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
	if len(first) < 40 {
		t.Errorf("only %d rows", len(first))
	}
}

// TestConformanceRealServer compares the simulator with a kube-apiserver, row by row.
func TestConformanceRealServer(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a kube-apiserver")
	}
	plane := controlplane.ForTest(t, controlplane.Options{})
	must(t, plane.InstallCRDs(context.Background(), fstest.MapFS{"orders.yaml": {Data: []byte(
		"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition" + orderCRD)}}))
	// Warnings of the server are not compared.
	plane.Config.WarningHandlerWithContext = rest.NoWarnings{}
	c, err := client.New(plane.Config, client.Options{Scheme: orderWorld(t).Scheme()})
	must(t, err)
	real := runConformance(t, c, func() { time.Sleep(3100 * time.Millisecond) })
	sim := simOutcomes(t)
	for i := range real {
		t.Run(real[i].Name, func(t *testing.T) {
			if diff := cmp.Diff(real[i], sim[i]); diff != "" {
				t.Errorf("real (-), simulated (+):\n%s", diff)
			}
		})
	}
}
