package cluster

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Fork returns a server that holds what s holds, counts on from where s stands, has
// no listeners and tells the time of another clock. Stored objects are immutable, so
// the two share them. Forking only reads s: any number of goroutines may do it at once.
func (s *Server) Fork(now func() time.Time) *Server {
	out := *s
	out.opts.Now = now
	out.kinds = make(map[schema.GroupKind]*kind, len(s.kinds))
	out.byType = make(map[reflect.Type]*kind, len(s.byType))
	out.listeners, out.pending, out.telling = nil, nil, false
	for gk, k := range s.kinds {
		own := k.fork()
		out.kinds[gk], out.byType[k.goType] = own, own
	}
	return &out
}

// fork copies what a kind holds.
func (k *kind) fork() *kind {
	out := *k
	out.managers = maps.Clone(k.managers)
	out.records = make(map[types.NamespacedName]*record, len(k.records))
	out.order = make([]*record, len(k.order))
	records := make([]record, len(k.order))
	for i, r := range k.order {
		records[i] = *r
		out.order[i], out.records[r.key] = &records[i], &records[i]
	}
	out.history = make(map[types.NamespacedName][]version, len(k.history))
	for key, log := range k.history {
		out.history[key] = slices.Clip(log) // both sides append to copies
	}
	return &out
}
