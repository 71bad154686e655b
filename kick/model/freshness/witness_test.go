package freshness_test

import (
	"testing"
	"time"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/kick/model/freshness"
	"github.com/corewire/kick/kick/model/request"
)

// row is one case of a judgement: what differs from the quiet workload of package
// build, and what the evidence says then, a minute after Start.
type row struct {
	given []build.Option
	want  freshness.State
}

func judge(t *testing.T, tests map[string]row) {
	t.Helper()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := build.Snapshot(tt.given...)
			if got := freshness.Judge(s, build.At(60)); got.State != tt.want {
				t.Errorf("Judge() = %+v, want state %q", got, tt.want)
			}
		})
	}
}

func restarted(startedAt, finishedAt float64) func(*model.Pod) {
	return func(p *model.Pod) {
		p.Containers[0].Restarted = true
		p.Containers[0].StartedAt = build.At(startedAt).Truncate(time.Second)
		p.Containers[0].FinishedAt = build.At(finishedAt).Truncate(time.Second)
	}
}

func pending(p *model.Pod) {
	p.Running, p.Pending, p.ReadySince = false, true, time.Time{}
	p.Containers[0].StartedAt = time.Time{}
}

func gone(p *model.Pod) { p.Running, p.Pending = false, false }

func ordinal(n int32) func(*model.Pod) { return func(p *model.Pod) { p.Ordinal = n } }

// Proves: KICK-FEAT-004, I1.
func TestCreationOfThePod(t *testing.T) {
	base := func(at float64) build.Option { return build.History(build.Baseline("A", at)) }
	pod := func(at float64) build.Option { return build.Pod("web-1-a", at) }
	judge(t, map[string]row{
		"quiet":                                           {want: freshness.Fresh},
		"older than the change is stale":                  {given: []build.Option{build.Change("B", 0)}, want: freshness.Stale},
		"later second than the change is fresh":           {given: []build.Option{build.Change("B", 0), pod(1)}, want: freshness.Fresh},
		"the change's own second is not proven":           {given: []build.Option{build.Change("B", 0), pod(0)}, want: freshness.Stale},
		"older than the baseline is stale":                {given: []build.Option{base(0)}, want: freshness.Stale},
		"the baseline's own second is fresh":              {given: []build.Option{base(0), pod(0)}, want: freshness.Fresh},
		"later second than the baseline is fresh":         {given: []build.Option{base(0), pod(1)}, want: freshness.Fresh},
		"one stale pod among fresh ones makes it stale":   {given: []build.Option{build.Change("B", 0), pod(10), build.Pod("web-1-b", -5)}, want: freshness.Stale},
		"written later than lambda says: allowance added": {given: []build.Option{build.Change("B", 0), written(5.25), pod(5)}, want: freshness.Stale},
		"written later than lambda says, pod later still": {given: []build.Option{build.Change("B", 0), written(5.25), pod(6)}, want: freshness.Fresh},
	})
}

func TestRestartInPlace(t *testing.T) {
	both := []discover.Use{build.Env(), build.Volume()}
	judge(t, map[string]row{
		"env is read again": {
			given: []build.Option{build.Change("B", 0), build.Pod("web-1-a", build.Born, restarted(20, 19))},
			want:  freshness.Fresh,
		},
		"env: the end of the former run may lie by the allowance off": {
			given: []build.Option{build.Change("B", 0), build.Pod("web-1-a", build.Born, restarted(20, 5))},
			want:  freshness.Stale,
		},
		"env: one second beyond the allowance": {
			given: []build.Option{build.Change("B", 0), build.Pod("web-1-a", build.Born, restarted(20, 6))},
			want:  freshness.Fresh,
		},
		"env: the start alone proves nothing": {
			given: []build.Option{build.Change("B", 0), build.Pod("web-1-a", build.Born, restarted(20, -1))},
			want:  freshness.Stale,
		},
		"a volume may lag behind": {
			given: []build.Option{build.Reads(build.DB, build.Volume()), build.Change("B", 0), build.Pod("web-1-a", build.Born, restarted(20, 19))},
			want:  freshness.Stale,
		},
		"env and volume: the volume decides": {
			given: []build.Option{build.Reads(build.DB, both...), build.Change("B", 0), build.Pod("web-1-a", build.Born, restarted(20, 19))},
			want:  freshness.Stale,
		},
		"env, and a volume that no container of the template mounts: an injected one may": {
			given: []build.Option{
				build.Reads(build.DB, build.Env(), discover.Use{Volume: true, Optional: true}), build.Change("B", 0),
				build.Pod("web-1-a", build.Born, restarted(20, 19)),
			},
			want: freshness.Stale,
		},
		"another container restarted": {
			given: []build.Option{build.Change("B", 0), build.Pod("web-1-a", build.Born, func(p *model.Pod) {
				p.Containers = append(p.Containers, model.Container{Name: "proxy", Restarted: true, StartedAt: build.At(20), FinishedAt: build.At(19)})
			})},
			want: freshness.Stale,
		},
		"the container that was not restarted decides": {
			given: []build.Option{
				build.Reads(build.DB, build.Env(), discover.Use{Container: "proxy", Env: true}), build.Change("B", 0),
				build.Pod("web-1-a", build.Born, func(p *model.Pod) {
					p.Containers = append(p.Containers, model.Container{Name: "proxy", Restarted: true, StartedAt: build.At(20), FinishedAt: build.At(19)})
				}),
			},
			want: freshness.Stale,
		},
		"a container that does not read the source does not count": {
			given: []build.Option{
				build.Change("B", 0),
				build.Pod("web-1-a", build.Born, restarted(20, 19), func(p *model.Pod) {
					p.Containers = append(p.Containers, model.Container{Name: "proxy", StartedAt: build.At(build.Born)})
				}),
			},
			want: freshness.Fresh,
		},
	})
}

// TestPodOfAnotherTemplate: a pod whose own template does not refer to a source carries
// nothing of it, whatever the workload's template says by now.
func TestPodOfAnotherTemplate(t *testing.T) {
	refers := func(sources ...model.Key) func(*model.Pod) {
		return func(p *model.Pod) { p.Sources = sources }
	}
	other := model.Key{Kind: "ConfigMap", Namespace: build.DB.Namespace, Name: build.DB.Name}
	judge(t, map[string]row{
		"refers to the source":   {given: []build.Option{build.Change("B", 0), build.Pod("web-1-a", build.Born, refers(other, build.DB))}, want: freshness.Stale},
		"refers to another only": {given: []build.Option{build.Change("B", 0), build.Pod("web-1-a", build.Born, refers(other))}, want: freshness.Fresh},
		"refers to nothing":      {given: []build.Option{build.Change("B", 0), build.Pod("web-1-a", build.Born, refers([]model.Key{}...))}, want: freshness.Fresh},
		"a person asked":         {given: []build.Option{build.Request(request.Pending, func(r *model.Request) { r.Manual, r.ChangedAt = true, build.At(0) }), build.Pod("web-1-a", build.Born, refers(other))}, want: freshness.Stale},
	})
}

func TestCreationOfTheRevision(t *testing.T) {
	unlisted := func(s *model.Snapshot) { s.Pods, s.PodsListed = nil, false }
	revision := func(at float64) build.Option {
		return func(s *model.Snapshot) { s.Revisions[0].Created = build.At(at).Truncate(time.Second) }
	}
	judge(t, map[string]row{
		"later second proves it without pods":      {given: []build.Option{build.Change("B", 0), revision(1), unlisted}, want: freshness.Fresh},
		"same second proves nothing":               {given: []build.Option{build.Change("B", 0), revision(0), unlisted}, want: freshness.Unknown},
		"same second at baseline":                  {given: []build.Option{build.History(build.Baseline("A", 0)), revision(0), unlisted}, want: freshness.Fresh},
		"not while rolling":                        {given: []build.Option{build.Change("B", 0), revision(1), build.Rollout(build.Rolling), unlisted}, want: freshness.Unknown},
		"not before the generation is observed":    {given: []build.Option{build.Change("B", 0), revision(1), build.Rollout(func(r *model.Rollout) { r.Observed = false }), unlisted}, want: freshness.Unknown},
		"not with OnDelete":                        {given: []build.Option{build.Change("B", 0), revision(1), build.Rollout(func(r *model.Rollout) { r.OnDelete = true }), unlisted}, want: freshness.Unknown},
		"not with a partition":                     {given: []build.Option{build.Change("B", 0), revision(1), build.Rollout(func(r *model.Rollout) { r.Partition = 1 }), unlisted}, want: freshness.Unknown},
		"not while no revision is the wanted one":  {given: []build.Option{build.Change("B", 0), revision(1), func(s *model.Snapshot) { s.Revisions[0].Wanted = false }, unlisted}, want: freshness.Unknown},
		"raises the witness of its pods":           {given: []build.Option{build.Change("B", 0), revision(1), build.Rollout(build.Rolling)}, want: freshness.Fresh},
		"does not raise that of another's pods":    {given: []build.Option{build.Change("B", 0), revision(1), build.Pod("web-0-a", build.Born, func(p *model.Pod) { p.Revision = "web-0" }), build.Rollout(build.Rolling)}, want: freshness.Stale},
		"older revision, younger pods (rollback)":  {given: []build.Option{build.Change("B", 0), build.Pod("web-1-a", 5)}, want: freshness.Fresh},
		"older revision, pods not listed: unknown": {given: []build.Option{build.Change("B", 0), unlisted}, want: freshness.Unknown},
	})
}

// Proves: KICK-FEAT-004, I6.
func TestKicksStamp(t *testing.T) {
	// The pod of a restart is made within a second, so its creation alone would not
	// prove it: only the stamp does.
	judge(t, map[string]row{
		"of kick, later than observed":          {given: []build.Option{build.Change("B", 0), build.Stamped("kick", 0.5)}, want: freshness.Fresh},
		"of kick, equal to observed":            {given: []build.Option{build.Change("B", 0), build.Stamped("kick", 0.25)}, want: freshness.Fresh},
		"of kick, earlier than observed":        {given: []build.Option{build.Change("B", 0), build.Stamped("kick", 0.1)}, want: freshness.Stale},
		"of somebody else":                      {given: []build.Option{build.Change("B", 0), build.Stamped("kubectl-rollout", 0.5)}, want: freshness.Stale},
		"of nobody":                             {given: []build.Option{build.Change("B", 0), build.Stamped("", 0.5)}, want: freshness.Stale},
		"of somebody else, pod later":           {given: []build.Option{build.Change("B", 0), build.Stamped("kubectl-rollout", 1)}, want: freshness.Fresh},
		"of somebody else, in the future":       {given: []build.Option{build.Change("B", 0), build.Stamped("kubectl-rollout", 0.1), stampAt(3600)}, want: freshness.Stale},
		"in place but the pod is of the former": {given: []build.Option{build.Change("B", 0), build.Stamped("kick", 0.5), build.Pod("web-1-a", build.Born), build.Rollout(build.Rolling)}, want: freshness.Stale},
		"revision older than the write: clock stepped": {
			given: []build.Option{build.Change("B", 0), build.Stamped("kick", 0.5), func(s *model.Snapshot) { s.Revisions[1].Created = build.At(-1) }},
			want:  freshness.Stale,
		},
		"covers what could not be dated (a key was removed)": {
			given: []build.Option{build.Change("B", 0), written(5.25), build.Stamped("kick", 0.5)},
			want:  freshness.Fresh,
		},
	})
}

func stampAt(at float64) build.Option {
	return func(s *model.Snapshot) { s.Workload.Stamp.At = build.At(at) }
}

func TestFirstAppearance(t *testing.T) {
	absent := model.Content{Seal: "absent", Observed: build.At(-60), Written: time.Unix(0, 0), LastWrite: time.Unix(0, 0), Baseline: true}
	appears := func(at float64) build.Option { return build.History(absent, build.Content("A", at)) }
	waited := func(started float64) build.Option {
		return build.Pod("web-1-a", -30, func(p *model.Pod) { p.Containers[0].StartedAt = build.At(started).Truncate(time.Second) })
	}
	optional := build.Reads(build.DB, build.Optional(build.Env()))
	left := build.Content("absent", -60)
	judge(t, map[string]row{
		"required: a pod that waited for it read it":        {given: []build.Option{appears(0), waited(2)}, want: freshness.Fresh},
		"required: in the very second of its creation":      {given: []build.Option{appears(0), waited(0)}, want: freshness.Fresh},
		"required: started before it: an older incarnation": {given: []build.Option{appears(0), waited(-1)}, want: freshness.Stale},
		"required: restarted in place, first start unknown": {
			given: []build.Option{appears(0), build.Pod("web-1-a", -30, restarted(2, 1))}, want: freshness.Stale,
		},
		"required: also read by a container that started earlier": {
			given: []build.Option{
				build.Reads(build.DB, build.Env(), discover.Use{Container: "proxy", Env: true}), appears(0),
				build.Pod("web-1-a", -30, func(p *model.Pod) {
					p.Containers[0].StartedAt = build.At(2)
					p.Containers = append(p.Containers, model.Container{Name: "proxy", StartedAt: build.At(-20)})
				}),
			},
			want: freshness.Stale,
		},
		"required: beside a container that does not read it and started earlier": {
			given: []build.Option{appears(0), build.Pod("web-1-a", -30, func(p *model.Pod) {
				p.Containers[0].StartedAt = build.At(2)
				p.Containers = append(p.Containers, model.Container{Name: "proxy", StartedAt: build.At(-20)})
			})},
			want: freshness.Fresh,
		},
		"required: also read by a container that still waits for it": {
			given: []build.Option{
				build.Reads(build.DB, build.Env(), discover.Use{Container: "proxy", Env: true}), appears(0),
				build.Pod("web-1-a", -30, func(p *model.Pod) {
					p.Containers[0].StartedAt = build.At(2)
					p.Containers = append(p.Containers, model.Container{Name: "proxy"})
				}),
			},
			want: freshness.Fresh,
		},
		"required, and in an optional volume that an injected container may mount": {
			given: []build.Option{build.Reads(build.DB, build.Env(), discover.Use{Volume: true, Optional: true}), appears(0), waited(2)},
			want:  freshness.Stale,
		},
		"required: appeared, and was changed before KICK looked": {
			given: []build.Option{build.History(absent, model.Content{Seal: "unseen", Observed: build.At(0), Written: build.At(-1), LastWrite: build.At(-1)}, build.Content("A", 0.1)), waited(2)},
			want:  freshness.Stale,
		},
		"required: appeared and came back to that within a second": {
			given: []build.Option{build.History(absent, build.Content("A", 0), build.Content("B", 0.3), build.Content("A", 0.6)), waited(2)},
			want:  freshness.Stale,
		},
		"required, and mounted as optional besides: the volume was there before": {
			given: []build.Option{build.Reads(build.DB, build.Env(), build.Optional(build.Volume())), appears(0), waited(2)}, want: freshness.Stale,
		},
		"required, and optional in the environment besides": {
			given: []build.Option{build.Reads(build.DB, build.Env(), build.Optional(build.Env())), appears(0), waited(2)}, want: freshness.Fresh,
		},
		"optional: a pod that started without it is stale": {given: []build.Option{optional, appears(0), waited(-20)}, want: freshness.Stale},
		"optional: its start proves nothing":               {given: []build.Option{optional, appears(0), waited(2)}, want: freshness.Stale},
		"optional: a pod made later is fresh":              {given: []build.Option{optional, appears(0), build.Pod("web-1-a", 1)}, want: freshness.Fresh},
		"optional: gone again, pods still carry it":        {given: []build.Option{optional, build.Change("absent", 0)}, want: freshness.Stale},
		"required: gone is no change":                      {given: []build.Option{build.Change("absent", 0)}, want: freshness.Fresh},
		"required: re-created with equal content":          {given: []build.Option{build.Change("absent", 0), build.Change("A", 5)}, want: freshness.Fresh},
		"required: re-created with other content":          {given: []build.Option{build.Change("absent", 0), build.Change("B", 5)}, want: freshness.Stale},
		"required: re-created with other content, pod waited long enough": {
			given: []build.Option{build.Change("absent", 0), build.Change("B", 5), waited(10)}, want: freshness.Fresh,
		},
		"required: re-created, start within the allowance may be late news": {
			given: []build.Option{build.Change("absent", 0), build.Change("B", 5), waited(9)}, want: freshness.Stale,
		},
		"required: found as it was created, the pod had waited for it": {
			given: []build.Option{build.History(absent, build.Baseline("A", 0)), waited(8)}, want: freshness.Fresh,
		},
		"required: found as it was created, the pod ran before": {
			given: []build.Option{build.History(absent, build.Baseline("A", 0)), waited(-8)}, want: freshness.Stale,
		},
		"optional: found as it was created, the pod ran without it": {
			given: []build.Option{optional, build.History(absent, build.Baseline("A", 0)), waited(8)}, want: freshness.Stale,
		},
		"never existed":           {given: []build.Option{build.History(absent)}, want: freshness.Fresh},
		"optional: never existed": {given: []build.Option{optional, build.History(absent)}, want: freshness.Fresh},
		"optional: re-created with equal content, pod from before": {
			given: []build.Option{optional, build.Pod("web-1-a", -1800), build.History(build.Baseline("A", -7200), left, build.Content("A", 0))}, want: freshness.Stale,
		},
	})
}

func TestContentHistory(t *testing.T) {
	drift := []build.Option{build.Change("B", 0), build.Change("A", 20)}
	with := func(more ...build.Option) []build.Option { return append(append([]build.Option{}, drift...), more...) }
	evicted := func(s *model.Snapshot) {
		r := s.Dependencies[0].Record
		r.History = r.History[1:]
	}
	judge(t, map[string]row{
		"A B A: pods of the first A are fresh":     {given: drift, want: freshness.Fresh},
		"A B A: a pod of B is stale":               {given: with(build.Pod("web-1-a", 10)), want: freshness.Stale},
		"A B A: a pod of the second A is fresh":    {given: with(build.Pod("web-1-a", 21)), want: freshness.Fresh},
		"A B A: started just before B, not proven": {given: with(build.Pod("web-1-a", -7)), want: freshness.Stale},
		"A B A: started well before B":             {given: with(build.Pod("web-1-a", -8)), want: freshness.Fresh},
		"A B A: re-read during B":                  {given: with(build.Pod("web-1-a", build.Born, restarted(10, 9))), want: freshness.Stale},
		"A B A: crashed during B, not up again yet": {given: with(build.Pod("web-1-a", build.Born, func(p *model.Pod) {
			p.Containers[0] = model.Container{Name: "app", Restarted: true, FinishedAt: build.At(10)}
		})), want: freshness.Stale},
		"A B A, the first A evicted": {given: with(evicted), want: freshness.Stale},
		"A B C: nothing of A counts": {given: []build.Option{build.Change("B", 0), build.Change("C", 20)}, want: freshness.Stale},
		"A B A B: a pod of the first B is fresh": {
			given: append(with(build.Change("B", 40)), build.Pod("web-1-a", 5)), want: freshness.Fresh,
		},
		"A B A: a pod that has not started read nothing yet": {
			given: with(build.Pod("web-1-a", -30, pending)), want: freshness.Unknown,
		},
		"A B A: a pod whose status knows no container": {
			given: with(build.Pod("web-1-a", -30, pending, func(p *model.Pod) { p.Containers = nil })), want: freshness.Unknown,
		},
	})
}

func TestAcceptanceByTheKubelet(t *testing.T) {
	accepted := func(at float64) build.Option {
		return build.Pod("web-1-a", build.Born, func(p *model.Pod) { p.Accepted = build.At(at) })
	}
	judge(t, map[string]row{
		"long after the change: it waited for a node": {given: []build.Option{build.Change("B", 0), accepted(6)}, want: freshness.Fresh},
		"within the allowance":                        {given: []build.Option{build.Change("B", 0), accepted(5)}, want: freshness.Stale},
		"before the change":                           {given: []build.Option{build.Change("B", 0), accepted(-5)}, want: freshness.Stale},
	})
}

func TestPodsThatDoNotCount(t *testing.T) {
	judge(t, map[string]row{
		"only a pending pod from before the change":           {given: []build.Option{build.Change("B", 0), build.Pod("web-1-a", -30, pending)}, want: freshness.Unknown},
		"a pending pod from after the change":                 {given: []build.Option{build.Change("B", 0), build.Pod("web-1-a", 5, pending)}, want: freshness.Fresh},
		"pending beside stale":                                {given: []build.Option{build.Change("B", 0), build.Pod("web-1-b", -30, pending)}, want: freshness.Stale},
		"pending beside fresh":                                {given: []build.Option{build.Change("B", 0), build.Pod("web-1-a", 5), build.Pod("web-1-b", -30, pending)}, want: freshness.Unknown},
		"terminating or finished pods":                        {given: []build.Option{build.Change("B", 0), build.Pod("web-1-a", build.Born, gone)}, want: freshness.Fresh},
		"terminating beside fresh":                            {given: []build.Option{build.Change("B", 0), build.Pod("web-1-a", 5), build.Pod("web-1-b", build.Born, gone)}, want: freshness.Fresh},
		"zero replicas":                                       {given: []build.Option{build.Change("B", 0), build.Rollout(func(r *model.Rollout) { r.Replicas = 0 }), build.NoPods}, want: freshness.Fresh},
		"zero replicas wanted but a listed pod still runs":    {given: []build.Option{build.Change("B", 0), build.Rollout(func(r *model.Rollout) { r.Replicas = 0 })}, want: freshness.Stale},
		"no workload":                                         {given: []build.Option{build.Change("B", 0), func(s *model.Snapshot) { s.Workload = nil }}, want: freshness.Fresh},
		"a source without a record":                           {given: []build.Option{func(s *model.Snapshot) { s.Dependencies[0].Record = nil }}, want: freshness.Fresh},
		"a change out of scope":                               {given: []build.Option{build.Change("B", 0), func(s *model.Snapshot) { s.Dependencies[0].InScope = false }}, want: freshness.Fresh},
		"a volume that no container of the template mounts":   {given: []build.Option{build.Reads(build.DB, discover.Use{Volume: true, Optional: true}), build.Change("B", 0)}, want: freshness.Stale},
		"a pod whose status knows no container yet, made old": {given: []build.Option{build.Change("B", 0), build.Pod("web-1-a", build.Born, func(p *model.Pod) { p.Containers = nil })}, want: freshness.Stale},
	})
}

func TestReasonsOfFreshness(t *testing.T) {
	tests := map[string]struct {
		given []build.Option
		want  request.Reason
	}{
		"fresh":       {want: request.Fresh},
		"fresh pods":  {given: []build.Option{build.Change("B", 0), build.Pod("web-1-a", 5)}, want: request.Fresh},
		"not running": {given: []build.Option{build.Change("B", 0), build.NoPods}, want: request.NotRunning},
		"no replicas": {
			given: []build.Option{build.NoPods, func(s *model.Snapshot) { s.PodsListed, s.Workload.Rollout.Replicas = false, 0 }},
			want:  request.NotRunning,
		},
		"not started": {given: []build.Option{build.Change("B", 0), build.Pod("web-1-a", -5, pending)}, want: request.PodsNotStarted},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := freshness.Judge(build.Snapshot(tt.given...), build.At(60)).Reason; got != tt.want {
				t.Errorf("Judge().Reason = %q, want %q", got, tt.want)
			}
		})
	}
}
