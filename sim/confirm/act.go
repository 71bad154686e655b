package confirm

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

// acts carry out the verbs of steps on the real cluster.
var acts = map[string]func(*rig, context.Context, steps.Act) error{
	"apply":    (*rig).writeEach,
	"create":   (*rig).writeEach,
	"update":   (*rig).writeEach,
	"patch":    (*rig).writeEach,
	"delete":   (*rig).remove,
	"advance":  func(_ *rig, ctx context.Context, a steps.Act) error { return wait(ctx, a.Wait) },
	"settle":   func(r *rig, ctx context.Context, _ steps.Act) error { return r.rest(ctx) },
	"assert":   (*rig).assert,
	"error":    (*rig).absent,
	"operator": (*rig).operate,
	"rollout":  (*rig).rollout,
	"crashAtWrite": func(r *rig, _ context.Context, a steps.Act) error {
		r.trouble.crashAtWrite(a.CrashAt, a.Landed)
		return nil
	},
	"fault": (*rig).fail,
	"heal": func(r *rig, ctx context.Context, _ steps.Act) error {
		r.trouble.heal()
		return r.crew.launch(ctx)
	},
}

func (r *rig) act(ctx context.Context, a steps.Act) error {
	do, ok := acts[a.Verb]
	if !ok {
		return fmt.Errorf("no real cluster can do %s", a.Verb)
	}
	return do(r, ctx, a)
}

// resource is where the API server keeps an object.
func (r *rig) resource(object scenario.Resource) (dynamic.ResourceInterface, error) {
	mapping, err := r.plain.RESTMapper().RESTMapping(object.GVK.GroupKind(), object.GVK.Version)
	if err != nil {
		return nil, err
	}
	if object.Key.Namespace == "" {
		return r.any.Resource(mapping.Resource), nil
	}
	return r.any.Resource(mapping.Resource).Namespace(object.Key.Namespace), nil
}

// apply is `kubectl apply --server-side --force-conflicts`.
func (r *rig) apply(ctx context.Context, object scenario.Resource, as string) error {
	object = r.node.dressed(r.here(object))
	api, err := r.resource(object)
	if err != nil {
		return err
	}
	_, err = api.Apply(ctx, object.Key.Name, plainOf(object), applyOptions(as))
	return err
}

func plainOf(object scenario.Resource) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: object.Data}
}

func (r *rig) writeEach(ctx context.Context, a steps.Act) error {
	for _, object := range a.Objects {
		if err := r.write(ctx, a, object); err != nil {
			return fmt.Errorf("%s: %w", object, err)
		}
	}
	return nil
}

func (r *rig) write(ctx context.Context, a steps.Act, object scenario.Resource) error {
	if a.Verb == "apply" {
		return r.apply(ctx, object, a.Manager)
	}
	object = r.node.dressed(r.here(object))
	api, err := r.resource(object)
	if err != nil {
		return err
	}
	data := plainOf(object)
	var sub []string
	if a.Subresource != "" {
		sub = []string{a.Subresource}
	}
	switch a.Verb {
	case "create":
		_, err := api.Create(ctx, data, metav1.CreateOptions{FieldManager: a.Manager})
		return err
	case "update":
		stored, err := api.Get(ctx, object.Key.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if data.GetResourceVersion() == "" {
			data.SetResourceVersion(stored.GetResourceVersion())
		}
		_, err = api.Update(ctx, data, metav1.UpdateOptions{FieldManager: a.Manager}, sub...)
		return err
	}
	kind := types.MergePatchType
	if a.Subresource == "ephemeralcontainers" {
		kind = types.StrategicMergePatchType // the only one that adds a container
	}
	_, err = api.Patch(ctx, object.Key.Name, kind, object.JSON, metav1.PatchOptions{FieldManager: a.Manager}, sub...)
	return err
}

func (r *rig) remove(ctx context.Context, a steps.Act) error {
	object := scenario.Resource{GVK: a.Ref.GVK, Key: a.Ref.Key}
	object.Key.Namespace = r.names.real(a.Ref.Key.Namespace)
	api, err := r.resource(object)
	if err != nil {
		return err
	}
	return ignoreNotFound(api.Delete(ctx, object.Key.Name, metav1.DeleteOptions{}))
}

func (r *rig) operate(ctx context.Context, a steps.Act) error {
	switch a.Op {
	case "stop":
		return r.crew.stop()
	case "crash":
		r.crew.crash()
		return nil
	case "restart":
		if err := r.crew.stop(); err != nil {
			return err
		}
	}
	return r.crew.launch(ctx)
}

func (r *rig) fail(_ context.Context, a steps.Act) error {
	f := a.Fault
	f.Namespace = r.names.real(f.Namespace)
	r.trouble.add(f)
	return nil
}

// assert waits until an object matches. States that came and went since the step
// began, or shortly before, count: a real cluster is not looked at in every instant.
func (r *rig) assert(ctx context.Context, a steps.Act) error {
	pattern := r.here(a.Pattern)
	from := time.Now().Add(-100 * time.Millisecond)
	deadline := time.Now().Add(a.Wait + slack)
	for {
		nearest, err := r.match(ctx, pattern, from)
		if err != nil || nearest == nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("no %s matches within %s: %s", a.Pattern.GVK.Kind, a.Wait+slack, strings.Join(nearest, "; "))
		}
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// absent waits until no object matches.
func (r *rig) absent(ctx context.Context, a steps.Act) error {
	pattern := r.here(a.Pattern)
	deadline := time.Now().Add(slack)
	for {
		nearest, err := r.match(ctx, pattern, time.Now())
		if err != nil || nearest != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s matches, and nothing should", a.Pattern)
		}
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// match is nil where some version since an instant matches, else how far the
// nearest one is from it.
func (r *rig) match(ctx context.Context, pattern scenario.Resource, since time.Time) ([]string, error) {
	candidates, err := r.candidates(ctx, pattern, since)
	if err != nil {
		return nil, err
	}
	nearest := []string{"no such object exists"}
	for i, data := range candidates {
		differences := steps.Differences(pattern, data)
		if len(differences) == 0 {
			return nil, nil
		}
		if i == 0 || len(differences) < len(nearest) {
			nearest = differences
		}
	}
	return nearest, nil
}

func (r *rig) candidates(ctx context.Context, pattern scenario.Resource, since time.Time) (out []map[string]any, err error) {
	if _, watched := resources[pattern.GVK.Kind]; !watched {
		return r.read(ctx, pattern)
	}
	keys := []objectKey{{pattern.GVK.Kind, pattern.Key}}
	if pattern.Key.Name == "" {
		keys = r.record.keys(pattern.GVK.Kind, pattern.Key.Namespace)
	}
	for _, key := range keys {
		for _, v := range r.record.since(key, since) {
			if v.object != nil {
				out = append(out, v.object.Object)
			}
		}
	}
	return out, nil
}

// read asks the API server for objects of a kind that is not watched.
func (r *rig) read(ctx context.Context, pattern scenario.Resource) (out []map[string]any, err error) {
	api, err := r.resource(pattern)
	if err != nil {
		return nil, err
	}
	if pattern.Key.Name != "" {
		object, err := api.Get(ctx, pattern.Key.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return []map[string]any{object.Object}, nil
	}
	list, err := api.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		out = append(out, list.Items[i].Object)
	}
	return out, nil
}
