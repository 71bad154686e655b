package explore

import (
	"slices"

	"github.com/corewire/kick/sim/generate"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
	"github.com/corewire/kick/sim/steps"
)

// Written is what a schedule plays as a scenario that stands for itself: with the
// answers that are not plain, and with the crashes as steps. Where there are two
// crashes several scenarios may be meant, the likeliest first.
func (r *Runner) Written(s Schedule, choices []sched.Choice) []scenario.Scenario {
	c := s.choosers()
	if choices != nil {
		replay := sched.NewReplay(choices)
		c = choosers{replay, replay, replay}
	}
	rest := &sched.Recorder{From: c.rest}
	c.rest = rest
	r.base = nil
	r.play(s, c)
	out := r.played
	for _, answer := range sched.Deviations(rest.Choices) {
		out.Choices = append(slices.Clip(out.Choices), scenario.Choice{Answer: answer})
	}
	return crashSteps(out, s.Crashes)
}

// crashSteps writes crashes as steps: the first one counts from t=0; when the next
// one has to be asked for is not known, so every place is offered.
func crashSteps(s scenario.Scenario, crashes []Crash) []scenario.Scenario {
	if len(crashes) == 0 {
		return []scenario.Scenario{s}
	}
	s.Steps = slices.Insert(slices.Clone(s.Steps), 0, steps.CrashAtWriteStep(crashes[0].Write, crashes[0].Landed))
	if len(crashes) == 1 {
		return []scenario.Scenario{s}
	}
	var out []scenario.Scenario
	for at := 1; at <= len(s.Steps); at++ {
		for n := 1; n <= crashes[1].Write-crashes[0].Write; n++ {
			again := s
			again.Steps = slices.Insert(slices.Clone(s.Steps), at, steps.CrashAtWriteStep(n, crashes[1].Landed))
			out = append(out, again)
		}
	}
	return out
}

// Breaks reports whether a scenario that stands for itself breaks a law.
func (r *Runner) Breaks(s scenario.Scenario, law string) bool {
	result := guarded(s, func() run.Result { return run.One(s, r.Options) })
	return result.Problem == nil && slices.ContainsFunc(result.Failures, func(f run.Failure) bool { return f.Law == law })
}

// Scenario is what a schedule plays, with its steps, before anything is chosen.
func (r *Runner) Scenario(s Schedule) scenario.Scenario {
	if s.Scenario != nil {
		return *s.Scenario
	}
	c := s.choosers()
	world := generate.World(c.world)
	world.Steps = generate.Story(c.story, world)
	return world
}
