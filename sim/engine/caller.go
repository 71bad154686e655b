package engine

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// caller is the way of a process to the API server. Every call passes through
// read or write, where it can fail, be suspended, or see its process end.
//
// The server is called without the caller's context: its deadlines are those of the
// real clock, which nothing in here may depend on.
type caller struct {
	process *process
	live    client.Client
}

// Get reads live.
func (c *caller) Get(_ context.Context, key client.ObjectKey, obj client.Object, o ...client.GetOption) error {
	return c.read("get", obj, key, func() error { return c.live.Get(background, key, obj, o...) })
}

// List reads live.
func (c *caller) List(_ context.Context, list client.ObjectList, o ...client.ListOption) error {
	var options client.ListOptions
	options.ApplyOptions(o)
	return c.read("list", list, client.ObjectKey{Namespace: options.Namespace}, func() error { return c.live.List(background, list, o...) })
}

// Create creates.
func (c *caller) Create(_ context.Context, obj client.Object, o ...client.CreateOption) error {
	return c.write(request{verb: "create", object: obj, send: func(obj client.Object) error { return c.live.Create(background, obj, o...) }})
}

// Update replaces.
func (c *caller) Update(_ context.Context, obj client.Object, o ...client.UpdateOption) error {
	return c.write(request{verb: "update", object: obj, send: func(obj client.Object) error { return c.live.Update(background, obj, o...) }})
}

// Patch patches.
func (c *caller) Patch(_ context.Context, obj client.Object, p client.Patch, o ...client.PatchOption) error {
	return c.write(request{verb: "patch", object: obj, patch: p, send: func(obj client.Object) error { return c.live.Patch(background, obj, p, o...) }})
}

// Delete deletes.
func (c *caller) Delete(_ context.Context, obj client.Object, o ...client.DeleteOption) error {
	var options client.DeleteOptions
	options.ApplyOptions(o)
	return c.write(request{
		verb: "delete", object: obj, guarded: options.Preconditions != nil,
		send: func(obj client.Object) error { return c.live.Delete(background, obj, o...) },
	})
}

// DeleteAllOf is never used by KICK.
func (c *caller) DeleteAllOf(_ context.Context, obj client.Object, o ...client.DeleteAllOfOption) error {
	return c.live.DeleteAllOf(background, obj, o...)
}

// Apply is never used by KICK.
func (c *caller) Apply(_ context.Context, obj runtime.ApplyConfiguration, o ...client.ApplyOption) error {
	return c.live.Apply(background, obj, o...)
}

// Status writes status.
func (c *caller) Status() client.SubResourceWriter { return statusCaller{c, c.live.Status()} }

type statusCaller struct {
	*caller
	client.SubResourceWriter
}

// Create is not used by KICK.
func (s statusCaller) Create(_ context.Context, obj, sub client.Object, o ...client.SubResourceCreateOption) error {
	return s.SubResourceWriter.Create(background, obj, sub, o...)
}

// Update replaces the status.
func (s statusCaller) Update(_ context.Context, obj client.Object, o ...client.SubResourceUpdateOption) error {
	return s.write(request{verb: "update", sub: "status", object: obj, send: func(obj client.Object) error {
		return s.SubResourceWriter.Update(background, obj, o...)
	}})
}

// Patch patches the status.
func (s statusCaller) Patch(_ context.Context, obj client.Object, p client.Patch, o ...client.SubResourcePatchOption) error {
	return s.write(request{verb: "patch", sub: "status", object: obj, patch: p, send: func(obj client.Object) error {
		return s.SubResourceWriter.Patch(background, obj, p, o...)
	}})
}

// Apply is not used by KICK.
func (s statusCaller) Apply(_ context.Context, obj runtime.ApplyConfiguration, o ...client.SubResourceApplyOption) error {
	return s.SubResourceWriter.Apply(background, obj, o...)
}
