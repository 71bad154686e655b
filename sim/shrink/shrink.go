package shrink

import (
	"maps"
	"slices"

	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
)

// Options says how to shrink.
type Options struct {
	Run run.Options // NewOperator is needed; Chooser must be nil
	Law string      // the law that must stay broken
	// KeepStory leaves steps, given objects and settings as they are: where the law is
	// what the scenario itself expects, of another story other things are to be expected.
	KeepStory bool
	// More reports whether there is time for another run; nil: always.
	More func() bool
	// Progress, if given, is told of every smaller scenario.
	Progress func(Size)
}

// Size is how much a scenario holds.
type Size struct{ Choices, Steps, Given, Runs int }

// shrinker holds the smallest scenario found so far.
type shrinker struct {
	Options
	best scenario.Scenario
	base *run.Base // of the given objects and the world of best
	runs int
}

// Shrink returns the smallest scenario found that breaks the law, and its size. It
// reports false if the scenario itself does not break it.
func Shrink(s scenario.Scenario, o Options) (scenario.Scenario, Size, bool) {
	o.Run.Fast, o.Run.Brief = true, true
	k := &shrinker{Options: o, best: s}
	base, err := run.Prepare(s, o.Run)
	if err != nil {
		return s, k.size(), false
	}
	k.base = base
	if !k.breaks(s, base) {
		k.Run.Brief = false // another law may be broken before
		if !k.breaks(s, base) {
			return s, k.size(), false
		}
	}
	for {
		before := k.size()
		k.choices()
		if !k.KeepStory {
			k.steps()
			k.given()
			k.settings()
		}
		k.picks()
		after := k.size()
		after.Runs = before.Runs
		if after == before || !k.more() {
			return k.best, k.size(), true
		}
	}
}

func (k *shrinker) size() Size {
	return Size{Choices: len(k.best.Choices), Steps: len(k.best.Steps), Given: len(k.best.Given), Runs: k.runs}
}

func (k *shrinker) more() bool { return k.More == nil || k.More() }

// breaks runs a scenario.
func (k *shrinker) breaks(s scenario.Scenario, base *run.Base) bool {
	k.runs++
	r := base.Run(s, k.Run)
	return r.Problem == nil && slices.ContainsFunc(r.Failures, func(f run.Failure) bool { return f.Law == k.Law })
}

// try keeps a smaller scenario with the same given objects and world if it breaks
// the law.
func (k *shrinker) try(s scenario.Scenario) bool {
	return k.more() && k.keep(s, k.base)
}

// rebuild is try for a scenario that gives something else.
func (k *shrinker) rebuild(s scenario.Scenario) bool {
	if !k.more() {
		return false
	}
	base, err := run.Prepare(s, k.Run)
	return err == nil && k.keep(s, base)
}

func (k *shrinker) keep(s scenario.Scenario, base *run.Base) bool {
	if !k.breaks(s, base) {
		return false
	}
	k.best, k.base = s, base
	if k.Progress != nil {
		k.Progress(k.size())
	}
	return true
}

func (k *shrinker) choices() {
	ddmin(k.best.Choices, func(choices []scenario.Choice) bool {
		s := k.best
		s.Choices = choices
		return k.try(s)
	})
}

// picks tries the smaller answers, which are the plainer ones.
func (k *shrinker) picks() {
	for i := range k.best.Choices {
		for pick := 1; pick < k.best.Choices[i].Pick; pick++ {
			s := k.best
			s.Choices = slices.Clone(s.Choices)
			s.Choices[i].Pick = pick
			if k.try(s) {
				break
			}
		}
	}
}

// steps removes steps. What follows a removed one stays at its time as far as that
// was known.
func (k *shrinker) steps() {
	all := k.best.Steps
	numbers := make([]int, len(all))
	for i := range all {
		numbers[i] = i
	}
	ddmin(numbers, func(left []int) bool {
		s := k.best
		s.Steps = only(all, left)
		return k.try(s)
	})
}

// only are the steps with these numbers, at their times.
func only(all []scenario.Step, numbers []int) []scenario.Step {
	var out []scenario.Step
	next := 0
	for i, step := range all {
		if next < len(numbers) && numbers[next] == i {
			next++
			out = append(out, step)
			continue
		}
		if !step.AtSet && i+1 < len(all) && !all[i+1].AtSet {
			all = slices.Clone(all)
			all[i+1].After += step.After
		}
	}
	return out
}

func (k *shrinker) given() {
	ddmin(k.best.Given, func(given []scenario.Resource) bool {
		s := k.best
		s.Given = given
		return k.rebuild(s)
	})
}

// settings sets what differs from its default back to it, one by one.
func (k *shrinker) settings() {
	for _, name := range slices.Sorted(maps.Keys(k.best.Operator.Flags)) {
		s := k.best
		s.Operator.Flags = maps.Clone(s.Operator.Flags)
		delete(s.Operator.Flags, name)
		k.rebuild(s)
	}
	for _, domain := range clock.Domains {
		if k.best.World.ClockSkew[domain] == 0 {
			continue
		}
		s := k.best
		s.World.ClockSkew = maps.Clone(s.World.ClockSkew)
		delete(s.World.ClockSkew, domain)
		k.rebuild(s)
	}
	for _, plain := range plainer {
		s := k.best
		if plain(&s) {
			k.rebuild(s)
		}
	}
}

// plainer are settings with a default; each reports whether it changed anything.
var plainer = []func(*scenario.Scenario) bool{
	func(s *scenario.Scenario) bool { return set(&s.Operator.Replicas, 1) },
	func(s *scenario.Scenario) bool { return set(&s.Operator.StartAt, 0) },
	func(s *scenario.Scenario) bool { return set(&s.World.PodStart, scenario.DefaultPodStart) },
	func(s *scenario.Scenario) bool { return set(&s.World.KubeletCacheLag, 0) },
	func(s *scenario.Scenario) bool { return set(&s.Start, scenario.DefaultStart) },
	func(s *scenario.Scenario) bool { return set(&s.Seed, scenario.DefaultSeed) },
	func(s *scenario.Scenario) bool { return set(&s.Expect.Settle, scenario.DefaultSettle) },
	mustSucceed,
}

// mustSucceed lets no step fail any more.
func mustSucceed(s *scenario.Scenario) bool {
	changed := false
	s.Steps = slices.Clone(s.Steps)
	for i := range s.Steps {
		changed = set(&s.Steps[i].MayFail, false) || changed
	}
	return changed
}

func set[T comparable](field *T, value T) bool {
	changed := *field != value
	*field = value
	return changed
}
