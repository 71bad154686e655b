package shrink

import (
	"slices"
	"testing"

	"github.com/corewire/kick/sim/explore/exploretest"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
	"github.com/corewire/kick/sim/steps"
)

func TestDdminFindsWhatIsNeeded(t *testing.T) {
	var items []int
	for i := range 212 {
		items = append(items, i)
	}
	tests := map[string][]int{"nothing": {}, "one": {17}, "apart": {0, 99, 211}, "neighbours": {40, 41, 42, 43, 44, 45, 46, 47, 48}}
	for name, needed := range tests {
		runs := 0
		got := ddmin(items, func(part []int) bool {
			runs++
			for _, n := range needed {
				if !slices.Contains(part, n) {
					return false
				}
			}
			return true
		})
		if !slices.Equal(got, needed) && len(got)+len(needed) > 0 {
			t.Errorf("%s: got %v, want %v", name, got, needed)
		}
		if runs > 200 {
			t.Errorf("%s: %d runs", name, runs)
		}
	}
}

// load reads the scenario in which the operator under test is right as long as its
// restart is not refused.
func load(t *testing.T) scenario.Scenario {
	t.Helper()
	found, problems := scenario.NewParser(steps.All(), nil).ParseFiles([]string{"../run/testdata/secret-change.yaml"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	s := found[0]
	s.Expect.AnyRestarts, s.Expect.Restarts = true, nil
	return s
}

// answers are the one answer that is needed among others that are not.
func answers() []scenario.Choice {
	var out []scenario.Choice
	for nth := 1; nth <= 20; nth++ {
		out = append(out, scenario.Choice{Answer: sched.Answer{Class: sched.Lag, Site: "watch Secret", Nth: nth, Pick: 1}})
	}
	return out
}

// failing finds the answer to the restart that the operator does not survive.
func failing(t *testing.T, s scenario.Scenario, o run.Options) scenario.Scenario {
	t.Helper()
	base, err := run.Prepare(s, o)
	if err != nil {
		t.Fatal(err)
	}
	for pick := 1; pick < 30; pick++ {
		s.Choices = append(answers(), scenario.Choice{Answer: sched.Answer{Class: sched.Fault, Site: exploretest.Site, Nth: 1, Pick: pick}})
		s.Steps = append(slices.Clip(s.Steps[:1]), steps.AdvanceStep(s.Expect.Settle))
		if r := base.Run(s, o); slices.ContainsFunc(r.Failures, func(f run.Failure) bool { return f.Law == "nothing lost" }) {
			return s
		}
	}
	t.Fatal("no answer breaks the operator")
	return s
}

func TestShrinkKeepsWhatIsNeeded(t *testing.T) {
	o := run.Options{NewOperator: exploretest.Quitter}
	s := failing(t, load(t), o)
	var sizes []Size
	small, size, ok := Shrink(s, Options{Run: o, Law: "nothing lost", Progress: func(s Size) { sizes = append(sizes, s) }})
	if !ok || len(small.Choices) != 1 || small.Choices[0].Site != exploretest.Site {
		t.Errorf("%v: choices %v", ok, small.Choices)
	}
	if len(small.Steps) > 2 || size.Given >= len(s.Given) || size.Given < 2 || len(sizes) < 3 {
		t.Errorf("%d steps, %d of %d objects, progress %v", len(small.Steps), size.Given, len(s.Given), sizes)
	}
	if r := run.One(small, o); !slices.ContainsFunc(r.Failures, func(f run.Failure) bool { return f.Law == "nothing lost" }) {
		t.Errorf("alone it breaks %v", r.Failures)
	}
}

func TestShrinkKeepsTheStory(t *testing.T) {
	o := run.Options{NewOperator: exploretest.Quitter}
	s := failing(t, load(t), o)
	small, _, ok := Shrink(s, Options{Run: o, Law: "nothing lost", KeepStory: true})
	if !ok || len(small.Choices) != 1 || len(small.Steps) != len(s.Steps) || len(small.Given) != len(s.Given) {
		t.Errorf("%v: %d choices, %d steps, %d objects", ok, len(small.Choices), len(small.Steps), len(small.Given))
	}
}

func TestShrinkEndsInTime(t *testing.T) {
	o := run.Options{NewOperator: exploretest.Quitter}
	s := failing(t, load(t), o)
	left := 3
	_, size, ok := Shrink(s, Options{Run: o, Law: "nothing lost", More: func() bool { left--; return left >= 0 }})
	if !ok || size.Runs > 5 {
		t.Errorf("%v after %d runs", ok, size.Runs)
	}
}

func TestNothingToShrink(t *testing.T) {
	if _, _, ok := Shrink(load(t), Options{Run: run.Options{NewOperator: exploretest.Quitter}, Law: "nothing lost"}); ok {
		t.Error("a scenario that breaks nothing was shrunk")
	}
}
