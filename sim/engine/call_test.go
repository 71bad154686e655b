package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/sched"
)

// TestFaultsOfCalls has every fault of a call hit the restart of a workload, and
// what KICK wrote be right all the same.
func TestFaultsOfCalls(t *testing.T) {
	for _, f := range faults.All {
		if f.Place != faults.Call || f == faults.Forbidden {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			r, met := play(shop(t, "  operator: {replicas: 2}\n  steps:\n  - fault: {name: "+f.Name+", on: {verb: patch, kind: Deployment}, times: 1}\n  - {at: 10s, "+rotate+"}\n  - advance: 1m\n"+once), nil)
			mustPass(t, r)
			if n := met.count(f.Name + " at patch Deployment"); n != 1 {
				t.Errorf("hit %d times: %v", n, met)
			}
		})
	}
}

// TestLicences asks what each kind of call may meet.
func TestLicences(t *testing.T) {
	names := func(all []*faults.Fault) (out []string) {
		for _, f := range all[1:] {
			out = append(out, f.Name)
		}
		return out
	}
	if got := names(faults.OfWrite(false, false)); slices.Contains(got, "conflict") || slices.Contains(got, "pause") {
		t.Errorf("a write without preconditions can meet %v", got)
	}
	if got := names(faults.OfWrite(true, false)); !slices.Contains(got, "conflict") {
		t.Errorf("a write with preconditions meets no conflict: %v", got)
	}
	for _, name := range names(faults.OfRead(true)) {
		if f := faults.ByName(name); !f.Befalls(true, false) {
			t.Errorf("%s is offered to a read and does not befall one", name)
		}
	}
	for _, f := range faults.All {
		if f.Doc == "" || f.Licence == "" {
			t.Errorf("%s has no doc or no licence", f.Name)
		}
	}
	if !slices.IsSorted(faults.Names()) {
		t.Errorf("not in order: %v", faults.Names())
	}
}

// TestNoConflictOnCreate: a creation carries nothing that could conflict.
func TestNoConflictOnCreate(t *testing.T) {
	r, met := play(shop(t, "  steps:\n  - fault: {name: conflict, on: {verb: create}}\n  - {at: 10s, "+rotate+"}\n  - advance: 1m\n"+once), nil)
	if len(met) != 0 {
		t.Errorf("hit %v", met)
	}
	if len(r.Failures) != 1 || r.Failures[0].Law != "steps" || !strings.Contains(r.Failures[0].Message, "fault conflict on create * * met nothing until it was healed; it tests nothing") {
		t.Errorf("got %v", r.Failures)
	}
}

// TestCrashThatNeverComes is a step that tests nothing.
func TestCrashThatNeverComes(t *testing.T) {
	r, _ := play(shop(t, "  steps:\n  - {at: 20s, crashAtWrite: {n: 50}}\n  - "+rotate+"\n  - advance: 1m\n"+once), nil)
	if len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Message, "x.yaml:7: crashAtWrite: kick never came to write 50 after it") {
		t.Errorf("got %v", r.Failures)
	}
}

// TestLateWrite: the restart lands two seconds after KICK was told that it timed
// out. By then KICK tried again; only one of the two may land.
func TestLateWrite(t *testing.T) {
	r, met := play(shop(t, "  steps:\n  - fault: {name: timeoutLate, on: {verb: patch, kind: Deployment}, times: 1}\n  - {at: 10s, "+rotate+"}\n  - advance: 1m\n"+once), nil)
	mustPass(t, r)
	if len(met) != 1 || strings.Count(eventLog(t, r), "restarted, restartedAt") != 1 {
		t.Errorf("hit %v\n%s", met, eventLog(t, r))
	}
}

// TestLateWriteLands where nothing else moved the object meanwhile: all tries of
// KICK are lost until then.
func TestLateWriteLands(t *testing.T) {
	r, _ := play(shop(t, "  steps:\n  - fault: {name: timeoutLate, on: {verb: patch, kind: Deployment}, times: 1}\n"+
		"  - {at: 10s, "+rotate+"}\n  - fault: {name: timeoutLost, on: {verb: patch, kind: Deployment}}\n  - {at: 14s, heal: {}}\n"+once), nil)
	mustPass(t, r)
	if log := eventLog(t, r); !strings.Contains(log, `"t":12.`) || strings.Count(log, "restarted, restartedAt") != 1 {
		t.Errorf("the first patch did not land\n%s", log)
	}
}

// TestReadsFail: a live read that fails costs a pass, no more.
func TestReadsFail(t *testing.T) {
	r, met := play(shop(t, "  steps:\n  - fault: {name: serverError, on: {verb: get}, times: 2}\n  - {at: 10s, "+rotate+"}\n  - advance: 1m\n"+once), nil)
	mustPass(t, r)
	if len(met) != 2 || !strings.HasPrefix(met[0], "serverError at get ") {
		t.Errorf("hit %v", met)
	}
}

// TestChosenFaults: the same outcomes by choice, each named for reports.
func TestChosenFaults(t *testing.T) {
	for pick, f := range faults.OfWrite(true, false) {
		if f == nil || f == faults.Forbidden {
			continue
		}
		r, met := play(shop(t, "  steps: [{at: 10s, "+rotate+"}, {advance: 1m}]\n"+once), scripted(sched.Answer{Class: sched.Fault, Site: "patch Deployment", Nth: 1, Pick: pick}))
		mustPass(t, r)
		if met.count(f.Name+" at patch Deployment") != 1 {
			t.Errorf("%s: hit %v", f.Name, met)
		}
	}
}

// TestNothingIsAskedAfterHealing but the order of events.
func TestNothingIsAskedAfterHealing(t *testing.T) {
	asked := &asking{}
	play(shop(t, "  steps: [{at: 10s, heal: {}}, {at: 20s, "+rotate+"}, {advance: 1m}]\n"+once), asked)
	if asked.late != 0 || asked.early == 0 {
		t.Errorf("asked %d questions before and %d after", asked.early, asked.late)
	}
}

// asking counts questions; the pass of the request controller comes only after the
// change, so after healing.
type asking struct{ early, late int }

func (a *asking) Choose(_ int, class sched.Class, site string) int {
	switch {
	case class == sched.Order:
	case site == "patch Deployment":
		a.late++
	default:
		a.early++
	}
	return 0
}

// TestDeterminism: a seed gives the same log to the byte, with everything that can
// go wrong going wrong.
func TestDeterminism(t *testing.T) {
	s := shop(t, "  operator: {replicas: 2}\n  steps:\n  - {at: 10s, "+rotate+"}\n  - {at: 40s, operator: {pause: 20s}}\n  - {at: 50s, apply: {resource: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: shop}, stringData: {password: third-password}}}}\n")
	kinds := map[string]bool{}
	for seed := range uint64(64) {
		first, met := play(s, &chance{seed})
		second, _ := play(s, &chance{seed})
		if a, b := eventLog(t, first), eventLog(t, second); a != b {
			t.Fatalf("seed %d: two logs", seed)
		}
		for _, hit := range met {
			kinds[strings.Fields(hit)[0]] = true
		}
	}
	for _, f := range faults.All {
		if f != faults.RecreateAsUpdate && f != faults.StaleCache && !kinds[f.Name] {
			t.Errorf("no seed met %s", f.Name)
		}
	}
}

// TestPlainAsksNothing: an ordinary run is the plain schedule.
func TestPlainAsksNothing(t *testing.T) {
	s := shop(t, "  steps: [{at: 10s, "+rotate+"}, {advance: 1m}]\n"+once)
	plain, _ := play(s, nil)
	asked, _ := play(s, &asking{})
	mustPass(t, plain)
	if a, b := eventLog(t, plain), eventLog(t, asked); a != b {
		t.Errorf("answers of 0 differ from the plain schedule\n%s\n%s", a, b)
	}
}
