package cluster_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/cluster"
)

// pair is one server that answers from memory and one that does not.
type pair struct {
	*rapid.T
	now        time.Time
	fast, full *cluster.Server
}

func newPair(t *rapid.T, o cluster.Options) *pair {
	p := &pair{T: t, now: start}
	o.Now, o.NamespaceAutoCreate, o.DetectMutation = func() time.Time { return p.now }, true, true
	p.full = cluster.New(o)
	o.Fast = true
	p.fast = cluster.New(o)
	return p
}

// both sends one request to both servers and compares the answers and the store.
func (p *pair) both(what string, send func(*cluster.Server) error) {
	want, got := fmt.Sprint(send(p.full)), fmt.Sprint(send(p.fast))
	if want != got {
		p.Fatalf("%s:\n%s\n%s", what, want, got)
	}
	for _, gk := range []schema.GroupKind{{Kind: "Secret"}, {Kind: "ConfigMap"}, {Group: "test.example.com", Kind: "Order"}} {
		a, b := p.full.List(gk, ""), p.fast.List(gk, "")
		if len(a) != len(b) {
			p.Fatalf("%s: %d and %d objects", what, len(a), len(b))
		}
		for i := range a {
			if !apiequality.Semantic.DeepEqual(a[i], b[i]) {
				p.Fatalf("%s:\n%+v\n%+v", what, a[i], b[i])
			}
		}
	}
}

func (p *pair) draw(name string, words ...string) string {
	return rapid.SampledFrom(words).Draw(p.T, name)
}

// values draws a few keys and values; nil for a map that is not there at all.
func (p *pair) values(name string, words ...string) map[string]any {
	if !rapid.Bool().Draw(p.T, name) {
		return nil
	}
	out := map[string]any{}
	for _, key := range []string{"a", "b"} {
		if rapid.Bool().Draw(p.T, name+" "+key) {
			out[key] = p.draw(name+" value", words...)
		}
	}
	return out
}

// source draws the JSON of a source.
func (p *pair) source(kind string) map[string]any {
	metadata := map[string]any{"namespace": "shop", "name": p.draw("name", "x", "y")}
	out := map[string]any{"apiVersion": "v1", "kind": kind, "metadata": metadata}
	put := func(in map[string]any, key string, values map[string]any) {
		if values != nil {
			in[key] = values
		}
	}
	put(metadata, "labels", p.values("labels", "one", "two"))
	put(metadata, "annotations", p.values("annotations", "one", "two"))
	if rapid.IntRange(0, 9).Draw(p.T, "immutable") == 0 {
		out["immutable"] = true
	}
	if kind == "ConfigMap" {
		put(out, "data", p.values("data", "one", "two"))
		put(out, "binaryData", p.values("binaryData", "b25l", "dHdv", "not base64"))
		return out
	}
	put(out, "data", p.values("data", "b25l", "dHdv", "not base64"))
	put(out, "stringData", p.values("stringData", "one", "two"))
	if rapid.IntRange(0, 5).Draw(p.T, "type") == 0 {
		out["type"] = p.draw("type name", "Opaque", "example.com/other")
	}
	return out
}

func (p *pair) sourceRequest() {
	kind := p.draw("kind", "Secret", "ConfigMap")
	object := p.source(kind)
	raw, _ := json.Marshal(object)
	key := types.NamespacedName{Namespace: "shop", Name: object["metadata"].(map[string]any)["name"].(string)}
	o := cluster.WriteOptions{Manager: p.draw("manager", "ann", "bob"), Force: rapid.Bool().Draw(p.T, "force")}
	gk := schema.GroupKind{Kind: kind}
	verb := p.draw("verb", "apply", "apply", "apply", "patch", "update", "delete")
	p.both(fmt.Sprintf("%s %s %+v", verb, raw, o), func(s *cluster.Server) error {
		switch verb {
		case "apply":
			_, err := s.Patch(gk, key, types.ApplyPatchType, raw, o)
			return err
		case "patch":
			_, err := s.Patch(gk, key, types.MergePatchType, raw, o)
			return err
		case "delete":
			return s.Delete(gk, key, client.DeleteOptions{}, o)
		}
		var typed client.Object = &corev1.Secret{}
		if kind == "ConfigMap" {
			typed = &corev1.ConfigMap{}
		}
		if err := json.Unmarshal(raw, typed); err != nil {
			return err
		}
		_, err := s.Update(typed, o)
		return err
	})
}

// TestFastSources shows that applying sources by memory gives what the field manager
// gives: the same objects, owners and refusals.
func TestFastSources(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPair(rt, cluster.Options{})
		for range rapid.IntRange(1, 30).Draw(rt, "requests") {
			p.now = p.now.Add(time.Duration(rapid.IntRange(0, 1500).Draw(rt, "ms")) * time.Millisecond)
			p.sourceRequest()
		}
	})
}

// order draws an order, valid or not.
func (p *pair) order() *Order {
	o := &Order{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: p.draw("name", "x", "y")}}
	o.Spec.Item = p.draw("item", "", "tea", "cup")
	o.Spec.Count = rapid.Int32Range(-1, 3).Draw(p.T, "count")
	o.Spec.Speed = p.draw("speed", "", "slow", "fast")
	o.Spec.Unknown = p.draw("unknown", "", "something")
	if rapid.Bool().Draw(p.T, "due") {
		o.Spec.Due = &metav1.Time{Time: p.now}
	}
	for _, name := range []string{"a", "a"}[:rapid.IntRange(0, 2).Draw(p.T, "extras")] {
		o.Spec.Extras = append(o.Spec.Extras, OrderExtra{Name: name, Value: p.draw("extra", "", "v")})
	}
	if rapid.Bool().Draw(p.T, "features") {
		o.Spec.Features = map[string]string{p.draw("feature", "a", "b"): "on"}
	}
	o.Status.Phase = p.draw("phase", "", "Open", "Done", "Nonsense")
	o.Spec.Notes, o.Status.Notes = p.notes(), p.notes()
	return o
}

func (p *pair) notes() []OrderNote {
	var out []OrderNote
	for range rapid.IntRange(0, 4).Draw(p.T, "notes") {
		out = append(out, OrderNote{By: p.draw("by", "ann", "ann", "ann", "bob", "bob", "bob", "eve"), Grade: p.draw("grade", "", "a", "b"), Text: p.draw("text", "", "yes", "long")})
	}
	return out
}

// TestFastCustomResources shows that objects of a known form are decoded and judged
// as if they were new.
func TestFastCustomResources(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPair(rt, orderOptions(t))
		for range rapid.IntRange(1, 30).Draw(rt, "requests") {
			p.now = p.now.Add(time.Duration(rapid.IntRange(0, 1500).Draw(rt, "ms")) * time.Millisecond)
			order := p.order()
			verb := p.draw("verb", "create", "update", "status")
			p.both(fmt.Sprintf("%s %+v", verb, order), func(s *cluster.Server) error {
				c := s.Client("ann")
				sent := order.DeepCopyObject().(*Order)
				var known Order
				if c.Get(ctx, client.ObjectKeyFromObject(sent), &known) == nil {
					sent.ResourceVersion = known.ResourceVersion
				}
				switch verb {
				case "create":
					sent.ResourceVersion = ""
					return c.Create(ctx, sent)
				case "status":
					return c.Status().Update(ctx, sent)
				}
				return c.Update(ctx, sent)
			})
		}
	})
}
