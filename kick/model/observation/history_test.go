package observation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model/fingerprint"
	"github.com/corewire/kick/kick/model/observation"
)

// What no longer fits is dropped, the oldest first, and counted.
//
// Proves: KICK-FEAT-003.
func TestHistoryIsBounded(t *testing.T) {
	for changes, evicted := range map[int]int{observation.MaxHistory - 1: 0, observation.MaxHistory: 1, observation.MaxHistory + 4: 5} {
		t.Run(fmt.Sprint(changes, " changes"), func(t *testing.T) {
			r := recorded(t)
			mark.Count(true)
			defer mark.Reset()
			defer mark.Count(false)
			for i := range changes {
				_, r = look(float64(10+i), source(fmt.Sprint("content ", i), fmt.Sprint(11+i), float64(10+i)), r)
			}
			if got := len(r.History); got != observation.MaxHistory {
				t.Errorf("history has %d entries, want %d", got, observation.MaxHistory)
			}
			if got, want := r.Current().Seal, key.Seal(digest(fmt.Sprint("content ", changes-1))); got != want {
				t.Error("the newest content is not the last entry")
			}
			if got := mark.Counts()[mark.HistoryEvicted]; got != uint64(evicted) {
				t.Errorf("%d entries were counted as evicted, want %d", got, evicted)
			}
		})
	}
}

// TestAppearedAndChanged: a source that came to be and was written again before KICK
// looked had another content first, and a container that waited for it may have read that.
func TestAppearedAndChanged(t *testing.T) {
	_, gone := look(0, nothing, nil)
	for name, tt := range map[string]struct {
		created float64
		want    []string
	}{
		"as it was created": {10, []string{fingerprint.Absent, key.Seal(digest("B"))}},
		"written since":     {9, []string{fingerprint.Absent, fingerprint.Unseen, key.Seal(digest("B"))}},
	} {
		t.Run(name, func(t *testing.T) {
			s := source("B", "12", 10)
			s.Created = at(tt.created)
			_, got := look(10.5, s, gone)
			var seals []string
			for _, c := range got.History {
				seals = append(seals, c.Seal)
			}
			if diff := cmp.Diff(tt.want, seals); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
			for i := 1; i < len(got.History); i++ {
				if !got.History[i].Observed.After(got.History[i-1].Observed) {
					t.Errorf("entry %d was observed %v, after %v", i, got.History[i].Observed, got.History[i-1].Observed)
				}
			}
		})
	}
}

func TestHowLongTheFormerContentStood(t *testing.T) {
	tests := map[string]struct {
		options []func(*observation.Input)
		want    time.Time
	}{
		"not seen: as of its write":                         {want: at(-100)},
		"seen live: up to the write":                        {options: []func(*observation.Input){first("A", 10)}, want: at(10)},
		"a former process led up to 8":                      {options: []func(*observation.Input){alive(8)}, want: at(3)},
		"seen from another content":                         {options: []func(*observation.Input){first("X", 10)}, want: at(-100)},
		"seen, but the time did not move: nobody knows":     {options: []func(*observation.Input){first("A", -100)}, want: at(-100)},
		"seen with a time before the content was on record": {options: []func(*observation.Input){first("A", -200)}, want: at(-100)},
		"seen to go": {options: []func(*observation.Input){first("A", -100), func(in *observation.Input) { in.Watched.First.Gone = true }}, want: at(5)},
		"seen with a time in the future: nobody knows": {options: []func(*observation.Input){first("A", 7200)}, want: at(-100)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := recorded(t)
			before := r.Current().KnownUntil
			_, next := look(10.5, source("B", "12", 10), r, tt.options...)
			if got := next.History[len(next.History)-2].KnownUntil; !got.Equal(tt.want) {
				t.Errorf("known until %v, want %v", got, tt.want)
			}
			if !r.Current().KnownUntil.Equal(before) {
				t.Error("the record that was given is changed")
			}
		})
	}
}

// TestHowLongItStoodBeforeAKeyWasRemoved: nothing dates that, and a process that stood still
// was told of it long after.
func TestHowLongItStoodBeforeAKeyWasRemoved(t *testing.T) {
	_, next := look(10.5, source("B", "12", 10, "user"), recorded(t), alive(8))
	if got := next.History[len(next.History)-2].KnownUntil; !got.Equal(at(-100)) {
		t.Errorf("known until %v, want %v: the sign of life of the process before says nothing of it", got, at(-100))
	}
}
