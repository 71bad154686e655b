package operator

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// probePeriod is how often KICK looks whether kinds of GitOps tools were installed or
// removed.
const probePeriod = time.Minute

// kindSet is which kinds are installed.
type kindSet map[schema.GroupVersionKind]bool

func (s kindSet) has(k schema.GroupVersionKind) bool { return s[k] }

// probe asks the API server which of the kinds it serves.
func probe(config *rest.Config, kinds []schema.GroupVersionKind) (kindSet, error) {
	c, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the API server: %w", err)
	}
	wanted, served, asked := kindSet{}, kindSet{}, map[schema.GroupVersion]bool{}
	for _, k := range kinds {
		wanted[k] = true
	}
	for _, k := range kinds {
		gv := k.GroupVersion()
		if asked[gv] {
			continue
		}
		asked[gv] = true
		list, err := c.ServerResourcesForGroupVersion(gv.String())
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("ask the API server for %s: %w", gv, err)
		}
		for i := range list.APIResources {
			if found := gv.WithKind(list.APIResources[i].Kind); wanted[found] {
				served[found] = true
			}
		}
	}
	return served, nil
}

// kindWatch ends the life of an operator when other kinds are installed than when it
// began: caches and indexes of a kind cannot be added to one that runs.
type kindWatch struct {
	config    *rest.Config
	kinds     []schema.GroupVersionKind
	installed kindSet
	stop      func()
	changed   atomic.Bool
}

// NeedLeaderElection says that standbys look as well.
func (*kindWatch) NeedLeaderElection() bool { return false }

// Start looks until the context ends. An API server that does not answer says nothing.
func (w *kindWatch) Start(ctx context.Context) error {
	tick := time.NewTicker(probePeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if now, err := probe(w.config, w.kinds); err == nil && !maps.Equal(now, w.installed) {
			w.changed.Store(true)
			w.stop()
			return nil
		}
	}
}
