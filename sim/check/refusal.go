package check

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

const lawRefusal = "a refused restart is left alone"

// refusals counts the restarts that the API server would not have.
type refusals struct{ at map[sentKey][]time.Time }

// How often a restart may be refused within a while in which nobody else writes anything. KICK leaves
// one alone for as long, but for a process that does not know yet.
const (
	refusedWithin = 5 * time.Minute
	refusedMost   = 8
)

// OnCall reports a restart that is sent over and over although it is refused. One that
// KICK could not write down it tries again, and so does a process whose cache did not show
// what was written down.
func (r *refusals) OnCall(c *Context, w Write) {
	if w.Kind == requestKind && w.Sub == "status" && w.Done && w.Err != nil {
		r.forget(c, w.Key)
	}
	if target, ok := c.patched(w); ok && target.Object != nil && w.Done && refused(w.Err) {
		r.count(c, w, target)
	}
}

// count takes a refusal, and reports it if it is one too many.
func (r *refusals) count(c *Context, w Write, target workload) {
	if r.at == nil {
		r.at = map[sentKey][]time.Time{}
	}
	key := sentKey{w.Kind, w.Key}
	at := slices.DeleteFunc(r.at[key], c.busy[w.Key.Namespace].After)
	if n := len(at); n > 0 && !showed(w.Known.Requests, at[n-1]) {
		at = at[:n-1]
	}
	r.at[key] = append(at, c.Loop.Now())
	if n := len(r.at[key]); n >= refusedMost && c.Loop.Now().Sub(r.at[key][n-refusedMost]) < refusedWithin {
		c.report(lawRefusal, "the restart of %s was refused %d times within %s", target.id(), refusedMost, c.Loop.Now().Sub(r.at[key][n-refusedMost]))
	}
}

// forget takes back the last refusal of a request's target.
func (r *refusals) forget(c *Context, request types.NamespacedName) {
	object, ok := c.API.Get(requestKind, request).(*v1alpha1.KickRequest)
	if !ok {
		return
	}
	ref := object.Spec.TargetRef
	key := sentKey{groupKindOf(string(ref.Kind)), types.NamespacedName{Namespace: request.Namespace, Name: ref.Name}}
	if n := len(r.at[key]); n > 0 {
		r.at[key] = r.at[key][:n-1]
	}
}
