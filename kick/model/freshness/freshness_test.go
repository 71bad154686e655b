package freshness_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/kick/model/freshness"
	"github.com/corewire/kick/kick/model/request"
)

// soon is when the looks here are taken.
const soon = 60

// Without pods: the judgement has to be possible before they are listed.
func unlisted(s *model.Snapshot) { s.Pods, s.PodsListed = nil, false }

func live(at float64) build.Option {
	return func(s *model.Snapshot) { s.Dependencies[0].SeenLive = build.At(at) }
}

func TestWhenPodsAreNeeded(t *testing.T) {
	tests := map[string]struct {
		given []build.Option
		now   float64
		need  bool
		want  freshness.State // without pods
	}{
		"nothing changed":                 {now: 60, need: false, want: freshness.Fresh},
		"changed":                         {given: []build.Option{build.Change("B", 0)}, now: 60, need: true, want: freshness.Unknown},
		"changed, revision is younger":    {given: []build.Option{build.Change("B", 0), build.Stamped("x", 5)}, now: 60, need: false, want: freshness.Fresh},
		"changed, revision has stamp":     {given: []build.Option{build.Change("B", 0), build.Stamped("kick", 0.5)}, now: 60, need: false, want: freshness.Fresh},
		"seen live just now":              {given: []build.Option{build.Change("B", 0), live(0.25)}, now: 1.2, need: false, want: freshness.Stale},
		"seen live a second ago":          {given: []build.Option{build.Change("B", 0), live(0.25)}, now: 1.25, need: true, want: freshness.Unknown},
		"seen live in the future":         {given: []build.Option{build.Change("B", 0), live(0.25)}, now: 0.2, need: true, want: freshness.Unknown},
		"seen live while not settled":     {given: []build.Option{build.Change("B", 0), live(0.25), build.Rollout(build.Rolling)}, now: 1, need: true, want: freshness.Unknown},
		"seen live but not on record yet": {given: []build.Option{build.Change("B", -30), live(0.25)}, now: 1, need: true, want: freshness.Unknown},
		"seen live to be healed":          {given: []build.Option{build.Change("B", 0), build.Change("A", 0.5), live(0.75)}, now: 1, need: true, want: freshness.Unknown},
		"no replicas":                     {given: []build.Option{build.Change("B", 0), build.Rollout(func(r *model.Rollout) { r.Replicas = 0 })}, now: 60, need: false, want: freshness.Fresh},
		"no workload":                     {given: []build.Option{func(s *model.Snapshot) { s.Workload = nil }}, now: 60, need: false, want: freshness.Fresh},
		"reads nothing":                   {given: []build.Option{func(s *model.Snapshot) { s.Dependencies = nil }}, now: 60, need: false, want: freshness.Fresh},
		"reads nothing, rolling":          {given: []build.Option{func(s *model.Snapshot) { s.Dependencies = nil }, build.Rollout(build.Rolling)}, now: 60, need: false, want: freshness.Fresh},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := build.Snapshot(append(slices.Clone(tt.given), unlisted)...)
			now := build.At(tt.now)
			if got := freshness.NeedPods(s, now); got != tt.need {
				t.Errorf("NeedPods() = %v, want %v", got, tt.need)
			}
			if got := freshness.Judge(s, now); got.State != tt.want {
				t.Errorf("Judge() without pods = %+v, want state %q", got, tt.want)
			}
		})
	}
}

func TestEvidenceNamesTheNewestMissedChange(t *testing.T) {
	cm := model.Key{Kind: "ConfigMap", Namespace: "shop", Name: "flags"}
	s := build.Snapshot(build.Reads(cm, discover.Use{Container: "app", Env: true}), build.Change("B", 0), func(s *model.Snapshot) {
		r := s.Dependencies[1].Record
		r.History = append(r.History, build.Content("B", 30))
	}, build.Pod("web-1-b", -10))
	got := freshness.Judge(s, build.At(60))
	want := freshness.Evidence{
		State: freshness.Stale, Source: cm, Changed: build.At(30.25), Pod: "web-1-a", Since: build.At(build.Born),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Judge() (-want +got):\n%s", diff)
	}
}

func manual(created, changed float64) build.Option {
	return build.Request(request.Pending, func(r *model.Request) {
		r.Manual, r.Created = true, build.At(created)
		if changed != 0 {
			r.ChangedAt = build.At(changed)
		}
	})
}

// Proves: KICK-FEAT-023.
func TestManualRequest(t *testing.T) {
	judge(t, map[string]row{
		"pods older than the request are stale":  {given: []build.Option{manual(0, 0)}, want: freshness.Stale},
		"pods of its second are stale":           {given: []build.Option{manual(0, 0), build.Pod("web-1-a", 0)}, want: freshness.Stale},
		"younger pods are fresh":                 {given: []build.Option{manual(0, 0), build.Pod("web-1-a", 1)}, want: freshness.Fresh},
		"changedAt counts, not the creation":     {given: []build.Option{manual(0, -100), build.Pod("web-1-a", -50)}, want: freshness.Fresh},
		"kick's answer is fresh":                 {given: []build.Option{manual(0, 0), build.Stamped("kick", 0.5)}, want: freshness.Fresh},
		"a source's change counts as well":       {given: []build.Option{manual(-100, 0), build.Pod("web-1-a", -50), build.Change("B", 0)}, want: freshness.Stale},
		"restarted in place reads nothing known": {given: []build.Option{manual(0, 0), func(s *model.Snapshot) { s.Dependencies = nil }}, want: freshness.Stale},
	})
}

func TestLatest(t *testing.T) {
	t.Run("newest change and every source in scope", func(t *testing.T) {
		at, causes := freshness.Latest(build.Snapshot(build.Change("B", 0)), build.At(soon))
		want := []model.Cause{{Source: build.DB, ChangedAt: build.At(0.25)}}
		if !at.Equal(build.At(0.25)) || !cmp.Equal(want, causes) {
			t.Errorf("Latest() = %v, %v, want %v, %v", at, causes, build.At(0.25), want)
		}
	})
	t.Run("nothing on record", func(t *testing.T) {
		at, causes := freshness.Latest(build.Snapshot(func(s *model.Snapshot) { s.Dependencies = nil }), build.At(soon))
		if !at.IsZero() || len(causes) != 0 {
			t.Errorf("Latest() = %v, %v, want nothing", at, causes)
		}
	})
	t.Run("a source that never existed did not change", func(t *testing.T) {
		never := model.Content{Seal: "absent", Observed: time.Unix(0, 0), Written: time.Unix(0, 0), Baseline: true}
		s := build.Snapshot(build.Reads(build.DB, build.Optional(build.Env())), build.History(never))
		at, causes := freshness.Latest(s, build.At(soon))
		if e := freshness.Judge(s, build.At(soon)); !at.IsZero() || !e.Changed.IsZero() {
			t.Errorf("Latest() = %v, Judge() names %v: nobody saw it begin", at, e.Changed)
		}
		if len(causes) != 0 {
			t.Errorf("Latest() names %v, want no cause", causes)
		}
	})
	t.Run("a manual request is not its own cause", func(t *testing.T) {
		at, causes := freshness.Latest(build.Snapshot(manual(0, 0)), build.At(soon))
		if !at.Equal(build.At(0)) {
			t.Errorf("Latest() = %v, want the time of the request", at)
		}
		for _, c := range causes {
			if c.Source.Kind != "Secret" && c.Source.Kind != "ConfigMap" {
				t.Errorf("Latest() names %s as a cause; a status may name Secrets and ConfigMaps only", c.Source)
			}
		}
	})
}

func TestWantedIsTheOldestWhateverTheOrder(t *testing.T) {
	a := model.Revision{Name: "a", Created: build.At(0), Wanted: true}
	b := model.Revision{Name: "b", Created: build.At(0), Wanted: true}
	young := model.Revision{Name: "young", Created: build.At(5), Wanted: true}
	other := model.Revision{Name: "other", Created: build.At(-5)}
	tests := map[string]struct {
		given []model.Revision
		want  string
	}{
		"oldest":                        {given: []model.Revision{young, other, a}, want: "a"},
		"equally old: by name":          {given: []model.Revision{a, b}, want: "a"},
		"equally old: by name, swapped": {given: []model.Revision{b, a}, want: "a"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := freshness.Wanted(tt.given)
			if got == nil || got.Name != tt.want {
				t.Errorf("Wanted() = %v, want %q", got, tt.want)
			}
		})
	}
	if got := freshness.Wanted([]model.Revision{other}); got != nil {
		t.Errorf("Wanted() = %v, want nil", got)
	}
}

// A pod carries what stood when it was made. Whatever the story, a pod that
// carries something else than what stands now must never be called fresh.
//
// Proves: KICK-FEAT-004, I2.
func TestNeverFreshWithOldContent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := build.Snapshot(build.NoPods)
		type step struct {
			at   int
			seal string
		}
		story := []step{{2 * build.Born, "A"}}
		at := 0
		for range rapid.IntRange(1, 6).Draw(t, "changes") {
			at += rapid.IntRange(1, 20).Draw(t, "gap")
			next := rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "content")
			if next == story[len(story)-1].seal {
				continue
			}
			build.Change(next, float64(at))(s)
			story = append(story, step{at, next})
		}
		made := rapid.IntRange(-30, at+20).Draw(t, "pod made")
		late := rapid.IntRange(0, 10).Draw(t, "container late by")
		build.Pod("web-1-a", float64(made), func(p *model.Pod) { p.Containers[0].StartedAt = build.At(float64(made + late)) })(s)
		s.Revisions = nil
		now := story[len(story)-1].seal
		got := freshness.Judge(s, build.At(float64(at+60)))
		for _, read := range carried(story, func(st step) (int, string) { return st.at, st.seal }, made, made+late) {
			if read != now && got.State == freshness.Fresh {
				t.Fatalf("pod made at %d, started by %d, may carry %s; %s stands now: judged fresh\n%+v", made, made+late, read, now, story)
			}
		}
	})
}

// carried lists every content that stood at some instant in [from, to].
func carried[T any](story []T, of func(T) (int, string), from, to int) []string {
	var all []string
	for i := range story {
		at, seal := of(story[i])
		end := 1 << 30
		if i+1 < len(story) {
			end, _ = of(story[i+1])
		}
		if at <= to && end > from {
			all = append(all, seal)
		}
	}
	return all
}

func TestJudgeChangesNothing(t *testing.T) {
	s := build.Snapshot(build.Change("absent", 0), build.Change("A", 5), build.Change("B", 20))
	before := len(s.Dependencies[0].Record.History)
	known := s.Dependencies[0].Record.History[0].KnownUntil
	freshness.Judge(s, build.At(60))
	if got := s.Dependencies[0].Record.History; len(got) != before || !got[0].KnownUntil.Equal(known) {
		t.Errorf("the record was changed: %+v", got)
	}
}

// written moves the guarded time of the newest content, as when lambda did not move.
func written(at float64) build.Option {
	return func(s *model.Snapshot) {
		h := s.Dependencies[0].Record.History
		h[len(h)-1].Written = build.At(at)
	}
}
