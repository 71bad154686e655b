package cluster

import (
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// generationRule says what moves metadata.generation.
type generationRule int

const (
	generationNone        generationRule = iota // the field stays 0
	generationBody                              // anything but metadata (and status, where it has a subresource)
	generationAnnotations                       // that, or an annotation: Deployment
)

// rules are what the API server does to one kind beyond the common rules; nil
// functions do nothing. An obj is private to the write, an old is shared.
type rules struct {
	generation     generationRule
	unconditional  bool     // an update without resourceVersion is allowed
	orphan         bool     // dependents are orphaned unless the request says otherwise
	mergeInPlace   bool     // a merge patch of plain maps can be decoded onto a copy
	statusKeeps    []string // fields of metadata that the status endpoint leaves as they are
	name           apimachineryvalidation.ValidateNameFunc
	defaults       func(obj client.Object)
	prepareCreate  func(obj client.Object)
	prepareUpdate  func(obj, old client.Object)
	prepareStatus  func(obj, old client.Object)
	validate       func(obj client.Object) field.ErrorList
	validateUpdate func(obj, old client.Object) field.ErrorList
	validateStatus func(obj, old client.Object) field.ErrorList
	graceful       func(obj client.Object, options *metav1.DeleteOptions)
}

// kindRules holds the kinds that have rules of their own.
var kindRules = map[schema.GroupKind]*rules{
	{Kind: "Secret"}:         secretRules,
	{Kind: "ConfigMap"}:      configMapRules,
	{Kind: "Pod"}:            podRules,
	{Kind: "Namespace"}:      namespaceRules,
	{Kind: "Service"}:        serviceRules,
	{Kind: "Node"}:           nodeRules,
	{Kind: "ServiceAccount"}: {unconditional: true},
	{Kind: "Event"}:          {unconditional: true},

	{Group: "apps", Kind: "Deployment"}:         deploymentRules,
	{Group: "apps", Kind: "StatefulSet"}:        statefulSetRules,
	{Group: "apps", Kind: "DaemonSet"}:          daemonSetRules,
	{Group: "apps", Kind: "ReplicaSet"}:         replicaSetRules,
	{Group: "apps", Kind: "ControllerRevision"}: controllerRevisionRules,

	{Group: "batch", Kind: "Job"}:     jobRules,
	{Group: "batch", Kind: "CronJob"}: cronJobRules,

	{Group: "coordination.k8s.io", Kind: "Lease"}:                     {},
	{Group: "policy", Kind: "PodDisruptionBudget"}:                    {generation: generationBody},
	{Group: "networking.k8s.io", Kind: "Ingress"}:                     {generation: generationBody, unconditional: true},
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}:               {generation: generationBody, unconditional: true},
	{Group: "events.k8s.io", Kind: "Event"}:                           {unconditional: true},
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: {generation: generationBody},
}

var (
	plainBuiltIn   = &rules{unconditional: true}
	customResource = &rules{generation: generationBody}
)

// rulesFor returns the rules of a kind: its own, or those of its sort.
func rulesFor(gk schema.GroupKind) *rules {
	if r := kindRules[gk]; r != nil {
		return r
	}
	if builtIn(gk.Group) {
		return plainBuiltIn
	}
	return customResource
}

// nameRule is the check of an object's name.
func (r *rules) nameRule() apimachineryvalidation.ValidateNameFunc {
	if r.name != nil {
		return r.name
	}
	return apimachineryvalidation.NameIsDNSSubdomain
}

// on adapts a function of one typed object.
func on[T client.Object](f func(T)) func(client.Object) {
	return func(obj client.Object) { f(obj.(T)) }
}

// onPair adapts a function of the new and the old object.
func onPair[T client.Object](f func(obj, old T)) func(obj, old client.Object) {
	return func(obj, old client.Object) { f(obj.(T), old.(T)) }
}

// check adapts a validation of one typed object.
func check[T client.Object](f func(T) field.ErrorList) func(client.Object) field.ErrorList {
	return func(obj client.Object) field.ErrorList { return f(obj.(T)) }
}

// checkPair adapts a validation of a change.
func checkPair[T client.Object](f func(obj, old T) field.ErrorList) func(obj, old client.Object) field.ErrorList {
	return func(obj, old client.Object) field.ErrorList { return f(obj.(T), old.(T)) }
}
