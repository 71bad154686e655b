package installation

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/crds"
	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/operator"
)

// Installation is KICK in a namespace of its own, its operator not yet started.
type Installation struct {
	// Namespace is KICK's own.
	Namespace string
	// User is who the operator is: a service account with the generated roles.
	User string

	plane      *controlplane.ControlPlane
	kubeconfig string
}

// grantTimeout bounds how long new roles may take to have an effect.
const grantTimeout = 2 * time.Minute

// started numbers the operators of this process: each has a log of its own.
var started atomic.Int64

// New installs the CRDs, makes the namespace and binds the generated roles to
// KICK's service account.
func New(ctx context.Context, plane *controlplane.ControlPlane, namespace string) (*Installation, error) {
	if err := plane.InstallCRDs(ctx, crds.FS); err != nil {
		return nil, err
	}
	return Prepare(ctx, plane, namespace)
}

// Prepare is New for a control plane that has the CRDs.
func Prepare(ctx context.Context, plane *controlplane.ControlPlane, namespace string) (*Installation, error) {
	i := &Installation{
		Namespace: namespace, User: "system:serviceaccount:" + namespace + ":kick", plane: plane,
		kubeconfig: filepath.Join(filepath.Dir(plane.Kubeconfig), namespace+".kubeconfig"),
	}
	c, err := client.New(plane.Config, client.Options{Scheme: operator.NewScheme()})
	if err != nil {
		return nil, err
	}
	roles, err := operator.Roles()
	if err != nil {
		return nil, err
	}
	objects := []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}}
	for _, r := range roles {
		objects = append(objects, i.grant(r)...)
	}
	for _, o := range objects {
		if err := c.Create(ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
			return nil, fmt.Errorf("install KICK: create %T %s: %w", o, o.GetName(), err)
		}
	}
	if err := plane.WriteKubeconfig(i.kubeconfig, i.User, i.groups()...); err != nil {
		return nil, err
	}
	options := operator.NewOptions()
	options.Namespace = i.Namespace
	return i, i.Granted(ctx, options)
}

// Of is an installation that somebody else made, such as a chart: KICK acts as the
// service account, with whatever rights that was given.
func Of(plane *controlplane.ControlPlane, namespace, serviceAccount string) (*Installation, error) {
	i := &Installation{
		Namespace: namespace, User: "system:serviceaccount:" + namespace + ":" + serviceAccount, plane: plane,
		kubeconfig: filepath.Join(filepath.Dir(plane.Kubeconfig), namespace+"."+serviceAccount+".kubeconfig"),
	}
	return i, plane.WriteKubeconfig(i.kubeconfig, i.User, i.groups()...)
}

func (i *Installation) groups() []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + i.Namespace, "system:authenticated"}
}

// Config is that of a client with the rights of the operator.
func (i *Installation) Config() *rest.Config {
	config := rest.CopyConfig(i.plane.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: i.User, Groups: i.groups()}
	return config
}

// Granted waits until the API server's authorizer, which watches the roles, has
// seen all that an operator with these options needs.
func (i *Installation) Granted(ctx context.Context, options operator.Options) error {
	ctx, cancel := context.WithTimeout(ctx, grantTimeout)
	defer cancel()
	for {
		err := operator.Preflight(ctx, i.Config(), options)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("install KICK: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// grant is a role and its binding. Cluster-wide ones carry the namespace in their
// name, so that several installations can have different rights.
func (i *Installation) grant(r operator.Role) []client.Object {
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "kick", Namespace: i.Namespace}}
	if r.Own {
		meta := metav1.ObjectMeta{Name: "kick", Namespace: i.Namespace}
		return []client.Object{
			&rbacv1.Role{ObjectMeta: meta, Rules: r.Rules},
			&rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name}},
		}
	}
	meta := metav1.ObjectMeta{Name: r.Name + "-" + i.Namespace}
	return []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: meta, Rules: r.Rules},
		&rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name}},
	}
}

// asOperator marks a process that is to be the operator.
const asOperator = "KICK_KICKTEST_OPERATOR"

// Main makes this process the operator if that is what it was started for; it
// then does not return.
func Main() {
	if os.Getenv(asOperator) == "" {
		return
	}
	os.Exit(operator.Main(os.Args[1:], os.Stdout, os.Stderr))
}

// Command is a run of the operator that the caller starts, to see its exit code.
func (i *Installation) Command(ctx context.Context, flags ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	argv := append([]string{
		"--kubeconfig=" + i.kubeconfig, "--namespace=" + i.Namespace,
		"--health-probe-bind-address=0", "--metrics-bind-address=0",
	}, flags...)
	cmd := exec.CommandContext(ctx, self, argv...)
	cmd.Env = append(os.Environ(), asOperator+"=1")
	return cmd, nil
}
