// Package controllers says what a controller is: data, so that the same list runs
// on controller-runtime against a cluster and on the simulator's single thread.
// Watches, filters and indexes are part of it, because that is where operators
// lose events. Each controller is one folder below.
package controllers

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model"
)

// Controller is one reconcile loop and everything that feeds it. Between two
// passes over one key it keeps nothing that a crash may not lose.
type Controller struct {
	// Name is unique, lower case; it labels logs and metrics.
	Name string
	// Watches feed its queue.
	Watches []Watch
	// Workers is how many keys may be worked on at a time; 0 means 1. A single key
	// is never worked on twice at a time.
	Workers int
	// Timeout is how long a pass may take; 0: as long as the engine lets any.
	Timeout time.Duration
	// Reconcile makes one pass over a key. An error is retried with a growing delay.
	Reconcile func(context.Context, model.Key) (Result, error)
}

// Result says when to look again if nothing happens before.
type Result struct {
	// After is the delay; 0 means not by time.
	After time.Duration
	// Routine says that nothing is waited for: the look comes round for ever, to be on
	// the safe side.
	Routine bool
}

// Behind is how long a controller waits for its cache to show what it does not show
// yet, should no event tell that it has come: an object that was created and deleted
// again while a watch was broken never shows at all.
const Behind = 5 * time.Second

// Within is the result with a look no later than after d, for which something waits.
func (r Result) Within(d time.Duration) Result {
	r.Routine = false
	if r.After == 0 || r.After > d {
		r.After = d
	}
	return r
}

// Watch maps events of one kind of object to keys.
type Watch struct {
	// Object is an empty object of the kind.
	Object client.Object
	// Keys are the keys an event makes worth a pass; none means that the event is
	// of no interest. It may read caches but never the API server.
	Keys func(context.Context, Event) []model.Key
}

// Event is a change of one object in the cache. Objects are shared and must not
// be changed.
type Event struct {
	Old    client.Object // nil: it appeared, or the cache is being filled
	New    client.Object // nil: it is gone
	Listed bool          // the list that fills the cache first has shown it
}

// Object is the newest state there is.
func (e Event) Object() client.Object {
	if e.New != nil {
		return e.New
	}
	return e.Old
}

// SameSpec reports a change of one object that left its generation as it was: of its
// status or its metadata.
func (e Event) SameSpec() bool {
	return e.Old != nil && e.New != nil && e.Old.GetGeneration() == e.New.GetGeneration() && e.Old.GetUID() == e.New.GetUID()
}

// Keys are the keys that both states lead to: an object that was deleted and made
// again under its name may show as one change, and then leads to another key than it
// did before.
func (e Event) Keys(of func(client.Object) model.Key) []model.Key {
	keys := []model.Key{of(e.Object())}
	if e.Old != nil && e.New != nil {
		if before := of(e.Old); before != keys[0] {
			keys = append(keys, before)
		}
	}
	return keys
}

// Index makes objects of one kind listable by a value (client.MatchingFields).
type Index struct {
	Object client.Object
	Name   string
	Values func(client.Object) []string
}

// Transform makes an object small before it enters the cache. It changes only the
// struct it is given, never what that struct shares with others.
type Transform struct {
	Object client.Object
	Apply  func(client.Object)
	// Everywhere: the kind is cached in all namespaces, also where only some are watched.
	Everywhere bool
	// Within bounds Everywhere to these namespaces; none: it has no bound.
	Within []string
	// Beside is one object that is cached besides those of the watched namespaces; zero:
	// none.
	Beside types.NamespacedName
	// Only says which objects of the kind are cached; nil: all of them.
	Only fields.Selector
}

// Holds reports whether the cache holds an object of the kind, given which namespaces
// are watched; none: all of them.
func (t *Transform) Holds(key types.NamespacedName, watched []string) bool {
	if t.Everywhere && len(t.Within) > 0 {
		return slices.Contains(t.Within, key.Namespace)
	}
	return t.Everywhere || len(watched) == 0 || slices.Contains(watched, key.Namespace) || key == t.Beside
}

// Wiring is everything an engine needs to run KICK.
type Wiring struct {
	Controllers []Controller
	Indexes     []Index
	Transforms  []Transform
}
