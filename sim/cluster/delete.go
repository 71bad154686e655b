package cluster

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// immortal namespaces cannot be deleted.
var immortal = []string{"default", "kube-public", "kube-system"}

// Delete removes an object or marks it for deletion while finalizers, a grace period
// or a namespace's content remain.
func (s *Server) Delete(gk schema.GroupKind, key types.NamespacedName, options client.DeleteOptions, o WriteOptions) error {
	k, err := s.kindFor(gk)
	if err != nil {
		return err
	}
	if !k.namespaced {
		key.Namespace = ""
	}
	r := k.records[key]
	if r == nil {
		return apierrors.NewNotFound(k.resource, key.Name)
	}
	request := *options.AsDeleteOptions()
	o.DryRun = o.DryRun || len(request.DryRun) > 0
	if err := k.checkPreconditions(r.object, request.Preconditions); err != nil {
		return err
	}
	if k.goType == namespaceType && r.object.GetDeletionTimestamp() == nil {
		return s.terminateNamespace(k, r, request, o)
	}
	if k.goType == namespaceType && !namespaceEmptied(r.object) {
		return nil // its content is still being removed
	}
	return s.finishDelete(k, r, request, o)
}

// checkPreconditions compares the UID and the version that the caller judged.
func (k *kind) checkPreconditions(obj client.Object, p *metav1.Preconditions) error {
	if p == nil {
		return nil
	}
	resource := schema.GroupResource{Group: k.gk.Group, Resource: k.gk.Kind} // as the real server words it
	if p.UID != nil && *p.UID != obj.GetUID() {
		return apierrors.NewConflict(resource, obj.GetName(), fmt.Errorf(
			"the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated",
			*p.UID, obj.GetUID()))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != obj.GetResourceVersion() {
		return apierrors.NewConflict(resource, obj.GetName(), fmt.Errorf(
			"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified",
			*p.ResourceVersion, obj.GetResourceVersion()))
	}
	return nil
}

// finishDelete follows the registry: grace period first, then the finalizers of the
// garbage collector, then the object's own.
func (s *Server) finishDelete(k *kind, r *record, request metav1.DeleteOptions, o WriteOptions) error {
	next := r.object.DeepCopyObject().(client.Object)
	m := objectMeta(next)
	graceful, pending := s.grace(k, next, &request)
	if pending {
		return nil
	}
	m.Finalizers = k.collectorFinalizers(m.Finalizers, request)
	if !graceful && len(m.Finalizers) == 0 {
		if !o.DryRun {
			s.remove(k, r, o.change("delete"))
		}
		return nil
	}
	if !graceful {
		s.markDeleting(m)
	}
	if o.DryRun {
		return nil
	}
	s.commitDeleting(k, r, next, o)
	return nil
}

// commitDeleting stores an object that is marked for deletion. A graceful deletion with
// nothing to wait for is two commits: the mark, then the end.
func (s *Server) commitDeleting(k *kind, r *record, next client.Object, o WriteOptions) {
	if !k.compare(next, r.object).none() {
		s.replace(k, r, next, o.change("delete"))
	}
	m := objectMeta(next)
	waits := *m.DeletionGracePeriodSeconds > 0 || len(m.Finalizers) > 0
	if !waits && k.records[r.key] == r { // a listener may already have removed it
		s.remove(k, r, o.change("delete"))
	}
}

// grace starts or shortens a graceful deletion. pending means that one is under way
// and this request changes nothing.
func (s *Server) grace(k *kind, next client.Object, request *metav1.DeleteOptions) (graceful, pending bool) {
	if k.rules.graceful == nil {
		return false, false
	}
	m := objectMeta(next)
	if request.GracePeriodSeconds != nil && *request.GracePeriodSeconds < 0 {
		one := int64(1)
		request.GracePeriodSeconds = &one
	}
	if m.DeletionTimestamp != nil {
		return s.shorten(m, request)
	}
	k.rules.graceful(next, request)
	at := s.stampAfter(time.Duration(*request.GracePeriodSeconds) * time.Second)
	m.DeletionTimestamp = &at
	period := *request.GracePeriodSeconds
	m.DeletionGracePeriodSeconds = &period
	m.Generation++
	return true, false
}

// shorten lets a second request bring the end nearer, never push it away.
func (s *Server) shorten(m *metav1.ObjectMeta, request *metav1.DeleteOptions) (graceful, pending bool) {
	if m.DeletionGracePeriodSeconds == nil || *m.DeletionGracePeriodSeconds == 0 {
		return false, false
	}
	if request.GracePeriodSeconds == nil || *request.GracePeriodSeconds >= *m.DeletionGracePeriodSeconds {
		return false, true
	}
	period := *request.GracePeriodSeconds
	sooner := time.Duration(period-*m.DeletionGracePeriodSeconds) * time.Second
	at := metav1.Time{Time: m.DeletionTimestamp.Add(sooner)}
	if at.Time.Before(s.Now()) {
		at = s.stamp()
		if period != 0 {
			period = 1
		}
	}
	m.DeletionTimestamp, m.DeletionGracePeriodSeconds = &at, &period
	return true, false
}

// stampAfter is a time of the API server's clock in the future, as metadata shows it.
func (s *Server) stampAfter(d time.Duration) metav1.Time {
	return metav1.Time{Time: wireTime(s.Now().Add(d), time.Second)}
}

// markDeleting marks an object that only finalizers keep.
func (s *Server) markDeleting(m *metav1.ObjectMeta) {
	if m.DeletionTimestamp == nil && m.Generation > 0 {
		m.Generation++
	}
	if m.DeletionTimestamp == nil || m.DeletionTimestamp.After(s.Now()) {
		now := s.stamp()
		m.DeletionTimestamp = &now
	}
	m.DeletionGracePeriodSeconds = new(int64)
}

// collectorFinalizers sets the finalizer that makes the garbage collector orphan the
// dependents, or delete them first. Request, then what is set, then the kind's default.
func (k *kind) collectorFinalizers(have []string, request metav1.DeleteOptions) []string {
	orphan, foreground := k.propagation(have, request)
	var out []string
	for _, f := range have {
		if f != metav1.FinalizerOrphanDependents && f != metav1.FinalizerDeleteDependents {
			out = append(out, f)
		}
	}
	if orphan {
		out = append(out, metav1.FinalizerOrphanDependents)
	}
	if foreground {
		out = append(out, metav1.FinalizerDeleteDependents)
	}
	if len(out) == len(have) && !slices.ContainsFunc(out, func(f string) bool { return !slices.Contains(have, f) }) {
		return have // the same set: keep the order
	}
	return out
}

// propagation says which of the collector's finalizers belong on a deleted object.
func (k *kind) propagation(have []string, request metav1.DeleteOptions) (orphan, foreground bool) {
	if policy := request.PropagationPolicy; policy != nil {
		return *policy == metav1.DeletePropagationOrphan, *policy == metav1.DeletePropagationForeground
	}
	switch {
	case slices.Contains(have, metav1.FinalizerOrphanDependents):
		return true, false
	case slices.Contains(have, metav1.FinalizerDeleteDependents):
		return false, true
	}
	return k.rules.orphan, false
}

// terminateNamespace starts the end of a namespace. The namespace controller removes
// its content and then its finalizer, through the subresource finalize.
func (s *Server) terminateNamespace(k *kind, r *record, request metav1.DeleteOptions, o WriteOptions) error {
	if slices.Contains(immortal, r.key.Name) {
		return apierrors.NewForbidden(k.resource, r.key.Name, fmt.Errorf("this namespace may not be deleted"))
	}
	next := r.object.DeepCopyObject().(*corev1.Namespace)
	now := s.stamp()
	next.DeletionTimestamp = &now
	next.Status.Phase = corev1.NamespaceTerminating
	next.Finalizers = k.collectorFinalizers(next.Finalizers, request)
	if !o.DryRun {
		s.replace(k, r, next, o.change("delete"))
	}
	return nil
}
