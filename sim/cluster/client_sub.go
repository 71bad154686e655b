package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// subresource is a client for one subresource.
type subresource struct {
	*apiClient
	name string
}

// Status implements client.Client.
func (c *apiClient) Status() client.SubResourceWriter { return &subresource{c, "status"} }

// SubResource implements client.Client. Known: status of every kind that has one,
// finalize of a Namespace, and the creation of a pod's binding or eviction.
func (c *apiClient) SubResource(name string) client.SubResourceClient { return &subresource{c, name} }

// Get implements client.SubResourceReader.
func (c *subresource) Get(ctx context.Context, obj, body client.Object, _ ...client.SubResourceGetOption) error {
	if c.name != "status" {
		return c.refused(obj, "get")
	}
	return c.apiClient.Get(ctx, client.ObjectKeyFromObject(obj), body)
}

// Create implements client.SubResourceWriter.
func (c *subresource) Create(ctx context.Context, obj, body client.Object, opts ...client.SubResourceCreateOption) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	options := (&client.SubResourceCreateOptions{}).ApplyOptions(opts)
	o := c.write(options.FieldManager, options.DryRun, "")
	key := client.ObjectKeyFromObject(obj)
	switch b := body.(type) {
	case *corev1.Binding:
		return c.server.Bind(key, b.Target.Name, o)
	case *policyv1.Eviction:
		request := client.DeleteOptions{}
		if b.DeleteOptions != nil {
			request.GracePeriodSeconds = b.DeleteOptions.GracePeriodSeconds
			request.Preconditions = b.DeleteOptions.Preconditions
			request.PropagationPolicy = b.DeleteOptions.PropagationPolicy
		}
		return c.server.Delete(schema.GroupKind{Kind: "Pod"}, key, request, o)
	}
	return c.refused(obj, "create")
}

// Update implements client.SubResourceWriter.
func (c *subresource) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	options := (&client.SubResourceUpdateOptions{}).ApplyOptions(opts)
	body := obj
	if options.SubResourceBody != nil {
		body = options.SubResourceBody
	}
	stored, err := c.server.Update(body, c.write(options.FieldManager, options.DryRun, c.name))
	return answer(body, stored, err)
}

// Patch implements client.SubResourceWriter.
func (c *subresource) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	options := (&client.SubResourcePatchOptions{}).ApplyOptions(opts)
	body := obj
	if options.SubResourceBody != nil {
		body = options.SubResourceBody
	}
	return c.patch(obj, body, patch, &options.PatchOptions, c.name)
}

// Apply implements client.SubResourceWriter.
func (c *subresource) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
	options := (&client.SubResourceApplyOptions{}).ApplyOpts(opts)
	if options.SubResourceBody != nil {
		obj = options.SubResourceBody
	}
	return c.apply(ctx, obj, &options.ApplyOptions, c.name)
}

// refused is the answer to a subresource that is not simulated.
func (c *subresource) refused(obj client.Object, verb string) error {
	return fmt.Errorf("%s %T/%s: not supported by the simulated API server", verb, obj, c.name)
}
