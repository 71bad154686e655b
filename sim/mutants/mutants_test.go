package main

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/corewire/kick/kick/kicktest/controlplane"
)

func plantsOf(t *testing.T) (string, []Plant) {
	t.Helper()
	root, err := controlplane.Root()
	if err != nil {
		t.Fatal(err)
	}
	plants, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	return root, plants
}

// Code moves; a plant that does not fit it any more proves nothing.
func TestEveryPlantAppliesAndCompiles(t *testing.T) {
	root, plants := plantsOf(t)
	c, err := newCompiler(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if len(plants) < 70 {
		t.Errorf("there are %d plants, want all of them", len(plants))
	}
	for _, p := range plants {
		if err := c.check(&p); err != nil {
			t.Error(err)
		}
	}
}

// canarySchedules are more than any plant that can be drawn needs: see the header
// "rare" of the others.
const canarySchedules = 20_000

// canaryPatience ends a hunt in which a plant makes the simulator run for ever.
const canaryPatience = 8 * time.Minute

// A simulator that finds nothing is of no use. Each day another plant is drawn.
func TestCanary(t *testing.T) {
	root, plants := plantsOf(t)
	p := canary(plants, time.Now().Unix()/(24*60*60))
	f := &factory{dir: t.TempDir(), schemata: newSchemata(root)}
	hunt := hunter{options: options{schedules: canarySchedules, seeds: 1, budget: canaryPatience}, root: root}
	var err error
	if hunt.clean, err = f.open(t.Context(), []Plant{p}); err != nil {
		t.Fatal(err)
	}
	planted, err := f.program(t.Context(), &p)
	if err != nil {
		t.Fatal(err)
	}
	h := hunt.try(t.Context(), planted)
	if h.Law == "" {
		t.Fatalf("%s (%s) was not found in %d schedules; it needs %s", p.ID, p.What, h.Schedules, p.Needs)
	}
	t.Logf("%s (%s): %q broke after %d schedules", p.ID, p.What, h.Law, h.Schedules)
}

// Every plant can be drawn but the neutral ones and those that say why not.
func TestCanaryDraw(t *testing.T) {
	plants := []Plant{{ID: "N1"}, {ID: "P01"}, {ID: "P02", Rare: "needs two crashes"}, {ID: "X01"}}
	for number, want := range []string{"P01", "X01", "P01"} {
		if got := canary(plants, int64(number)).ID; got != want {
			t.Errorf("draw %d: got %s, want %s", number, got, want)
		}
	}
}

func TestParsePlant(t *testing.T) {
	const diff = "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-one\n+1\n"
	p, err := parsePlant("P07: no order\nneeds: two keys\ntrips: determinism\nrare: seldom\n" + diff)
	if err != nil {
		t.Fatal(err)
	}
	p.files = nil
	if want := (Plant{ID: "P07", What: "no order", Needs: "two keys", Trips: "determinism", Rare: "seldom"}); !reflect.DeepEqual(p, want) {
		t.Errorf("got %+v, want %+v", p, want)
	}
	for text, problem := range map[string]string{
		"P07: no order\nneeds: x\ntrips: y\n":                "no --- a/FILE",
		"P07: no order\ntrips: y\n" + diff:                   "its header must say",
		"P07: no order\nneeds: x\ntrip: y\n" + diff:          `header "trip: y"`,
		"P07: no order\nneeds: x\ntrips: y\n" + diff + "?\n": "cannot read",
	} {
		if _, err := parsePlant(text); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%q: got %v, want %q", text, err, problem)
		}
	}
}

// What was found comes before what was not, the quick before the slow.
func TestMedian(t *testing.T) {
	got := median([]Hunt{{Seconds: 5}, {Law: "a", Seconds: 3}, {Law: "b", Seconds: 1}})
	if got.Law != "a" {
		t.Errorf("got %+v, want the hunt that found a law broken after 3s", got)
	}
}

func TestApply(t *testing.T) {
	const text = "one\ntwo\nthree\nfour\ntwo\nthree\n"
	tests := map[string]struct {
		diff, want, problem string
	}{
		"where it says":                 {diff: "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n", want: "one\n2\nthree\nfour\ntwo\nthree\n"},
		"the code has moved":            {diff: "--- a/f\n+++ b/f\n@@ -9,2 +9,2 @@\n one\n-two\n+2\n", want: "one\n2\nthree\nfour\ntwo\nthree\n"},
		"the nearest of two places":     {diff: "--- a/f\n+++ b/f\n@@ -4,2 +4,1 @@\n two\n-three\n", want: "one\ntwo\nthree\nfour\ntwo\n"},
		"two hunks":                     {diff: "--- a/f\n+++ b/f\n@@ -1,1 +1,2 @@\n one\n+and\n@@ -5,2 +6,1 @@\n-two\n three\n", want: "one\nand\ntwo\nthree\nfour\nthree\n"},
		"the lines are others":          {diff: "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-zwei\n+2\n", problem: `f, hunk 1: its lines are not in the file any more; make the patch anew for the code around "zwei"`},
		"no file":                       {diff: "@@ -1,2 +1,2 @@\n", problem: "want --- a/FILE"},
		"a rename":                      {diff: "--- a/f\n+++ b/g\n", problem: "files cannot be renamed"},
		"a line that is none of a hunk": {diff: "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n*one\n", problem: `cannot read "*one"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, problem := "", ""
			files, err := parseDiff(test.diff)
			if err == nil {
				got, err = files[0].apply(text)
			}
			if err != nil {
				problem = err.Error()
			}
			if got != test.want || !strings.Contains(problem, test.problem) || (problem == "") != (test.problem == "") {
				t.Errorf("got %q, %q\nwant %q, %q", got, problem, test.want, test.problem)
			}
		})
	}
}
