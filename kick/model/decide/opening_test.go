package decide_test

import (
	"testing"
	"time"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
)

const day = 24 * 3600

func TestOpen(t *testing.T) {
	born := func(at float64) build.Option {
		return func(s *model.Snapshot) { s.Workload.Created = build.At(at) }
	}
	recorded := func(at float64) build.Option {
		return func(s *model.Snapshot) { s.Dependencies[0].Record.Created = build.At(at) }
	}
	since := func(at float64) build.Option {
		return func(s *model.Snapshot) { s.Dependencies[0].Record.Since = build.At(at) }
	}
	old := recorded(-2 * day)
	tests := map[string]struct {
		given []build.Option
		now   float64
		want  decide.Action
	}{
		"stale":                                            {given: []build.Option{build.Change("B", 0)}, want: decide.Open},
		"stale, policy suspended":                          {given: []build.Option{build.Change("B", 0), build.With(func(p *model.Policy) { p.Suspended = true })}, want: decide.Open},
		"stale, two policies":                              {given: []build.Option{build.Change("B", 0), twoPolicies}, want: decide.Open},
		"stale, window shut":                               {given: []build.Option{build.Change("B", 0), build.With(shutFor(time.Hour))}, want: decide.Open},
		"stale, no policy":                                 {given: []build.Option{build.Change("B", 0), noPolicy}, want: decide.None},
		"no workload":                                      {given: []build.Option{noWorkload}, want: decide.None},
		"being deleted":                                    {given: []build.Option{build.Change("B", 0), func(s *model.Snapshot) { s.Workload.Deleting = true }}, want: decide.None},
		"stale since long":                                 {given: []build.Option{build.Change("B", 0)}, now: 10 * day, want: decide.Open},
		"adopted: fresh, was there before":                 {given: []build.Option{born(-7200), since(-100), recorded(-90)}, want: decide.Open},
		"came after kick looked":                           {given: []build.Option{born(-50), since(-100), recorded(-90)}, want: decide.None},
		"adopted long ago":                                 {given: []build.Option{born(-7200), since(-100), recorded(-90)}, now: 2 * day, want: decide.None},
		"fresh, a change it was there for":                 {given: []build.Option{old, build.Change("B", 0), build.Pod("web-1-a", 5)}, want: decide.Open},
		"fresh, a change before its time":                  {given: []build.Option{old, build.Change("B", 0), born(5), build.Pod("web-1-a", 5)}, want: decide.None},
		"fresh, a change long ago":                         {given: []build.Option{old, build.Change("B", 0), build.Pod("web-1-a", 5)}, now: 2 * day, want: decide.None},
		"fresh, a change as long ago as requests are kept": {given: []build.Option{old, build.Change("B", 0), build.Pod("web-1-a", 5)}, now: day + 0.25, want: decide.None},
		"fresh, a change out of scope":                     {given: []build.Option{old, build.Change("B", 0), func(s *model.Snapshot) { s.Dependencies[0].InScope = false }}, want: decide.None},
		"nothing on record":                                {given: []build.Option{func(s *model.Snapshot) { s.Dependencies[0].Record = nil }}, want: decide.None},
		"required source that never existed":               {given: []build.Option{build.History(model.Content{Seal: "absent", Baseline: true})}, want: decide.None},
		"fresh, recorded in the future (stepped)":          {given: []build.Option{born(-7200), since(-100), recorded(500)}, want: decide.Open},
		"only a pod that has not started is stale":         {given: []build.Option{old, build.Change("B", 0), build.NoPods, build.Pod("web-1-a", -5), pendingPod, born(5)}, want: decide.None},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			now := build.At(soon)
			if tt.now != 0 {
				now = build.At(tt.now)
			}
			v := decide.Decide(build.Snapshot(tt.given...), now)
			if v.Action != tt.want {
				t.Errorf("Action = %s, want %s", v.Action, tt.want)
			}
			if len(v.Trail) == 0 || v.Decisive == nil {
				t.Error("no trail: a plan has to be explained before it is one")
			}
		})
	}
}

// ended is a finished request that answered the change of second 0.
func ended(phase request.Phase, more ...func(*model.Request)) build.Option {
	return build.Request(phase, append([]func(*model.Request){func(r *model.Request) {
		r.Status.LatestChange, r.Status.CompletedAt = build.At(0.25), build.At(20)
	}}, more...)...)
}

func stampedAt(at float64) func(*model.Request) {
	return func(r *model.Request) { r.Status.RolloutStart = build.At(at) }
}

func TestReopen(t *testing.T) {
	dry := build.With(func(p *model.Policy) { p.DryRun = true })
	freshPod := build.Pod("web-1-a", 5)
	tests := map[string]struct {
		given []build.Option
		want  bool
	}{
		"succeeded":               {given: []build.Option{ended(request.Succeeded), freshPod}},
		"succeeded, newer change": {given: []build.Option{ended(request.Succeeded), freshPod, build.Change("C", 30)}, want: true},
		"succeeded, newer change, pods carry it already":               {given: []build.Option{ended(request.Succeeded), build.Change("C", 30), build.Pod("web-1-a", 31)}, want: true},
		"succeeded, stale after all":                                   {given: []build.Option{ended(request.Succeeded)}, want: true},
		"no longer required":                                           {given: []build.Option{ended(request.NoLongerRequired), freshPod}},
		"no longer required, stale again (policy came back)":           {given: []build.Option{ended(request.NoLongerRequired)}, want: true},
		"failed at this change":                                        {given: []build.Option{ended(request.Failed, stampedAt(1))}},
		"failed, its record was made anew, the API server being ahead": {given: []build.Option{ended(request.Failed, stampedAt(1)), build.History(build.Baseline("B", 4))}},
		"failed, its record was made anew after another change":        {given: []build.Option{ended(request.Failed, stampedAt(1)), build.History(build.Baseline("B", 30))}, want: true},
		"failed, newer change":                                         {given: []build.Option{ended(request.Failed, stampedAt(1)), build.Change("C", 30)}, want: true},
		"failed, a change that came while it ran": {
			given: []build.Option{ended(request.Failed, stampedAt(1), func(r *model.Request) { r.Status.LatestChange = build.At(10.25) }), build.Change("C", 10)},
			want:  true,
		},
		"failed, became fresh":                        {given: []build.Option{ended(request.Failed, stampedAt(1)), freshPod}},
		"dry run":                                     {given: []build.Option{ended(request.DryRun), dry}},
		"dry run, newer change":                       {given: []build.Option{ended(request.DryRun), dry, build.Change("C", 30)}, want: true},
		"dry run switched off":                        {given: []build.Option{ended(request.DryRun)}, want: true},
		"dry run switched off, fresh":                 {given: []build.Option{ended(request.DryRun), freshPod}},
		"no policy":                                   {given: []build.Option{ended(request.Succeeded), build.Change("C", 30), noPolicy}},
		"no workload":                                 {given: []build.Option{ended(request.Succeeded), build.Change("C", 30), noWorkload}},
		"workload being deleted":                      {given: []build.Option{ended(request.Succeeded), build.Change("C", 30), func(s *model.Snapshot) { s.Workload.Deleting = true }}},
		"only a pod that has not started is left":     {given: []build.Option{ended(request.Succeeded), build.NoPods, build.Pod("web-1-a", -5), pendingPod}},
		"by hand":                                     {given: []build.Option{ended(request.Succeeded, byHand), freshPod}},
		"by hand, changedAt moved on":                 {given: []build.Option{ended(request.Succeeded, byHand, changedAt(40)), freshPod}, want: true},
		"by hand, changedAt moved on, no policy":      {given: []build.Option{ended(request.Succeeded, byHand, changedAt(40)), freshPod, noPolicy}},
		"by hand, changedAt moved into the future":    {given: []build.Option{ended(request.Succeeded, byHand, changedAt(1e9)), freshPod}},
		"by hand, dry run switched off":               {given: []build.Option{ended(request.DryRun, byHand)}, want: true},
		"failed by hand, the workload came meanwhile": {given: []build.Option{ended(request.Failed, byHand)}, want: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := build.Snapshot(append([]build.Option{build.Change("B", 0)}, tt.given...)...)
			v := decide.Decide(s, build.At(soon))
			got := v.Action == decide.Status && v.Phase == request.Pending
			if got != tt.want {
				t.Errorf("reopened = %v (%s %s), want %v", got, v.Action, v.Phase, tt.want)
			}
			if !got && v.Action != decide.None {
				t.Errorf("a finished request is written to: %s %s", v.Action, v.Phase)
			}
			if got && (!v.Status.OpenedAt.Equal(build.At(soon)) || !v.Status.CompletedAt.IsZero() || v.Status.LatestChange.Before(build.At(0.25))) {
				t.Errorf("status = %+v, want an episode that begins now", v.Status)
			}
		})
	}
}

func changedAt(at float64) func(*model.Request) {
	return func(r *model.Request) { r.ChangedAt = build.At(at) }
}

// Proves: KICK-FEAT-030.
func TestExpired(t *testing.T) {
	tests := map[string]struct {
		given   []build.Option
		now     float64
		left    time.Duration
		expired bool
	}{
		"just finished":                  {given: []build.Option{ended(request.Succeeded)}, now: 20, left: 24 * time.Hour},
		"one second left":                {given: []build.Option{ended(request.Succeeded)}, now: day + 19, left: time.Second},
		"over":                           {given: []build.Option{ended(request.Succeeded)}, now: day + 20, expired: true},
		"failed, still stale":            {given: []build.Option{ended(request.Failed)}, now: day + 20, left: 24 * time.Hour},
		"failed, fresh":                  {given: []build.Option{ended(request.Failed), build.Pod("web-1-a", 5)}, now: day + 20, expired: true},
		"failed, no workload":            {given: []build.Option{ended(request.Failed), noWorkload}, now: day + 20, expired: true},
		"failed, nothing runs":           {given: []build.Option{ended(request.Failed), build.NoPods}, now: day + 20, expired: true},
		"the clock stepped back":         {given: []build.Option{ended(request.Succeeded)}, now: -3600, left: 24 * time.Hour},
		"failed, still stale, no policy": {given: []build.Option{ended(request.Failed), noPolicy}, now: day + 20, expired: true},
		"finished a day from now":        {given: []build.Option{ended(request.Succeeded)}, now: 20 - day, left: 24 * time.Hour},
		"finished a year from now":       {given: []build.Option{ended(request.Succeeded)}, now: -365 * day, expired: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := build.Snapshot(append([]build.Option{build.Change("B", 0)}, tt.given...)...)
			left, expired := decide.Expired(s, build.At(tt.now))
			if left != tt.left || expired != tt.expired {
				t.Errorf("Expired() = %v, %v, want %v, %v", left, expired, tt.left, tt.expired)
			}
		})
	}
}

func TestWhenPodsAreListed(t *testing.T) {
	tests := map[string]struct {
		given []build.Option
		now   float64
		want  bool
	}{
		"nothing changed": {},
		"changed":         {given: []build.Option{build.Change("B", 0)}, want: true},
		"changed, but nobody's policy selects it":    {given: []build.Option{build.Change("B", 0), noPolicy}},
		"by hand, nobody's policy selects it":        {given: []build.Option{noPolicy, build.Request(request.Pending, byHand)}},
		"no workload":                                {given: []build.Option{build.Change("B", 0), noWorkload}},
		"rolling, in its time":                       {given: []build.Option{build.Change("B", 0), build.Stamped("x", 10), build.Rollout(build.Rolling)}},
		"rolling for too long":                       {given: []build.Option{build.Change("B", 0), build.Stamped("x", 10), build.Rollout(build.Rolling)}, now: 911, want: true},
		"executing":                                  {given: []build.Option{build.Change("B", 0), build.Stamped("kick", 1), build.Request(request.Executing, driving)}},
		"executing, reverted":                        {given: []build.Option{build.Change("B", 0), build.Stamped("kick", 1), build.Request(request.Executing, driving), unstamped}, want: true},
		"executing, reverted, no longer selected":    {given: []build.Option{noPolicy, build.Change("B", 0), build.Stamped("kick", 1), build.Request(request.Executing, driving), unstamped}, want: true},
		"executing for too long":                     {given: []build.Option{build.Change("B", 0), build.Stamped("kick", 1), build.Request(request.Executing, driving), build.Rollout(build.Rolling)}, now: 902, want: true},
		"executing, changed once more":               {given: []build.Option{build.Change("B", 0), build.Stamped("kick", 1), build.Request(request.Executing, driving), build.Change("C", 20)}},
		"executing, reverted, rolling back in time":  {given: []build.Option{build.Change("B", 0), build.Stamped("kick", 1), build.Request(request.Executing, driving), unstamped, build.Rollout(build.Rolling)}},
		"executing, pods not available for too long": {given: []build.Option{build.Change("B", 0), build.Stamped("kick", 1), build.Request(request.Executing, driving), build.Rollout(unavailable)}, now: 902, want: true},
		"nothing changed, pods not available":        {given: []build.Option{build.Rollout(unavailable)}},
		"executing with a partition":                 {given: []build.Option{build.Change("B", 0), build.Stamped("kick", 1), build.Request(request.Executing, driving), build.Rollout(func(r *model.Rollout) { r.Partition = 1 })}, want: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			now := build.At(soon)
			if tt.now != 0 {
				now = build.At(tt.now)
			}
			s := build.Snapshot(append(tt.given, func(s *model.Snapshot) { s.Pods, s.PodsListed = nil, false })...)
			if got := decide.NeedPods(s, now); got != tt.want {
				t.Errorf("NeedPods() = %v, want %v", got, tt.want)
			}
		})
	}
}
