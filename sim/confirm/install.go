package confirm

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/crds"
	"github.com/corewire/kick/kick/operator"
)

// manager writes what belongs to no user: definitions, rights, the states of pods.
const manager = "kick-sim-confirm"

// installTimeout is how long the API server may take to serve a definition or to
// see a new right.
const installTimeout = 30 * time.Second

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// installCRDs applies KICK's definitions and waits until they are served.
func installCRDs(ctx context.Context, api dynamic.Interface) error {
	definitions, err := crds.All()
	if err != nil {
		return err
	}
	for _, d := range definitions {
		d.APIVersion, d.Kind = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
		raw, err := json.Marshal(d)
		if err != nil {
			return err
		}
		var object unstructured.Unstructured
		if err := json.Unmarshal(raw, &object.Object); err != nil {
			return err
		}
		unstructured.RemoveNestedField(object.Object, "status")
		if _, err := api.Resource(crdResource).Apply(ctx, d.Name, &object, applyOptions(manager)); err != nil {
			return fmt.Errorf("install the definition %s: %w", d.Name, err)
		}
	}
	return eventually(ctx, installTimeout, func() error {
		for kind, resource := range resources {
			if _, err := api.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
				return fmt.Errorf("%s is not served yet: %w", kind, err)
			}
		}
		return nil
	})
}

// eventually tries until it works, or gives the last error.
func eventually(ctx context.Context, limit time.Duration, try func() error) error {
	deadline := time.Now().Add(limit)
	for {
		err := try()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		if wait(ctx, 50*time.Millisecond) != nil {
			return err
		}
	}
}

// user is who the operator of a namespace is.
func user(namespace string) rest.ImpersonationConfig {
	return rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + namespace + ":kick",
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
	}
}

// grant gives the operator of a namespace the generated rights, and returns the
// objects that outlive the namespace.
func grant(ctx context.Context, c client.Client, config *rest.Config, namespace string, watched []string) ([]client.Object, error) {
	roles, err := operator.Roles()
	if err != nil {
		return nil, err
	}
	var beyond []client.Object
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "kick", Namespace: namespace}}
	for _, r := range roles {
		objects := []client.Object{
			&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "kick", Namespace: namespace}, Rules: r.Rules},
			&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "kick", Namespace: namespace}, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "kick"}},
		}
		if !r.Own {
			name := metav1.ObjectMeta{Name: r.Name + "-" + namespace}
			objects = []client.Object{
				&rbacv1.ClusterRole{ObjectMeta: name, Rules: r.Rules},
				&rbacv1.ClusterRoleBinding{ObjectMeta: name, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name.Name}},
			}
			beyond = append(beyond, objects...)
		}
		for _, o := range objects {
			if err := c.Create(ctx, o); err != nil {
				return beyond, fmt.Errorf("grant %T %s: %w", o, o.GetName(), err)
			}
		}
	}
	options := operator.NewOptions()
	options.Namespace, options.WatchNamespaces = namespace, watched
	as := rest.CopyConfig(config)
	as.Impersonate = user(namespace)
	return beyond, eventually(ctx, installTimeout, func() error { return operator.Preflight(ctx, as, options) })
}

func createNamespace(ctx context.Context, c client.Client, name string) error {
	err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
