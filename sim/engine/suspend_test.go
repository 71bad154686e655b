package engine_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/corewire/kick/sim/check"
	"github.com/corewire/kick/sim/engine"
	"github.com/corewire/kick/sim/graph"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/sched"
)

// asleep suspends every pass at each of its calls, by the given answer.
type asleep int

func (a asleep) Choose(n int, class sched.Class, _ string) int {
	if class != sched.Switch {
		return 0
	}
	return min(int(a), n-1)
}

// TestSuspension: between any two calls of a pass anything may happen.
func TestSuspension(t *testing.T) {
	for nap := 1; nap <= 4; nap++ {
		r, met := play(shop(t, "  operator: {replicas: 2}\n  steps: [{at: 10s, "+rotate+"}, {advance: 1m}]\n"+once), asleep(nap))
		mustPass(t, r)
		if met.count("suspended at patch Deployment") != 2 {
			t.Errorf("nap %d: hit %v", nap, met)
		}
	}
}

// TestKillOfASuspendedPass leaves nothing behind, in the middle of a scenario and
// at its end.
func TestKillOfASuspendedPass(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, steps := range []string{
		"  steps: [{at: 1s, operator: crash}, {at: 1m, " + rotate + "}, {after: 1s, operator: restart}, {advance: 2m}]\n" + once,
		"  steps: [{at: 1s, assert: {resource: {apiVersion: v1, kind: Secret, metadata: {name: none, namespace: shop}}}}]\n",
	} {
		r, met := play(shop(t, steps), asleep(4))
		if r.Problem != nil || met.count("suspended at get Secret") == 0 {
			t.Errorf("%v, hit %v", r.Problem, met)
		}
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines more", after-before)
	}
}

// TestZombie: the leader stands still at its patch for longer than its lease,
// another replica restarts the workload meanwhile, and the zombie's patch comes to
// nothing. Then it notices that it does not lead any more, and exits.
func TestZombie(t *testing.T) {
	r, _ := play(shop(t, "  operator: {replicas: 2}\n  steps:\n  - fault: {name: pause, on: {verb: patch, kind: Deployment}, times: 1}\n  - {at: 10s, "+rotate+"}\n  - advance: 1m\n"+once), nil)
	mustPass(t, r)
	log := eventLog(t, r)
	for _, want := range []string{
		"patch Deployment shop/web failed: Operation cannot be fulfilled", `\"leading\",\"replica\":1`, `\"leader election lost\",\"replica\":0`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("no %s in\n%s", want, log)
		}
	}
	if n := strings.Count(log, "restarted, restartedAt"); n != 1 {
		t.Errorf("%d restarts\n%s", n, log)
	}
}

// TestPause: a leader that is alone takes its lease up again.
func TestPause(t *testing.T) {
	r, _ := play(shop(t, "  steps:\n  - {at: 10s, operator: {pause: 20s}}\n  - {at: 12s, "+rotate+"}\n  - advance: 1m\n"+once), nil)
	mustPass(t, r)
	log := eventLog(t, r)
	if strings.Contains(log, "leader election lost") || !strings.Contains(log, `"t":30`) {
		t.Errorf("log\n%s", log)
	}
}

// TestLeaseLost: a leader that cannot renew goes on until its renew deadline; the
// other replica follows when the lease has expired.
func TestLeaseLost(t *testing.T) {
	r, _ := play(shop(t, "  operator: {replicas: 2}\n  steps:\n  - fault: {name: leaseLost, times: 1}\n  - {at: 10s, "+rotate+"}\n  - {at: 40s, assert: {resource: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}}}}\n"+once), nil)
	mustPass(t, r)
	log := eventLog(t, r)
	lost, lead := strings.Index(log, `\"leader election lost\",\"replica\":0`), strings.Index(log, `\"leading\",\"replica\":1`)
	if lost < 0 || lead < lost {
		t.Errorf("lost at %d, led at %d\n%s", lost, lead, log)
	}
}

// TestClocks: the four clocks step alone, and no timer jumps with them.
func TestClocks(t *testing.T) {
	for _, domain := range []string{"apiserver", "kcm", "kubelet", "kick"} {
		plain := "  steps:\n  - {at: 10s, " + rotate + "}\n  - advance: 5m\n"
		stepped := "  steps:\n  - {at: 9s, clock: {domain: " + domain + ", step: 4s}}\n  - {at: 10s, " + rotate + "}\n  - advance: 5m\n"
		a, _ := play(shop(t, plain+once), nil)
		b, _ := play(shop(t, stepped+once), nil)
		mustPass(t, a)
		mustPass(t, b)
		if a.Virtual != b.Virtual {
			t.Errorf("%s: the run ends at %s, without the step at %s", domain, b.Virtual, a.Virtual)
		}
	}
}

// TestTouchedAndAccess: what KICK does is told to whoever draws or judges it.
func TestTouchedAndAccess(t *testing.T) {
	touched := map[graph.Access]bool{}
	met := map[string]int{}
	var rights []check.Access
	factory := func(o run.OperatorOptions) (run.Operator, error) {
		o.Access = func(a check.Access) { rights = append(rights, a) }
		return engine.New(o)
	}
	r := run.One(shop(t, "  steps: [{at: 10s, "+rotate+"}, {advance: 1m}]\n"+once), run.Options{
		NewOperator: factory, Touched: func(a graph.Access) { touched[a] = true }, Hit: func(site, fault string) { met[fault+" "+site]++ },
	})
	mustPass(t, r)
	ways := map[graph.How]int{}
	for a := range touched {
		if a.Controller == "request" {
			ways[a.How]++
		}
	}
	for _, how := range []graph.How{graph.Triggers, graph.Reads, graph.Looks, graph.Writes} {
		if ways[how] == 0 {
			t.Errorf("nothing of %d in %v", how, touched)
		}
	}
	want := []check.Access{
		{Verb: "watch", Resource: "secrets"}, {Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "shop"},
		{Verb: "update", Group: "kick.corewire.io", Resource: "kickrequests", Sub: "status", Namespace: "shop"},
		{Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: "kick-system"},
	}
	for _, a := range want {
		found := false
		for _, b := range rights {
			found = found || a == b
		}
		if !found {
			t.Errorf("no %+v in %+v", a, rights)
		}
	}
	if met["none patch Deployment"] != 1 {
		t.Errorf("outcomes %v", met)
	}
}

// TestTurnTakenMeanwhile: of passes that all find a place free the first takes it, and the
// others say at once what they wait for, not only when they are looked at again.
func TestTurnTakenMeanwhile(t *testing.T) {
	for nap := 1; nap <= 2; nap++ {
		r, met := play(parsed(t, "../../scenarios/policy/max-concurrent.yaml"), asleep(nap))
		mustPass(t, r)
		if met.count("suspended at patch Deployment") == 0 {
			t.Errorf("nap %d: hit %v", nap, met)
		}
	}
}
