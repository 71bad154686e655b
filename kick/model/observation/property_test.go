package observation_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/observation"
)

// Whatever is observed in whatever order and whatever the clock does.
//
// Proves: KICK-FEAT-003.
func TestAnySequenceOfLooks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var record *model.Record
		real, lambda, version := 0.0, -100.0, 10
		content, keys := "A", []string{"a", "b"}
		for i := range rapid.IntRange(1, 60).Draw(t, "looks") {
			real += rapid.Float64Range(0, 30).Draw(t, "pause")
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				content, lambda = rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "content"), real
				version++
			case 1:
				content, keys = content+"-", keys[:max(len(keys)-1, 0)]
				version++
			case 2:
				keys = append(slices.Clone(keys), fmt.Sprint("k", i))
				lambda = real
				version++
			}
			s := source(content, fmt.Sprint(version), lambda, keys...)
			if rapid.IntRange(0, 5).Draw(t, "gone") == 0 {
				s = nothing
			}
			clock := real + rapid.Float64Range(-40, 40).Draw(t, "clock is off by")
			before := record
			options := []func(*observation.Input){stamp(real - rapid.Float64Range(0, 10).Draw(t, "stamp was before"))}
			if rapid.IntRange(0, 3).Draw(t, "restarted") == 0 {
				options = append(options, alive(real-10), firstLook(lambda))
			}
			kind, next := look(clock, s, record, options...)
			if next == nil {
				if kind != observation.NoChange {
					t.Fatalf("look %d: %s without a record", i, kind)
				}
				continue
			}
			next.Version = "1"
			limit := at(clock + 5)
			check(t, kind, before, next, limit)
			if again, more := look(clock, s, next); again != observation.NoChange || more != nil {
				t.Fatalf("look %d: seen twice is %s, want NoChange", i, again)
			}
			record = next
		}
	})
}

// check holds a record against its laws. A date beyond the limit is one that no clock
// of the cluster can show yet, and orders nothing.
func check(t *rapid.T, kind observation.Kind, before, next *model.Record, limit time.Time) {
	h := next.History
	if len(h) == 0 || len(h) > observation.MaxHistory {
		t.Fatalf("history has %d entries", len(h))
	}
	for i := 1; i < len(h); i++ {
		if same := h[i].Seal == h[i-1].Seal; same != h[i].Observed.Equal(h[i-1].Observed) || h[i].Observed.Before(h[i-1].Observed) {
			t.Fatalf("observed has to grow with each change: %+v then %+v", h[i-1], h[i])
		}
	}
	if n := len(h); n > 1 && h[n-1].LastWrite.Before(h[n-2].LastWrite) && !h[n-2].LastWrite.After(limit) {
		t.Fatalf("last write shrinks: %v then %v", h[n-2].LastWrite, h[n-1].LastWrite)
	}
	is := next.Current()
	if is.Written.Before(is.LastWrite) && !is.LastWrite.After(limit) {
		t.Fatalf("written before its last write: %+v", is)
	}
	if before == nil {
		return
	}
	was := before.Current()
	switch {
	case kind == observation.Relevant && !is.Observed.After(was.Observed),
		kind == observation.Returned && !is.Observed.Equal(was.Observed):
		t.Fatalf("%s: after %+v came %+v", kind, was, is)
	}
}
