package crds_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/corewire/kick/kick/api/crds"
	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/kicktest/controlplane"
)

func TestMain(m *testing.M) { os.Exit(controlplane.Main(m, controlplane.Options{})) }

// The same rows as TestRules, against a real kube-apiserver.
func TestRulesOnRealAPIServer(t *testing.T) {
	server := newRealServer(t, "rules")
	for _, r := range rows() {
		t.Run(kindOf(t, r.object)+"/"+r.name, func(t *testing.T) {
			stored, err := server.write(t.Context(), r)
			checkVerdict(t, r, err)
			if err == nil {
				decodeStrictly(t, stored)
			}
		})
	}
}

// A policy that says nothing gets the documented defaults, and requests are found by the workload they name.
func TestDefaultsAndFieldSelectorsOnRealAPIServer(t *testing.T) {
	server := newRealServer(t, "defaults")
	stored, err := server.write(t.Context(), row{object: policy("{}")})
	if err != nil {
		t.Fatal(err)
	}
	got, err := stored.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if want := `"spec":{"gitOps":{"provider":"None","requireReconciled":true},"restart":{"maxConcurrent":0,"minInterval":"30s","settleDelay":"1s"}}`; !strings.Contains(string(got), want) {
		t.Errorf("stored %s, want it to hold %s", got, want)
	}
	if _, err := server.write(t.Context(), row{object: request("{" + web + "}")}); err != nil {
		t.Fatal(err)
	}
	for selector, want := range map[string]int{
		"spec.targetRef.kind=Deployment,spec.targetRef.name=web": 1,
		"spec.targetRef.kind=DaemonSet,spec.targetRef.name=web":  0,
		"spec.targetRef.name=api":                                0,
	} {
		found, err := server.resource("KickRequest").List(t.Context(), metav1.ListOptions{FieldSelector: selector})
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Items) != want {
			t.Errorf("field selector %s finds %d requests, want %d", selector, len(found.Items), want)
		}
	}
}

// realServer writes rows into a namespace of its own.
type realServer struct {
	client    dynamic.Interface
	namespace string
	plurals   map[string]string
}

func newRealServer(t *testing.T, namespace string) realServer {
	t.Helper()
	plane := controlplane.Shared(t)
	if err := plane.InstallCRDs(t.Context(), crds.FS); err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(plane.Config)
	if err != nil {
		t.Fatal(err)
	}
	core, err := kubernetes.NewForConfig(plane.Config)
	if err != nil {
		t.Fatal(err)
	}
	own := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := core.CoreV1().Namespaces().Create(t.Context(), own, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	plurals := map[string]string{}
	for _, definition := range definitions(t) {
		plurals[definition.Spec.Names.Kind] = definition.Spec.Names.Plural
	}
	return realServer{client: client, namespace: namespace, plurals: plurals}
}

func (s realServer) resource(kind string) dynamic.ResourceInterface {
	return s.client.Resource(v1alpha1.GroupVersion.WithResource(s.plurals[kind])).Namespace(s.namespace)
}

// write performs a row on an empty slate and returns the stored object.
func (s realServer) write(ctx context.Context, r row) (*unstructured.Unstructured, error) {
	object, err := parse(r.object)
	if err != nil {
		return nil, err
	}
	object.SetNamespace(s.namespace)
	api := s.resource(object.GetKind())
	if err := api.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return nil, fmt.Errorf("clear the slate: %w", err)
	}
	strict := metav1.FieldValidationStrict
	if r.before == "" {
		return api.Create(ctx, object, metav1.CreateOptions{FieldValidation: strict})
	}
	before, err := parse(r.before)
	if err != nil {
		return nil, err
	}
	before.SetNamespace(s.namespace)
	stored, err := api.Create(ctx, before, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("object before the update: %w", err)
	}
	object.SetResourceVersion(stored.GetResourceVersion())
	if r.status {
		return api.UpdateStatus(ctx, object, metav1.UpdateOptions{FieldValidation: strict})
	}
	return api.Update(ctx, object, metav1.UpdateOptions{FieldValidation: strict})
}
