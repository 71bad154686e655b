package run

import (
	"testing"

	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

func load(t testing.TB, paths ...string) []scenario.Scenario {
	t.Helper()
	scenarios, problems := scenario.NewParser(steps.All(), nil).ParseFiles(paths)
	if len(problems) > 0 {
		t.Fatalf("problems:\n%v", problems)
	}
	return scenarios
}

func TestSamples(t *testing.T) {
	for _, s := range load(t, "testdata") {
		t.Run(s.Name, func(t *testing.T) {
			r := One(s, Options{NewOperator: newToy(nil), KeepTrail: true})
			if r.Problem != nil {
				t.Fatal(r.Problem)
			}
			t.Logf("%s virtual, %d events, %s wall", r.Virtual, r.Events, r.Wall)
			for _, l := range r.Trail.Explain() {
				t.Logf("%s %-6s %s", l.At.Format("15:04:05.000"), l.Actor, l.Text)
			}
			for _, f := range r.Failures {
				t.Errorf("%s: %s", f.Law, f.Message)
			}
		})
	}
}
