package cluster_test

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/cluster"
)

// kindsOf lists the types of the events recorded so far and forgets them.
func (w *world) kindsOf() []cluster.EventType {
	var out []cluster.EventType
	for _, e := range w.events {
		out = append(out, e.Type)
	}
	w.events = nil
	return out
}

func wantEvents(t *testing.T, w *world, want ...cluster.EventType) {
	t.Helper()
	if got := w.kindsOf(); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

// TestDeletePreconditions has one row for each precondition.
func TestDeletePreconditions(t *testing.T) {
	tests := []struct {
		name string
		pre  func(*corev1.Secret) client.Preconditions
		want refusal
	}{
		{"both right", func(s *corev1.Secret) client.Preconditions {
			return client.Preconditions{UID: &s.UID, ResourceVersion: &s.ResourceVersion}
		}, refusal{}},
		{"wrong uid", func(*corev1.Secret) client.Preconditions { return client.Preconditions{UID: new(types.UID("x"))} },
			refusal{apierrors.IsConflict, "the UID in the precondition (x)"}},
		{"old version", func(*corev1.Secret) client.Preconditions { return client.Preconditions{ResourceVersion: new("1")} },
			refusal{apierrors.IsConflict, "the ResourceVersion in the precondition (1)"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			s := secret(nil)
			must(t, w.Client("kubectl").Create(ctx, s))
			tt.want.check(t, w.Client("kubectl").Delete(ctx, s, tt.pre(s)))
		})
	}
}

// TestFinalizers shows an object that waits for its finalizers.
func TestFinalizers(t *testing.T) {
	w := newWorld(t)
	c := w.Client("kubectl")
	d := deployment()
	d.Finalizers = []string{"example.com/hold"}
	must(t, c.Create(ctx, d))
	w.events = nil
	must(t, c.Delete(ctx, d))
	wantEvents(t, w, cluster.Modified)
	must(t, c.Get(ctx, webKey, d))
	if d.DeletionTimestamp == nil || d.Generation != 2 || *d.DeletionGracePeriodSeconds != 0 {
		t.Errorf("not marked: %+v", d.ObjectMeta)
	}
	w.advance(time.Minute)
	must(t, c.Delete(ctx, d))
	wantEvents(t, w)
	more := d.DeepCopy()
	more.Finalizers = append(more.Finalizers, "example.com/more")
	refusal{apierrors.IsInvalid, "no new finalizers can be added"}.check(t, c.Update(ctx, more))
	err := c.Create(ctx, deployment())
	refusal{apierrors.IsAlreadyExists, "object is being deleted"}.check(t, err)
	gone := d.DeepCopy()
	gone.Finalizers = nil
	must(t, c.Update(ctx, gone))
	wantEvents(t, w, cluster.Deleted)
	if !apierrors.IsNotFound(c.Get(ctx, webKey, d)) {
		t.Error("still there")
	}
}

// TestPropagation has one row for each policy: the finalizer it leaves.
func TestPropagation(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: meta("once"), Spec: batchv1.JobSpec{Template: template()}}
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	tests := []struct {
		name string
		obj  client.Object
		opts []client.DeleteOption
		want []string // nil: deleted at once
	}{
		{"default", deployment(), nil, nil},
		{"background", deployment(), []client.DeleteOption{client.PropagationPolicy(metav1.DeletePropagationBackground)}, nil},
		{"foreground", deployment(), []client.DeleteOption{client.PropagationPolicy(metav1.DeletePropagationForeground)}, []string{"foregroundDeletion"}},
		{"orphan", deployment(), []client.DeleteOption{client.PropagationPolicy(metav1.DeletePropagationOrphan)}, []string{"orphan"}},
		{"a Job orphans by default", job, nil, []string{"orphan"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			c := w.Client("kubectl")
			must(t, c.Create(ctx, tt.obj))
			must(t, c.Delete(ctx, tt.obj, tt.opts...))
			err := c.Get(ctx, client.ObjectKeyFromObject(tt.obj), tt.obj)
			if tt.want == nil && !apierrors.IsNotFound(err) || tt.want != nil && !slices.Equal(tt.obj.GetFinalizers(), tt.want) {
				t.Errorf("finalizers %v (%v), want %v", tt.obj.GetFinalizers(), err, tt.want)
			}
		})
	}
}

// TestPodDeletion shows the two steps of a pod on a node and the one of a pod without.
func TestPodDeletion(t *testing.T) {
	w := newWorld(t)
	c := w.Client("kubelet")
	p := pod("web-0")
	must(t, c.Create(ctx, p))
	must(t, w.Bind(client.ObjectKeyFromObject(p), "node-1", cluster.WriteOptions{Manager: "kube-scheduler"}))
	w.events = nil
	must(t, c.Delete(ctx, p))
	wantEvents(t, w, cluster.Modified)
	must(t, c.Get(ctx, client.ObjectKeyFromObject(p), p))
	if at := start.Add(30 * time.Second).Truncate(time.Second); !p.DeletionTimestamp.Time.Equal(at) || *p.DeletionGracePeriodSeconds != 30 || p.Generation != 2 {
		t.Errorf("not graceful: %+v", p.ObjectMeta)
	}
	must(t, c.Delete(ctx, p))
	wantEvents(t, w)
	must(t, c.Delete(ctx, p, client.GracePeriodSeconds(0)))
	wantEvents(t, w, cluster.Modified, cluster.Deleted)

	must(t, c.Create(ctx, pod("web-1")))
	w.events = nil
	must(t, c.Delete(ctx, pod("web-1")))
	wantEvents(t, w, cluster.Modified, cluster.Deleted)
}

// TestNamespaceLife shows a namespace that ends, and what it refuses meanwhile.
func TestNamespaceLife(t *testing.T) {
	w := newWorld(t)
	c := w.Client("kubectl")
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	must(t, c.Delete(ctx, ns))
	must(t, c.Get(ctx, client.ObjectKey{Name: "shop"}, ns))
	if ns.Status.Phase != corev1.NamespaceTerminating || ns.DeletionTimestamp == nil {
		t.Fatalf("not terminating: %+v", ns)
	}
	err := c.Create(ctx, secret(nil))
	refusal{apierrors.IsForbidden, "because it is being terminated"}.check(t, err)
	if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Errorf("no cause in %v", err)
	}
	done := ns.DeepCopy()
	done.Spec.Finalizers = nil
	must(t, c.SubResource("finalize").Update(ctx, done))
	if w.Get(schema.GroupKind{Kind: "Namespace"}, client.ObjectKey{Name: "shop"}) != nil {
		t.Error("still there")
	}
	refusal{apierrors.IsForbidden, "may not be deleted"}.check(t, c.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}))
}
