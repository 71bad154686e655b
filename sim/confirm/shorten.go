package confirm

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

const (
	// idleLeft is how much idle time stays before a step: more than the clock allowance,
	// and enough for a real cluster to come to rest as well.
	idleLeft = 7 * time.Second
	// least is the length below which nothing is divided: shorter ones are about
	// seconds and fractions of them, which have a meaning of their own.
	least = 10 * time.Second
)

// scale is what the lengths of a scenario are divided by. Deadlines that it does not
// name keep their defaults unless it is about them: a real rollout takes its time.
type scale struct {
	by        int
	deadlines bool
}

// scales are those tried, in this order.
var scales = []scale{{1, false}, {6, false}, {6, true}, {60, false}, {60, true}, {600, false}, {600, true}, {3600, false}, {3600, true}}

// cut takes out time in which nothing happens: of each stretch between two places
// in time, what goes beyond idleLeft after the last write. Whole seconds only, so
// that fractions stay what they are, and whole minutes where gates open and shut,
// which cron can do at those only. quiet tells, by step, before which ones the
// cluster was at rest.
func cut(s scenario.Scenario, p prediction) (short scenario.Scenario, quiet []bool) {
	horizon := p.length + s.Expect.Settle
	places := edges(s, horizon)
	unit := time.Second
	if len(places) > 0 {
		unit = time.Minute
	}
	places = append(places, 0, s.Operator.StartAt)
	for _, step := range s.Steps {
		if step.AtSet {
			places = append(places, step.At)
		}
	}
	c := newCut(places, p.writes, unit)
	at := func(t time.Time) time.Time { return t.Add(-c.before(t.Sub(s.Start))) }
	object := func(r scenario.Resource) scenario.Resource {
		return redated(rewindowed(r, s.Start, horizon, at), at)
	}
	short = s
	short.Operator.StartAt -= c.before(s.Operator.StartAt)
	short.Given = each(s.Given, object)
	short.Steps = slices.Clone(s.Steps)
	quiet = make([]bool, len(s.Steps))
	for i, step := range s.Steps {
		step = steps.Rewritten(step, object, func(d time.Duration) time.Duration { return d })
		if step.AtSet {
			quiet[i] = c.idle(step.At) && (p.waiting || !p.starting(step.At))
			step.At -= c.before(step.At)
		}
		short.Steps[i] = step
	}
	return short, quiet
}

// cutTimes is how much time is taken out before each place in time.
type cutTimes struct {
	places []time.Duration
	taken  []time.Duration
	rested []bool
}

func newCut(places, writes []time.Duration, unit time.Duration) cutTimes {
	slices.Sort(places)
	c := cutTimes{places: slices.Compact(places)}
	var sum time.Duration
	for i, to := range c.places {
		last := time.Duration(0)
		if i > 0 {
			last = c.places[i-1]
		}
		for _, w := range writes {
			if w < to {
				last = max(last, w)
			}
		}
		sum += max(to-last-idleLeft, 0).Truncate(unit)
		c.taken, c.rested = append(c.taken, sum), append(c.rested, to-last >= 3*time.Second)
	}
	return c
}

// before is what is taken out before an instant.
func (c cutTimes) before(d time.Duration) time.Duration {
	i, found := slices.BinarySearch(c.places, d)
	if !found {
		i--
	}
	if i < 0 {
		return 0
	}
	return c.taken[i]
}

// idle reports that the cluster was at rest before a place in time.
func (c cutTimes) idle(d time.Duration) bool {
	i, found := slices.BinarySearch(c.places, d)
	return found && c.rested[i]
}

// divided divides every length of a scenario by a factor: places in time, waits,
// the paces of policies, the deadlines of rollouts and KICK's own.
func divided(s scenario.Scenario, to scale) scenario.Scenario {
	if to.by == 1 {
		return s
	}
	shorter := func(d time.Duration) time.Duration { return shorter(d, to.by) }
	s.Operator.StartAt = shorter(s.Operator.StartAt)
	s.Operator.Flags = maps.Clone(s.Operator.Flags)
	if s.Operator.Flags == nil {
		s.Operator.Flags = map[string]string{}
	}
	for flag, standard := range map[string]string{"rollout-timeout": "15m", "request-retention": "24h"} {
		value := s.Operator.Flags[flag]
		if value == "" && to.deadlines {
			value = standard
		}
		if d, err := time.ParseDuration(value); err == nil {
			s.Operator.Flags[flag] = shorter(d).String()
		}
	}
	object := func(r scenario.Resource) scenario.Resource {
		if to.deadlines {
			r = withDeadline(r)
		}
		return dividedObject(r, shorter)
	}
	s.Given = each(s.Given, object)
	s.Steps = slices.Clone(s.Steps)
	var before, at time.Duration // the place of the step before, then and now
	for i, step := range s.Steps {
		if step.AtSet {
			at += shorter(step.At - before)
			before, step.At = step.At, at
		}
		step.After = shorter(step.After)
		s.Steps[i] = steps.Rewritten(step, object, shorter)
	}
	return s
}

func each(list []scenario.Resource, change func(scenario.Resource) scenario.Resource) []scenario.Resource {
	out := make([]scenario.Resource, 0, len(list))
	for _, r := range list {
		out = append(out, change(r))
	}
	return out
}

// shorter divides a length, but never below least.
func shorter(d time.Duration, by int) time.Duration {
	if d <= least {
		return d
	}
	return max(least, (d / time.Duration(by)).Round(time.Millisecond))
}

// deadline is progressDeadlineSeconds where a Deployment does not say.
const deadline = 600

// withDeadline writes the default deadline of a Deployment down, so that it can be
// divided.
func withDeadline(r scenario.Resource) scenario.Resource {
	spec, _ := r.Data["spec"].(map[string]any)
	if _, whole := spec["selector"]; r.GVK.Kind != "Deployment" || !whole || spec["progressDeadlineSeconds"] != nil {
		return r
	}
	return changed(r, func(data map[string]any) {
		data["spec"].(map[string]any)["progressDeadlineSeconds"] = int64(deadline)
	})
}

// dividedObject divides the lengths of a policy or a workload that are given.
func dividedObject(r scenario.Resource, shorter func(time.Duration) time.Duration) scenario.Resource {
	seconds := func(v any) any {
		if n, ok := v.(int64); ok {
			return int64(shorter(time.Duration(n)*time.Second).Round(time.Second) / time.Second)
		}
		return v
	}
	length := func(v any) any {
		text, _ := v.(string)
		if d, err := time.ParseDuration(text); err == nil {
			return shorter(d).String()
		}
		return v
	}
	var place []string
	change := map[string]func(any) any{"minReadySeconds": seconds, "progressDeadlineSeconds": seconds}
	switch r.GVK.Kind {
	case "KickPolicy":
		place = []string{"spec", "restart"}
		change = map[string]func(any) any{"settleDelay": length, "minInterval": length}
	case "Deployment", "StatefulSet", "DaemonSet":
		place = []string{"spec"}
	default:
		return r
	}
	return changed(r, func(data map[string]any) {
		for _, field := range place {
			data, _ = data[field].(map[string]any)
		}
		for field, v := range data {
			if f := change[field]; f != nil {
				data[field] = f(v)
			}
		}
	})
}

// changed is a resource with its data changed; the typed object follows.
func changed(r scenario.Resource, change func(map[string]any)) scenario.Resource {
	r.Data = deepCopy(r.Data)
	change(r.Data)
	raw, err := json.Marshal(r.Data)
	if err != nil {
		return r // it was plain data and still is
	}
	r.JSON = raw
	fresh, err := scenario.Scheme.New(r.GVK)
	if object, ok := fresh.(client.Object); ok && err == nil && json.Unmarshal(raw, object) == nil {
		r.Object = object
	}
	return r
}

func deepCopy(data map[string]any) map[string]any { return runtime.DeepCopyJSON(data) }
