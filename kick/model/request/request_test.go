package request

import "testing"

// legal lists every move to another phase that a status write may make.
var legal = map[Phase][]Phase{
	"":                        {WaitingForGate, WaitingForOwner, WaitingForApplicationSync, WaitingForRollout, Executing, NoLongerRequired, Failed, DryRun},
	Pending:                   {WaitingForGate, WaitingForOwner, WaitingForApplicationSync, WaitingForRollout, Executing, NoLongerRequired, Failed, DryRun},
	WaitingForGate:            {WaitingForOwner, WaitingForApplicationSync, WaitingForRollout, Executing, NoLongerRequired, Failed, DryRun},
	WaitingForOwner:           {WaitingForGate, WaitingForApplicationSync, WaitingForRollout, Executing, NoLongerRequired, Failed, DryRun},
	WaitingForApplicationSync: {WaitingForGate, WaitingForOwner, WaitingForRollout, Executing, NoLongerRequired, Failed, DryRun},
	WaitingForRollout:         {WaitingForGate, WaitingForOwner, WaitingForApplicationSync, Executing, NoLongerRequired, Failed, DryRun},
	Executing:                 {WaitingForRollout, Succeeded, Failed},
	Succeeded:                 {Pending},
	NoLongerRequired:          {Pending},
	Failed:                    {Pending},
	DryRun:                    {Pending},
}

func TestLegalForAllPairs(t *testing.T) {
	for _, from := range append([]Phase{""}, Phases...) {
		want := map[Phase]bool{from: true}
		if from == "" {
			want = map[Phase]bool{Pending: true} // the empty phase is Pending
		}
		for _, to := range legal[from] {
			want[to] = true
		}
		for _, to := range append([]Phase{"Nonsense"}, Phases...) {
			if got := Legal(from, to); got != want[to] {
				t.Errorf("Legal(%q, %q) = %v, want %v", from, to, got, want[to])
			}
		}
	}
}

func TestNobodyGoesBackToNoPhase(t *testing.T) {
	for _, from := range Phases {
		if Legal(from, "") {
			t.Errorf("Legal(%q, \"\") = true, want false", from)
		}
	}
}

func TestTerminalAndWaiting(t *testing.T) {
	tests := []struct {
		phase             Phase
		terminal, waiting bool
	}{
		{phase: ""},
		{phase: Pending},
		{phase: WaitingForGate, waiting: true},
		{phase: WaitingForOwner, waiting: true},
		{phase: WaitingForApplicationSync, waiting: true},
		{phase: WaitingForRollout, waiting: true},
		{phase: Executing},
		{phase: Succeeded, terminal: true},
		{phase: NoLongerRequired, terminal: true},
		{phase: Failed, terminal: true},
		{phase: DryRun, terminal: true},
	}
	if got, want := len(tests), len(Phases)+1; got != want {
		t.Fatalf("the table has %d phases, want %d: add a row for the new phase", got, want)
	}
	for _, tt := range tests {
		if got := tt.phase.Terminal(); got != tt.terminal {
			t.Errorf("%q.Terminal() = %v, want %v", tt.phase, got, tt.terminal)
		}
		if got := tt.phase.Waiting(); got != tt.waiting {
			t.Errorf("%q.Waiting() = %v, want %v", tt.phase, got, tt.waiting)
		}
	}
}
