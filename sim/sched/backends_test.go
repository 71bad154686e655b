package sched_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/corewire/kick/sim/sched"
)

// ask puts count questions of every class.
func ask(c sched.Chooser, count int) []sched.Choice {
	r := &sched.Recorder{From: c}
	for i := range count {
		for _, class := range sched.Classes {
			r.Choose(2+i%7, class, fmt.Sprintf("site %d", i%3))
		}
	}
	return r.Choices
}

func TestSeedsRepeatAndDiffer(t *testing.T) {
	makers := map[string]func(seed uint64) sched.Chooser{
		"seeded": func(seed uint64) sched.Chooser { return sched.NewSeeded(seed) },
		"pct":    func(seed uint64) sched.Chooser { return sched.NewPCT(seed, 3) },
		"bytes":  func(seed uint64) sched.Chooser { return sched.NewBytes([]byte{byte(seed), 1, 2, byte(seed), 200, 7}) },
	}
	for name, chooser := range makers {
		t.Run(name, func(t *testing.T) {
			different := map[string]bool{}
			for seed := range uint64(20) {
				first, again := ask(chooser(seed), 100), ask(chooser(seed), 100)
				if !slices.Equal(first, again) {
					t.Fatalf("seed %d: two runs differ", seed)
				}
				for _, c := range first {
					if c.Pick < 0 || c.Pick >= c.N {
						t.Fatalf("seed %d: pick %d of %d", seed, c.Pick, c.N)
					}
				}
				different[fmt.Sprint(first)] = true
			}
			if len(different) < 15 {
				t.Errorf("20 seeds make %d schedules", len(different))
			}
		})
	}
}

// TestMakeHasItsOwnStream: what a world is made of depends on the seed alone.
func TestMakeHasItsOwnStream(t *testing.T) {
	for name, two := range map[string][2]sched.Chooser{
		"seeded": {sched.NewSeeded(7), sched.NewSeeded(7)}, "pct": {sched.NewPCT(7, 2), sched.NewPCT(7, 2)},
	} {
		ask(two[0], 50)
		made := func(c sched.Chooser) (out []int) {
			for range 20 {
				out = append(out, c.Choose(1000, sched.Make, "x"))
			}
			return out
		}
		plain, later := made(two[1]), made(two[0])
		if slices.Equal(plain, later) {
			t.Errorf("%s: the stream does not go on", name)
		}
		fresh := sched.NewSeeded(7)
		for range 50 {
			fresh.Choose(9, sched.Order, "y")
		}
		if !slices.Equal(made(fresh), plain) {
			t.Errorf("%s: questions of another class change what is made", name)
		}
	}
}

// TestSwarmIsUneven: some schedules hardly deviate in a class, others often.
func TestSwarmIsUneven(t *testing.T) {
	none, often := 0, 0
	for seed := range uint64(200) {
		deviations := 0
		for _, c := range ask(sched.NewSeeded(seed), 200) {
			if c.Class == sched.Lag && c.Pick > 0 {
				deviations++
			}
		}
		if deviations == 0 {
			none++
		} else if deviations > 20 {
			often++
		}
	}
	if none < 20 || often < 20 {
		t.Errorf("of 200 schedules %d never lag and %d often do", none, often)
	}
}

func TestPCTDeviatesAtItsChangePointsOnly(t *testing.T) {
	some := 0
	for seed := range uint64(300) {
		deviations := 0
		for _, c := range ask(sched.NewPCT(seed, 2), 300) {
			if c.Pick > 0 && c.Class != sched.Make && c.Class != sched.Order {
				deviations++
			}
		}
		if deviations > 2 {
			t.Fatalf("seed %d: %d deviations with two change points", seed, deviations)
		}
		some += deviations
	}
	if some < 150 {
		t.Errorf("300 schedules with two change points deviate %d times", some)
	}
}

func TestReplay(t *testing.T) {
	choices := ask(sched.NewSeeded(5), 4)
	replay := sched.NewReplay(choices)
	if got := ask(replay, 4); !slices.Equal(got, choices) || replay.Diverged() != "" {
		t.Errorf("%s: got %v, want %v", replay.Diverged(), got, choices)
	}
	tests := map[string]struct {
		class sched.Class
		site  string
		n     int
		want  string
	}{
		"another class": {sched.Order, "patch Deployment", 11, `choice 2 diverged: recorded fault "patch Deployment" of 11, this build asks order "patch Deployment" of 11`},
		"another site":  {sched.Fault, "pass request", 11, `choice 2 diverged: recorded fault "patch Deployment" of 11, this build asks fault "pass request" of 11`},
		"another count": {sched.Fault, "patch Deployment", 2, `choice 2 diverged: recorded fault "patch Deployment" of 11, this build asks fault "patch Deployment" of 2`},
	}
	for name, tt := range tests {
		r := sched.NewReplay([]sched.Choice{{Class: sched.Lag, Site: "x", N: 3, Pick: 2}, {Class: sched.Fault, Site: "patch Deployment", N: 11, Pick: 9}})
		if got := r.Choose(3, sched.Lag, "x"); got != 2 {
			t.Errorf("%s: got %d", name, got)
		}
		if got := r.Choose(tt.n, tt.class, tt.site) + r.Choose(2, sched.Fault, "y"); got != 0 {
			t.Errorf("%s: what follows a divergence is not plain: %d", name, got)
		}
		if got := r.Diverged(); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
	short := sched.NewReplay(choices)
	ask(short, 2)
	if got := short.Diverged(); got != "the recording has 24 choices, this build asked for 12" {
		t.Errorf("got %s", got)
	}
	ask(short, 5)
	if got := short.Diverged(); !strings.HasPrefix(got, "choice 13 diverged: ") {
		t.Errorf("got %s", got)
	}
}

// TestDeviationsAreTheSchedule: the answers that are not plain say it all.
func TestDeviationsAreTheSchedule(t *testing.T) {
	for seed := range uint64(50) {
		choices := slices.DeleteFunc(ask(sched.NewSeeded(seed), 60), func(c sched.Choice) bool { return c.Class == sched.Make })
		again := &sched.Recorder{From: sched.NewScripted(sched.Deviations(choices), sched.FIFO{})}
		for _, c := range choices {
			again.Choose(c.N, c.Class, c.Site)
		}
		if !slices.Equal(again.Choices, choices) {
			t.Fatalf("seed %d: got %v, want %v", seed, again.Choices, choices)
		}
	}
}

// branching asks three questions, and one more where the first was not plain.
func branching(c sched.Chooser) string {
	first := c.Choose(2, sched.Fault, "a")
	out := fmt.Sprint(first, c.Choose(3, sched.Order, "b"), c.Choose(9, sched.Make, "world"), c.Choose(2, sched.Lag, "c"))
	if first > 0 {
		out += fmt.Sprint(" ", c.Choose(2, sched.Switch, "d"))
	}
	return out
}

func TestOdometerFindsEverySchedule(t *testing.T) {
	// Of the full tree these are all that deviate at most twice.
	want := []string{
		"0 0 0 0", "0 0 0 1", "0 1 0 0", "0 1 0 1", "0 2 0 0", "0 2 0 1",
		"1 0 0 0 0", "1 0 0 0 1", "1 0 0 1 0", "1 1 0 0 0", "1 2 0 0 0",
	}
	for name, bounds := range map[string][]int{"alone": {0, 99}, "shared": {0, 1, 2, 99}} {
		got := map[string]int{}
		for i := range len(bounds) - 1 {
			o := sched.NewOdometer(2, bounds[i], bounds[i+1])
			for more := true; more; more = o.Next() {
				outcome := branching(o)
				if picked := branching(sched.NewPicks(o.Picks())); picked != outcome {
					t.Errorf("%s: the picks of %s make %s", name, outcome, picked)
				}
				if len(o.Picks()) > 0 || i == 0 {
					got[outcome]++
				}
			}
		}
		if found := slices.Sorted(maps.Keys(got)); !slices.Equal(found, want) {
			t.Errorf("%s: got %q, want %q", name, found, want)
		}
		for outcome, times := range got {
			if times != 1 {
				t.Errorf("%s: %s was tried %d times", name, outcome, times)
			}
		}
	}
}

func TestNoBytesArePlain(t *testing.T) {
	for _, c := range ask(sched.NewBytes(nil), 20) {
		if c.Pick != 0 {
			t.Fatalf("got %+v", c)
		}
	}
	deviations := 0
	for _, c := range ask(sched.NewBytes([]byte{0, 5, 3, 1}), 20) {
		if c.Pick != 0 && c.Class != sched.Make {
			deviations++
		}
	}
	if deviations == 0 {
		t.Error("bytes change nothing")
	}
}

func TestTimeThatStandsStillIsNoticed(t *testing.T) {
	loop := sched.New(time.Unix(0, 0), sched.FIFO{})
	var again func()
	again = func() { loop.After(0, "again", again) }
	again()
	defer func() {
		if cause := fmt.Sprint(recover()); cause != `time stands still at 1970-01-01T00:00:00Z: 100000 events there, the last one "again"` {
			t.Errorf("got %s", cause)
		}
	}()
	for range 200_000 {
		loop.Step()
	}
	t.Error("200,000 events at one instant pass")
}
