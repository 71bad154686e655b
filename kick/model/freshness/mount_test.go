package freshness_test

import (
	"testing"
	"time"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/kick/model/freshness"
)

var class = model.Key{Kind: discover.KindSecretProviderClass, Namespace: "shop", Name: "vault"}

// told is what a pod was seen with at a second, and what its status told later.
func told(pod string, baseline bool, since float64, later ...model.Content) model.Mount {
	first := model.Content{Seal: "v1", Observed: build.At(since), Written: build.At(since), Baseline: baseline}
	return model.Mount{Pod: pod, Version: "1", History: append([]model.Content{first}, later...)}
}

func version(seal string, second float64) model.Content {
	return model.Content{Seal: seal, Observed: build.At(second), Written: build.At(second)}
}

// mounting lets the workload mount the class, of which there was one round of rotation
// at second 0, and nothing else.
func mounting(mounts ...model.Mount) build.Option {
	return func(s *model.Snapshot) {
		build.Reads(class, build.Volume())(s)
		s.Dependencies = s.Dependencies[1:]
		r := s.Dependencies[0].Record
		r.History = append(r.History, build.Content("v2", 0))
		r.Mounts, r.Created = mounts, build.At(-1800)
		s.Settings.RotationInterval = 2 * time.Minute
	}
}

// pod is the pod of that UID.
func pod(uid string, created float64, options ...func(*model.Pod)) build.Option {
	return build.Pod("web-1-a", created, append(options, func(p *model.Pod) { p.UID = uid })...)
}

// TestMounts: each pod is judged by what its own status told, and by nothing else.
//
// Proves: KICK-FEAT-026.
func TestMounts(t *testing.T) {
	rotated := told("a", true, build.Born, version("v2", 0))
	judge(t, map[string]row{
		"not rotated itself":                      {[]build.Option{mounting(told("a", true, build.Born)), pod("a", build.Born)}, freshness.Fresh},
		"nothing on record of the pod":            {[]build.Option{mounting(rotated), pod("b", build.Born)}, freshness.Fresh},
		"rotated":                                 {[]build.Option{mounting(rotated), pod("a", build.Born)}, freshness.Stale},
		"rotated, and back":                       {[]build.Option{mounting(told("a", true, build.Born, version("v2", 0), version("v1", 30))), pod("a", build.Born)}, freshness.Fresh},
		"started anew after it":                   {[]build.Option{mounting(rotated), pod("a", build.Born, restarted(20, 19))}, freshness.Fresh},
		"started anew before it":                  {[]build.Option{mounting(rotated), pod("a", build.Born, restarted(-20, -21))}, freshness.Stale},
		"started anew too close to it":            {[]build.Option{mounting(rotated), pod("a", build.Born, restarted(5, 4))}, freshness.Stale},
		"started anew in between, and back":       {[]build.Option{mounting(told("a", true, build.Born, version("v2", 0), version("v1", 30))), pod("a", build.Born, restarted(20, 19))}, freshness.Stale},
		"on its way out":                          {[]build.Option{mounting(rotated), pod("a", build.Born, func(p *model.Pod) { p.Running = false })}, freshness.Fresh},
		"has not started":                         {[]build.Option{mounting(rotated), pod("a", -10, func(p *model.Pod) { p.Running, p.Pending, p.Containers = false, true, nil })}, freshness.Fresh},
		"met late, its status as at its start":    {[]build.Option{mounting(told("a", false, -598)), pod("a", -600)}, freshness.Fresh},
		"met late, its status written since":      {[]build.Option{mounting(told("a", false, 0)), pod("a", -600)}, freshness.Stale},
		"met late, and older than the record":     {[]build.Option{mounting(told("a", false, 0)), pod("a", build.Born)}, freshness.Fresh},
		"found at the baseline, written long ago": {[]build.Option{mounting(told("a", true, 0)), pod("a", -600)}, freshness.Fresh},
		"a revision that is newer than the round": {[]build.Option{mounting(rotated), build.Stamped("kick", 10), build.NoPods, pod("a", build.Born)}, freshness.Fresh},
	})
}

// TestSubPath: a path of a volume is bound once, however often its container starts.
func TestSubPath(t *testing.T) {
	s := build.Snapshot(mounting(told("a", true, build.Born, version("v2", 0))), pod("a", build.Born, restarted(20, 19)))
	s.Dependencies[0].Uses[0].SubPath = true
	if got := freshness.Judge(s, build.At(60)); got.State != freshness.Stale || got.Pod != "web-1-a" {
		t.Errorf("Judge() = %+v, want the pod stale", got)
	}
}

// TestFlappingClass: what flaps makes stale, and says until when it is to be quiet; as
// long as something else is missed it does not count.
//
// Proves: KICK-FEAT-026.
func TestFlappingClass(t *testing.T) {
	flaps := func(s *model.Snapshot) {
		r := s.Dependencies[0].Record
		r.History = append(r.History, build.Content("v3", 20), build.Content("v4", 40))
	}
	stale := []build.Option{mounting(told("a", true, build.Born, version("v4", 40))), pod("a", build.Born), flaps}
	got := freshness.Judge(build.Snapshot(stale...), build.At(60))
	if want := build.At(40.25 + 600); got.State != freshness.Stale || !got.Flaps.Equal(want) {
		t.Errorf("Judge() = %+v, want stale, and flapping until %v", got, want)
	}
	other := append(stale, build.Reads(build.DB, build.Env()), func(s *model.Snapshot) {
		r := s.Dependencies[1].Record
		r.History = append(r.History, build.Content("B", 10))
	})
	got = freshness.Judge(build.Snapshot(other...), build.At(60))
	if got.State != freshness.Stale || !got.Flaps.IsZero() || got.Source != build.DB {
		t.Errorf("Judge() = %+v, want stale by %s alone", got, build.DB)
	}
}

// TestFlappingAboveThePartition: what flaps is put aside only for something that a restart
// would mend, so not for what pods below the partition miss alone.
//
// Proves: KICK-FEAT-026.
func TestFlappingAboveThePartition(t *testing.T) {
	flaps := func(s *model.Snapshot) {
		r := s.Dependencies[0].Record
		r.History = append(r.History, build.Content("v3", 20), build.Content("v4", 40))
	}
	missesDB := func(s *model.Snapshot) {
		r := s.Dependencies[1].Record
		r.History = append(r.History, build.Content("B", 10))
	}
	set := build.Rollout(func(r *model.Rollout) { r.Replicas, r.Partition = 2, 1 })
	for name, tt := range map[string]struct {
		reads string // the pod above the partition mounts the class, or nothing that changed
		flaps bool
	}{
		"the one above misses the class":      {"above", true},
		"the one below misses the class, too": {"below", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := freshness.Judge(build.Snapshot(
				mounting(told(tt.reads, true, build.Born, version("v4", 40))), set, flaps, build.Reads(build.DB, build.Env()), missesDB, build.NoPods,
				build.Pod("web-1-a", build.Born, ordinal(0), func(p *model.Pod) { p.UID = "below" }),
				build.Pod("web-1-b", 15, ordinal(1), func(p *model.Pod) { p.UID = "above" }),
			), build.At(60))
			if got.State != freshness.Stale || got.Flaps.IsZero() == tt.flaps || got.Below == tt.flaps || tt.flaps && got.Source != class {
				t.Errorf("Judge() = %+v, want stale, for a class that flaps: %v", got, tt.flaps)
			}
		})
	}
}
