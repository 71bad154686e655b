package engine

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/graph"
)

// Calls that KICK makes without its controllers.
var (
	eventSite  = newSite("create", "", eventsv1.SchemeGroupVersion.WithKind("Event"))
	leaseSites = []*site{
		newSite("get", "", coordinationv1.SchemeGroupVersion.WithKind("Lease")),
		newSite("create", "", coordinationv1.SchemeGroupVersion.WithKind("Lease")),
		newSite("update", "", coordinationv1.SchemeGroupVersion.WithKind("Lease")),
	}
)

// demandBasics tells of the rights that every life needs: to list and watch what is
// cached, and to elect a leader.
func (e *Engine) demandBasics(p *process) {
	if e.Access == nil {
		return
	}
	for _, s := range p.cache.order {
		e.demand(newSite("list", "", s.gvk), "")
		e.demand(newSite("watch", "", s.gvk), "")
	}
	for _, s := range leaseSites {
		e.demand(s, e.options.Namespace)
	}
}

// touched tells that the controller under way touches a kind.
func (p *process) touched(s *site, how graph.How) {
	if e := p.engine; e.Touched != nil && p.working != nil {
		e.Touched(graph.Access{Controller: p.working.controller.Name, Kind: s.kind, How: how, Surface: s.sub})
	}
}

// woke tells that a watch event gives a controller work.
func (p *process) woke(q *queue, f *feed) {
	if e := p.engine; e.Touched != nil {
		e.Touched(graph.Access{Controller: q.controller.Name, Kind: f.gvk, How: graph.Triggers})
	}
}

// cacheReader is the cache as the controllers get it. The wiring is made before the
// cache it reads from.
type cacheReader struct {
	client.Reader
	process *process
}

// Get reads from the cache.
func (r *cacheReader) Get(ctx context.Context, key client.ObjectKey, obj client.Object, o ...client.GetOption) error {
	r.touched(obj)
	return r.Reader.Get(ctx, key, obj, o...)
}

// List reads from the cache.
func (r *cacheReader) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	r.touched(list)
	return r.Reader.List(ctx, list, o...)
}

func (r *cacheReader) touched(obj runtime.Object) {
	p := r.process
	if p.engine.Touched == nil || p.working == nil {
		return
	}
	if s, err := p.engine.site("read", "", obj); err == nil {
		p.touched(s, graph.Reads)
	}
}
