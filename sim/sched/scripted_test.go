package sched_test

import (
	"slices"
	"testing"

	"github.com/corewire/kick/sim/sched"
)

type always int

func (a always) Choose(int, sched.Class, string) int { return int(a) }

func TestScripted(t *testing.T) {
	s := sched.NewScripted([]sched.Answer{
		{Class: sched.Fault, Site: "update X", Nth: 2, Pick: 3},
		{Class: sched.Fault, Site: "update X", Nth: 5, Pick: 1},
		{Class: sched.Order, Site: "update X", Nth: 1, Pick: 7},
	}, always(1))
	var got []int
	for range 3 {
		got = append(got, s.Choose(4, sched.Fault, "update X"), s.Choose(4, sched.Fault, "update Y"))
	}
	got = append(got, s.Choose(2, sched.Order, "update X"))
	if want := []int{1, 1, 3, 1, 1, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	want := []string{
		`choice fault "update X" nth 5 was never asked`,
		`choice order "update X" nth 1: pick 7, but the question offers 0 to 1`,
	}
	if complaints := s.Complaints(); !slices.Equal(complaints, want) {
		t.Errorf("got %q", complaints)
	}
}
