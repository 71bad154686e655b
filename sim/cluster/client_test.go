package cluster_test

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/cluster"
)

// TestList has one row for each selector.
func TestList(t *testing.T) {
	w := newWorld(t, func(o *cluster.Options) { o.NamespaceAutoCreate = true })
	c := w.Client("kubectl")
	for _, key := range []string{"b/x", "b-a/x", "b/a", "a/z"} {
		ns, name, _ := cutKey(key)
		p := pod(name)
		p.Namespace = ns
		p.Labels = map[string]string{"name": name}
		must(t, c.Create(ctx, p))
	}
	tests := []struct {
		name string
		opts []client.ListOption
		want []string
	}{
		{"all, in the order of etcd's keys", nil, []string{"a/z", "b-a/x", "b/a", "b/x"}},
		{"a namespace", []client.ListOption{client.InNamespace("b")}, []string{"b/a", "b/x"}},
		{"a namespace that is empty", []client.ListOption{client.InNamespace("c")}, nil},
		{"labels", []client.ListOption{client.MatchingLabels{"name": "x"}}, []string{"b-a/x", "b/x"}},
		{"a name", []client.ListOption{client.MatchingFields{"metadata.name": "x"}, client.InNamespace("b")}, []string{"b/x"}},
		{"a limit", []client.ListOption{client.Limit(2)}, []string{"a/z", "b-a/x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var list corev1.PodList
			must(t, c.List(ctx, &list, tt.opts...))
			var got []string
			for i := range list.Items {
				got = append(got, list.Items[i].Namespace+"/"+list.Items[i].Name)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	if err := c.List(ctx, &corev1.PodList{}, client.MatchingFields{"spec.priority": "1"}); !apierrors.IsBadRequest(err) {
		t.Errorf("unknown field: %v", err)
	}
}

func cutKey(s string) (ns, name string, ok bool) {
	i := slices.Index([]byte(s), '/')
	return s[:i], s[i+1:], true
}

// TestAnswerIsOwned shows that the caller may edit what a write gave back.
func TestAnswerIsOwned(t *testing.T) {
	w := newWorld(t)
	c := w.Client("kubectl")
	d := deployment()
	d.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}
	must(t, c.Create(ctx, d))
	if d.Kind != "Deployment" {
		t.Error("the caller's kind is gone")
	}
	d.Spec.Template.Labels["more"] = "x"
	must(t, c.Update(ctx, d))
	if got := w.Get(deploymentGK, webKey).(*appsv1.Deployment); got.Generation != 2 || got.Kind != "" {
		t.Errorf("generation %d, kind %q", got.Generation, got.Kind)
	}
}

// TestMutationIsFound shows that a reader who edits a shared object is caught.
func TestMutationIsFound(t *testing.T) {
	now := start
	s := cluster.New(cluster.Options{Now: func() time.Time { return now }, NamespaceAutoCreate: true, DetectMutation: true})
	must(t, s.Client("a").Create(ctx, deployment()))
	var d appsv1.Deployment
	must(t, s.Client("a").Get(ctx, webKey, &d))
	d.Spec.Template.Labels["oops"] = "x"
	if err := s.CheckMutation(); err == nil {
		t.Error("not found")
	}
}

// TestGenerateName shows deterministic, distinct names.
func TestGenerateName(t *testing.T) {
	names := func() []string {
		var out []string
		c := newWorld(t).Client("kcm")
		for range 3 {
			p := pod("")
			p.GenerateName = "web-"
			must(t, c.Create(ctx, p))
			out = append(out, p.Name)
		}
		return out
	}
	first, second := names(), names()
	if !slices.Equal(first, second) || first[0] == first[1] || len(first[0]) != len("web-")+5 {
		t.Errorf("%v %v", first, second)
	}
}

// TestEvents shows the order of commits that listeners cause.
func TestEvents(t *testing.T) {
	w := newWorld(t)
	var seen []int64
	cancel := w.Subscribe(func(e cluster.Event) {
		if e.Kind == deploymentGK && e.Type == cluster.Added {
			must(t, w.Client("nested").Create(ctx, secret(nil)))
		}
	})
	w.Subscribe(func(e cluster.Event) { seen = append(seen, e.Revision) })
	must(t, w.Client("kubectl").Create(ctx, deployment()))
	if len(seen) != 2 || seen[0] >= seen[1] {
		t.Errorf("revisions %v", seen)
	}
	cancel()
	cancel()
	must(t, w.Client("kubectl").Delete(ctx, deployment()))
	last := w.events[len(w.events)-1]
	if last.Type != cluster.Deleted || last.Verb != "delete" || last.Manager != "kubectl" || last.Revision != w.Revision() ||
		last.Object.GetResourceVersion() == last.Old.GetResourceVersion() {
		t.Errorf("event %+v", last)
	}
}

// TestAt shows what a lagging cache may still hold.
func TestAt(t *testing.T) {
	w := newWorld(t)
	c := w.Client("kubectl")
	key := types.NamespacedName{Namespace: "shop", Name: "db"}
	s := secret(map[string]string{"k": "one"})
	must(t, c.Create(ctx, s))
	w.advance(time.Minute)
	s.StringData = map[string]string{"k": "two"}
	must(t, c.Update(ctx, s))
	w.advance(time.Minute)
	must(t, c.Delete(ctx, s))
	for _, tt := range []struct {
		at   time.Duration
		want string
	}{{-time.Second, ""}, {0, "one"}, {59 * time.Second, "one"}, {time.Minute, "two"}, {2 * time.Minute, ""}} {
		got := ""
		if obj := w.At(secretGK, key, start.Add(tt.at)); obj != nil {
			got = string(obj.(*corev1.Secret).Data["k"])
		}
		if got != tt.want {
			t.Errorf("at %v: %q, want %q", tt.at, got, tt.want)
		}
	}
}

// TestRefusals has one row for each thing the simulated client does not do.
func TestRefusals(t *testing.T) {
	w := newWorld(t)
	c := w.Client("kubectl")
	for name, err := range map[string]error{
		"unstructured":  c.Get(ctx, webKey, &unstructured.Unstructured{}),
		"metadata only": c.Get(ctx, webKey, &metav1.PartialObjectMetadata{}),
		"DeleteAllOf":   c.DeleteAllOf(ctx, &corev1.Pod{}),
		"Continue":      c.List(ctx, &corev1.PodList{}, client.Continue("x")),
		"scale":         c.SubResource("scale").Get(ctx, deployment(), &corev1.Pod{}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	mapping, err := c.RESTMapper().RESTMapping(deploymentGK)
	if err != nil || mapping.Resource.Resource != "deployments" {
		t.Errorf("mapping %v, %v", mapping, err)
	}
}
