package observation_test

import (
	"testing"
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/observation"
)

// every is a record of a baseline and so many changes, one each period.
func every(period time.Duration, changes int) *model.Record {
	start := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	r := &model.Record{History: []model.Content{{Observed: start, Baseline: true}}}
	for i := range changes {
		r.History = append(r.History, model.Content{Observed: start.Add(time.Duration(i+1) * period)})
	}
	return r
}

// Proves: KICK-FEAT-028.
func TestBeganToFlap(t *testing.T) {
	for name, c := range map[string]struct {
		before, now *model.Record
		want        bool
	}{
		"first look":                   {nil, every(time.Minute, 0), false},
		"five changes":                 {every(time.Minute, 4), every(time.Minute, 5), false},
		"the sixth":                    {every(time.Minute, 5), every(time.Minute, 6), true},
		"the seventh is told already":  {every(time.Minute, 6), every(time.Minute, 7), false},
		"six, too slow":                {every(2*time.Minute, 5), every(2*time.Minute, 6), false},
		"just slow enough":             {every(119*time.Second, 5), every(119*time.Second, 6), true},
		"anew after a rest":            {every(3*time.Minute, 9), every(time.Minute, 6), true},
		"no record before, many since": {nil, every(time.Second, 9), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := observation.BeganToFlap(c.before, c.now); got != c.want {
				t.Errorf("BeganToFlap() = %v, want %v", got, c.want)
			}
		})
	}
}
