package docstest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/corewire/kick/kick/kicktest/toolcrds/original"
)

// stage is a workload that is brought into the state of one symptom.
type stage struct {
	kind, name string
	spec       string // of the workload, in flow style
	policy     string // rest of its policy's spec; "-": it has none
	reads      string // a Secret besides its own
	namespace  string // empty: shop
	prepare    string // what is done when it runs, before its Secret changes
	phase      string // that its request comes to; empty: it gets none
	after      string // what is done then
}

var stages = []stage{
	{kind: "Deployment", name: "api", policy: "-"},
	{kind: "Deployment", name: "billing", policy: `schedule: {windows: [{type: Deny, cron: "* * * * *", duration: 1h}]}`, phase: "WaitingForGate"},
	{kind: "Deployment", name: "worker", policy: "suspend: true", phase: "WaitingForGate"},
	{kind: "Deployment", name: "cart", prepare: conflict, phase: "WaitingForGate"},
	{kind: "Deployment", name: "search", reads: "search-key", prepare: "kubectl -n shop delete secret search-key", phase: "WaitingForGate"},
	{kind: "StatefulSet", name: "store", spec: "updateStrategy: {type: OnDelete}", phase: "WaitingForRollout"},
	{kind: "Deployment", name: "legacy", prepare: "kubectl -n shop rollout pause deployment/legacy", phase: "WaitingForRollout"},
	{kind: "Deployment", name: "portal", policy: "gitOps: {provider: Flux}", phase: "WaitingForGate"},
	{kind: "Deployment", name: "mail", policy: "gitOps: {provider: ArgoCD}", phase: "WaitingForOwner"},
	{kind: "Deployment", name: "shipping", policy: "gitOps: {provider: ArgoCD}", prepare: outOfSync, phase: "WaitingForApplicationSync"},
	{kind: "Deployment", name: "trial", policy: "dryRun: true", phase: "DryRun"},
	{kind: "Deployment", name: "queue", policy: "restart: {minInterval: 1h}", phase: "Succeeded", after: change("shop", "queue", "third") + " && " + wait("shop", "deployment-queue", "WaitingForGate")},
	{kind: "Deployment", name: "flappy", policy: "restart: {minInterval: 1h}", phase: "Succeeded", after: flap},
	{kind: "Deployment", name: "report", namespace: "reports", spec: "progressDeadlineSeconds: 5", prepare: full, phase: "Failed"},
}

const (
	conflict = `kubectl apply -f - <<'EOF'
apiVersion: kick.corewire.io/v1alpha1
kind: KickPolicy
metadata: {name: all-in-cart, namespace: shop}
spec: {discovery: {workloadSelector: {matchLabels: {app: cart}}}}
EOF`
	// As Argo CD leaves it when it has just compared.
	outOfSync = `kubectl apply -f - <<EOF
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default, namespace: argocd}
spec: {}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shipping, namespace: argocd}
spec:
  project: default
  destination: {server: https://kubernetes.default.svc, namespace: shop}
  source: {repoURL: https://example.com/shop.git, path: .}
status:
  controllerNamespace: argocd
  reconciledAt: "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
  sync:
    status: OutOfSync
    revision: aaa
    comparedTo:
      destination: {server: https://kubernetes.default.svc, namespace: shop}
      source: {repoURL: https://example.com/shop.git, path: .}
  resources: [{group: apps, version: v1, kind: Deployment, namespace: shop, name: shipping, status: OutOfSync}]
EOF`
	// A quota lets no pod come beside the one that runs.
	full = `kubectl -n reports create quota full --hard=pods=1`
	flap = `for i in 1 2 3 4 5 6 7 8; do kubectl -n shop patch secret flappy-db -p '{"stringData":{"password":"flap-'$i'"}}'; sleep 1; done
until kubectl -n shop get events | grep -q SourceFlapping; do sleep 0.5; done`
)

const manifest = `apiVersion: v1
kind: Secret
metadata: {name: %[2]s-db, namespace: %[3]s}
stringData: {password: first}
---
apiVersion: apps/v1
kind: %[1]s
metadata: {name: %[2]s, namespace: %[3]s, labels: {app: %[2]s}}
spec:
  %[4]s
  selector: {matchLabels: {app: %[2]s}}
  template:
    metadata: {labels: {app: %[2]s}}
    spec:
      containers: [{name: app, image: example.com/app, envFrom: [{secretRef: {name: %[2]s-db}}%[5]s]}]
---
`

func (s stage) at() string {
	if s.namespace == "" {
		return "shop"
	}
	return s.namespace
}

// objects are the stage's Secret, workload and policy.
func (s stage) objects() string {
	reads := ""
	if s.reads != "" {
		reads = ", {secretRef: {name: " + s.reads + "}}"
	}
	spec := s.spec
	if spec == "" {
		spec = "replicas: 1"
	}
	text := fmt.Sprintf(manifest, s.kind, s.name, s.at(), spec, reads)
	if s.reads != "" {
		text += fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: %s, namespace: %s}\n---\n", s.reads, s.at())
	}
	if s.policy != "-" {
		text += fmt.Sprintf("apiVersion: kick.corewire.io/v1alpha1\nkind: KickPolicy\nmetadata: {name: %[1]s, namespace: %[2]s}\nspec:\n  discovery: {workloadSelector: {matchLabels: {app: %[1]s}}}\n  %[3]s\n---\n", s.name, s.at(), s.policy)
	}
	return text
}

func change(namespace, name, to string) string {
	return fmt.Sprintf(`kubectl -n %s patch secret %s-db -p '{"stringData":{"password":"%s"}}'`, namespace, name, to)
}

func wait(namespace, request, phase string) string {
	return fmt.Sprintf("kubectl -n %[1]s wait kickrequest/%[2]s --for=create --timeout=1m && kubectl -n %[1]s wait kickrequest/%[2]s --for=jsonpath='{.status.phase}'=%[3]s --timeout=2m", namespace, request, phase)
}

// must runs a command of the test's own, which may not fail.
func (s *shell) must(command string) {
	s.t.Helper()
	if out, code := s.run(command); code != 0 {
		s.t.Fatalf("exit code %d\n%s\n%s", code, command, out)
	}
}

// TestTroubleshooting brings each symptom about and runs the command that the page names
// for it.
//
// Proves: KICK-FEAT-006.
func TestTroubleshooting(t *testing.T) {
	plane := cluster(t)
	s := reader(t, plane.Kubeconfig)
	files, err := original.Files(t.Context(), "argocd")
	if err != nil {
		t.Fatal(err)
	}
	if err := plane.InstallCRDs(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	s.must("kubectl create namespace shop && kubectl create namespace reports && kubectl create namespace argocd")
	s.must("helm install kick charts/kick --namespace kick-system --create-namespace")
	ran, started := 0, false
	for _, b := range blocks(t, "docs/guides/troubleshooting.md") {
		if b.lang != "sh" {
			continue
		}
		if !started && !strings.HasPrefix(b.heading, "Nothing happens") {
			startOperator(t, plane, "kick-system")
			s.perform()
			started = true
		}
		s.follow(b)
		ran++
	}
	if ran < 15 {
		t.Errorf("only %d commands were run", ran)
	}
}

// perform brings all stages about, side by side.
func (s *shell) perform() {
	s.t.Helper()
	var all, roll strings.Builder
	for _, st := range stages {
		all.WriteString(st.objects())
		if !strings.Contains(st.spec, "OnDelete") {
			fmt.Fprintf(&roll, "kubectl -n %s rollout status %s/%s --timeout=2m && ", st.at(), strings.ToLower(st.kind), st.name)
		}
	}
	s.must("kubectl apply -f - <<'EOF'\n" + all.String() + "EOF")
	s.must(roll.String() + "kubectl -n shop wait pod store-0 --for=condition=Ready --timeout=2m")
	for _, st := range stages {
		if st.prepare != "" {
			s.must(st.prepare)
		}
	}
	s.must("sleep 2") // the next second: what a pod is older than
	for _, st := range stages {
		s.must(change(st.at(), st.name, "second"))
	}
	for _, st := range stages {
		if st.phase != "" {
			s.must(wait(st.at(), strings.ToLower(st.kind)+"-"+st.name, st.phase))
		}
		if st.after != "" {
			s.must(st.after)
		}
	}
}
