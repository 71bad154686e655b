package cluster_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/cluster"
)

// TestProperties runs random requests and checks what must hold after each commit.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		now := start
		s := cluster.New(cluster.Options{Now: func() time.Time { return now }, NamespaceAutoCreate: true, DetectMutation: true})
		last := s.Revision()
		s.Subscribe(func(e cluster.Event) {
			if e.Revision <= last {
				rt.Fatalf("revision %d after %d", e.Revision, last)
			}
			last = e.Revision
			if got := e.Object.GetResourceVersion(); got != strconv.FormatInt(e.Revision, 10) {
				rt.Fatalf("event at %d carries version %s", e.Revision, got)
			}
			if e.Type == cluster.Modified {
				checkModified(rt, e)
			}
		})
		for range rapid.IntRange(1, 40).Draw(rt, "requests") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(rt, "ms")) * time.Millisecond)
			randomRequest(rt, s)
			checkSorted(rt, s)
		}
		if err := s.CheckMutation(); err != nil {
			rt.Fatal(err)
		}
	})
}

// checkModified checks one change of an object against the state before.
func checkModified(rt *rapid.T, e cluster.Event) {
	if e.Object.GetGeneration() < e.Old.GetGeneration() || e.Object.GetUID() != e.Old.GetUID() {
		rt.Fatalf("generation or uid went wrong: %v -> %v", e.Old, e.Object)
	}
	a, b := e.Object.DeepCopyObject().(client.Object), e.Old.DeepCopyObject().(client.Object)
	a.SetResourceVersion("")
	b.SetResourceVersion("")
	for _, o := range []client.Object{a, b} {
		for i := range o.GetManagedFields() {
			o.GetManagedFields()[i].Time = nil
		}
	}
	if apiequality.Semantic.DeepEqual(a, b) {
		rt.Fatalf("a write without effect was committed: %v", e)
	}
}

func checkSorted(rt *rapid.T, s *cluster.Server) {
	for _, gk := range []string{"Secret", "Pod"} {
		var keys []string
		for _, o := range s.List(schemaGK(gk), "") {
			keys = append(keys, o.GetNamespace()+"/"+o.GetName())
		}
		if !slices.IsSorted(keys) {
			rt.Fatalf("not sorted: %v", keys)
		}
	}
}

// randomRequest sends one request; refusals are part of the game.
func randomRequest(rt *rapid.T, s *cluster.Server) {
	c := s.Client(rapid.SampledFrom([]string{"ann", "bob", "kubelet"}).Draw(rt, "manager"))
	m := metav1.ObjectMeta{
		Namespace: rapid.SampledFrom([]string{"a", "a-b"}).Draw(rt, "namespace"),
		Name:      rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "name"),
	}
	word := rapid.SampledFrom([]string{"one", "two"}).Draw(rt, "word")
	var obj client.Object
	switch rapid.IntRange(0, 2).Draw(rt, "kind") {
	case 0:
		obj = &corev1.Secret{ObjectMeta: m, StringData: map[string]string{"k": word}}
	case 1:
		obj = edit(deployment(), func(d *appsv1.Deployment) {
			d.ObjectMeta = m
			d.Spec.Template.Annotations = map[string]string{"w": word}
		})
	default:
		obj = edit(pod(""), func(p *corev1.Pod) { p.ObjectMeta = m; p.Spec.NodeName = "node" })
	}
	switch rapid.IntRange(0, 5).Draw(rt, "verb") {
	case 0:
		_ = c.Create(ctx, obj)
	case 1:
		current := obj.DeepCopyObject().(client.Object)
		if c.Get(ctx, client.ObjectKeyFromObject(obj), current) == nil {
			obj.SetResourceVersion(current.GetResourceVersion())
			obj.SetFinalizers(rapid.SampledFrom([][]string{nil, {"example.com/f"}}).Draw(rt, "finalizers"))
			_ = c.Update(ctx, obj)
		}
	case 2:
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"w":%q}}}`, word)
		_ = c.Patch(ctx, obj, client.RawPatch(types.MergePatchType, []byte(patch)))
	case 3:
		patch := `{"status":{"observedGeneration":2}}`
		_ = c.Status().Patch(ctx, obj, client.RawPatch(types.MergePatchType, []byte(patch)))
	case 4:
		_ = c.Delete(ctx, obj)
	default:
		_ = c.Delete(ctx, obj, client.GracePeriodSeconds(0), client.PropagationPolicy(metav1.DeletePropagationForeground))
	}
}

// TestMergePatchPaths shows that decoding a merge patch onto a copy gives what patching
// the JSON gives.
func TestMergePatchPaths(t *testing.T) {
	leaf := rapid.SampledFrom([]string{`"x"`, `""`, `"y"`})
	rapid.Check(t, func(rt *rapid.T) {
		parts := []string{
			fmt.Sprintf(`"metadata":{"labels":{"a":%s,"b":%s},"annotations":{"c":%s}}`, leaf.Draw(rt, "a"), leaf.Draw(rt, "b"), leaf.Draw(rt, "c")),
			fmt.Sprintf(`"spec":{"replicas":%d,"paused":%v,"minReadySeconds":%d,"template":{"metadata":{"annotations":{"d":%s}},"spec":{"nodeSelector":{"e":%s},"hostname":%s}}}`,
				rapid.IntRange(0, 3).Draw(rt, "replicas"), rapid.Bool().Draw(rt, "paused"), rapid.IntRange(1, 3).Draw(rt, "surge"),
				leaf.Draw(rt, "d"), leaf.Draw(rt, "e"), leaf.Draw(rt, "host")),
		}
		short := "{" + strings.Join(parts, ",") + "}"
		// A null for a key that is not there changes nothing but the way.
		long := strings.Replace(short, `"labels":{`, `"labels":{"absent":null,`, 1)
		var results []client.Object
		for _, data := range []string{short, long} {
			s := cluster.New(cluster.Options{Now: func() time.Time { return start }, NamespaceAutoCreate: true, UIDs: func() types.UID { return "u" }})
			must(t, s.Client("ann").Create(ctx, deployment()))
			out, err := s.Patch(deploymentGK, webKey, types.MergePatchType, []byte(data), cluster.WriteOptions{Manager: "bob"})
			if err != nil {
				rt.Fatal(err)
			}
			results = append(results, out)
		}
		if !apiequality.Semantic.DeepEqual(results[0], results[1]) {
			rt.Fatalf("%s:\n%+v\n%+v", short, results[0], results[1])
		}
	})
}
