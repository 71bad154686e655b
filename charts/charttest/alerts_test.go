package charttest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/corewire/kick/kick/kicktest/installation"
)

// watching is how many minutes Prometheus watches a target for an alert.
const watching = 60

func at(value float64) func(int) float64 { return func(int) float64 { return value } }

// steps is value from a minute on, and nothing before.
func steps(from int, value float64) func(int) float64 {
	return func(minute int) float64 {
		if minute < from {
			return 0
		}
		return value
	}
}

// spell is value from one minute until before another, and nothing else.
func spell(from, until int, value float64) func(int) float64 {
	return func(minute int) float64 { return steps(from, value)(minute) - steps(until, value)(minute) }
}

// alarms are, for each alert, what has to fire it and what comes close and must not. The text
// that is edited is what a running operator serves; that alone fires none.
var alarms = map[string]struct {
	fires, quiet edit
	says         string // part of the summary
}{
	"KickDown": {
		fires: func(_ *testing.T, _ int, text string) (string, bool) { return text, false },
		quiet: func(_ *testing.T, minute int, text string) (string, bool) { return text, minute%9 == 0 },
		says:  "does not run",
	},
	"KickNoLeader": {
		fires: series("leader_election_master_status", nil, at(0)),
		quiet: series("leader_election_master_status", nil, spell(9, watching, 1)),
		says:  "No replica",
	},
	"KickRestartsFail": {
		fires: series("kick_restarts_total", map[string]string{"result": "failed"}, steps(10, 1)),
		quiet: series("kick_restarts_total", map[string]string{"result": "succeeded"}, steps(10, 9)),
		says:  "has failed",
	},
	"KickErrors": {
		fires: failing(func(minute int) float64 { return float64(minute) }),
		quiet: failing(func(minute int) float64 { return float64(min(minute, 9)) }), // over after nine minutes
		says:  "Controller request of KICK keeps failing (Conflict)",
	},
	"KickWaitsLong": {
		fires: series("kick_request_oldest_waiting_seconds", map[string]string{"reason": "OutsideSchedule"}, steps(10, 86401)),
		quiet: series("kick_request_oldest_waiting_seconds", map[string]string{"reason": "OutsideSchedule"}, spell(10, 14, 86401)),
		says:  "(OutsideSchedule)",
	},
	"KickGateUnavailable": {
		fires: series("kick_requests_waiting", map[string]string{"reason": "ConfigurationError"}, steps(10, 1)),
		quiet: series("kick_requests_waiting", map[string]string{"reason": "OutsideSchedule"}, steps(10, 1)),
		says:  "cannot be asked",
	},
}

// failing serves errors of one controller. There is no such series before the first of them.
func failing(value func(minute int) float64) edit {
	const sample = `kick_controller_errors_total{controller="request",reason="Conflict"}`
	set := series("kick_controller_errors_total", map[string]string{"controller": "request", "reason": "Conflict"}, value)
	return func(t *testing.T, minute int, text string) (string, bool) {
		if !strings.Contains(text, sample) {
			text += sample + " 0\n"
		}
		return set(t, minute, text)
	}
}

// alerts has Prometheus judge every alert over what the operator serves: each fires when it
// must, and not otherwise.
func (w *world) alerts(o *installation.Operator) {
	w.t.Helper()
	text := w.metrics(o)
	all, labels := rules(w.t)
	if len(labels) != 2 {
		w.t.Fatalf("the alerts are about a target with %v, want its namespace and job", labels)
	}
	if got, want := slices.Sorted(maps.Keys(all)), slices.Sorted(maps.Keys(alarms)); !slices.Equal(got, want) {
		w.t.Fatalf("the chart has alerts %q, and %q are tried", got, want)
	}
	for name, a := range all {
		for _, c := range []struct {
			when   string
			change edit
			fires  bool
		}{{"as it should", alarms[name].fires, true}, {"close to it", alarms[name].quiet, false}, {"all is well", steady, false}} {
			p := prometheus{Interval: minute, Targets: []target{watched(w.t, labels, text, watching, c.change)}, Queries: []string{a.expr}}
			said, fires := a.fires(w.t, p.answers(w.t)[0])
			if fires != c.fires || !strings.Contains(said, alarms[name].says) && fires {
				w.t.Errorf("%s, %s: fires: %t, want %t; it says %q", name, c.when, fires, c.fires, said)
			}
		}
	}
	gone := prometheus{Interval: minute, Targets: []target{watched(w.t, map[string]string{"job": "other"}, "", watching, steady)}, Queries: []string{all["KickDown"].expr}}
	if _, fires := all["KickDown"].fires(w.t, gone.answers(w.t)[0]); !fires {
		w.t.Error("KickDown does not fire where there is no target")
	}
}

// panels has Prometheus answer every query of the dashboard over what the operator served
// before and after it worked: each answers, with a number.
func (w *world) panels(o *installation.Operator, before string) {
	w.t.Helper()
	_, labels := rules(w.t)
	after := w.metrics(o)
	asked := dashboard(w.t)
	if len(asked) < 6 {
		w.t.Fatalf("only %d queries found: %q", len(asked), asked)
	}
	p := prometheus{Interval: minute, Queries: asked, Targets: []target{watched(w.t, labels, after, 5, func(_ *testing.T, minute int, text string) (string, bool) {
		if minute == 0 {
			return before, true
		}
		return text, true
	})}}
	for i, answers := range p.answers(w.t) {
		numbers := 0
		for _, r := range answers[len(answers)-1] {
			if r.Value != "NaN" {
				numbers++
			}
		}
		if numbers == 0 {
			w.t.Errorf("%s: answers %v", asked[i], answers[len(answers)-1])
		}
	}
}
