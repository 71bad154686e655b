package world

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Fork returns a world that stands where w stands, over copies of w's loop and
// server (o); everything else of o must be as w's was. The world must be settled:
// what is in the middle of a step cannot be copied. Forking only reads w once Freeze
// was called: any number of goroutines may do it at once.
func (w *World) Fork(o Options) *World {
	out := New(o)
	pods := w.kubelet.fork()
	out.objects = w.objects.fork()
	out.kubelet.pods = pods
	out.sources.adopt(w.sources, pods)
	out.names, out.failing = maps.Clone(w.names), maps.Clone(w.failing)
	out.deployments.wrote = w.deployments.wrote
	out.scheduler.next = w.scheduler.next
	out.namespaces.dying = maps.Clone(w.namespaces.dying)
	for i, q := range out.queues {
		q.adopt(w.queues[i])
	}
	return out
}

// Freeze works out now what is otherwise worked out at first use.
func (w *World) Freeze() {
	for _, log := range w.sources.log {
		for _, v := range log {
			v.content()
		}
	}
	for _, v := range w.sources.cache {
		v.content()
	}
	for _, p := range w.kubelet.pods {
		for _, m := range p.mounts {
			m.now.content()
			for _, later := range m.later {
				later.version.content()
			}
		}
	}
}

// forkable is a queue of any type of key.
type forkable interface{ adopt(from forkable) }

// adopt takes over the timers and the back-off of the queue this one stands for.
func (q *queue[K]) adopt(from forkable) {
	other := from.(*queue[K])
	q.failures = maps.Clone(other.failures)
	for key, timer := range other.timers {
		q.timers[key] = scheduled{q.world.loop.Adopt(timer.event, q.ring(key)), timer.due}
	}
}

// fork copies the graph, in the same order.
func (g *graph) fork() *graph {
	out := &graph{nodes: make(map[types.UID]*node, len(g.nodes))}
	own := make([]node, len(g.nodes))
	i := 0
	for n := g.first; n != nil; n = n.next {
		c := &own[i]
		i++
		*c = *n
		c.prev, c.next = out.last, nil
		if out.last == nil {
			out.first = c
		} else {
			out.last.next = c
		}
		out.last = c
		out.nodes[c.uid] = c
	}
	for n := out.first; n != nil; n = n.next {
		n.owners, n.children = out.those(n.owners), out.those(n.children)
	}
	return out
}

// those are the graph's own nodes for nodes of another graph.
func (g *graph) those(nodes []*node) []*node {
	if len(nodes) == 0 {
		return nil
	}
	out := make([]*node, len(nodes))
	for i, n := range nodes {
		out[i] = g.nodes[n.uid]
	}
	return out
}

// fork copies what the kubelet knows of each pod.
func (k *kubelet) fork() map[types.UID]*podState {
	out := make(map[types.UID]*podState, len(k.pods))
	for uid, p := range k.pods {
		own := *p
		own.containers = slices.Clone(p.containers)
		own.mounts = make(map[SourceRef]*mount, len(p.mounts))
		for ref, m := range p.mounts {
			fresh := &mount{refs: m.refs, now: m.now, cached: m.cached, later: slices.Clone(m.later)}
			if m.csi != nil {
				csi := *m.csi // what was told is never changed, only replaced
				fresh.csi = &csi
			}
			own.mounts[ref] = fresh
		}
		out[uid] = &own
	}
	return out
}

// adopt takes over the past of all sources and who reads them.
func (s *sources) adopt(from *sources, pods map[types.UID]*podState) {
	s.cache = maps.Clone(from.cache)
	for ref, log := range from.log {
		s.log[ref] = slices.Clip(log) // both sides append to copies
	}
	for ref, users := range from.users {
		own := make([]*podState, len(users))
		for i, p := range users {
			own[i] = pods[p.uid]
		}
		s.users[ref] = own
	}
}
