package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/corewire/kick/sim/engine"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/report"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
	"github.com/corewire/kick/sim/steps"
)

// rotate changes the one source of the one workload.
const rotate = "apply: {resource: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: shop}, stringData: {password: second-password}}}"

// once expects one restart.
const once = "  expect: {restarts: {shop/Deployment/web: 1}, requests: {shop/deployment-web: Succeeded}}\n"

// shop reads a scenario with one workload, one source and these lines of its spec.
func shop(t testing.TB, spec string) scenario.Scenario {
	t.Helper()
	manifests, err := filepath.Abs("../../scenarios/manifests")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.yaml")
	text := "apiVersion: sim.kick.corewire.io/v1alpha1\nkind: Scenario\nmetadata: {name: x}\nspec:\n" +
		"  given: [{file: " + manifests + "/shop.yaml}, {file: " + manifests + "/policy.yaml}]\n" + spec
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return parsed(t, path)
}

// parsed is the first scenario of a file.
func parsed(t testing.TB, path string) scenario.Scenario {
	t.Helper()
	var known []scenario.Fault
	for _, name := range faults.Names() {
		known = append(known, scenario.Fault{Name: name})
	}
	scenarios, problems := scenario.NewParser(steps.All(), known).ParseFile(path)
	if len(problems) > 0 {
		t.Fatalf("%v", problems)
	}
	return scenarios[0]
}

// hits are the faults that came about, as "fault at site", in order.
type hits []string

func (h *hits) hit(site, fault string) {
	if fault != faults.None {
		*h = append(*h, fault+" at "+site)
	}
}

func (h *hits) count(text string) int {
	n := 0
	for _, hit := range *h {
		if hit == text {
			n++
		}
	}
	return n
}

// play runs a scenario; a nil chooser is the plain schedule.
func play(s scenario.Scenario, chooser sched.Chooser) (run.Result, hits) {
	var met hits
	r := run.One(s, run.Options{NewOperator: engine.New, Chooser: chooser, KeepTrail: true, Hit: met.hit})
	return r, met
}

// mustPass fails the test unless every law held.
func mustPass(t *testing.T, r run.Result) {
	t.Helper()
	if r.Problem != nil {
		t.Fatal(r.Problem)
	}
	for _, f := range r.Failures {
		t.Errorf("%s: %s", f.Law, f.Message)
	}
	if t.Failed() {
		t.Log(eventLog(t, r))
	}
}

// eventLog is the full log of a run.
func eventLog(t *testing.T, r run.Result) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.Trace(&out, "test", []run.Result{r}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// scripted answers the nth question (from 1) of a class and site, all others plainly.
func scripted(answers ...sched.Answer) *sched.Scripted {
	return sched.NewScripted(answers, sched.FIFO{})
}

// chance answers questions of every class by a seeded sequence (splitmix64): every
// tenth not plainly.
type chance struct{ state uint64 }

func (c *chance) draw() uint64 {
	c.state += 0x9e3779b97f4a7c15
	z := c.state
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (c *chance) Choose(n int, _ sched.Class, _ string) int {
	if c.draw()%10 != 0 {
		return 0
	}
	return int(c.draw() % uint64(n))
}
