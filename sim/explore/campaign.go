package explore

import (
	"context"
	"regexp"
	"runtime"
	"slices"
	"sync"

	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
)

// Campaign is a search for schedules that break a law.
type Campaign struct {
	Options   run.Options // NewOperator is needed; Chooser is replaced
	Profile   Profile     // default ProfileMix
	Scenarios []scenario.Scenario
	First     uint64 // the first seed
	Seeds     uint64 // how many; 0: until the context ends
	Pairs     int    // ProfileCrash: how many of the shortest scenarios get every pair of crashes
	Depth     int    // ProfileExhaustive: how many deviations are combined; default 2
	KeepGoing bool   // do not stop at the first failure
	Workers   int    // default: one per core
	// Progress, if given, is told how far the campaign is, from one goroutine.
	Progress func(Summary)
}

// Finding is a schedule that broke a law.
type Finding struct {
	Schedule Schedule
	Failure  run.Failure
}

// Site is a place of a fault: what happened to which call. Calls that went plainly
// count as faults.None.
type Site struct{ Fault, Call string }

// Summary is what a campaign came to.
type Summary struct {
	Schedules   uint64
	Transitions uint64            // events run, from t=0 on
	Failed      uint64            // schedules that broke a law
	Findings    []Finding         // the first schedule for each law and way to break it
	Skipped     uint64            // schedules whose own steps came too late for what went wrong before
	Sites       map[Site]uint64   // how often each fault met each call
	Marks       map[string]uint64 // how often each Sometimes mark of the product was reached
	Problem     *scenario.Problem // a file that cannot be run; nothing after it has been
	Stages      []Stage           // the parts of the plan, and how far each came
	cut         bool              // the context ended a part
}

// Run explores until the plan or the context ends, or something is found. It hands
// out each new way to break a law, in the order of the plan.
func (c *Campaign) Run(ctx context.Context, found func(Finding)) Summary {
	if c.Profile == "" {
		c.Profile = ProfileMix
	}
	mark.Reset()
	mark.Count(true)
	defer mark.Count(false)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	total := Summary{Sites: map[Site]uint64{}, Marks: map[string]uint64{}, Stages: c.stages()}
	known := map[string]bool{}
	for part := range c.parts(ctx) {
		for _, f := range total.merge(part, known) {
			found(f)
		}
		if total.Problem != nil || total.Failed > 0 && !c.KeepGoing {
			break
		}
		if c.Progress != nil {
			c.Progress(total)
		}
	}
	for i, count := range mark.Counts() {
		total.Marks[mark.All()[i].Name] = count
	}
	return total
}

// parts are the outcomes of the units, in the order of the units. Workers that are
// still busy when the loop is left are waited for.
func (c *Campaign) parts(ctx context.Context) func(yield func(part) bool) {
	return func(yield func(part) bool) {
		ctx, stop := context.WithCancel(ctx)
		workers := c.Workers
		if workers <= 0 {
			workers = runtime.GOMAXPROCS(0)
		}
		jobs := make(chan job)
		order := make(chan job, 4*workers) // bounds what waits for an earlier unit
		var running sync.WaitGroup
		for range workers {
			running.Go(func() {
				for j := range jobs {
					j.done <- c.work(ctx, j.unit)
				}
			})
		}
		running.Go(func() {
			defer close(order)
			defer close(jobs)
			for u := range c.units(ctx) {
				j := job{u, make(chan part, 1)}
				select {
				case <-ctx.Done():
					return
				case order <- j:
				}
				jobs <- j
			}
		})
		more := true
		for j := range order {
			part := <-j.done
			if more && !yield(part) {
				more = false
				stop()
			}
		}
		stop()
		running.Wait()
	}
}

type job struct {
	unit unit
	done chan part
}

// work runs one unit.
func (c *Campaign) work(ctx context.Context, u unit) part {
	part := part{Summary: Summary{Sites: map[Site]uint64{}}, stage: u.stage, each: u.each}
	runner := &Runner{Options: c.Options}
	runner.Options.Fast, runner.Options.Brief = true, true
	runner.Options.Hit = func(call, fault string) { part.Sites[Site{fault, call}]++ }
	known := map[string]bool{}
	u.play(runner, func(s Schedule, answers sched.Chooser) bool {
		if part.cut = ctx.Err() != nil; part.cut {
			return false
		}
		part.take(s, runner.Run(s, answers), known)
		if u.each {
			part.items++
		}
		return part.Problem == nil && (part.Failed == 0 || c.KeepGoing)
	})
	part.items += u.items
	return part
}

// part is what a unit came to.
type part struct {
	Summary
	stage int
	items uint64 // of the stage, that are done with it
	each  bool   // as many as there were schedules
	cut   bool   // the context ended it
}

// take adds the outcome of a schedule.
func (s *Summary) take(schedule Schedule, r run.Result, known map[string]bool) {
	if r.Problem != nil {
		if schedule.perturbed() {
			s.Skipped++
			return
		}
		s.Problem = r.Problem
		return
	}
	s.Schedules++
	s.Transitions += r.Events
	if len(r.Failures) == 0 {
		return
	}
	s.Failed++
	for _, f := range r.Failures {
		if key := kind(schedule, f); !known[key] {
			known[key] = true
			s.Findings = append(s.Findings, Finding{schedule, f})
		}
	}
}

// merge adds a part and returns the findings that are new.
func (s *Summary) merge(part part, known map[string]bool) []Finding {
	s.Schedules += part.Schedules
	s.Transitions += part.Transitions
	s.Failed += part.Failed
	s.Skipped += part.Skipped
	s.Problem = part.Problem
	if s.cut = s.cut || part.cut; part.each || !s.cut { // what ends with a later part lacks one now
		s.Stages[part.stage].Done += part.items
	}
	for site, count := range part.Sites {
		s.Sites[site] += count
	}
	var fresh []Finding
	for _, f := range part.Findings {
		if key := kind(f.Schedule, f.Failure); !known[key] {
			known[key] = true
			fresh = append(fresh, f)
		}
	}
	s.Findings = append(s.Findings, fresh...)
	return fresh
}

var names = regexp.MustCompile(`[a-z0-9][a-z0-9.-]*/|[a-z0-9.-]*[0-9][a-z0-9.:-]*`)

// kind is equal for failures of one law that break it in one way: names, times and
// numbers are left out. Where it is a scenario that wants something, each counts.
func kind(s Schedule, f run.Failure) string {
	kind := f.Law + ": " + names.ReplaceAllString(f.Message, "")
	if s.Scenario != nil && Expectation(f.Law) {
		kind = s.Scenario.Name + ": " + kind
	}
	return kind
}

// Unreached are the marks that no schedule reached, in alphabetical order.
func (s Summary) Unreached() []string {
	var out []string
	for name, count := range s.Marks {
		if count == 0 {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
