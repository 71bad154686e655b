package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// apiClient is the view of one writer: live reads, writes under its field manager.
// What a read returns shares memory with the store (see doc.go); what a write
// returns belongs to the caller, as an answer decoded from the wire does.
type apiClient struct {
	server  *Server
	manager string
}

var _ client.Client = (*apiClient)(nil)

// Client returns a client.Client for one writer: live (quorum) reads, all writes
// under that field manager unless a call names another. Unstructured objects can be got
// and not written; metadata-only objects, Continue and DeleteAllOf are refused.
func (s *Server) Client(manager string) client.Client { return &apiClient{server: s, manager: manager} }

// Scheme implements client.Client.
func (c *apiClient) Scheme() *runtime.Scheme { return c.server.scheme }

// RESTMapper implements client.Client.
func (c *apiClient) RESTMapper() meta.RESTMapper { return c.server.RESTMapper() }

// GroupVersionKindFor implements client.Client.
func (c *apiClient) GroupVersionKindFor(obj runtime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(obj, c.server.scheme)
}

// IsObjectNamespaced implements client.Client.
func (c *apiClient) IsObjectNamespaced(obj runtime.Object) (bool, error) {
	k, err := c.server.kindOf(obj)
	if err != nil {
		return false, err
	}
	return k.namespaced, nil
}

// Get implements client.Client.
func (c *apiClient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := askable(key); err != nil {
		return err
	}
	u, loose := obj.(*unstructured.Unstructured)
	if loose {
		return c.getUnstructured(key, u)
	}
	k, err := c.server.kindOf(obj)
	if err != nil {
		return err
	}
	if !k.namespaced {
		key.Namespace = ""
	}
	r := k.records[key]
	if r == nil {
		return apierrors.NewNotFound(k.resource, key.Name)
	}
	reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(r.object).Elem())
	return nil
}

// askable refuses what client-go sends to no server: a name that no path can hold.
func askable(key client.ObjectKey) error {
	if key.Name == "" {
		return errors.New("resource name may not be empty")
	}
	if wrong := content.IsPathSegmentName(key.Name); len(wrong) > 0 {
		return fmt.Errorf("invalid resource name %q: %v", key.Name, wrong)
	}
	if wrong := content.IsPathSegmentName(key.Namespace); len(wrong) > 0 {
		return fmt.Errorf("invalid namespace %q: %v", key.Namespace, wrong)
	}
	return nil
}

// Create implements client.Client.
func (c *apiClient) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	options := (&client.CreateOptions{}).ApplyOptions(opts)
	stored, err := c.server.Create(obj, c.write(options.FieldManager, options.DryRun, ""))
	return answer(obj, stored, err)
}

// Update implements client.Client.
func (c *apiClient) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	options := (&client.UpdateOptions{}).ApplyOptions(opts)
	stored, err := c.server.Update(obj, c.write(options.FieldManager, options.DryRun, ""))
	return answer(obj, stored, err)
}

// Patch implements client.Client.
func (c *apiClient) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.patch(obj, obj, patch, (&client.PatchOptions{}).ApplyOptions(opts), "")
}

// patch sends a patch made from body to the object that obj names.
func (c *apiClient) patch(obj, body client.Object, patch client.Patch, options *client.PatchOptions, subresource string) error {
	k, err := c.server.kindOf(obj)
	if err != nil {
		return err
	}
	data, err := patch.Data(body)
	if err != nil {
		return err
	}
	o := c.write(options.FieldManager, options.DryRun, subresource)
	o.Force = options.Force != nil && *options.Force
	stored, err := c.server.Patch(k.gk, client.ObjectKeyFromObject(obj), patch.Type(), data, o)
	return answer(body, stored, err)
}

// Apply implements client.Client.
func (c *apiClient) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	return c.apply(ctx, obj, (&client.ApplyOptions{}).ApplyOptions(opts), "")
}

// apply sends an apply configuration, which knows its kind and name only as JSON.
func (c *apiClient) apply(ctx context.Context, obj runtime.ApplyConfiguration, options *client.ApplyOptions, subresource string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	var head struct {
		APIVersion string                           `json:"apiVersion"`
		Kind       string                           `json:"kind"`
		Metadata   struct{ Name, Namespace string } `json:"metadata"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	gv, err := schema.ParseGroupVersion(head.APIVersion)
	if err != nil {
		return err
	}
	o := c.write(options.FieldManager, options.DryRun, subresource)
	o.Force = options.Force != nil && *options.Force
	key := types.NamespacedName{Namespace: head.Metadata.Namespace, Name: head.Metadata.Name}
	gk := schema.GroupKind{Group: gv.Group, Kind: head.Kind}
	stored, err := c.server.Patch(gk, key, types.ApplyPatchType, data, o)
	if err != nil {
		return err
	}
	k, err := c.server.kindFor(gk)
	if err != nil {
		return err
	}
	if data, err = json.Marshal(k.withGVK(stored)); err != nil {
		return err
	}
	return json.Unmarshal(data, obj)
}

// Delete implements client.Client.
func (c *apiClient) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	k, err := c.server.kindOf(obj)
	if err != nil {
		return err
	}
	options := (&client.DeleteOptions{}).ApplyOptions(opts)
	return c.server.Delete(k.gk, client.ObjectKeyFromObject(obj), *options, c.write("", options.DryRun, ""))
}

// DeleteAllOf implements client.Client; it is refused.
func (c *apiClient) DeleteAllOf(_ context.Context, obj client.Object, _ ...client.DeleteAllOfOption) error {
	return fmt.Errorf("deleteAllOf %T: not supported by the simulated API server: list and delete", obj)
}

// write is the options of one request.
func (c *apiClient) write(manager string, dryRun []string, subresource string) WriteOptions {
	if manager == "" {
		manager = c.manager
	}
	return WriteOptions{Manager: manager, Subresource: subresource, DryRun: len(dryRun) > 0}
}

// answer writes the stored object into the caller's, whose apiVersion and kind stay.
// It is a deep copy: the caller of the real client owns the answer and may edit it.
func answer(obj, stored client.Object, err error) error {
	if err != nil {
		return err
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(stored.DeepCopyObject()).Elem())
	if !gvk.Empty() {
		obj.GetObjectKind().SetGroupVersionKind(gvk)
	}
	return nil
}
