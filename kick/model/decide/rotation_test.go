package decide_test

import (
	"testing"
	"time"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/kick/model/request"
)

// rotated is a workload that reads Secret db and mounts a class of which its pod was
// rotated at second 0; db mirrors the class.
func rotated(options ...build.Option) *model.Snapshot {
	class := model.Key{Kind: discover.KindSecretProviderClass, Namespace: "shop", Name: "vault"}
	mount := func(s *model.Snapshot) {
		build.Reads(class, build.Volume())(s)
		s.Settings.RotationInterval = 2 * time.Minute
		d := &s.Dependencies[len(s.Dependencies)-1]
		d.Source.Mirrors = []string{"db"}
		d.Record.History = append(d.Record.History, build.Content("v2", 0))
		d.Record.Mounts = []model.Mount{{Pod: "a", Version: "1", History: []model.Content{{Seal: "v1", Baseline: true}, build.Content("v2", 0)}}}
		s.Pods[0].UID = "a"
	}
	return build.Snapshot(append([]build.Option{mount, build.Request(request.Pending)}, options...)...)
}

// TestRotations: what a rotation waits for, and until when.
//
// Proves: KICK-FEAT-026.
func TestRotations(t *testing.T) {
	classAlone := func(s *model.Snapshot) { s.Dependencies = s.Dependencies[1:] }
	flaps := func(s *model.Snapshot) {
		r := s.Dependencies[1].Record
		r.History = append(r.History, build.Content("v3", 10), build.Content("v4", 20))
	}
	tests := map[string]struct {
		given  []build.Option
		now    float64
		reason request.Reason
		until  float64 // second of WakeAt; 0: a restart
	}{
		"its mirror has not followed":         {nil, 60, request.MirrorPending, 120.25},
		"its mirror has followed":             {[]build.Option{build.Change("B", 2)}, 60, request.Restarting, 0},
		"its mirror went first, by a moment":  {[]build.Option{build.Change("B", -2)}, 60, request.Restarting, 0},
		"its mirror changed long before":      {[]build.Option{build.Change("B", -30)}, 60, request.MirrorPending, 120.25},
		"its mirror does not follow":          {nil, 121, request.Restarting, 0},
		"no mirror that the workload reads":   {[]build.Option{classAlone}, 60, request.Restarting, 0},
		"another Secret":                      {[]build.Option{func(s *model.Snapshot) { s.Dependencies[1].Source.Mirrors = []string{"other"} }}, 60, request.Restarting, 0},
		"a mirror out of scope":               {[]build.Option{func(s *model.Snapshot) { s.Dependencies[0].InScope = false }}, 60, request.Restarting, 0},
		"it flaps":                            {[]build.Option{flaps}, 60, request.ClassFlapping, 20.25 + 600},
		"it flapped, and has come to rest":    {[]build.Option{flaps}, 700, request.Restarting, 0},
		"it flaps, and its mirror has change": {[]build.Option{flaps, build.Change("B", 30)}, 60, request.Restarting, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := decide.Decide(rotated(tt.given...), build.At(tt.now))
			if v.Decisive.Reason != tt.reason || !v.Valid() {
				t.Fatalf("Decide() = %s, %+v, want %s", v.Decisive.Reason, v.Decisive, tt.reason)
			}
			if tt.until == 0 {
				if v.Action != decide.Stamp {
					t.Errorf("action %s, want a restart", v.Action)
				}
				return
			}
			if !v.WakeAt.Equal(build.At(tt.until)) || v.Phase != request.WaitingForGate {
				t.Errorf("%s until %v, want WaitingForGate until %v", v.Phase, v.WakeAt, build.At(tt.until))
			}
		})
	}
}
