// Package cluster is a deterministic kube-apiserver: typed objects, one revision
// counter, the write semantics that KICK and its users rely on. No goroutine, no
// real clock, no map-ordered output.
package cluster

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
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
	Object   client.Object // the new state; for Deleted the last state
	Old      client.Object // the state before; nil for Added
	Revision int64
	At       time.Time // the API server's clock, not truncated
	Manager  string    // field manager (the writer)
	Verb     string    // create, update, patch, apply, delete
	Sub      string    // "" or "status"
}

// WriteOptions carries what a request says besides its object.
type WriteOptions struct {
	Manager     string // field manager
	Subresource string // "" or "status"
	DryRun      bool
	Force       bool // server-side apply: take over conflicting fields
}

// Server is the store and its API. Create one with New.
type Server struct{}

// Options configures a Server.
type Options struct {
	Now func() time.Time // the API server's clock
}

// New returns an empty server.
func New(Options) *Server { panic("not built yet") }

// Get returns the stored object, shared and read-only, or nil.
func (s *Server) Get(schema.GroupKind, types.NamespacedName) client.Object { panic("not built yet") }

// List returns the objects of a kind in a namespace ("" = all), ordered by key, shared and read-only.
func (s *Server) List(schema.GroupKind, string) []client.Object { panic("not built yet") }

// Create stores a new object and returns the stored, shared form.
func (s *Server) Create(client.Object, WriteOptions) (client.Object, error) { panic("not built yet") }

// Update replaces an object (optimistic lock when resourceVersion is set).
func (s *Server) Update(client.Object, WriteOptions) (client.Object, error) { panic("not built yet") }

// Patch applies a JSON, merge, strategic-merge or apply patch.
func (s *Server) Patch(schema.GroupKind, types.NamespacedName, types.PatchType, []byte, WriteOptions) (client.Object, error) {
	panic("not built yet")
}

// Delete removes an object or marks it for deletion while finalizers remain.
func (s *Server) Delete(schema.GroupKind, types.NamespacedName, client.DeleteOptions, WriteOptions) error {
	panic("not built yet")
}

// Subscribe registers a function that is called synchronously after every commit.
func (s *Server) Subscribe(func(Event)) (cancel func()) { panic("not built yet") }

// At returns the version of an object that was current at an instant of the API server's clock, nil if there was none.
func (s *Server) At(schema.GroupKind, types.NamespacedName, time.Time) client.Object {
	panic("not built yet")
}

// Revision is the newest committed revision.
func (s *Server) Revision() int64 { panic("not built yet") }

// Client returns a client.Client for one writer: live (quorum) reads, all writes under that field manager.
func (s *Server) Client(manager string) client.Client { panic("not built yet") }
