package engine

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/corewire/kick/sim/check"
)

// site is a place where KICK calls the API server: a verb on a kind. Its name is
// what schedules and reports call it.
type site struct {
	name      string // patch Deployment, update KickRequest/status
	verb, sub string
	kind      schema.GroupVersionKind
	resource  schema.GroupResource
}

type siteKey struct {
	verb, sub string
	object    typeKey
}

// site finds the place of a call, which is made once.
func (e *Engine) site(verb, sub string, object runtime.Object) (*site, error) {
	key := siteKey{verb, sub, keyOf(object)}
	if s := e.sites[key]; s != nil {
		return s, nil
	}
	gvk, err := apiutil.GVKForObject(object, e.scheme)
	if err != nil {
		return nil, err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	s := newSite(verb, sub, gvk)
	e.sites[key] = s
	return s, nil
}

func newSite(verb, sub string, gvk schema.GroupVersionKind) *site {
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	s := &site{name: verb + " " + gvk.Kind, verb: verb, sub: sub, kind: gvk, resource: plural.GroupResource()}
	if sub != "" {
		s.name += "/" + sub
	}
	return s
}

// demand tells of the right that a call needs.
func (e *Engine) demand(s *site, namespace string) {
	if e.Access != nil {
		e.Access(check.Access{Verb: s.verb, Group: s.resource.Group, Resource: s.resource.Resource, Sub: s.sub, Namespace: namespace})
	}
}

// met tells that a fault met a call, a watch or a start.
func (e *Engine) met(site, fault string) {
	if e.Hit != nil {
		e.Hit(site, fault)
	}
}
