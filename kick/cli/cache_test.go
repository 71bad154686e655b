package cli

import (
	"context"
	"net/http"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/operator"
)

// fenced lets one namespace be read, and no more.
type fenced struct {
	client.Reader
	namespace string
}

func (f fenced) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	if o.Namespace != f.namespace {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "", http.ErrNotSupported)
	}
	list.(*appsv1.DeploymentList).Items = []appsv1.Deployment{*deployment("web").(*appsv1.Deployment)}
	return nil
}

// TestOneNamespaceIsEnough: whoever may read his namespace alone is told what becomes of his
// workloads, and what was not counted. Where all namespaces are asked for it is an error.
func TestOneNamespaceIsEnough(t *testing.T) {
	for view, want := range map[string]int{"plugin": 1, "": 0} {
		c, err := newCache(fenced{namespace: "plugin"}, operator.NewScheme(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		told := 0
		c.view, c.narrowed = view, func(error) { told++ }
		var list appsv1.DeploymentList
		err = c.List(t.Context(), &list)
		if len(list.Items) != want || told != want || (err == nil) != (want == 1) {
			t.Errorf("in view of %q: %d Deployments, told %d times, error %v; want %d", view, len(list.Items), told, err, want)
		}
	}
}
