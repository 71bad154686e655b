package cli

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/crds"
	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/installation"
	"github.com/corewire/kick/kick/operator"
)

const (
	patience = 2 * time.Minute
	canary   = "canary-of-the-plugin"
	policies = "apiVersion: kick.corewire.io/v1alpha1\nkind: KickPolicy\nmetadata: {name: all}\nspec: {discovery: {workloadSelector: {matchLabels: {app: web}}}, restart: {settleDelay: 0s, minInterval: 0s}}\n"
)

// shop is a namespace of a real control plane, and the plugin.
type shop struct {
	t      *testing.T
	c      client.Client
	config string
}

func (s *shop) kick(in string, args ...string) outcome {
	return call(s.t.Context(), time.Now, in, append(args, "--kubeconfig", s.config, "-n", "plugin", "--kick-namespace", "kick-plugin")...)
}

// must runs the plugin and checks its exit code and what it says.
func (s *shop) must(code int, in string, says []string, args ...string) string {
	s.t.Helper()
	got := s.kick(in, args...)
	if got.code != code {
		s.t.Errorf("%v: exit code %d, want %d\n%s%s", args, got.code, code, got.stdout, got.stderr)
	}
	for _, part := range says {
		if !strings.Contains(got.stdout+got.stderr, part) {
			s.t.Errorf("%v does not say %q:\n%s%s", args, part, got.stdout, got.stderr)
		}
	}
	if strings.Contains(got.stdout+got.stderr, canary) {
		s.t.Errorf("%v tells what a Secret holds", args)
	}
	return got.stdout
}

// until repeats a command until it ends with an exit code.
func (s *shop) until(code int, says string, args ...string) {
	s.t.Helper()
	var got outcome
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if got = s.kick("", args...); got.code == code && strings.Contains(got.stdout, says) {
			return
		}
	}
	s.t.Fatalf("%v: still exit code %d, want %d and %q\n%s%s", args, got.code, code, says, got.stdout, got.stderr)
}

func (s *shop) create(objects ...client.Object) {
	s.t.Helper()
	for _, o := range objects {
		if err := s.c.Create(s.t.Context(), o); err != nil {
			s.t.Fatalf("create %T: %v", o, err)
		}
	}
}

func (s *shop) change(value string) {
	s.t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "plugin", Name: "db"}}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"stringData":{"password":"`+canary+value+`"}}`))
	if err := s.c.Patch(s.t.Context(), secret, patch, client.FieldOwner("somebody")); err != nil {
		s.t.Fatal(err)
	}
}

func deployment(name string) client.Object {
	app := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "plugin", Name: name, Labels: app},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: app},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: app},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "example.com/app", EnvFrom: []corev1.EnvFromSource{
					{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}}},
				}}}},
			},
		},
	}
}

func (s *shop) ready(name string) {
	s.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		var d appsv1.Deployment
		if err := s.c.Get(s.t.Context(), client.ObjectKey{Namespace: "plugin", Name: name}, &d); err == nil && d.Status.AvailableReplicas == 1 {
			return
		}
	}
	s.t.Fatalf("Deployment %s is not available", name)
}

// TestAgainstARealControlPlane: a day with the plugin.
//
// Proves: KICK-FEAT-038.
func TestAgainstARealControlPlane(t *testing.T) {
	plane := controlplane.Shared(t)
	(&shop{t, nil, plane.Kubeconfig}).empty()
	if err := plane.InstallCRDs(t.Context(), crds.FS); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(plane.Config, client.Options{Scheme: operator.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{t, c, plane.Kubeconfig}
	s.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "plugin"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "plugin", Name: "db"}, StringData: map[string]string{"password": canary}},
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "readers"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list"}}}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "readers"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "readers"}, Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "readers"}}},
		deployment("web"), deployment("other"))
	s.ready("web")
	s.ready("other")

	s.must(exitOK, policies, []string{"would manage 1 of 2", "nothing to do  1", "not matched    1  Deployment/other", "nothing was changed"}, "plan", "-f", "-")
	s.must(exitOK, policies+"---\n"+strings.ReplaceAll(policies, "{name: all}", "{name: too}"), []string{"PolicyConflict: Several policies select this workload (all, too)"}, "plan", "-f", "-")
	s.must(exitError, strings.ReplaceAll(policies, "minInterval: 0s", "maxConcurrent: -4"), []string{"spec.restart.maxConcurrent", "greater than or equal to 0"}, "plan", "-f", "-")
	s.must(exitOK, policies, []string{"warning: KickPolicy plugin/all is taken as it is written", "would manage 1 of 2"}, "plan", "-f", "-", "--as", "reader", "--as-group", "readers")
	s.must(exitOK, "", []string{"has no KickPolicy"}, "why", "deploy/web")
	s.change("-second")
	s.must(exitOK, policies, []string{"restart now    1", "Deployment/web  Restarting: Secret plugin/db changed"}, "plan", "-f", "-")
	if got := s.must(exitOK, policies, nil, "plan", "-f", "-", "-o", "name"); got != "deployment.apps/web\n" {
		t.Errorf("what would be restarted is %q", got)
	}
	s.change("-third")

	kick, err := installation.Prepare(t.Context(), plane, "kick-plugin")
	if err != nil {
		t.Fatal(err)
	}
	running, err := kick.Start("--watch-namespaces=plugin")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = running.Stop(10 * time.Second) })
	if err := running.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	policy := &v1alpha1.KickPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "plugin", Name: "all"}}
	policy.Spec.Suspend = true
	policy.Spec.Discovery.WorkloadSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	s.create(policy)
	s.until(exitUnmet, "PolicySuspended", "status", "deployment/web")
	s.until(exitOK, "WaitingForGate", "list")
	s.sameSentence()
	s.queued()
	s.must(exitOK, "", []string{"spec.suspend is false"}, "resume", "policy/all")
	s.until(exitOK, "", "status", "deployment/web")
	s.until(exitOK, "Succeeded", "list")
	s.operate(plane)
	s.mounted(plane)
}

// empty: a cluster without KICK is told apart from one in which something is wrong.
func (s *shop) empty() {
	s.t.Helper()
	says := []string{"is KICK installed in it? kubectl kick check says what is missing"}
	for _, args := range [][]string{
		{"why", "deploy/web"}, {"status"}, {"list"}, {"tree"}, {"events"}, {"plan", "-f", "-"}, {"windows", "policy/all"}, {"suspend", "policy/all"}, {"now", "deploy/web", "--reason", "x"},
	} {
		s.must(exitError, policies, says, args...)
	}
	s.must(exitUnmet, "", []string{"MISSING  CRD kickpolicies.kick.corewire.io: not installed"}, "check")
	s.must(exitOK, "", []string{"not installed"}, "report")
}

// sameSentence: the plugin says what the operator has written.
func (s *shop) sameSentence() {
	s.t.Helper()
	var r v1alpha1.KickRequest
	if err := s.c.Get(s.t.Context(), client.ObjectKey{Namespace: "plugin", Name: "deployment-web"}, &r); err != nil {
		s.t.Fatal(err)
	}
	for _, name := range []string{"deployment/web", "deployment.apps/web", "deployments.v1.apps/web", "kickrequest.kick.corewire.io/deployment-web"} {
		s.must(exitOK, "", []string{r.Status.Gate.Message, "WaitingForGate (PolicySuspended)", "Secret db", "ago)", "history"}, "why", name)
	}
}

// queued: a request of a person waits for the one before it, and everything says so.
func (s *shop) queued() {
	s.t.Helper()
	s.must(exitOK, "", []string{"its turn comes when KickRequest deployment-web is done"}, "now", "deployment/web", "--reason", "a new license")
	s.must(exitOK, "", []string{"after that", ": a new license"}, "why", "deployment/web")
	s.must(exitOK, "", []string{"Its turn comes when KickRequest deployment-web is done."}, "list", "-o", "wide")
}

// watch: what comes later is told, as a document of its own each, and an interrupt ends it.
func (s *shop) watch() {
	s.t.Helper()
	ctx, interrupt := context.WithCancel(s.t.Context())
	in, out := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- Main([]string{"list", "-w", "-o", "json", "--kubeconfig", s.config, "-n", "plugin"},
			Program{In: strings.NewReader(""), Stdout: out, Stderr: out, Now: time.Now, Name: "kubectl kick", Context: ctx})
		_ = out.Close()
	}()
	documents := json.NewDecoder(in)
	shown := func() bool {
		var list v1alpha1.KickRequestList
		if err := documents.Decode(&list); err != nil {
			s.t.Fatal(err)
		}
		return slices.ContainsFunc(list.Items, func(r v1alpha1.KickRequest) bool { return r.Spec.Reason == "seen while watching" })
	}
	if shown() {
		s.t.Error("it is shown before it is there")
	}
	s.must(exitOK, "", nil, "now", "deploy/web", "--reason", "seen while watching")
	for !shown() { // a decoder that waits for ever is ended by the test's own limit
	}
	interrupt()
	_, _ = io.Copy(io.Discard, in)
	if got := <-code; got != exitBroken {
		s.t.Errorf("interrupted, it ends with exit code %d, want %d", got, exitBroken)
	}
}

// completes: what is typed last is completed, so that it stands after all flags.
func (s *shop) completes(want, command, typed string) {
	s.t.Helper()
	got := call(s.t.Context(), time.Now, "", "__complete", command, "--kubeconfig", s.config, "-n", "plugin", typed)
	if !strings.HasPrefix(got.stdout, want+":") {
		s.t.Errorf("%s %s is completed as\n%s%s", command, typed, got.stdout, got.stderr)
	}
}

// operate runs what is left of the commands.
func (s *shop) operate(plane *controlplane.ControlPlane) {
	t := s.t
	s.must(exitOK, "", []string{"No workloadSelector of the namespace's policies (all) matches"}, "why", "deploy/other")
	s.must(exitError, "", []string{"does not exist"}, "why", "deploy/none")
	s.must(exitOK, "", []string{"KickPolicy plugin/all", "└─ Deployment web", "└─ Secret db"}, "tree")
	s.must(exitOK, "", []string{`"policy": "all"`, `"source": "Secret db"`}, "tree", "-o", "json")
	s.must(exitOK, "", []string{"all", "True", "none"}, "status")
	s.must(exitOK, "", []string{"deployment.apps/web\n"}, "status", "deploy/web", "-o", "name")
	s.must(exitOK, "", []string{"now"}, "windows", "policy/all")
	s.must(exitOK, "", []string{"opens"}, "windows", "policy/all", "-o", "json")
	s.must(exitOK, "", []string{"KickRequestList", "deployment-web"}, "list", "-o", "yaml")
	s.must(exitOK, "", []string{"kickrequest.kick.corewire.io/deployment-web\n"}, "list", "-o", "name")
	s.must(exitUsage, "", []string{"kick list knows json, yaml, name, wide"}, "list", "-o", "xml")
	s.until(exitOK, "KickSucceeded", "events")
	s.must(exitOK, "", []string{"served", "granted", "Argo CD: not installed"}, "check")
	s.must(exitOK, "", []string{redacted, "deployment-web"}, "report")
	s.must(exitOK, "", []string{`"plugin"`, redacted}, "report", "-o", "json")
	s.must(exitOK, "", []string{"kickrequest.kick.corewire.io/deployment-web-"}, "now", "deploy/web", "--reason", "the license was renewed", "-o", "name")
	s.until(exitOK, "the license was renewed", "list", "-o", "yaml")
	policy := strings.TrimSpace(s.must(exitOK, "", nil, "status", "-o", "name"))
	s.must(exitOK, "", []string{"spec.suspend is true"}, "suspend", policy)
	s.must(exitOK, "", nil, "now", "deploy/web", "--reason", "the proxy was moved\x1b[2J")
	s.until(exitOK, "asked for ", "why", "deploy/web")
	s.until(exitOK, "the proxy was moved\ufffd[2J", "list", "-o", "wide")
	for _, args := range [][]string{{"list", "-o", "json"}, {"events", "-o", "json"}} {
		if got := s.must(exitOK, "", nil, args...); strings.Contains(got, "managedFields") {
			t.Errorf("%v shows managedFields, which kubectl hides", args)
		}
	}
	s.completes("deployment/other\ndeployment/web\n", "why", "deployment/")
	s.completes("policy/all\n", "resume", "policy/")
	s.watch()

	nobody := t.TempDir() + "/kubeconfig"
	if err := plane.WriteKubeconfig(nobody, "nobody"); err != nil {
		t.Fatal(err)
	}
	s.config = nobody
	s.must(exitError, "", []string{"forbidden", "KICK's judgement needs"}, "why", "deploy/web")
	s.must(exitUnmet, "", []string{"MISSING  your right to list kickpolicies: not granted in namespace plugin", "your right to get secrets: not granted in namespace kick-plugin"}, "check")
}
