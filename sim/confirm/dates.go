package confirm

import (
	"fmt"
	"slices"
	"time"

	"github.com/corewire/kick/kick/model/schedule"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

// Scenarios play at a date of their own. What they say of dates - the windows of
// policies, times in objects and patterns - moves with them: windows are written
// anew, as the stretches of time in which the gate is open, in UTC and with a date.

// stretch is a time in which a gate is open.
type stretch struct{ from, to time.Time }

const (
	// mostStretches is how often a gate may open in a scenario; more do not fit into
	// a policy.
	mostStretches = 60
	// always is a duration longer than any scenario.
	always = 400 * time.Hour
)

// windowsOf reads the windows of a policy; nil where there are none.
func windowsOf(r scenario.Resource) (windows []any, parsed schedule.Schedule, ok bool) {
	spec, _ := r.Data["spec"].(map[string]any)
	plan, _ := spec["schedule"].(map[string]any)
	windows, _ = plan["windows"].([]any)
	if r.GVK.Kind != "KickPolicy" || len(windows) == 0 {
		return nil, parsed, false
	}
	var list []schedule.Window
	for _, item := range windows {
		w, _ := item.(map[string]any)
		cron, _ := w["cron"].(string)
		length, _ := w["duration"].(string)
		zone, _ := w["timeZone"].(string)
		d, _ := time.ParseDuration(length)
		list = append(list, schedule.Window{Deny: w["type"] == "Deny", Cron: cron, Duration: d, TimeZone: zone})
	}
	parsed, err := schedule.Parse(list)
	return windows, parsed, err == nil
}

// stretches lists when a gate is open between two instants.
func stretches(s schedule.Schedule, from, to time.Time) []stretch {
	var out []stretch
	for t := from; t.Before(to) && len(out) <= mostStretches; {
		state := s.At(t)
		end := state.Until
		if end.IsZero() || end.After(to) {
			end = t.Add(always)
		}
		if state.Open {
			out = append(out, stretch{t, end})
		}
		t = end
	}
	return out
}

// objectsOf lists all objects a scenario writes.
func objectsOf(s scenario.Scenario) []scenario.Resource {
	out := slices.Clone(s.Given)
	for _, step := range s.Steps {
		out = append(out, steps.ActOf(step).Objects...)
	}
	return out
}

// anyPattern reports that something a step writes or looks for is as asked.
func anyPattern(s scenario.Scenario, is func(scenario.Resource) bool) bool {
	return slices.ContainsFunc(objectsOf(s), is) || slices.ContainsFunc(s.Steps, func(step scenario.Step) bool {
		pattern := steps.ActOf(step).Pattern
		return pattern.Data != nil && is(pattern)
	})
}

// edges lists, from t=0, when any gate of a scenario opens or shuts.
func edges(s scenario.Scenario, length time.Duration) []time.Duration {
	var out []time.Duration
	for _, r := range objectsOf(s) {
		if _, windows, ok := windowsOf(r); ok {
			for _, w := range stretches(windows, s.Start, s.Start.Add(length)) {
				out = append(out, w.from.Sub(s.Start), w.to.Sub(s.Start))
			}
		}
	}
	return slices.DeleteFunc(out, func(d time.Duration) bool { return d > length })
}

// rewindowed writes the windows of a policy as the stretches in which its gate is
// open, each moved in time.
func rewindowed(r scenario.Resource, start time.Time, length time.Duration, moved func(time.Time) time.Time) scenario.Resource {
	_, parsed, ok := windowsOf(r)
	if !ok {
		return r
	}
	var windows []any
	for _, w := range stretches(parsed, start, start.Add(length)) {
		from := w.from
		if from.Equal(start) {
			from = start.Truncate(time.Minute).Add(-time.Hour) // it was open already
		}
		windows = append(windows, window(moved(from), moved(w.to).Sub(moved(from))))
	}
	if windows == nil {
		windows = append(windows, window(start.Add(-always).Truncate(time.Minute), time.Minute)) // it opens never
	}
	return changed(r, func(data map[string]any) {
		data["spec"].(map[string]any)["schedule"] = map[string]any{"windows": windows}
	})
}

func window(from time.Time, length time.Duration) map[string]any {
	from = from.UTC()
	cron := fmt.Sprintf("%d %d %d %d *", from.Minute(), from.Hour(), from.Day(), from.Month())
	return map[string]any{"type": "Allow", "cron": cron, "duration": length.String()}
}

// stampLayouts are the forms in which times stand in objects.
var stampLayouts = []string{"2006-01-02T15:04:05.000000Z07:00", time.RFC3339Nano, time.RFC3339}

// redated moves every time in an object or a pattern.
func redated(r scenario.Resource, moved func(time.Time) time.Time) scenario.Resource {
	if !dated(r) {
		return r
	}
	return changed(r, func(data map[string]any) { redate(data, moved) })
}

func redate(v any, moved func(time.Time) time.Time) any {
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			v[k] = redate(item, moved)
		}
	case []any:
		for i, item := range v {
			v[i] = redate(item, moved)
		}
	case string:
		for _, layout := range stampLayouts {
			if t, err := time.Parse(layout, v); err == nil && t.Format(layout) == v {
				return moved(t).UTC().Format(layout)
			}
		}
	}
	return v
}

// dated reports that an object speaks of a date.
func dated(r scenario.Resource) bool {
	found := false
	redate(deepCopy(r.Data), func(t time.Time) time.Time { found = true; return t })
	return found
}

// shifted moves an object of the scenario by the distance of two dates. Windows are
// those that rewindowed wrote.
func shifted(r scenario.Resource, start time.Time, by time.Duration) scenario.Resource {
	r = redated(r, func(t time.Time) time.Time { return t.Add(by) })
	windows, _, ok := windowsOf(r)
	if !ok {
		return r
	}
	var out []any
	for _, item := range windows {
		w, _ := item.(map[string]any)
		var minute, hour, day, month int
		cron, _ := w["cron"].(string)
		if _, err := fmt.Sscanf(cron, "%d %d %d %d *", &minute, &hour, &day, &month); err != nil {
			return r
		}
		length, _ := time.ParseDuration(w["duration"].(string))
		from := time.Date(start.Year(), time.Month(month), day, hour, minute, 0, 0, time.UTC)
		switch far := from.Sub(start); { // the year is that of the nearest such date
		case far > 4000*time.Hour:
			from = from.AddDate(-1, 0, 0)
		case far < -4000*time.Hour:
			from = from.AddDate(1, 0, 0)
		}
		out = append(out, window(from.Add(by), length))
	}
	return changed(r, func(data map[string]any) {
		data["spec"].(map[string]any)["schedule"] = map[string]any{"windows": out}
	})
}
