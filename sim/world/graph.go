package world

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/cluster"
)

// graph is the index of all objects by UID and by owner, kept up to date by the
// events, so that no sync has to list anything.
type graph struct {
	nodes       map[types.UID]*node
	first, last *node // every node in the order in which it was first seen
}

// node is one object, or the memory of an absent owner that others still name.
type node struct {
	uid        types.UID
	kind       schema.GroupKind
	key        types.NamespacedName
	object     client.Object // shared and read-only; nil when there is none
	seen       time.Time     // true time of its creation
	owners     []*node
	children   []*node // in the order of their creation
	prev, next *node

	template           string // canonical pod template, see templateOf
	templateGeneration int64
}

func newGraph() *graph { return &graph{nodes: map[types.UID]*node{}} }

// get returns the node of a UID, or nil.
func (g *graph) get(uid types.UID) *node { return g.nodes[uid] }

// node returns the node of a UID, making it when it is not known.
func (g *graph) node(uid types.UID) *node {
	n := g.nodes[uid]
	if n != nil {
		return n
	}
	n = &node{uid: uid, prev: g.last}
	if g.last == nil {
		g.first = n
	} else {
		g.last.next = n
	}
	g.last = n
	g.nodes[uid] = n
	return n
}

// record follows one committed write.
func (g *graph) record(ev cluster.Event, now time.Time) {
	n := g.node(ev.Object.GetUID())
	if ev.Type == cluster.Deleted {
		n.object = nil
		g.own(n, nil)
		g.release(n)
		return
	}
	if ev.Type == cluster.Added {
		n.seen = now
	}
	n.kind, n.key, n.object = ev.Kind, ev.Key, ev.Object
	if refs := ev.Object.GetOwnerReferences(); !sameOwners(n.owners, refs) {
		g.own(n, refs)
	}
}

// sameOwners reports that the references name exactly these owners.
func sameOwners(owners []*node, refs []metav1.OwnerReference) bool {
	if len(owners) != len(refs) {
		return false
	}
	for i := range refs {
		if owners[i].uid != refs[i].UID {
			return false
		}
	}
	return true
}

// own replaces the owners of a node.
func (g *graph) own(n *node, refs []metav1.OwnerReference) {
	old := n.owners
	n.owners = nil
	for _, owner := range old {
		owner.children = without(owner.children, n)
		g.release(owner)
	}
	for i := range refs {
		owner := g.node(refs[i].UID)
		n.owners = append(n.owners, owner)
		owner.children = append(owner.children, n)
	}
}

// release forgets a node that is neither an object nor anybody's owner.
func (g *graph) release(n *node) {
	if n.object != nil || len(n.children) > 0 || g.nodes[n.uid] != n {
		return
	}
	delete(g.nodes, n.uid)
	if n.prev != nil {
		n.prev.next = n.next
	} else {
		g.first = n.next
	}
	if n.next != nil {
		n.next.prev = n.prev
	} else {
		g.last = n.prev
	}
}

// children lists what names an object as an owner.
func (g *graph) children(uid types.UID) []*node {
	if n := g.nodes[uid]; n != nil {
		return n.children
	}
	return nil
}

// inNamespace lists the objects of a namespace, oldest first.
func (g *graph) inNamespace(namespace string) []*node {
	var out []*node
	for n := g.first; n != nil; n = n.next {
		if n.object != nil && n.key.Namespace == namespace {
			out = append(out, n)
		}
	}
	return out
}

// without returns the list without one node, in the same order.
func without(list []*node, n *node) []*node {
	for i := range list {
		if list[i] == n {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}

// pods lists the pods that an object controls, oldest first.
func (g *graph) pods(uid types.UID) []*corev1.Pod { return controlled[*corev1.Pod](g, uid) }

// replicaSets lists the ReplicaSets that an object controls, oldest first.
func (g *graph) replicaSets(uid types.UID) []*appsv1.ReplicaSet {
	return controlled[*appsv1.ReplicaSet](g, uid)
}

// revisions lists the ControllerRevisions that an object controls, oldest first.
func (g *graph) revisions(uid types.UID) []*appsv1.ControllerRevision {
	return controlled[*appsv1.ControllerRevision](g, uid)
}

// controlled lists the objects of one type whose controller is the given object.
func controlled[T client.Object](g *graph, uid types.UID) []T {
	n := g.nodes[uid]
	if n == nil || len(n.children) == 0 {
		return nil
	}
	out := make([]T, 0, len(n.children))
	for _, child := range n.children {
		object, ok := child.object.(T)
		if !ok {
			continue
		}
		if ref := metav1.GetControllerOfNoCopy(object); ref != nil && ref.UID == uid {
			out = append(out, object)
		}
	}
	return out
}

// controller returns the node that controls an object when that owner exists and
// is of the given kind, else nil.
func (g *graph) controller(object client.Object, kind schema.GroupKind) *node {
	ref := metav1.GetControllerOfNoCopy(object)
	if ref == nil || ref.Kind != kind.Kind {
		return nil
	}
	if n := g.nodes[ref.UID]; n != nil && n.object != nil && n.kind == kind {
		return n
	}
	return nil
}
