package syncwindow_test

import (
	"strings"
	"testing"
	"time"

	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/gitops/syncwindow"
)

// row is a case with the answer Argo CD gives. The windows go through the field names
// of an AppProject, so that those are tested, too.
type row struct {
	name    string
	windows []any
	target  syncwindow.Target // zero: application shop, namespace shop, the in-cluster server
	now     string            // empty: noon
	want    string            // open, closed, or what the invalid window's message must contain
	until   string            // the next change; empty: not asked, never: none
}

// noon is a Monday.
const noon = "2026-03-02T12:00:00.5Z"

type option func(map[string]any)

// w is a window on every application, unless an option selects.
func w(kind, schedule, duration string, options ...option) any {
	m := map[string]any{"kind": kind, "schedule": schedule, "duration": duration}
	for _, o := range options {
		o(m)
	}
	for _, selector := range []string{"applications", "clusters", "namespaces"} {
		if _, selects := m[selector]; selects {
			return m
		}
	}
	m["applications"] = []any{"*"}
	return m
}

func set(key string, value any) option { return func(m map[string]any) { m[key] = value } }

func list(key string) func(...string) option {
	return func(patterns ...string) option {
		all := make([]any, len(patterns))
		for i, p := range patterns {
			all[i] = p
		}
		return set(key, all)
	}
}

var (
	apps       = list("applications")
	clusters   = list("clusters")
	namespaces = list("namespaces")
	and        = set("andOperator", true)
	manual     = set("manualSync", true)
)

func zone(name string) option { return set("timeZone", name) }

func windows(all ...any) []any { return all }

// Windows around noon: one that is active and one that is not.
func during(kind string, o ...option) any { return w(kind, "0 11 * * *", "2h", o...) }
func aside(kind string, o ...option) any  { return w(kind, "0 1 * * *", "1h", o...) }

func (r *row) state(t *testing.T) syncwindow.State {
	t.Helper()
	f := gitops.Read("AppProject argocd/shop", map[string]any{"spec": map[string]any{"syncWindows": r.windows}})
	read := syncwindow.Read(f, "spec", "syncWindows")
	if f.Err() != nil {
		t.Fatal(f.Err())
	}
	target := r.target
	if target == (syncwindow.Target{}) {
		target = syncwindow.Target{Application: "shop", Namespace: "shop", Server: "https://kubernetes.default.svc"}
	}
	now := r.now
	if now == "" {
		now = noon
	}
	return syncwindow.At(read, target, at(t, now))
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func (r *row) run(t *testing.T) {
	got := r.state(t)
	switch r.want {
	case "open", "closed":
		if got.Invalid != "" {
			t.Fatalf("invalid: %s, want %s", got.Invalid, r.want)
		}
		if got.Open != (r.want == "open") {
			t.Errorf("%s, want %s", got, r.want)
		}
	default:
		if got.Open || !strings.Contains(got.Invalid, r.want) || !strings.HasPrefix(got.Invalid, "AppProject argocd/shop: spec.syncWindows[") {
			t.Errorf("open %v, invalid %q, want closed with %q", got.Open, got.Invalid, r.want)
		}
	}
	switch r.until {
	case "":
	case "never":
		if !got.Until.IsZero() {
			t.Errorf("until %v, want none", got.Until)
		}
	default:
		if want := at(t, r.until); !got.Until.Equal(want) || got.AtLeast {
			t.Errorf("until %s (at least: %v), want %s", got.Until.Format(time.RFC3339Nano), got.AtLeast, r.until)
		}
	}
}

// TestTable holds the answers against what is known of Argo CD.
//
// Proves: KICK-FEAT-012.
func TestTable(t *testing.T) {
	groups := map[string][]row{
		"combinations": combinations, "edges": edges, "kinds": kinds, "durations": durations,
		"schedules": schedules, "invalid": invalid, "zones": zones, "daylight saving": daylight,
		"selectors": selectors, "and": conjunctions, "globs": globs,
	}
	rows := 0
	for group, all := range groups {
		rows += len(all)
		names := map[string]bool{}
		for i := range all {
			if names[all[i].name] {
				t.Errorf("%s has two rows named %q", group, all[i].name)
			}
			names[all[i].name] = true
			t.Run(group+"/"+all[i].name, all[i].run)
		}
	}
	if rows < 150 {
		t.Errorf("%d rows, the table shrank", rows)
	}
	t.Logf("%d rows", rows)
}

// TestTheMachinesZoneDoesNotMatter: LoadLocation and the cron parser both know a local
// zone, and neither may count.
func TestTheMachinesZoneDoesNotMatter(t *testing.T) {
	local := time.Local
	t.Cleanup(func() { time.Local = local })
	time.Local = time.FixedZone("elsewhere", 5*60*60)
	for _, all := range [][]row{zones, schedules, edges} {
		for i := range all {
			t.Run(all[i].name, all[i].run)
		}
	}
}
