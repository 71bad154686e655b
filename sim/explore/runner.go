package explore

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/corewire/kick/sim/generate"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
	"github.com/corewire/kick/sim/steps"
)

// Runner runs schedules, one after another. Schedules that play in one world, or in
// one scenario, share its roll-out, so they should come in a row. It must not be
// used by two goroutines.
type Runner struct {
	Options run.Options

	base   *run.Base
	world  scenario.Scenario // what the base was prepared from
	source *scenario.Scenario
	seed   uint64            // of the world, where there is no source
	played scenario.Scenario // with its steps, in the last run
	life                     // of the operator, in the last run of a scenario without a seed
	unmet  string            // what the last schedule asked for and never came
}

// choosers answer for a schedule: what the world is made of, what happens in it, and
// what those leave open.
type choosers struct{ world, story, rest sched.Chooser }

func (s Schedule) choosers() choosers {
	return choosers{sched.NewSeeded(worldOf(s.Seed)), sched.NewSeeded(s.Seed), s.chooser()}
}

// Run runs a schedule. Where answers is not nil, it answers what world and story
// leave open instead of the schedule's own chooser.
func (r *Runner) Run(s Schedule, answers sched.Chooser) run.Result {
	c := s.choosers()
	if answers != nil {
		c.rest = answers
	}
	return r.play(s, c)
}

// Unmet says what the last schedule asked for and never came about, a crash or an
// answer, and what there was instead; empty where it was played as it stands. A run
// that a broken law ended early may not have come to it.
func (r *Runner) Unmet() string { return r.unmet }

// Record runs a schedule and notes all its choices, those that made the world and
// its story included.
func (r *Runner) Record(s Schedule) (run.Result, []sched.Choice) {
	c := s.choosers()
	world, story, rest := &sched.Recorder{From: c.world}, &sched.Recorder{From: c.story}, &sched.Recorder{From: c.rest}
	r.base = nil
	result := r.play(s, choosers{world, story, rest})
	return result, slices.Concat(world.Choices, story.Choices, rest.Choices)
}

// Replay runs a schedule by recorded choices and says which one diverged first.
func (r *Runner) Replay(s Schedule, choices []sched.Choice) (run.Result, string) {
	replay := sched.NewReplay(choices)
	r.base = nil
	result := r.play(s, choosers{replay, replay, replay})
	return result, replay.Diverged()
}

func (r *Runner) play(s Schedule, c choosers) run.Result {
	if err := r.enter(s, c.world); err != nil {
		return unusable(s, r.world, err)
	}
	r.life = life{}
	options := r.Options
	options.Chooser = c.rest
	if !s.Seeded || len(s.Crashes) > 0 {
		options.NewOperator = withCrashes(options.NewOperator, s.Crashes, &r.life)
	}
	play := r.world
	if s.generated() {
		play.Steps = generate.Story(c.story, r.world)
	} else if s.perturbed() {
		play = s.lenient(play)
	}
	r.played = play
	result := guarded(play, func() run.Result { return r.base.Run(play, options) })
	r.unmet = r.life.unmet(s.Crashes)
	if picks, ok := c.rest.(*sched.Picks); ok && r.unmet == "" {
		r.unmet = picks.Unmet()
	}
	if !s.generated() && s.perturbed() {
		result.Failures = slices.DeleteFunc(slices.Clone(result.Failures), r.forgiven)
	}
	return result
}

// enter prepares the world of a schedule where the runner is not in it yet.
func (r *Runner) enter(s Schedule, world sched.Chooser) error {
	seed := worldOf(s.Seed)
	if r.base != nil && r.source == s.Scenario && (!s.generated() || r.seed == seed) {
		return nil
	}
	r.base, r.source, r.seed = nil, s.Scenario, seed
	if s.generated() {
		r.world = generate.World(world)
	} else {
		r.world = *s.Scenario
	}
	base, err := run.Prepare(r.world, r.Options)
	r.base = base
	return err
}

// perturbed reports that more happens than the scenario itself says.
func (s Schedule) perturbed() bool { return s.Seeded || len(s.Crashes) > 0 || len(s.Picks) > 0 }

// lenient lets steps of a scenario fail: what they wait for may come later when
// more goes wrong than the scenario says. Half of the time to settle comes before
// the end of all faults, so that things go wrong in it, too. How often KICK restarts
// is left to the laws where a seed decides what goes wrong. After a crash less may be
// right, because a change that falls into the first seconds of a life is found and
// not seen; and one more for each crash, because KICK cannot know of a restart that
// it did not live to see and somebody took back meanwhile.
func (s Schedule) lenient(play scenario.Scenario) scenario.Scenario {
	half := play.Expect.Settle / 2
	play.Expect.Settle -= half
	list := make([]scenario.Step, 0, len(play.Steps)+1)
	for _, step := range append(slices.Clip(play.Steps), steps.AdvanceStep(half)) {
		step.MayFail = true
		list = append(list, step)
	}
	play.Steps = list
	play.Expect.Requests = nil
	if s.Seeded || len(s.Picks) > 0 {
		play.Expect.AnyRestarts, play.Expect.Restarts = true, nil
		return play
	}
	most := make(map[string]scenario.Range, len(play.Expect.Restarts))
	for workload, wanted := range play.Expect.Restarts {
		if wanted.Max >= 0 {
			wanted.Max += len(s.Crashes)
		}
		most[workload] = scenario.Range{Min: 0, Max: wanted.Max}
	}
	play.Expect.Restarts = most
	return play
}

// forgiven are failures that do not count where more goes wrong than the scenario
// says: steps that failed, and a number of restarts if KICK died before the first
// step. It may then adopt what it finds after that step, and date it as it must.
func (r *Runner) forgiven(f run.Failure) bool {
	return f.Law == lawSteps || f.Law == lawRestarts && r.crashed.Before(r.begin())
}

// begin is when the first step of the scenario is due.
func (r *Runner) begin() time.Time {
	if len(r.world.Steps) == 0 {
		return r.world.Start
	}
	first := r.world.Steps[0]
	return r.world.Start.Add(first.At + first.After)
}

// Laws that say what one scenario expects, by the names that their packages give them.
const (
	lawSteps    = "steps"
	lawRestarts = "restarts as expected"
	lawRequests = "requests end as expected"
)

// Expectation reports whether a law is what a scenario itself expects, and not true
// of every cluster.
func Expectation(law string) bool {
	return law == lawSteps || law == lawRestarts || law == lawRequests
}

// guarded turns a panic of the operator into a failure of the schedule.
func guarded(s scenario.Scenario, play func() run.Result) (result run.Result) {
	defer func() {
		if cause := recover(); cause != nil {
			result = run.Result{Scenario: s, Failures: []run.Failure{{
				Law: LawPanic, Message: fmt.Sprintf("%v, at %s", cause, panicSite(string(debug.Stack()))), At: s.Start,
			}}}
		}
	}()
	return play()
}

// LawPanic is broken by an operator that panics.
const LawPanic = "no panic"

// panicSite is the innermost place of KICK's own code on a stack.
func panicSite(stack string) string {
	_, after, _ := strings.Cut(stack, "panic(")
	for line := range strings.SplitSeq(after, "\n") {
		line = strings.TrimSpace(line)
		if _, place, found := strings.Cut(line, "/kick/kick/"); found && strings.Contains(line, ".go:") {
			place, _, _ = strings.Cut(place, " ")
			return "kick/" + place
		}
	}
	return "a place outside of KICK"
}

// unusable is a world that cannot be set up.
func unusable(s Schedule, world scenario.Scenario, err error) run.Result {
	at := world.At
	if s.generated() {
		return run.Result{Scenario: world, Failures: []run.Failure{{Law: LawUsable, Message: err.Error(), At: world.Start}}}
	}
	return run.Result{Scenario: world, Problem: &scenario.Problem{Position: at, Message: err.Error()}}
}

// LawUsable is broken by a generated world that the API server refuses.
const LawUsable = "generated worlds are usable"
