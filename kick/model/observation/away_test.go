package observation_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/observation"
)

// Content can leave and come back between two records. Pods that started in
// between carry what is not on record, so what stands now is dated anew.
//
// Proves: KICK-FEAT-003.
func TestContentThatWasAway(t *testing.T) {
	tests := map[string]struct {
		lambda     float64
		options    []func(*observation.Input)
		want       observation.Kind
		knownUntil time.Time // of the former entry
	}{
		"seen to leave": {
			lambda: 12, options: []func(*observation.Input){first("A", 10)},
			want: observation.Returned, knownUntil: at(10),
		},
		"another content was seen to leave": {
			lambda: 12, options: []func(*observation.Input){first("X", 10)},
			want: observation.NoChange,
		},
		"seen to leave before it was on record": {
			lambda: -100, options: []func(*observation.Input){first("A", -200)},
			want: observation.NoChange,
		},
		"nobody watched since 5, written at 10": {
			lambda: 10, options: []func(*observation.Input){alive(5), firstLook(10)},
			want: observation.Returned, knownUntil: at(0),
		},
		"nobody watched since 5, written at 0: clocks may differ that much": {
			lambda: 0, options: []func(*observation.Input){alive(5), firstLook(0)},
			want: observation.Returned, knownUntil: at(0),
		},
		"nobody watched since 5, written at -1": {
			lambda: -1, options: []func(*observation.Input){alive(5), firstLook(-1)},
			want: observation.NoChange,
		},
		"nobody watched since 5, not written": {
			lambda: -100, options: []func(*observation.Input){alive(5), firstLook(-100)},
			want: observation.NoChange,
		},
		"nobody watched since 50, written at 10 under a former process's eyes": {
			lambda: 10, options: []func(*observation.Input){alive(50), firstLook(10)},
			want: observation.NoChange,
		},
		"this process watched all the time": {
			lambda: 12, options: []func(*observation.Input){alive(5), firstLook(-100)},
			want: observation.NoChange,
		},
		"no former process is known": {
			lambda: 10, options: []func(*observation.Input){firstLook(10)},
			want: observation.NoChange,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			kind, next := look(12.5, source("A", "14", tt.lambda), recorded(t), tt.options...)
			if kind != tt.want {
				t.Fatalf("Observe() = %s, want %s", kind, tt.want)
			}
			if next == nil {
				return
			}
			got, former := next.Current(), next.History[len(next.History)-2]
			if got.Seal != key.Seal(digest("A")) || !got.Written.Equal(at(tt.lambda)) || got.Baseline {
				t.Errorf("content = %+v, want A written at %v", got, at(tt.lambda))
			}
			if !got.Observed.Equal(former.Observed) {
				t.Errorf("observed = %v, want %v as before: there is no change to act on", got.Observed, former.Observed)
			}
			if !former.KnownUntil.Equal(tt.knownUntil) {
				t.Errorf("the former A is known until %v, want %v", former.KnownUntil, tt.knownUntil)
			}
		})
	}
}

func TestRekey(t *testing.T) {
	other := newKey(2)
	under := func(in *observation.Input) { in.Key = other }
	_, two := look(10.5, source("B", "12", 10), recorded(t))

	t.Run("same version: same content under the new key", func(t *testing.T) {
		kind, got := look(50, source("B", "12", 10), two, under)
		want := two.Current()
		want.Seal = other.Seal(digest("B"))
		if diff := cmp.Diff([]model.Content{want}, got.History); kind != observation.Rekeyed || diff != "" {
			t.Errorf("Observe() = %s, history (-want +got):\n%s", kind, diff)
		}
		if got.KeyID != other.ID() || got.UID != two.UID || got.Version != two.Version {
			t.Errorf("record = %+v, want the same object under the new key", got)
		}
	})
	t.Run("same version: that it appeared is not forgotten", func(t *testing.T) {
		// Absence is not sealed, so no key is needed to keep it; pods that waited
		// for the source are proven by it, and an upgrade must restart nothing.
		_, gone := look(1, nothing, nil)
		made := source("A", "12", 10)
		made.Created = made.LastWrite
		_, there := look(10.5, made, gone)
		kind, got := look(50, source("A", "12", 10), there, under)
		if kind != observation.Rekeyed || len(got.History) != 2 || !got.History[0].Absent() {
			t.Errorf("Observe() = %s, %+v, want the absence before the content kept", kind, got.History)
		}
	})
	t.Run("other version: dated by lambda", func(t *testing.T) {
		kind, got := look(50, source("C", "13", 40), two, under)
		if c := got.Current(); kind != observation.Baseline || !c.Written.Equal(at(40)) || !c.Observed.Equal(at(40)) || len(got.History) != 1 {
			t.Errorf("Observe() = %s, %+v, want one baseline of %v", kind, got.History, at(40))
		}
	})
	t.Run("other version: never earlier than on record", func(t *testing.T) {
		_, got := look(50, source("B", "13", -300), two, under)
		before := two.Current()
		if c := got.Current(); c.Written.Before(before.Written) || c.Observed.Before(before.Observed) || c.LastWrite.Before(before.LastWrite) {
			t.Errorf("content = %+v, want no time earlier than %+v", c, before)
		}
	})
	t.Run("deleted meanwhile", func(t *testing.T) {
		kind, got := look(50, nothing, two, under)
		if c := got.Current(); kind != observation.Baseline || !c.Absent() || c.Written.Before(two.Current().Written) {
			t.Errorf("Observe() = %s, %+v", kind, c)
		}
	})
}

// TestDateAhead: a date in the future is no newer at each look, and does not show until
// when the content before it stood.
func TestDateAhead(t *testing.T) {
	_, found := look(0.5, source("A", "10", 3600), nil)
	for _, now := range []float64{10, 600, 3700} {
		if kind, _ := look(now, source("A", "11", 3600), found, alive(now-1), firstLook(3600)); kind != observation.NoChange {
			t.Errorf("the same date at %v is %s, want NoChange", now, kind)
		}
	}
	kind, next := look(10, source("B", "12", 3600), recorded(t), first("A", 3600))
	if kind != observation.Relevant {
		t.Fatalf("Observe() = %s, want Relevant", kind)
	}
	if until := next.History[len(next.History)-2].KnownUntil; until.After(at(10)) {
		t.Errorf("A is known until %v, which has not come", until)
	}
}
