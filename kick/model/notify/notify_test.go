package notify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/notify"
	"github.com/corewire/kick/kick/model/request"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// reached is a transition of request web.
func reached(phase request.Phase, seconds int) notify.Transition {
	return notify.Transition{
		Transition: model.Transition{Phase: phase, At: at(seconds), Reason: request.Fresh, Message: "m"},
		UID:        "u", Request: model.Key{Kind: "KickRequest", Namespace: "shop", Name: "web"}, Target: model.Key{Kind: "Deployment", Namespace: "shop", Name: "web"},
	}
}

// inForce is a policy that counts from noon on.
func inForce(transitions ...notify.Transition) *notify.Snapshot {
	return &notify.Snapshot{
		Queue: 3, Allowance: 5 * time.Second, Transitions: transitions,
		Policy: &notify.Policy{Generation: 1, Phases: notify.Terminal(), Status: notify.Status{
			Generation: 1, Since: noon, Ready: notify.Condition{Reason: notify.Validated, Message: "The policy is in force.", Since: noon},
		}},
	}
}

// Proves: KICK-FEAT-035.
func TestWhatIsTold(t *testing.T) {
	mark := func(phase request.Phase, seconds int) notify.Mark {
		t := reached(phase, seconds)
		return t.Mark()
	}
	tests := map[string]struct {
		transitions []notify.Transition
		settled     []notify.Mark
		want        notify.Mark // zero: nothing
	}{
		"nothing":                     {nil, nil, notify.Mark{}},
		"one":                         {[]notify.Transition{reached(request.Failed, 1)}, nil, mark(request.Failed, 1)},
		"the oldest":                  {[]notify.Transition{reached(request.Failed, 3), reached(request.Succeeded, 2)}, nil, mark(request.Succeeded, 2)},
		"at the very beginning":       {[]notify.Transition{reached(request.Failed, 0)}, nil, mark(request.Failed, 0)},
		"before the beginning":        {[]notify.Transition{reached(request.Failed, -1)}, nil, notify.Mark{}},
		"another phase":               {[]notify.Transition{reached(request.Executing, 1)}, nil, notify.Mark{}},
		"settled":                     {[]notify.Transition{reached(request.Failed, 1)}, []notify.Mark{mark(request.Failed, 1)}, notify.Mark{}},
		"of another episode":          {[]notify.Transition{reached(request.Failed, 1), reached(request.Failed, 9)}, []notify.Mark{mark(request.Failed, 1)}, mark(request.Failed, 9)},
		"of another request that was": {[]notify.Transition{reached(request.Failed, 1)}, []notify.Mark{{UID: "old", Phase: request.Failed, At: at(1)}}, mark(request.Failed, 1)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := inForce(tt.transitions...)
			s.Policy.Status.Settled = tt.settled
			v := notify.Decide(s, at(60))
			if got := v.Next.Mark(); got != tt.want && (v.Action != notify.None || tt.want.UID != "") {
				t.Errorf("Decide() = %s %v, want %v", v.Action, got, tt.want)
			}
			if (v.Action == notify.Deliver) != (tt.want.UID != "") {
				t.Errorf("Decide() = %s", v.Action)
			}
		})
	}
}

func TestWhatAPolicySays(t *testing.T) {
	tests := map[string]struct {
		change  func(*notify.Policy)
		reason  notify.Reason
		message string
		since   time.Time
	}{
		"new":                       {func(p *notify.Policy) { p.Status = notify.Status{} }, notify.Validated, "in force", at(55)},
		"edited":                    {func(p *notify.Policy) { p.Generation = 2 }, notify.Validated, "in force", at(55)},
		"suspended":                 {func(p *notify.Policy) { p.Suspended = true }, notify.Validated, "spec.suspend", time.Time{}},
		"resumed":                   {func(p *notify.Policy) { p.Status.Since, p.Generation = time.Time{}, 2 }, notify.Validated, "in force", at(55)},
		"a Secret is missing":       {func(p *notify.Policy) { p.Lacks = "no Secret x" }, notify.ValidationFailed, "no Secret x. Nothing is delivered until then", noon},
		"a Secret has come":         {func(p *notify.Policy) { p.Status.Ready.Reason = notify.ValidationFailed }, notify.Validated, "in force", noon},
		"mended by an edit":         {func(p *notify.Policy) { p.Status.Ready.Reason, p.Generation = notify.ValidationFailed, 2 }, notify.Validated, "in force", noon},
		"edited by a clock behind":  {func(p *notify.Policy) { p.Status.Since, p.Generation = at(57), 2 }, notify.Validated, "in force", at(57)},
		"since lies in the future":  {func(p *notify.Policy) { p.Status.Since = at(3600) }, notify.Validated, "in force", at(55)},
		"broken and then suspended": {func(p *notify.Policy) { p.Lacks, p.Suspended = "no Secret x", true }, notify.ValidationFailed, "no Secret x", time.Time{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := inForce()
			tt.change(s.Policy)
			v := notify.Decide(s, at(60))
			if v.Action != notify.Report || v.Status.Ready.Reason != tt.reason || !strings.Contains(v.Status.Ready.Message, tt.message) || !v.Status.Since.Equal(tt.since) {
				t.Fatalf("Decide() = %+v", v)
			}
			s.Policy.Status = v.Status
			if again := notify.Decide(s, at(61)); again.Action != notify.None {
				t.Errorf("once that is written: %+v", again)
			}
		})
	}
}

func TestTheOldestMakeRoom(t *testing.T) {
	s := inForce(reached(request.Failed, 1), reached(request.Failed, 2), reached(request.Succeeded, 2), reached(request.Failed, 3), reached(request.Failed, 4), reached(request.Failed, 5))
	s.Queue = 4
	v := notify.Decide(s, at(60))
	if v.Action != notify.Report || v.Dropped != 3 || v.Status.Dropped != 3 {
		t.Fatalf("Decide() = %+v, want the three of the first two instants dropped", v)
	}
	s.Policy.Status = v.Status
	if v = notify.Decide(s, at(60)); v.Action != notify.Deliver || !v.Next.At.Equal(at(3)) {
		t.Errorf("then Decide() = %+v", v)
	}
}

// A clock that was set back has transitions ahead of it: they are told in their time, and
// do not make room over and over.
func TestATransitionAheadOfTheClockWaits(t *testing.T) {
	s := inForce(reached(request.Failed, 50), reached(request.Failed, 3600), reached(request.Succeeded, 4000), reached(request.Failed, 65))
	s.Queue = 1
	v := notify.Decide(s, at(60))
	if v.Action != notify.Report || v.Dropped != 1 {
		t.Fatalf("Decide() = %+v, want the oldest dropped", v)
	}
	s.Policy.Status = v.Status
	if v = notify.Decide(s, at(60)); v.Action != notify.Deliver || !v.Next.At.Equal(at(65)) {
		t.Errorf("then Decide() = %+v, want the one that a clock within the allowance may have written", v)
	}
	s.Policy.Status = notify.Settle(s.Policy.Status, v.Next.Mark(), notify.Outcome{Delivered: true}, at(60))
	if v = notify.Decide(s, at(60)); v.Action != notify.None || !v.WakeAt.Equal(at(3595)) {
		t.Errorf("once that is told Decide() = %+v, want to wait for the next", v)
	}
	if v = notify.Decide(s, at(3600)); v.Action != notify.Deliver || !v.Next.At.Equal(at(3600)) {
		t.Errorf("in its time Decide() = %+v", v)
	}
}

// What was settled before a clock was set back stays settled, and what comes then is told.
func TestAClockThatIsSetBack(t *testing.T) {
	s := inForce(reached(request.Failed, 3000), reached(request.Executing, 3100), reached(request.Succeeded, 3600), reached(request.Failed, 58))
	s.Policy.Status.Since = at(3300)
	s.Policy.Status.Settled = []notify.Mark{s.Transitions[2].Mark()}
	v := notify.Decide(s, at(60))
	want := []notify.Mark{s.Transitions[0].Mark(), s.Transitions[2].Mark()}
	if v.Action != notify.Report || !v.Status.Since.Equal(at(55)) || !cmp.Equal(v.Status.Settled, want) {
		t.Fatalf("Decide() = %+v, want %v settled", v, want)
	}
	s.Policy.Status = v.Status
	if v = notify.Decide(s, at(60)); v.Action != notify.Deliver || !v.Next.At.Equal(at(58)) {
		t.Errorf("then Decide() = %+v, want what the set back clock wrote", v)
	}
}

// Whatever is told, the status stays small, and nothing is told twice.
//
// Proves: KICK-FEAT-035.
func TestEverythingIsToldOnce(t *testing.T) {
	s := inForce()
	s.Queue = 1000
	for i := range 400 {
		s.Transitions = append(s.Transitions, reached(request.Failed, i/4*3), reached(request.Succeeded, i/4*3))
		for j := range s.Transitions[len(s.Transitions)-2:] {
			s.Transitions[len(s.Transitions)-1-j].UID = string(rune('a' + i%4))
		}
	}
	told := map[notify.Mark]int{}
	for range 2000 {
		v := notify.Decide(s, at(2000))
		if v.Action != notify.Deliver {
			break
		}
		told[v.Next.Mark()]++
		s.Policy.Status = notify.Settle(s.Policy.Status, v.Next.Mark(), notify.Outcome{Delivered: true}, at(2000))
		if n := len(s.Policy.Status.Settled); n > 128 {
			t.Fatalf("%d are settled", n)
		}
	}
	if len(told) != 800 || s.Policy.Status.Delivered != 800 {
		t.Errorf("%d transitions were told, %d counted, want 800", len(told), s.Policy.Status.Delivered)
	}
	for m, n := range told {
		if n != 1 {
			t.Errorf("%v was told %d times", m, n)
		}
	}
}

// A transition whose write came late is told although younger ones were settled.
func TestLateTransition(t *testing.T) {
	s := inForce(reached(request.Failed, 100))
	s.Policy.Status = notify.Settle(s.Policy.Status, s.Transitions[0].Mark(), notify.Outcome{Delivered: true}, at(101))
	s.Transitions = append(s.Transitions, reached(request.Succeeded, 70))
	if v := notify.Decide(s, at(102)); v.Action != notify.Deliver || v.Next.Phase != request.Succeeded {
		t.Errorf("Decide() = %+v", v)
	}
}

func TestSettle(t *testing.T) {
	before := notify.Status{Since: noon, LastError: "x", Failed: 1}
	m := notify.Mark{UID: "u", Phase: request.Failed, At: at(1)}
	got := notify.Settle(before, m, notify.Outcome{Delivered: true}, at(2).Add(time.Millisecond))
	want := notify.Status{Since: noon, Settled: []notify.Mark{m}, Delivered: 1, Failed: 1, LastDelivery: at(2)}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("delivered (-want +got):\n%s", d)
	}
	got = notify.Settle(before, m, notify.Outcome{Why: "y"}, at(2))
	want = notify.Status{Since: noon, Settled: []notify.Mark{m}, Failed: 2, LastFailure: at(2), LastError: "y"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("given up (-want +got):\n%s", d)
	}
	if got = notify.Settle(before, m, notify.Outcome{}, at(3600)); len(got.Settled) != 1 || !got.Since.Equal(noon) {
		t.Errorf("later: %+v", got)
	}
	late := notify.Mark{UID: "u", Phase: request.Failed, At: at(7200)}
	if got = notify.Settle(before, late, notify.Outcome{}, at(90)); !got.Since.Equal(at(30)) {
		t.Errorf("since moves with what was told, and never beyond now: %v", got.Since)
	}
}

func TestPauses(t *testing.T) {
	for name, tt := range map[string]struct {
		n    int
		o    notify.Outcome
		want time.Duration
	}{
		"first":         {1, notify.Outcome{}, 2 * time.Second},
		"second":        {2, notify.Outcome{}, 8 * time.Second},
		"third":         {3, notify.Outcome{}, 0},
		"final":         {1, notify.Outcome{Final: true}, 0},
		"asked":         {1, notify.Outcome{After: time.Minute}, time.Minute},
		"asked shorter": {2, notify.Outcome{After: time.Second}, 8 * time.Second},
		"asked a lot":   {1, notify.Outcome{After: time.Hour}, notify.MaxPause},
		"asked at last": {3, notify.Outcome{After: time.Minute}, 0},
	} {
		if got := notify.Pause(tt.n, tt.o); got != tt.want {
			t.Errorf("%s: Pause() = %s, want %s", name, got, tt.want)
		}
	}
}

// A message names neither a key of a source nor anything but what it is made of.
func TestMessage(t *testing.T) {
	tr := reached(request.WaitingForGate, 1)
	tr.Reason, tr.Message = request.SourceMissing, "Secret db has no key PASSWORD"
	m := notify.MessageOf(&tr, "")
	if strings.Contains(m.Message, "PASSWORD") || m.GitOpsProvider != "none" || m.Reason != "SourceMissing" {
		t.Errorf("MessageOf() = %+v", m)
	}
}
