package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// told are scenarios in which requests move, and what is said of it among other things.
var told = map[string][]string{
	"argocd/sync.yaml":       {"Its GitOps owner is not as declared"},
	"failed-rollout.yaml":    {"exceeded spec.progressDeadlineSeconds"},
	"manual-request.yaml":    {"does not exist", "No KickPolicy of the namespace selects"},
	"on-delete.yaml":         {"has updateStrategy OnDelete"},
	"partition.yaml":         {"Only pods below the partition"},
	"paused.yaml":            {"is paused"},
	"pods-not-started.yaml":  {"Only pods that have not started", "is rolling"},
	"policy-conflict.yaml":   {"Several policies select"},
	"policy-dry-run.yaml":    {"has spec.dryRun"},
	"policy-suspend.yaml":    {"is suspended", "watching the rollout", "the rollout is complete", "Every pod read its sources"},
	"rate-min-interval.yaml": {"allows the next restart from"},
	"required-source.yaml":   {"is required and does not exist", "lacks the required"},
	"window-edges.yaml":      {"The policy's schedule is shut"},
}

// spoken is what a trace tells of requests.
type spoken struct {
	Scenario, Object, Text, Says string
	Log                          bool
}

// event is the request and the sentence of an event that a line of KICK's log tells of.
func (l *spoken) event() (request, note string, is bool) {
	var e struct{ Msg, Reason, Regarding, Note string }
	if !l.Log || json.Unmarshal([]byte(l.Text), &e) != nil || e.Msg != "event" || e.Reason == "GateOverridden" {
		return "", "", false
	}
	return l.Scenario + " " + e.Regarding, e.Note, strings.HasPrefix(e.Regarding, "KickRequest ")
}

// TestTheSimulatorSaysWhatKICKSays: a line about a request that moved has the sentence of
// its status, and the event about it says the same.
func TestTheSimulatorSaysWhatKICKSays(t *testing.T) {
	for file, parts := range told {
		t.Run(file, func(t *testing.T) {
			says := map[string]string{} // by request: of its last move
			var notes []string
			for _, l := range traceOf(t, "../../scenarios/"+file) {
				if l.Says != "" {
					says[l.Scenario+" "+l.Object] = l.Says
				}
				about, note, is := l.event()
				if !is {
					continue
				}
				notes = append(notes, note)
				if note != says[about] {
					t.Errorf("an event of %s says\n%s\nthe simulator says\n%s", about, note, says[about])
				}
			}
			for _, part := range parts {
				if !strings.Contains(strings.Join(notes, "\n"), part) {
					t.Errorf("no event says %q:\n%s", part, strings.Join(notes, "\n"))
				}
			}
		})
	}
}

func traceOf(t *testing.T, scenario string) []spoken {
	t.Helper()
	path := t.TempDir() + "/trace"
	var out, errs bytes.Buffer
	if code := Main([]string{"run", scenario, "--trace", path}, Program{Stdout: &out, Stderr: &errs, Version: "v1", Now: time.Now, Context: context.Background()}); code != 0 {
		t.Fatalf("%d %s%s", code, out.String(), errs.String())
	}
	all, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines []spoken
	scanner := bufio.NewScanner(bytes.NewReader(all))
	scanner.Buffer(nil, 1<<24)
	for scanner.Scan() {
		var l spoken
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}
