package engine

import (
	"context"
	"errors"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/corewire/kick/sim/check"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/sched"
)

// caller is the way of a process to the API server. Every write passes through
// call, where it can fail, and where the process can be killed around it.
type caller struct {
	process *process
	live    client.Client
}

type loop = *sched.Loop

// errKilled is the outcome of a write that the process did not live to see.
var errKilled = errors.New("the process was killed before the write was sent")

// Get reads live.
func (c *caller) Get(ctx context.Context, key client.ObjectKey, obj client.Object, o ...client.GetOption) error {
	return c.live.Get(ctx, key, obj, o...)
}

// List reads live.
func (c *caller) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	return c.live.List(ctx, list, o...)
}

// Create creates.
func (c *caller) Create(ctx context.Context, obj client.Object, o ...client.CreateOption) error {
	return c.call("create", "", obj, func() error { return c.live.Create(ctx, obj, o...) })
}

// Update replaces.
func (c *caller) Update(ctx context.Context, obj client.Object, o ...client.UpdateOption) error {
	return c.call("update", "", obj, func() error { return c.live.Update(ctx, obj, o...) })
}

// Patch patches.
func (c *caller) Patch(ctx context.Context, obj client.Object, p client.Patch, o ...client.PatchOption) error {
	return c.call("patch", "", obj, func() error { return c.live.Patch(ctx, obj, p, o...) })
}

// Delete deletes.
func (c *caller) Delete(ctx context.Context, obj client.Object, o ...client.DeleteOption) error {
	return c.call("delete", "", obj, func() error { return c.live.Delete(ctx, obj, o...) })
}

// DeleteAllOf is never used by KICK.
func (c *caller) DeleteAllOf(ctx context.Context, obj client.Object, o ...client.DeleteAllOfOption) error {
	return c.live.DeleteAllOf(ctx, obj, o...)
}

// Apply is never used by KICK.
func (c *caller) Apply(ctx context.Context, obj runtime.ApplyConfiguration, o ...client.ApplyOption) error {
	return c.live.Apply(ctx, obj, o...)
}

// Status writes status.
func (c *caller) Status() client.SubResourceWriter { return statusCaller{c, c.live.Status()} }

type statusCaller struct {
	*caller
	client.SubResourceWriter
}

// Create is not used by KICK.
func (s statusCaller) Create(ctx context.Context, obj, sub client.Object, o ...client.SubResourceCreateOption) error {
	return s.SubResourceWriter.Create(ctx, obj, sub, o...)
}

// Update replaces the status.
func (s statusCaller) Update(ctx context.Context, obj client.Object, o ...client.SubResourceUpdateOption) error {
	return s.call("update", "status", obj, func() error { return s.SubResourceWriter.Update(ctx, obj, o...) })
}

// Patch patches the status.
func (s statusCaller) Patch(ctx context.Context, obj client.Object, p client.Patch, o ...client.SubResourcePatchOption) error {
	return s.call("patch", "status", obj, func() error { return s.SubResourceWriter.Patch(ctx, obj, p, o...) })
}

// Apply is not used by KICK.
func (s statusCaller) Apply(ctx context.Context, obj runtime.ApplyConfiguration, o ...client.SubResourceApplyOption) error {
	return s.SubResourceWriter.Apply(ctx, obj, o...)
}

// call sends one write, or lets it fail, or kills the process around it.
func (c *caller) call(verb, sub string, obj client.Object, send func() error) error {
	e := c.process.engine
	gvk, err := apiutil.GVKForObject(obj, e.scheme)
	if err != nil {
		return err
	}
	w := check.Write{Verb: verb, Sub: sub, Kind: gvk.GroupKind(), Key: client.ObjectKeyFromObject(obj), At: e.loop.Now(), Before: e.Server.Revision()}
	if e.Observe != nil {
		e.Observe(w)
	}
	kill, landed := e.crashes()
	fault := e.hit(w)
	switch {
	case kill && !landed:
		e.report(w, errKilled)
		c.die()
	case fault != nil && !fault.Lands:
		err = fault.Err(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, w.Key.Name)
	default:
		err = send()
		if fault != nil {
			err = fault.Err(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, w.Key.Name)
		}
	}
	e.report(w, err)
	if kill {
		c.die()
	}
	return err
}

// die kills the process in the middle of its pass.
func (c *caller) die() {
	c.process.engine.kill(c.process)
	panic(killed{})
}

// crashes counts a write towards the crash point.
func (e *Engine) crashes() (kill, landed bool) {
	if e.crash == nil {
		return false, false
	}
	e.crash.left--
	if e.crash.left > 0 {
		return false, false
	}
	landed = e.crash.landed
	e.crash = nil
	return true, landed
}

// hit is the fault that this write meets, if any.
func (e *Engine) hit(w check.Write) *faults.Fault {
	for i := range e.faults {
		f := &e.faults[i]
		if f.Watch || !matches(f.on.Verb, w.Verb) || !matches(f.on.Kind, w.Kind.Kind) ||
			!matches(f.on.Namespace, w.Key.Namespace) || !matches(f.on.ObjectName, w.Key.Name) {
			continue
		}
		fault := f.Fault
		if f.on.Times > 0 {
			if f.on.Times--; f.on.Times == 0 {
				e.faults = slices.Delete(e.faults, i, i+1)
			}
		}
		return fault
	}
	return nil
}

func matches(want, got string) bool { return want == "" || want == got }

func (e *Engine) report(w check.Write, err error) {
	if e.Observe == nil {
		return
	}
	w.Done, w.Err, w.After = true, err, e.Server.Revision()
	e.Observe(w)
}

// see hands a commit to every process.
func (e *Engine) see(ev cluster.Event) {
	for _, p := range e.replicas {
		if p != nil {
			p.see(ev)
		}
	}
}

func sorted(flags map[string]string) []string { return slices.Sorted(maps.Keys(flags)) }
