package run_test

import (
	"bytes"
	"reflect"
	"sync"
	"testing"

	"github.com/corewire/kick/sim/engine"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/report"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

var keepAll = run.Options{NewOperator: engine.New, KeepTrail: true}

// newParser knows all verbs and faults.
func newParser() *scenario.Parser {
	var known []scenario.Fault
	for _, f := range faults.All {
		known = append(known, scenario.Fault{Name: f.Name})
	}
	return scenario.NewParser(steps.All(), known)
}

// trace is the event log of a run, to the byte.
func trace(t *testing.T, r run.Result) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.Trace(&out, "test", []run.Result{r}); err != nil {
		t.Error(err)
	}
	return out.String()
}

// same compares everything two runs say.
func same(t *testing.T, name string, want, got run.Result) {
	t.Helper()
	if a, b := trace(t, want), trace(t, got); a != b {
		t.Errorf("%s: the event log differs:\n%s", name, firstDifference(a, b))
	}
	want.Trail, got.Trail, want.Wall, got.Wall = nil, nil, 0, 0
	if !reflect.DeepEqual(want, got) {
		t.Errorf("%s: the result differs:\n%+v\n%+v", name, want, got)
	}
}

func firstDifference(a, b string) string {
	left, right := bytes.SplitAfter([]byte(a), []byte("\n")), bytes.SplitAfter([]byte(b), []byte("\n"))
	for i := range min(len(left), len(right)) {
		if !bytes.Equal(left[i], right[i]) {
			return string(left[i]) + string(right[i])
		}
	}
	return "one log is longer"
}

// A run from a base is the run of the scenario alone, whatever ran from that base
// before and whatever runs from it at the same time, and a fast one is a full one.
func TestRunsFromABaseAreTheRunsOfOne(t *testing.T) {
	fast := keepAll
	fast.Fast = true
	for _, s := range parse(t, "../../scenarios") {
		full, err := run.Prepare(s, keepAll)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		quick, err := run.Prepare(s, fast)
		if err != nil {
			t.Errorf("%s, fast: %v", s.Name, err)
			continue
		}
		shuffled := s
		shuffled.Seed = 7
		plain, other := run.One(s, keepAll), run.One(shuffled, keepAll)
		var runs sync.WaitGroup
		runs.Go(func() { same(t, s.Name, plain, full.Run(s, keepAll)) })
		runs.Go(func() { same(t, s.Name+", fast", plain, quick.Run(s, fast)) })
		runs.Go(func() { same(t, s.Name+", fast and shuffled", other, quick.Run(shuffled, fast)) })
		runs.Wait()
	}
}
