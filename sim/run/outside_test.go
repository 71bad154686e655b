package run_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/cli"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/operator"
	"github.com/corewire/kick/kick/timeline"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/run"
)

// outside reads a simulated API server as a program of its own does: kinds that it knows by
// name only come without a Go type. There are no events: those are told to the test.
type outside struct {
	client.Reader
	server *cluster.Server
}

func (r outside) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, events := list.(*eventsv1.EventList); events {
		return nil
	}
	loose, is := list.(*unstructured.UnstructuredList)
	if !is {
		return r.Reader.List(ctx, list, opts...)
	}
	var o client.ListOptions
	o.ApplyOptions(opts)
	kind := loose.GroupVersionKind().GroupKind()
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	for _, obj := range r.server.List(kind, o.Namespace) {
		u, err := r.server.Unstructured(obj)
		if err != nil {
			return err
		}
		loose.Items = append(loose.Items, *u)
	}
	return nil
}

func (r outside) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	loose, is := obj.(*unstructured.Unstructured)
	if !is {
		return r.Reader.Get(ctx, key, obj, opts...)
	}
	kind := loose.GroupVersionKind().GroupKind()
	found := r.server.Get(kind, key)
	if found == nil {
		return apierrors.NewNotFound(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, key.Name)
	}
	u, err := r.server.Unstructured(found)
	if err == nil {
		u.DeepCopyInto(loose)
	}
	return err
}

// onlooker is a person who asks kubectl kick why and the timeline about a simulated cluster.
type onlooker struct {
	t       *testing.T
	o       run.OperatorOptions
	options operator.Options
}

func newOnlooker(t *testing.T, o run.OperatorOptions) *onlooker {
	t.Helper()
	options := operator.NewOptions()
	set := pflag.NewFlagSet("kick", pflag.ContinueOnError)
	options.AddFlags(set)
	for name, value := range o.Flags {
		if err := set.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	return &onlooker{t, o, options}
}

// says is what both say of a workload, and the request that they tell of. Empty: why does not
// judge what does not exist or is not managed, and the timeline has no lane of it.
func (l *onlooker) says(target model.Key) (request, why, lane string) {
	l.t.Helper()
	g, err := cli.Over(outside{l.o.Server.Client("onlooker"), l.o.Server}, l.options, operator.Integrate(&l.options, l.o.Server.Serves))
	if err != nil {
		l.t.Fatal(err)
	}
	now := gather.Now(l.o.Clock)
	snap, err := g.Workload(context.Background(), target, now, gather.FromCache)
	if err != nil {
		l.t.Fatal(err)
	}
	if snap.Request != nil {
		request = snap.Request.ID.Name
	}
	if snap.Workload != nil && len(snap.Policies) > 0 {
		request, why = cli.Tell(snap, now)
	}
	return request, why, l.lane(g, target)
}

// lane is the sentence of the timeline's page about a workload.
func (l *onlooker) lane(facts timeline.Facts, target model.Key) string {
	l.t.Helper()
	server := &timeline.Server{Facts: facts, Guard: timeline.Local{}, Hub: timeline.NewHub(1), Log: logr.Discard(), Clock: l.o.Clock}
	asked := url.Values{"namespace": {target.Namespace}, "kind": {target.Kind}, "name": {target.Name}}
	ask := httptest.NewRequest(http.MethodGet, "http://localhost/timeline?"+asked.Encode(), nil)
	answer := httptest.NewRecorder()
	server.Handler().ServeHTTP(answer, ask)
	var got struct{ Lane struct{ Message string } }
	if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil {
		l.t.Fatalf("%s: %v", answer.Body, err)
	}
	return got.Lane.Message
}
