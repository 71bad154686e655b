package operator_test

import (
	"context"
	"errors"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/crds"
	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/operator"
)

// run runs an operator that is expected to end by itself, and returns its exit
// code and what it printed.
func (w *world) run(flags ...string) (int, string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	cmd, err := w.kick.Command(ctx, flags...)
	if err != nil {
		w.t.Fatal(err)
	}
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, string(output)
	case errors.As(err, &exit) && ctx.Err() == nil:
		return exit.ExitCode(), string(output)
	default:
		w.t.Fatalf("the operator did not end by itself: %v\n%s", err, output)
		return 0, ""
	}
}

// Without its CRDs the operator says which, and what to do. The CRDs belong to all
// tests, so this one must run while no other does: it is not parallel.
//
// Proves: KICK-FEAT-039.
func TestMissingCRDs(t *testing.T) {
	w := newWorld(t, "crds")
	t.Cleanup(func() {
		if err := w.plane.InstallCRDs(context.Background(), crds.FS); err != nil {
			t.Fatal(err)
		}
	})
	remove := func(names ...string) {
		for _, name := range names {
			crd := &unstructured.Unstructured{}
			crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
			crd.SetName(name + ".kick.corewire.io")
			if err := w.c.Delete(t.Context(), crd); err != nil {
				t.Fatal(err)
			}
			w.eventually(name, func(ctx context.Context) string {
				if err := w.c.Get(ctx, client.ObjectKeyFromObject(crd), crd); !apierrors.IsNotFound(err) {
					return "still there"
				}
				return ""
			})
		}
	}
	says := func(want ...string) {
		t.Helper()
		w.eventually("the operator's last words", func(context.Context) string {
			code, output := w.run()
			if code != 1 {
				t.Fatalf("exit code %d, want 1\n%s", code, output)
			}
			if got := strings.Count(output, "is not installed: kubectl apply"); got != len(want) {
				return output // the API server's discovery follows a moment later
			}
			for _, name := range want {
				if !strings.Contains(output, "kick: the CRD "+name+".kick.corewire.io is not installed") {
					return output
				}
			}
			return ""
		})
	}
	remove("sourceobservations")
	says("sourceobservations")
	remove("notificationpolicies")
	says("sourceobservations", "notificationpolicies")
	remove("kickrequests", "kickpolicies")
	says("kickpolicies", "kickrequests", "sourceobservations", "notificationpolicies")
}

// With one right short the operator names it and ends. It never half-works.
//
// Proves: KICK-FEAT-039.
func TestMissingRight(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                  string
		own                   bool
		group, resource, verb string
		want                  string
	}{
		{name: "no-patch", group: "apps", resource: "deployments", verb: "patch", want: "cannot patch deployments.apps in all namespaces: forbidden"},
		{name: "no-watch", group: "", resource: "secrets", verb: "watch", want: "cannot watch secrets in all namespaces: forbidden"},
		{name: "no-status", group: "kick.corewire.io", resource: "kickrequests/status", verb: "update", want: "cannot update kickrequests/status.kick.corewire.io in all namespaces: forbidden"},
		{name: "no-lease", own: true, group: "coordination.k8s.io", resource: "leases", verb: "update", want: "cannot update leases.coordination.k8s.io in namespace kick-no-lease"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.name)
			w.revoke(tt.own, tt.group, tt.resource, tt.verb)
			w.eventually("the operator's last words", func(context.Context) string {
				code, output := w.run()
				if code == 0 || strings.Count(output, "kick: cannot ") != 1 || !strings.Contains(output, tt.want) {
					return output // the authorizer follows a moment later
				}
				if code != 1 {
					t.Errorf("exit code %d, want 1", code)
				}
				return ""
			})
		})
	}
}

// revoke takes one right away from the operator.
func (w *world) revoke(own bool, group, resource, verb string) {
	w.t.Helper()
	roles, err := operator.Roles()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range roles {
		if r.Own != own {
			continue
		}
		var rules []rbacv1.PolicyRule
		for _, rule := range r.Rules {
			for _, name := range rule.Resources {
				for _, v := range rule.Verbs {
					if name != resource || v != verb || rule.APIGroups[0] != group {
						rules = append(rules, rbacv1.PolicyRule{APIGroups: rule.APIGroups, Resources: []string{name}, Verbs: []string{v}})
					}
				}
			}
		}
		var role client.Object = &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: r.Name + "-" + w.kick.Namespace}, Rules: rules}
		if own {
			role = &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "kick", Namespace: w.kick.Namespace}, Rules: rules}
		}
		if err := w.c.Update(w.t.Context(), role); err != nil {
			w.t.Fatal(err)
		}
	}
}

// With --watch-namespaces no right outside those namespaces and KICK's own is used.
//
// Proves: KICK-FEAT-040.
func TestRightsOfOneNamespaceAreEnough(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "namespaced")
	role := "kick-" + w.kick.Namespace
	if err := w.c.Delete(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: role}}); err != nil {
		t.Fatal(err)
	}
	w.create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "kick"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "kick", Namespace: w.kick.Namespace}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	})
	options := operator.NewOptions()
	options.Namespace = w.kick.Namespace
	w.eventually("the loss of cluster-wide rights", func(ctx context.Context) string {
		options.WatchNamespaces = nil
		if operator.Preflight(ctx, w.kick.Config(), options) == nil {
			return "it still has them"
		}
		options.WatchNamespaces = []string{w.ns}
		if err := operator.Preflight(ctx, w.kick.Config(), options); err != nil {
			return err.Error()
		}
		return ""
	})
	w.policy("")
	w.secret("web", "before")
	w.deployment("web", 1, byEnvFrom("web"))
	w.start()
	w.reaches("Deployment", "web", v1alpha1.PhaseNoLongerRequired, "Fresh")
	before := w.pods("web")
	w.secret("web", "after")
	w.restarted("Deployment", "web", 2, before)
}

// Without its own namespace there is nowhere to keep the lease and the key.
func TestMissingNamespace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "nowhere")
	w.kick.Namespace = "kick-is-not-here"
	code, output := w.run()
	// Its rights hold in its own namespace only, so they are missing first.
	if code != 1 || !strings.Contains(output, "in namespace kick-is-not-here: forbidden") {
		t.Errorf("exit code %d, want 1 and the missing rights\n%s", code, output)
	}
	options := operator.NewOptions()
	options.Namespace = "kick-is-not-here"
	err := operator.Preflight(t.Context(), w.plane.Config, options)
	if err == nil || !strings.Contains(err.Error(), "kubectl create namespace kick-is-not-here") {
		t.Errorf("with all rights: %v, want an error that says how to make the namespace", err)
	}
}

// A lease that somebody holds who is long gone: the replica stands by, and does not
// claim to be ready although nobody acts.
//
// Proves: KICK-FEAT-039.
func TestDeadLeaseHolderIsNotReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "lease")
	holder, hour := "somebody-long-gone", int32(3600)
	long := metav1.NewMicroTime(time.Now().Add(-time.Hour))
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.kick.Namespace, Name: operator.LeaseName},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: &hour, AcquireTime: &long, RenewTime: &long,
		},
	}
	w.create(lease)
	o := w.launch()
	w.eventually("readiness", func(ctx context.Context) string {
		status, body, err := o.Get(ctx, o.Probes, "/readyz?verbose")
		switch {
		case err != nil:
			return err.Error()
		case status == http.StatusOK:
			t.Fatalf("ready although nobody leads: %s", body)
		case !strings.Contains(body, "[+]caches ok") || !strings.Contains(body, "[-]leader failed"):
			return body
		}
		return ""
	})
	if status, _, err := o.Get(t.Context(), o.Probes, "/healthz"); err != nil || status != http.StatusOK {
		t.Errorf("healthz: %d, %v, want 200: to be restarted would not help", status, err)
	}
	if output, err := o.Output(); err != nil || !strings.Contains(output, "has no live holder") {
		t.Errorf("the log does not say why it is not ready: %v", err)
	}
	if err := w.c.Delete(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if err := o.WaitReady(t.Context()); err != nil {
		t.Error(err)
	}
}

// A policy that cannot be obeyed is refused, or says so and holds back its own
// workloads; the next policy's are restarted.
//
// Proves: KICK-FEAT-021.
func TestBadPolicyHoldsBackOnlyItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "badpolicy")
	window := func(cron, zone string) func(*v1alpha1.KickPolicySpec) {
		return func(p *v1alpha1.KickPolicySpec) {
			p.Schedule.Windows = []v1alpha1.Window{{Type: v1alpha1.WindowAllow, Cron: cron, TimeZone: zone, Duration: metav1.Duration{Duration: time.Hour}}}
		}
	}
	for field, change := range map[string]func(*v1alpha1.KickPolicySpec){
		"spec.schedule.windows[0].cron":     window("0 25 * * *", ""),
		"spec.schedule.windows[0].timeZone": window("0 2 * * *", "Mars/Olympus"),
	} {
		p := &v1alpha1.KickPolicy{ObjectMeta: w.meta("refused")}
		change(&p.Spec)
		if err := w.c.Create(t.Context(), p); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v, want a refusal that names the field", field, err)
		}
	}
	w.policy("never", window("0 0 30 2 *", "")) // well formed, and never fires
	w.policy("good")
	for _, name := range []string{"never", "good"} {
		w.secret(name, "before")
		w.deployment(name, 1, byEnvFrom(name))
	}
	w.start()
	w.eventually("policies", func(ctx context.Context) string {
		for name, want := range map[string]metav1.ConditionStatus{"policynever": metav1.ConditionFalse, "policygood": metav1.ConditionTrue} {
			var p v1alpha1.KickPolicy
			if err := w.c.Get(ctx, client.ObjectKey{Namespace: w.ns, Name: name}, &p); err != nil {
				return err.Error()
			}
			if len(p.Status.Conditions) == 0 || p.Status.Conditions[0].Status != want {
				return name + " is not Ready=" + string(want)
			}
			if message := p.Status.Conditions[0].Message; want == metav1.ConditionFalse && !strings.Contains(message, "windows[0].cron") {
				t.Fatalf("%s: %q does not name the field", name, message)
			}
		}
		return ""
	})
	for _, name := range []string{"never", "good"} {
		w.rolledOut("Deployment", name, 1)
	}
	before := w.pods("good")
	w.secret("never", "after")
	w.reaches("Deployment", "never", v1alpha1.PhaseWaitingForGate, "ConfigurationError")
	w.secret("good", "after")
	w.restarted("Deployment", "good", 2, before)
	w.rolledOut("Deployment", "never", 1)
}

// Asked to end, the operator hands over the lease at once and exits with 0. The lease
// says that all it saw is on record.
func TestTerminationReleasesTheLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "term")
	cmd, err := w.kick.Command(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	began := time.Now().Unix()
	var lease coordinationv1.Lease
	holder := func(ctx context.Context) string {
		key := client.ObjectKey{Namespace: w.kick.Namespace, Name: operator.LeaseName}
		if err := w.c.Get(ctx, key, &lease); err != nil || lease.Spec.HolderIdentity == nil {
			return ""
		}
		return *lease.Spec.HolderIdentity
	}
	w.eventually("the lease", func(ctx context.Context) string {
		if holder(ctx) == "" {
			return "nobody holds it"
		}
		return ""
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit: %v, want 0", err)
	}
	if h := holder(t.Context()); h != "" {
		t.Errorf("%s still holds the lease", h)
	}
	if until, err := strconv.ParseInt(lease.Labels[operator.RecordedUntilLabel], 10, 64); err != nil || until < began {
		t.Errorf("all is on record until %d (%v), want at least the start, %d", until, err, began)
	}
}

// Flags that cannot be used are refused before anything is asked of the cluster.
func TestBadFlags(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "flags")
	for flag, want := range map[string]string{
		"--no-such-flag":          "unknown flag: --no-such-flag",
		"--clock-allowance=2m":    "--clock-allowance 2m0s must be between 0s and 1m",
		"--log-level=chatty":      `--log-level "chatty": use error, info or debug`,
		"--rollout-timeout=100ms": "--rollout-timeout 100ms must be at least 1s",
	} {
		if code, output := w.run(flag); code != 2 || !strings.Contains(output, "kick: "+want) {
			t.Errorf("%s: exit code %d, want 2 and %q\n%s", flag, code, want, output)
		}
	}
}
