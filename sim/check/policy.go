package check

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

var (
	policyKind  = schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: "KickPolicy"}
	requestKind = schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: "KickRequest"}
	recordKind  = schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: "SourceObservation"}
)

// policiesOf lists the policies that match a workload. A policy whose selector
// cannot be read matches nothing: KICK never guesses, and neither does a law.
func (c *Context) policiesOf(w workload) []*v1alpha1.KickPolicy {
	if !c.watched(w.GetNamespace()) {
		return nil
	}
	var out []*v1alpha1.KickPolicy
	for _, object := range c.API.List(policyKind, w.GetNamespace()) {
		policy, ok := object.(*v1alpha1.KickPolicy)
		if ok && policy.DeletionTimestamp == nil && matches(policy.Spec.Discovery.WorkloadSelector, w.GetLabels()) {
			out = append(out, policy)
		}
	}
	return out
}

// inScope reports whether changes of a source count under a policy. A source that
// does not exist counts by the labels it had last: that it went is a change as well.
func (c *Context) inScope(policy *v1alpha1.KickPolicy, s Source) bool {
	selector := policy.Spec.Discovery.DependencySelector
	if selector == nil {
		return true
	}
	if newest := c.sources.of(s).newest; newest != nil {
		return matches(selector, newest.GetLabels())
	}
	return matches(selector, nil)
}

func matches(selector *metav1.LabelSelector, set map[string]string) bool {
	if selector == nil {
		return true
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && s.Matches(labels.Set(set))
}

// requestOf finds the request of a workload by what it names, not by its own name.
func (c *Context) requestsOf(w workload) []*v1alpha1.KickRequest {
	var out []*v1alpha1.KickRequest
	for _, object := range c.API.List(requestKind, w.GetNamespace()) {
		r, ok := object.(*v1alpha1.KickRequest)
		if ok && string(r.Spec.TargetRef.Kind) == w.kind && r.Spec.TargetRef.Name == w.GetName() {
			out = append(out, r)
		}
	}
	return out
}

// requests are all requests by the workload that they name, for who asks about many.
func (c *Context) requests() map[string][]*v1alpha1.KickRequest {
	all := map[string][]*v1alpha1.KickRequest{}
	for _, object := range c.API.List(requestKind, "") {
		if r, ok := object.(*v1alpha1.KickRequest); ok {
			id := r.Namespace + "/" + string(r.Spec.TargetRef.Kind) + "/" + r.Spec.TargetRef.Name
			all[id] = append(all[id], r)
		}
	}
	return all
}

// terminal reports whether a phase is an end.
func terminal(p v1alpha1.Phase) bool {
	switch p {
	case v1alpha1.PhaseSucceeded, v1alpha1.PhaseNoLongerRequired, v1alpha1.PhaseFailed, v1alpha1.PhaseDryRun:
		return true
	default:
		return false
	}
}
