package decide_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
)

// second draws an instant around Start, near it more often than far from it.
func second(t *rapid.T, what string) float64 {
	if rapid.IntRange(0, 9).Draw(t, what+" is far") == 0 {
		return rapid.Float64Range(-1e5, 1e5).Draw(t, what)
	}
	return float64(rapid.IntRange(-300, 300).Draw(t, what)) / 10
}

func some[T any](t *rapid.T, what string, values ...T) T {
	return values[rapid.IntRange(0, len(values)-1).Draw(t, what)]
}

func maybe(t *rapid.T, what string) bool { return rapid.IntRange(0, 3).Draw(t, what) == 0 }

// anySnapshot is as wild as a cluster can be read: caches that disagree, clocks
// that stepped, statuses that lag.
func anySnapshot(t *rapid.T) *model.Snapshot {
	s := build.Snapshot()
	anySources(t, s)
	anyWorkload(t, s)
	anyPods(t, s)
	anyPolicies(t, s)
	s.Provider = some(t, "provider",
		model.Gate{Open: true}, model.Gate{Open: true}, model.Gate{Open: true},
		model.Gate{Reason: request.OwnerUnknown}, model.Gate{Reason: request.OwnerOutOfSync, WakeAt: build.At(50)}, model.Gate{Reason: request.ProviderUnavailable})
	if rapid.Bool().Draw(t, "has request") {
		anyRequest(t, s)
	}
	if maybe(t, "workload gone") {
		s.Workload, s.Pods, s.Revisions = nil, nil, nil
	}
	return s
}

func anySources(t *rapid.T, s *model.Snapshot) {
	use := build.Env()
	if rapid.Bool().Draw(t, "volume") {
		use = build.Volume()
	}
	if maybe(t, "optional") {
		use = build.Optional(use)
	}
	build.Reads(build.DB, use)(s)
	at := second(t, "first content")
	build.History(build.Baseline("A", at))(s)
	for range rapid.IntRange(0, 3).Draw(t, "changes") {
		at += float64(rapid.IntRange(1, 100).Draw(t, "gap")) / 10
		build.Change(some(t, "content", "A", "B", "absent"), at)(s)
	}
	d := &s.Dependencies[0]
	d.InScope = !maybe(t, "out of scope")
	d.Source.Present = !maybe(t, "missing")
	if maybe(t, "seen live") {
		d.SeenLive = build.At(second(t, "live"))
	}
	if maybe(t, "no record") {
		d.Record = nil
	}
}

func anyWorkload(t *rapid.T, s *model.Snapshot) {
	if maybe(t, "stamped") {
		build.Stamped(some(t, "manager", "kick", "kick", "kubectl-rollout", ""), second(t, "stamp"))(s)
	}
	s.Workload.Deleting = rapid.IntRange(0, 20).Draw(t, "deleting") == 0
	s.Workload.Created = build.At(second(t, "workload created"))
	s.Revisions[0].Created = build.At(second(t, "revision created")).Truncate(time.Second)
	if maybe(t, "revision unknown") {
		s.Revisions[0].Wanted = false
	}
	r := model.Rollout{
		Observed: !maybe(t, "not observed"), Replicas: int32(rapid.IntRange(0, 2).Draw(t, "replicas")),
		Rolling: maybe(t, "rolling"), DeadlineExceeded: maybe(t, "deadline"), Paused: maybe(t, "paused"),
		OnDelete: maybe(t, "on delete"), Detail: "detail",
	}
	r.Rolling = r.Rolling || !r.Observed
	r.Complete = !r.Rolling && !maybe(t, "unavailable")
	if maybe(t, "partitioned") && !r.OnDelete {
		r.Partition = 1
	}
	s.Workload.Rollout = r
}

func anyPods(t *rapid.T, s *model.Snapshot) {
	s.Pods = nil
	for i := range rapid.IntRange(0, 3).Draw(t, "pods") {
		build.Pod(fmt.Sprint("pod-", i), second(t, "pod created"), func(p *model.Pod) {
			p.Revision = some(t, "pod revision", "web-1", "web-2", "")
			p.Ordinal = some(t, "ordinal", int32(-1), 0, 1)
			p.Running = !maybe(t, "not running")
			p.Pending = !p.Running && rapid.Bool().Draw(t, "pending")
			if maybe(t, "restarted") {
				p.Containers[0].Restarted, p.Containers[0].FinishedAt = true, build.At(second(t, "finished"))
			}
			if maybe(t, "no containers") {
				p.Containers = nil
			}
		})(s)
	}
	s.PodsListed = !maybe(t, "not listed")
	if !s.PodsListed {
		s.Pods = nil
	}
}

func anyPolicies(t *rapid.T, s *model.Snapshot) {
	p := &s.Policies[0]
	p.Suspended, p.DryRun = maybe(t, "suspended"), maybe(t, "dry run")
	p.SettleDelay = some(t, "settle", 0, 0, time.Second, 30*time.Second, time.Hour)
	p.MinInterval = some(t, "interval", 0, 0, 30*time.Second, time.Hour)
	if maybe(t, "shut") {
		shutFor(time.Hour)(p)
	}
	if maybe(t, "no policy") {
		s.Policies = nil
	} else if maybe(t, "two policies") {
		twoPolicies(s)
	}
}

func anyRequest(t *rapid.T, s *model.Snapshot) {
	phase := some(t, "phase", append([]request.Phase{""}, request.Phases...)...)
	build.Request(phase, func(r *model.Request) {
		r.Created = build.At(second(t, "request created")).Truncate(time.Second)
		if phase == "" {
			return
		}
		r.Status.OpenedAt = build.At(second(t, "opened"))
		r.Status.LatestChange = build.At(second(t, "latest"))
		if phase == request.Executing || maybe(t, "had a rollout") {
			r.Status.RolloutStart = build.At(second(t, "rollout start"))
			if s.Workload.Stamp.ByKick() && rapid.Bool().Draw(t, "of the stamp that stands") {
				r.Status.RolloutStart = s.Workload.Stamp.At
			}
		}
		if phase.Terminal() {
			r.Status.CompletedAt = build.At(second(t, "completed"))
		}
	})(s)
	if maybe(t, "by hand") {
		s.Request.Manual = true
		if rapid.Bool().Draw(t, "has changedAt") {
			s.Request.ChangedAt = build.At(second(t, "changedAt"))
		}
	}
}

// Proves: KICK-FEAT-006.
func TestEveryVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, now := anySnapshot(t), build.At(second(t, "now"))
		v := decide.Decide(s, now)
		if !v.Valid() {
			t.Fatalf("%s (%+v) waits without a wake-up", v.Phase, v.Decisive)
		}
		if again := decide.Decide(s, now); !cmp.Equal(v.Status, again.Status) || v.Action != again.Action || !v.WakeAt.Equal(again.WakeAt) || !slices.Equal(v.WakeOn, again.WakeOn) {
			t.Fatalf("the same snapshot gives %+v and %+v", v, again)
		}
		if s.Request != nil && v.Action == decide.Status {
			checkStatus(t, s, &v)
		}
		if v.Action == decide.Stamp {
			checkStamp(t, s, v.StampAt, now)
		}
		if s.Workload == nil && (v.Action == decide.Stamp || v.Action == decide.Open) {
			t.Fatalf("%s without a workload", v.Action)
		}
	})
}

func checkStatus(t *rapid.T, s *model.Snapshot, v *decide.Verdict) {
	was, is := s.Request.Status, v.Status
	switch {
	case is.Phase != v.Phase:
		t.Fatalf("verdict %s writes phase %s", v.Phase, is.Phase)
	case !request.Legal(was.Phase, is.Phase):
		t.Fatalf("%s -> %s (%s) is not legal", was.Phase, is.Phase, is.Reason)
	case is.Reason == "":
		t.Fatalf("phase %s without a reason", is.Phase)
	case is.LatestChange.Before(was.LatestChange):
		t.Fatalf("latest change went back from %v to %v", was.LatestChange, is.LatestChange)
	case is.Phase.Terminal() == is.CompletedAt.IsZero():
		t.Fatalf("phase %s, completed at %v", is.Phase, is.CompletedAt)
	case !is.RequeueAt.IsZero() && !is.Phase.Waiting():
		t.Fatalf("phase %s has a time to look again: %v", is.Phase, is.RequeueAt)
	case is.OpenedAt.IsZero():
		t.Fatalf("phase %s was never opened", is.Phase)
	case is.Phase == request.Executing && is.RolloutStart.IsZero():
		t.Fatalf("executing no rollout: %+v", is)
	}
	for _, c := range is.Causes {
		if c.Source.Kind != "Secret" && c.Source.Kind != "ConfigMap" {
			t.Fatalf("cause %s is no source", c.Source)
		}
	}
}

func checkStamp(t *rapid.T, s *model.Snapshot, stamp, now time.Time) {
	if stamp.Before(now) || !stamp.Equal(stamp.Truncate(time.Microsecond)) || stamp.Location() != time.UTC {
		t.Fatalf("stamp %v at %v: want UTC microseconds, not before now", stamp, now)
	}
	if !stamp.After(s.Workload.Stamp.At) {
		t.Fatalf("stamp %v is not later than the one that stands, %v", stamp, s.Workload.Stamp.At)
	}
	if !stamp.After(s.Request.OpenedAt(build.Allowance)) {
		t.Fatalf("stamp %v is not later than the opening, %v", stamp, s.Request.OpenedAt(build.Allowance))
	}
	for _, d := range s.Dependencies {
		if d.Record == nil || !d.InScope {
			continue
		}
		if h := d.Record.HistoryFor(d.Required()); len(h) > 0 && stamp.Before(h[len(h)-1].Observed) {
			t.Fatalf("stamp %v is before the change observed %v", stamp, h[len(h)-1].Observed)
		}
	}
}

// A pass that finds nothing new writes nothing: its own write wakes it, and a
// status that depended on now would be written for ever.
func TestAStatusIsWrittenOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, now := anySnapshot(t), build.At(second(t, "now"))
		if s.Request == nil {
			return
		}
		v := decide.Decide(s, now)
		if v.Action != decide.Status {
			return
		}
		s.Request.Status = v.Status
		then := now.Add(time.Duration(rapid.IntRange(0, 200).Draw(t, "later")) * time.Millisecond)
		again := decide.Decide(s, then)
		if again.Action != decide.Status || again.Phase != v.Phase || again.Decisive.Reason != v.Decisive.Reason {
			return // something else has come up
		}
		if !again.Status.Equal(v.Status) {
			t.Fatalf("nothing happened, yet the status is written again (-first +second):\n%s", cmp.Diff(v.Status, again.Status))
		}
	})
}

// Whatever the clock did, a wait that the clock ends is over after its own length
// and the allowance.
func TestNoWaitIsLongerThanItsLength(t *testing.T) {
	tests := map[string]struct {
		given  func(begin float64) []build.Option
		reason request.Reason
		length time.Duration
	}{
		"settling": {
			given: func(begin float64) []build.Option {
				return []build.Option{build.With(func(p *model.Policy) { p.SettleDelay = 10 * time.Minute }), func(s *model.Snapshot) {
					s.Dependencies[0].Record.History[1].Observed = build.At(begin)
					s.Request.Status.OpenedAt = build.At(begin)
				}}
			},
			reason: request.Settling, length: 10 * time.Minute,
		},
		"interval": {
			given: func(begin float64) []build.Option {
				return []build.Option{build.With(func(p *model.Policy) { p.MinInterval = 10 * time.Minute }), lastRestart(begin)}
			},
			reason: request.RateLimited, length: 10 * time.Minute,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				now := 10 * time.Second
				begin := rapid.Float64Range(-2000, 5000).Draw(t, "begin")
				s := blocked(tt.given(begin)...)
				limit := now + tt.length + build.Allowance
				for {
					v := decide.Decide(s, build.At(now.Seconds()))
					if v.Decisive.Reason != tt.reason || v.Action == decide.Stamp || v.Phase.Terminal() {
						return
					}
					if now > limit {
						t.Fatalf("still %s (%s) after %v, begun at %v", v.Phase, v.Decisive.Reason, now, begin)
					}
					if v.WakeAt.IsZero() {
						t.Fatalf("%s (%s) waits for no time", v.Phase, v.Decisive.Reason)
					}
					now = max(v.WakeAt.Sub(build.Start), now+time.Millisecond)
				}
			})
		})
	}
}

// A rollout whose begin lies in the future, because the clock stepped, has only
// begun: it is not failed, and it is looked at again after its timeout at most.
func TestATimeoutAfterAClockStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		begin := rapid.Float64Range(1, 50000).Draw(t, "begin")
		s := executing(build.Stamped("kick", begin), build.Request(request.Executing, stampedAt(begin)), build.Rollout(build.Rolling), build.NoPods)
		v := decide.Decide(s, build.At(1))
		if v.Phase != request.Executing || v.WakeAt.IsZero() || v.WakeAt.After(build.At(1).Add(s.Settings.RolloutTimeout)) {
			t.Fatalf("%s, wake at %v", v.Phase, v.WakeAt)
		}
	})
}

func TestDecideChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, now := anySnapshot(t), build.At(second(t, "now"))
		before := fmt.Sprintf("%+v %+v %+v", s, s.Request, s.Workload)
		for _, d := range s.Dependencies {
			before += fmt.Sprintf("%+v", d.Record)
		}
		decide.Decide(s, now)
		decide.NeedPods(s, now)
		after := fmt.Sprintf("%+v %+v %+v", s, s.Request, s.Workload)
		for _, d := range s.Dependencies {
			after += fmt.Sprintf("%+v", d.Record)
		}
		if before != after {
			t.Fatalf("the snapshot was changed:\n%s\n%s", before, after)
		}
	})
}
