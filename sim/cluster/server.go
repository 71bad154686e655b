package cluster

import (
	"reflect"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// EventType says what happened to an object.
type EventType string

// The kinds of watch event.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
)

// Event is one committed write. Object and Old are shared and must not be changed.
type Event struct {
	Type     EventType
	Kind     schema.GroupKind
	Key      types.NamespacedName
	Object   client.Object // the new state; for Deleted the last state, at the revision of the deletion
	Old      client.Object // the state before; nil for Added
	Revision int64
	At       time.Time // the API server's clock, not truncated
	Manager  string    // field manager (the writer)
	Verb     string    // create, update, patch, apply, delete
	Sub      string    // "" or "status", "binding", "finalize"
}

// WriteOptions carries what a request says besides its object.
type WriteOptions struct {
	Manager     string // field manager
	Subresource string // "", "status", or "finalize" of a Namespace
	DryRun      bool
	Force       bool // server-side apply: take over conflicting fields

	// verb overrides the verb that the event reports; set by Patch.
	verb string
	// content is a custom resource as a patch left it, where its Go type holds less.
	content map[string]any
}

// Options configures a Server.
type Options struct {
	// Now is the API server's clock. Required.
	Now func() time.Time
	// Scheme knows the Go types; default: the built-in kinds of client-go.
	Scheme *runtime.Scheme
	// CRDs declare the custom kinds of Scheme: scope, schema, status subresource.
	// A custom kind without its CRD is taken as it comes: no pruning, defaulting
	// or validation, and no status subresource.
	CRDs []*apiextensionsv1.CustomResourceDefinition
	// UIDs makes the UID of each new object; default: a counter.
	UIDs func() types.UID
	// NamespaceAutoCreate creates a missing namespace on the first write into it.
	NamespaceAutoCreate bool
	// Tracked lists kinds whose managedFields are kept besides Secret, ConfigMap,
	// Deployment, StatefulSet and DaemonSet.
	Tracked []schema.GroupKind
	// Logged lists kinds that At answers for besides Secret and ConfigMap.
	Logged []schema.GroupKind
	// Untracked says which managers leave no managedFields, so that the hot loop of
	// the simulated controllers needs no field sets; default: DefaultUntracked.
	Untracked func(manager string) bool
	// Fast answers what depends on the form of an object alone from memory: whether it
	// is valid and complete. The first of each form is still judged in full. Meant for
	// CRDs whose rules do not compare times.
	Fast bool
	// DetectMutation keeps a copy of every stored object, for CheckMutation.
	DetectMutation bool
}

// DefaultUntracked names the control plane's own components.
func DefaultUntracked(manager string) bool {
	switch manager {
	case "kube-controller-manager", "kube-scheduler", "kube-apiserver", "kubelet":
		return true
	}
	return false
}

// Server is the store and its API. Create one with New. It is not safe for
// concurrent use: everything happens on the simulator's one thread.
type Server struct {
	opts   Options
	scheme *runtime.Scheme
	crds   map[schema.GroupKind]*crd

	kinds  map[schema.GroupKind]*kind
	byType map[reflect.Type]*kind
	blanks *sync.Map // *kind without objects, by schema.GroupKind: what forks need not find out again

	revision  int64
	uids      uint64
	suffixes  uint64
	listeners []*listener
	pending   []Event // commits made while listeners are being told of an earlier one
	telling   bool
}

// systemNamespaces exist in every cluster from the start.
var systemNamespaces = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// New returns a server that holds the system namespaces and nothing else. It panics
// on a CRD whose schema does not compile: that is a mistake of the program.
func New(opts Options) *Server {
	if opts.Now == nil {
		panic("cluster.New: Options.Now is required")
	}
	if opts.Scheme == nil {
		opts.Scheme = clientgoscheme.Scheme
	}
	if opts.Untracked == nil {
		opts.Untracked = DefaultUntracked
	}
	s := &Server{
		opts:   opts,
		scheme: opts.Scheme,
		crds:   map[schema.GroupKind]*crd{},
		kinds:  map[schema.GroupKind]*kind{},
		byType: map[reflect.Type]*kind{},
		blanks: &sync.Map{},
	}
	for _, declared := range opts.CRDs {
		c := compileCRD(declared)
		s.crds[c.gvk.GroupKind()] = c
	}
	for _, name := range systemNamespaces {
		s.createNamespace(name)
	}
	return s
}

// Scheme knows the Go types of the stored kinds.
func (s *Server) Scheme() *runtime.Scheme { return s.scheme }

// Now is the API server's clock.
func (s *Server) Now() time.Time { return s.opts.Now() }

// Revision is the newest committed revision.
func (s *Server) Revision() int64 { return s.revision }

// Get returns the stored object, shared and read-only, or nil.
func (s *Server) Get(gk schema.GroupKind, key types.NamespacedName) client.Object {
	k, err := s.kindFor(gk)
	if err != nil {
		return nil
	}
	if r := k.records[key]; r != nil {
		return r.object
	}
	return nil
}

// List returns the objects of a kind in a namespace ("" = all), in the order of
// etcd's keys, shared and read-only.
func (s *Server) List(gk schema.GroupKind, namespace string) []client.Object {
	k, err := s.kindFor(gk)
	if err != nil {
		return nil
	}
	span := k.span(namespace)
	if len(span) == 0 {
		return nil
	}
	out := make([]client.Object, len(span))
	for i, r := range span {
		out[i] = r.object
	}
	return out
}

// At returns the version of an object that was current at an instant of the API
// server's clock, nil if there was none. It answers for Secret, ConfigMap and
// Options.Logged, for the newest historyLimit versions of each name.
func (s *Server) At(gk schema.GroupKind, key types.NamespacedName, at time.Time) client.Object {
	k, err := s.kindFor(gk)
	if err != nil {
		return nil
	}
	if !k.logged {
		panic("cluster.At: no history is kept of " + gk.String() + "; name it in Options.Logged")
	}
	return k.at(key, at)
}

// Subscribe registers a function that is called synchronously after every commit.
// A write made by a listener is told to all listeners after the one at hand, so
// everybody sees the commits in the order of their revisions.
func (s *Server) Subscribe(tell func(Event)) (cancel func()) {
	l := &listener{tell: tell}
	s.listeners = append(s.listeners, l)
	return func() {
		for i, other := range s.listeners {
			if other == l {
				// A new slice: a loop over the old one may be under way.
				s.listeners = append(append([]*listener{}, s.listeners[:i]...), s.listeners[i+1:]...)
				l.tell = nil
				return
			}
		}
	}
}

// listener is one subscription; tell is nil once cancelled.
type listener struct{ tell func(Event) }

// publish tells every listener of an event, or queues it behind the one being told.
func (s *Server) publish(e Event) {
	if len(s.listeners) == 0 {
		return
	}
	s.pending = append(s.pending, e)
	if s.telling {
		return
	}
	s.telling = true
	defer func() { s.telling = false }()
	for i := 0; i < len(s.pending); i++ {
		for _, l := range s.listeners {
			if l.tell != nil {
				l.tell(s.pending[i])
			}
		}
	}
	clear(s.pending)
	s.pending = s.pending[:0]
}
