package generate

import (
	"time"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

// restless changes a source all the time, for longer than a settle delay may be drawn
// out.
func (s *story) restless() {
	if !s.seldom(3, "restless") {
		s.burst()
		return
	}
	k := s.someSource()
	gap := max(s.settle(k.namespace)/2, 100*time.Millisecond)
	for i := range 22 + s.below(8, "more changes") {
		c := plainContents[i%len(plainContents)]
		s.try(steps.ApplyStep(scenario.NewResource(k.object(c, k.dress)), ""))
		k.exists, k.content = true, c
		s.at += gap
	}
}

// refusal lets an admission webhook have no restart of a workload, for a while or for good.
func (s *story) refusal() {
	w := s.someWorkload()
	if w == nil {
		return
	}
	s.fail(steps.Fault{Name: faults.Forbidden.Name, Verb: "patch", Kind: w.kind, Times: s.below(4, "times")})
	s.change(s.sourceOf(w), s.otherContent())
	if s.maybe("healed") {
		s.at += pick(s.maker, "refused for", []time.Duration{time.Minute, 6 * time.Minute, time.Hour})
		s.do(steps.HealStep())
	}
}

// failing lets the pods of KICK's restart fail to start, and leaves it so for long or
// takes it back.
func (s *story) failing() {
	w := s.someWorkload()
	if w == nil || !w.exists {
		return
	}
	s.change(s.sourceOf(w), s.otherContent())
	s.at += s.settle(w.namespace) + pick(s.maker, "fails after", []time.Duration{10 * time.Millisecond, time.Millisecond, 300 * time.Millisecond, 2 * time.Second})
	s.roll(w, "failImage", 0)
	w.fails = true
	s.at += pick(s.maker, "fails for", []time.Duration{40 * time.Minute, time.Second, 5 * time.Minute, 3 * time.Hour})
	switch s.below(4, "mended") {
	case 1:
		w.fails = false
		s.roll(w, "fixImage", 0)
	case 2:
		s.roll(w, "undo", 0)
	case 3:
		s.change(s.sourceOf(w), s.otherContent())
	}
}

// closings take back what a policy allowed.
var closings = []map[string]any{
	{"suspend": true}, {"dryRun": true},
	{"schedule": map[string]any{"windows": []any{map[string]any{"type": "Deny", "cron": "* * * * *", "duration": "1m"}}}},
	{"discovery": map[string]any{"workloadSelector": map[string]any{"matchLabels": map[string]any{"app": "nobody"}}}},
}

// takenBack closes a policy while restarts wait for it.
func (s *story) takenBack() {
	w := s.someWorkload()
	if w == nil {
		return
	}
	policy := s.policyOf(w.namespace)
	if policy == nil {
		return
	}
	if s.maybe("a long settle delay") {
		s.patchPolicy(policy, map[string]any{"restart": map[string]any{"settleDelay": "20s"}})
		s.breathe()
	}
	s.change(s.sourceOf(w), s.otherContent())
	s.at += pick(s.maker, "taken back after", []time.Duration{10 * time.Second, 100 * time.Millisecond, time.Second})
	s.close(policy)
}

func (s *story) close(policy *v1alpha1.KickPolicy) {
	s.patchPolicy(policy, pick(s.maker, "closing", closings))
}

// inPlace lets containers restart in place about when a source of theirs changes, and KICK
// come to it only later.
func (s *story) inPlace() {
	w := s.someWorkload()
	if w == nil || !w.exists {
		return
	}
	s.do(steps.PauseStep(pick(s.maker, "paused for", []time.Duration{20 * time.Second, 5 * time.Minute})))
	s.at += time.Second
	gap := pick(s.maker, "between", []time.Duration{time.Second, 10 * time.Millisecond, 4 * time.Second, 20 * time.Second})
	if s.maybe("after the change") {
		s.change(s.sourceOf(w), s.otherContent())
		s.at += gap
		s.roll(w, "crashContainers", 0)
		return
	}
	s.roll(w, "crashContainers", 0)
	s.at += gap
	s.change(s.sourceOf(w), s.otherContent())
}
