package generate_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/corewire/kick/sim/engine"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/generate"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
	"github.com/corewire/kick/sim/steps"
)

// generated is the world and the story of a seed.
func generated(c sched.Chooser, seed uint64) scenario.Scenario {
	s := generate.World(c)
	s.Name = fmt.Sprintf("seed-%d", seed)
	s.Steps = generate.Story(c, s)
	return s
}

func written(t *testing.T, s scenario.Scenario) string {
	t.Helper()
	var out bytes.Buffer
	if err := scenario.Write(&out, s); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func readBack(t *testing.T, text string) scenario.Scenario {
	t.Helper()
	var known []scenario.Fault
	for _, f := range faults.All {
		known = append(known, scenario.Fault{Name: f.Name})
	}
	path := filepath.Join(t.TempDir(), "written.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	scenarios, problems := scenario.NewParser(steps.All(), known).ParseFile(path)
	if len(problems) > 0 {
		t.Fatalf("%v\n%s", problems, text)
	}
	return scenarios[0]
}

// answers notes which answers each question got.
type answers struct {
	dice
	of   map[string]int // how many alternatives it offered, at the least
	seen map[string]map[int]bool
}

func (a *answers) Choose(n int, class sched.Class, site string) int {
	pick := a.dice.Choose(n, class, site)
	if a.seen[site] == nil {
		a.of[site], a.seen[site] = n, map[int]bool{}
	}
	a.of[site] = min(a.of[site], n)
	a.seen[site][pick] = true
	return pick
}

// TestPlain: where all is plain there is one workload that reads one source under
// one policy, and one change.
func TestPlain(t *testing.T) {
	s := generated(sched.FIFO{}, 0)
	if len(s.Given) != 4 || len(s.Steps) != 1 {
		t.Errorf("not plain:\n%s", written(t, s))
	}
	result := run.One(s, run.Options{NewOperator: engine.New})
	if !result.OK() || result.Restarts["shop/Deployment/web"] != 1 {
		t.Errorf("%v %v %v\n%s", result.Problem, result.Failures, result.Restarts, written(t, s))
	}
}

// TestEveryAnswerOccurs: no alternative is out of reach.
func TestEveryAnswerOccurs(t *testing.T) {
	a := &answers{of: map[string]int{}, seen: map[string]map[int]bool{}}
	for seed := range uint64(9000) {
		a.dice = dice{seed << 32}
		generated(a, seed)
	}
	for _, site := range slices.Sorted(maps.Keys(a.of)) {
		for answer := range a.of[site] {
			if !a.seen[site][answer] {
				t.Errorf("question %q: answer %d of %d was never given", site, answer, a.of[site])
			}
		}
	}
}

// occurring are texts of written scenarios that show that a feature, a verb or a form
// of reference occurs, the texts of one line all in one scenario.
var occurring = []string{
	// Workloads.
	"kind: Deployment", "kind: StatefulSet", "kind: DaemonSet", "type: Recreate", "maxSurge: 50%", "partition: 1", "type: OnDelete",
	"podManagementPolicy: Parallel", "minReadySeconds: 30", "progressDeadlineSeconds: 60", "replicas: 0", "replicas: 4", "paused: true",
	"maxUnavailable: 50%", "namespace: blog", "namespace: api",
	// References.
	"env: [{name: V0, valueFrom: {secretKeyRef:", "configMapKeyRef:", "envFrom: [{secretRef: {name: db}}]", "configMapRef:", "prefix: E1_",
	"secret: {secretName: db}", "items: [{key: a, path: file}]", "projected: {sources: [{secret:", "projected: {sources: [{configMap:", "subPath: a",
	"key: debug, optional: true", "path: file1}", "path: file2}", "optional: true}}, {configMap: {name:", "optional: true}}, {secret: {name:",
	"initContainers:", "name: setup", "restartPolicy: Always", "name: helper", "imagePullSecrets: [{name: db}]", "optional: true", "ephemeralContainers:",
	// Sources.
	"immutable: true", "binaryData:", "stringData: {a: bc}", "stringData: {ab: c}", "type: Opaque|stringData:", "as: external-secrets", "as: helm}",
	"kind: Secret, metadata: {name: db,|kind: ConfigMap, metadata: {name: db,", "data: {a: null",
	// Policies.
	"workloadSelector: {}", "operator: NotIn", "operator: DoesNotExist", "dependencySelector:", "restart: off|restart: \"off\"", "name: second", "suspend: true", "dryRun: true",
	"settleDelay: 10m0s", "minInterval: 25h0m0s", "type: Allow", "type: Deny", "timeZone: Europe/Berlin", "timeZone: Australia/Lord_Howe",
	// The world around them.
	"start: \"2026-03-29T00:59:50Z\"", "operator: {replicas: 2", "rollout-timeout: 2m", "watch-namespaces: shop", "startAt: 26h", "kubeletCacheLag: 3s",
	"podStart: 100ms", "clockSkew: {apiserver:", "clockSkew: {kick: -4.5s}",
	// The Secrets Store CSI driver.
	"csi: {driver: secrets-store.csi.k8s.io", "kind: SecretProviderClass,|kind: SecretProviderClass\n", "secretObjects:", "versions: eachPoll", "rotation: off|rotation: \"off\"", "statusLag:", "brokenNode:",
	"csi-rotation-poll-interval: 10m0s", "name: vault-mirror",
	// Steps.
	"apply: {resource: {apiVersion: v1, kind: Secret", "update: {resource: {apiVersion: v1", "create: {resource: {apiVersion: v1", "patch: {resource: {apiVersion: v1",
	"delete: {ref: {apiVersion: v1", "delete: {ref: {apiVersion: apps/v1", "kind: KickRequest, namespace:", "kind: SourceObservation, namespace:",
	"delete: {ref: {apiVersion: kick.corewire.io/v1alpha1, kind: KickPolicy", "annotations: {round: d, synced-at:", "labels: {tier: infra}", "labels: {restart: ",
	"rollout: {restart:", "rollout: {undo:", "rollout: {pause:", "rollout: {resume:", "rollout: {scale:", "rollout: {failImage:", "rollout: {fixImage:",
	"rollout: {evict:", "rollout: {crashContainers:", "operator: stop", "operator: start}", "operator: restart", "operator: crash}", "operator: {pause: 20s}",
	"crashAtWrite: {n: 6, landed: true}", "crashAtWrite: {n: 1, landed: false}", "clock: {domain: kick, step: ", "clock: {domain: kubelet", "heal: {}", "fault: {name: ",
	"manager: old-cluster", "name: ghost", "name: part-21", "cron: 0 0 30 2 *", "name: kick-installation-key", "as: restore",
	"name: by-hand", "changedAt:", "spec: {suspend: false}", "spec: {schedule: null}", "name: late", "image: example.com/app:1", "mayFail: true",
}

// TestEverythingOccurs looks at what worlds and stories are made of.
func TestEverythingOccurs(t *testing.T) {
	missing := map[string]bool{}
	for _, text := range occurring {
		missing[text] = true
	}
	for _, f := range faults.All {
		missing["fault: {name: "+f.Name] = true
	}
	for seed := range uint64(2000) {
		text := written(t, generated(&dice{seed << 32}, seed))
		for want := range missing {
			if strings.Contains(text, want) || alternative(text, want) {
				delete(missing, want)
			}
		}
	}
	for _, want := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("%q occurs in no scenario", want)
	}
}

// alternative holds where any of several texts occurs.
func alternative(text, want string) bool {
	return slices.ContainsFunc(strings.Split(want, "|"), func(part string) bool { return strings.Contains(text, part) })
}

// TestGeneratedRun: the API server takes what is generated, steps that must work do,
// and nothing panics. Laws are not this test's business.
func TestGeneratedRun(t *testing.T) {
	laws := map[string][]uint64{}
	for seed := range uint64(200) {
		s := generated(&dice{seed << 32}, seed)
		result := run.One(s, run.Options{NewOperator: engine.New})
		if result.Problem != nil {
			t.Errorf("seed %d: %v\n%s", seed, result.Problem, written(t, s))
		}
		for _, f := range result.Failures {
			laws[f.Law] = append(laws[f.Law], seed)
			if f.Law == "steps" {
				t.Errorf("seed %d: %s\n%s", seed, f.Message, written(t, s))
			}
		}
	}
	for _, law := range slices.Sorted(maps.Keys(laws)) {
		t.Logf("%s: seeds %v", law, slices.Compact(laws[law]))
	}
}

// TestWrittenRunsAlike: a generated scenario that is written and read has the same
// outcome.
func TestWrittenRunsAlike(t *testing.T) {
	for seed := range uint64(60) {
		s := generated(&dice{seed << 32}, seed)
		text := written(t, s)
		again := readBack(t, text)
		if second := written(t, again); second != text {
			t.Errorf("seed %d: written again it differs:\n%s\n---\n%s", seed, text, second)
		}
		if one, two := outcome(s), outcome(again); one != two {
			t.Errorf("seed %d: read back it ends otherwise: %s, not %s\n%s", seed, two, one, text)
		}
	}
}

func outcome(s scenario.Scenario) string {
	r := run.One(s, run.Options{NewOperator: engine.New})
	return fmt.Sprint(r.Problem, r.Failures, r.Restarts, r.Virtual, r.Events)
}
