package cli

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
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
		deployment("web"), deployment("other"))
	s.ready("web")
	s.ready("other")

	s.must(exitOK, policies, []string{"would manage 1 of 2", "nothing to do  1", "not matched    1  Deployment/other", "nothing was changed"}, "plan", "-f", "-")
	s.must(exitOK, "", []string{"has no KickPolicy"}, "why", "deploy/web")
	s.change("-second")
	s.must(exitOK, policies, []string{"restart now    1", "Deployment/web  Restarting: Secret plugin/db changed"}, "plan", "-f", "-")
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
	s.must(exitOK, "", []string{"spec.suspend is false"}, "resume", "policy/all")
	s.until(exitOK, "", "status", "deployment/web")
	s.until(exitOK, "Succeeded", "list")
	s.operate(plane)
}

// sameSentence: the plugin says what the operator has written.
func (s *shop) sameSentence() {
	s.t.Helper()
	var r v1alpha1.KickRequest
	if err := s.c.Get(s.t.Context(), client.ObjectKey{Namespace: "plugin", Name: "deployment-web"}, &r); err != nil {
		s.t.Fatal(err)
	}
	s.must(exitOK, "", []string{r.Status.Gate.Message, "WaitingForGate (PolicySuspended)", "Secret db"}, "why", "deployment/web")
}

// operate runs what is left of the commands.
func (s *shop) operate(plane *controlplane.ControlPlane) {
	t := s.t
	s.must(exitOK, "", []string{"No workloadSelector of the namespace's policies (all) matches"}, "why", "deploy/other")
	s.must(exitError, "", []string{"does not exist"}, "why", "deploy/none")
	s.must(exitOK, "", []string{"KickPolicy plugin/all", "└─ Deployment web", "└─ Secret db"}, "tree")
	s.must(exitOK, "", []string{"all", "True", "none"}, "status")
	s.must(exitOK, "", []string{"opens", "now"}, "windows", "policy/all", "-o", "json")
	s.must(exitOK, "", []string{"KickRequestList", "deployment-web"}, "list", "-o", "yaml")
	s.must(exitOK, "", []string{"kickrequest.kick.corewire.io/deployment-web\n"}, "list", "-o", "name")
	s.must(exitUsage, "", []string{"use json, yaml, name or wide"}, "list", "-o", "xml")
	s.until(exitOK, "KickSucceeded", "events")
	s.must(exitOK, "", []string{"served", "granted", "Argo CD: not installed"}, "check")
	s.must(exitOK, "", []string{redacted, "deployment-web"}, "report")
	s.must(exitOK, "", []string{"created; kubectl kick why"}, "now", "deploy/web", "--reason", "the license was renewed")
	s.until(exitOK, "the license was renewed", "list", "-o", "yaml")
	s.must(exitOK, "", []string{"spec.suspend is true"}, "suspend", "policy/all")

	nobody := t.TempDir() + "/kubeconfig"
	if err := plane.WriteKubeconfig(nobody, "nobody"); err != nil {
		t.Fatal(err)
	}
	s.config = nobody
	s.must(exitError, "", []string{"forbidden", "KICK's judgement needs"}, "why", "deploy/web")
	s.must(exitUnmet, "", []string{"MISSING  your right to list kickpolicies: not granted"}, "check")
}
