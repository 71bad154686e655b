package report

import (
	"strings"
	"testing"
	"time"

	"github.com/corewire/kick/sim/run"
)

// TestChain: of what happens beside each other only the failing workload's lines
// are told.
func TestChain(t *testing.T) {
	line := func(seconds int, actor, object, text string) run.Line {
		return run.Line{At: at(time.Duration(seconds) * time.Second), Actor: actor, Object: object, Text: text, Causal: true}
	}
	lines := []run.Line{
		line(-9, "world", "Pod shop/web-7d9-x2", "pod shop/web-7d9-x2 runs Secret db=a, ConfigMap flags=a"),
		line(-8, "world", "Pod shop/api-5c4-k8", "pod shop/api-5c4-k8 runs Secret other=a"),
		line(1, "user", "Secret shop/db", "Secret shop/db: content a -> b"),
		line(2, "user", "Secret shop/other", "Secret shop/other: content a -> b"),
		line(3, "kick", "SourceObservation shop/secret-db", "SourceObservation shop/secret-db: remembers Secret shop/db (changed)"),
		line(3, "kick", "SourceObservation shop/secret-other", "SourceObservation shop/secret-other: remembers Secret shop/other (changed)"),
		line(4, "fault", "", "crashLost at create KickRequest"),
		line(5, "kick", "KickRequest shop/deployment-api", "KickRequest shop/deployment-api: created"),
		line(5, "kick", "KickRequest shop/deployment-web", "KickRequest shop/deployment-web: created"),
		line(6, "user", "KickPolicy shop/all", "KickPolicy shop/all: changed"),
		line(6, "user", "KickPolicy else/all", "KickPolicy else/all: changed"),
		line(7, "world", "Pod shop/api-5c4-k9", "pod shop/api-5c4-k9 runs Secret other=b"),
	}
	for i := range 30 {
		lines = append(lines, line(10+i, "fault", "", "suspended at get Deployment"))
	}
	for name, message := range map[string]string{
		"workload": "shop/Deployment/web: pod web-7d9-x2 still runs old content of Secret shop/db",
		"request":  "KickRequest shop/deployment-web waits without a wake-up",
	} {
		r := run.Result{Trail: run.TrailOf(zero, lines), Failures: []run.Failure{{Message: message}}}
		r.Scenario.Start = zero
		var got []string
		for _, l := range chain(r, 10) {
			got = append(got, l.Text)
		}
		if len(got) != 5 || !strings.Contains(got[0], "Secret shop/db: content") || !strings.Contains(got[1], "remembers Secret shop/db") ||
			!strings.Contains(got[2], "crashLost") || !strings.Contains(got[3], "deployment-web") || !strings.Contains(got[4], "shop/all") {
			t.Errorf("%s: got\n%s", name, strings.Join(got, "\n"))
		}
	}
}

// TestChainKeepsWhatTheFailureNames: where there is not room for all, the newest change of
// the source that a failure names stays, and so does the newest edit of a policy.
func TestChainKeepsWhatTheFailureNames(t *testing.T) {
	var lines []run.Line
	add := func(actor, object, text string) {
		lines = append(lines, run.Line{At: at(time.Duration(len(lines)) * time.Second), Actor: actor, Object: object, Text: object + ": " + text, Causal: true})
	}
	for i := range 40 {
		switch i {
		case 15:
			add("user", "Secret shop/db", "content a -> b")
		case 20:
			add("user", "KickPolicy shop/all", "changed")
		default:
			add("kick", "KickRequest shop/deployment-web", "Pending -> WaitingForGate (Settling)")
		}
	}
	r := run.Result{Trail: run.TrailOf(zero, lines), Failures: []run.Failure{{Message: "shop/Deployment/web: pod web-7d9-x2 still runs old content of Secret shop/db"}}}
	r.Scenario.Start = zero
	var got strings.Builder
	for _, l := range chain(r, 11) {
		got.WriteString(l.Text + "\n")
	}
	for _, want := range []string{"Secret shop/db: content a -> b", "KickPolicy shop/all: changed"} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("%q is missing in\n%s", want, got.String())
		}
	}
}

// TestChainTellsOfRequestsMadeByHand: a request that somebody made for the workload belongs to
// its chain whatever its name is, one for another workload does not.
func TestChainTellsOfRequestsMadeByHand(t *testing.T) {
	lines := []run.Line{
		{At: at(time.Second), Object: "KickRequest shop/by-hand", Actor: "user", Text: "KickRequest shop/by-hand: created by hand, for Deployment shop/web", Causal: true},
		{At: at(time.Second), Object: "KickRequest shop/by-hand-2", Actor: "user", Text: "KickRequest shop/by-hand-2: created by hand, for Deployment shop/api", Causal: true},
		{At: at(2 * time.Second), Object: "Deployment shop/web", Actor: "kick", Text: "Deployment shop/web: restarted", Causal: true},
	}
	r := run.Result{Trail: run.TrailOf(zero, lines), Failures: []run.Failure{{Message: "restart of shop/Deployment/web, but its window closed"}}}
	r.Scenario.Start = zero
	got := chain(r, 15)
	if len(got) != 2 || got[0].Object != "KickRequest shop/by-hand" || got[1].Object != "Deployment shop/web" {
		t.Errorf("got %v, want the request for the workload and its restart", got)
	}
}
