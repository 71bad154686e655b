package fidelity_test

import (
	"slices"
	"testing"

	"github.com/corewire/kick/sim/fidelity"
)

// TestGenerate shows that equal seeds make equal sequences, and that some hundred of
// them say all verbs of all kinds.
func TestGenerate(t *testing.T) {
	type said struct {
		verb fidelity.Verb
		kind string
	}
	all := map[said]bool{}
	for seed := range uint64(300) {
		ops := sequence(seed)
		if got, want := fidelity.Script(sequence(seed)), fidelity.Script(ops); got != want {
			t.Fatalf("seed %d makes two sequences:\n%s\n%s", seed, got, want)
		}
		for _, op := range ops {
			all[said{op.Verb, op.Kind}] = true
		}
	}
	for _, gvk := range fidelity.Kinds() {
		for _, verb := range []fidelity.Verb{fidelity.Create, fidelity.Update, fidelity.Patch, fidelity.Apply, fidelity.Delete, fidelity.List} {
			if !all[said{verb, gvk.Kind}] {
				t.Errorf("nobody says %s %s", verb, gvk.Kind)
			}
		}
	}
	if !all[said{fidelity.Finalize, "Namespace"}] || !all[said{fidelity.Wait, ""}] {
		t.Error("nobody finalizes a namespace, or nobody waits")
	}
}

// TestSimulatedAlone shows that a sequence has the same record each time, with the
// short cuts and without, and that the object of every kind is accepted.
func TestSimulatedAlone(t *testing.T) {
	s := newSimulated(t)
	for i, other := range []*simulated{s, s.fast()} {
		for seed := range uint64(40) {
			ops := sequence(seed)
			a, err := s.play(t.Context(), ops)
			if err != nil {
				t.Fatal(err)
			}
			b, err := other.play(t.Context(), ops)
			if err != nil {
				t.Fatal(err)
			}
			if diff := fidelity.Compare(ops, a, b); diff != nil {
				t.Errorf("run %d of seed %d, operation %d: %s", i, seed, diff.At+1, diff.What)
			}
		}
	}
	one := fidelity.One("one")
	record, err := s.play(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	for i, answer := range record.Answers {
		if answer.Code != 200 {
			t.Errorf("%s: %s", one[i], answer.Text)
		}
	}
}

// TestCompareAndShrink plays a sequence on a server and on one that loses a label.
func TestCompareAndShrink(t *testing.T) {
	s := newSimulated(t)
	play := func(ops []fidelity.Op) *fidelity.Difference {
		good, err := s.play(t.Context(), ops)
		if err != nil {
			t.Fatal(err)
		}
		bad, err := s.play(t.Context(), ops)
		if err != nil {
			t.Fatal(err)
		}
		for i, op := range ops {
			if op.Name == "last" {
				bad.Answers[i].Object = slices.DeleteFunc(slices.Clone(bad.Answers[i].Object), func(line string) bool { return line == `   "tier": "web"` })
			}
		}
		return fidelity.Compare(ops, good, bad)
	}
	last := fidelity.Op{Verb: fidelity.Create, Kind: "ConfigMap", Name: "last", Body: `{"metadata":{"labels":{"tier":"web"}}}`}
	ops := append(sequence(7), last)
	diff := play(ops)
	if diff == nil || diff.At != len(ops)-1 {
		t.Fatalf("found %+v, want a difference at operation %d", diff, len(ops))
	}
	fewer, diff := fidelity.Shrink(ops, diff, play)
	if len(fewer) != 1 || fewer[0].String() != last.String() || diff.At != 0 {
		t.Errorf("shrunk to\n%sat %d, want the last operation", fidelity.Script(fewer), diff.At)
	}
}
