// Package gather does all the reading of a pass and turns objects into the plain
// values that decisions are made on. It decides nothing and writes nothing.
//
// Most reads come from caches, which lag. That is safe because every write that
// follows carries the UID and resourceVersion of what was read here: a judgement
// on an old copy ends in a conflict, and the pass after a conflict reads live.
// Pods are always read live, for one workload, and only when the judgement
// depends on them (DESIGN section 5).
package gather

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/gates"
	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/sources"
	"github.com/corewire/kick/kick/workloads"
)

// Names of the cache indexes that gather relies on; Indexes builds them.
const (
	IndexSources    = "kick.sources"    // workloads by "<source kind>/<source name>"
	IndexTarget     = "kick.target"     // requests by "<workload kind>/<workload name>"
	IndexController = "kick.controller" // revisions by the UID of the workload that controls them
)

// Gatherer reads the cluster for all controllers.
type Gatherer struct {
	Cache     client.Reader // may lag; hands out shared objects that must not be changed
	Live      client.Reader // quorum reads
	lagging   lagging
	reserved  reservations
	Watched   []string // namespaces; empty: all
	Workloads workloads.Registry
	Sources   sources.Registry
	Providers gates.Registry
	Lacking   []string // which kinds of workload and source are asked for and not installed
	Sightings *ledger.Sightings
	Keys      *ledger.Keyring
	Own       string // KICK's own namespace, where the installation key is
	Settings  model.Settings
	// ServerNow is the API server's clock; nil, or a zero time: not known.
	ServerNow func() time.Time
}

// Server is the API server's clock, or zero if nobody knows it.
func (g *Gatherer) Server() time.Time {
	if g.ServerNow == nil {
		return time.Time{}
	}
	return g.ServerNow()
}

// Freshness of the workload and request in a pass.
type Freshness bool

// How a pass reads the objects it may write to.
const (
	FromCache Freshness = false
	ReadLive  Freshness = true // after a conflict
)

func (g *Gatherer) reader(f Freshness) client.Reader {
	if f == ReadLive {
		return g.Live
	}
	return g.Cache
}

// get reads an object and reports whether it exists.
func get(ctx context.Context, r client.Reader, k model.Key, obj client.Object) (bool, error) {
	if !model.Nameable(k.Name) {
		return false, nil // a client would not even ask
	}
	err := r.Get(ctx, client.ObjectKey{Namespace: k.Namespace, Name: k.Name}, obj)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", k, err)
	}
	return true, nil
}

// Source is one source as the cache holds it; absent if it does not exist.
func (g *Gatherer) source(ctx context.Context, r client.Reader, id model.Key) (model.Source, error) {
	kind := g.Sources.ByName(id.Kind)
	obj := kind.New()
	found, err := get(ctx, r, id, obj)
	if err != nil || !found {
		return model.Source{ID: id}, err
	}
	return sources.Model(kind, obj), nil
}

// Now reads a clock once for a pass: UTC, microseconds, the precision that
// survives the way through the API server.
func Now(clock interface{ Now() time.Time }) time.Time {
	return clock.Now().UTC().Round(0).Truncate(time.Microsecond)
}

// HoldKey reports whether the installation key is at hand, and reads it, live, if it is
// not; false: there is none yet.
func (g *Gatherer) HoldKey(ctx context.Context) (bool, error) {
	if !g.Keys.Key().IsZero() {
		return true, nil
	}
	var s corev1.Secret
	found, err := get(ctx, g.Live, model.Key{Kind: "Secret", Namespace: g.Own, Name: ledger.KeySecret}, &s)
	if err != nil || !found {
		return false, err
	}
	key, err := ledger.KeyFrom(&s)
	if err != nil {
		return false, err
	}
	g.Keys.Hold(key)
	return true, nil
}
