package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
)

// rewrite renews the golden files; look at the difference before you commit it.
var rewrite = flag.Bool("rewrite", false, "rewrite testdata/*.golden")

var zero = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return zero.Add(d) }

// results are one scenario that passed and two of one file that did not.
func results() []run.Result {
	file := func(name, file string, line int) scenario.Scenario {
		return scenario.Scenario{Name: name, Summary: "what <it> shows", Proves: []string{"I2", "B12"}, Start: zero, At: scenario.Position{File: file, Line: line, Col: 1}}
	}
	lines := []run.Line{
		{At: at(0), Actor: "user", Text: "Secret shop/db: content a -> b", Revision: 41, Verb: "apply", Object: "Secret shop/db", Manager: "kubectl", Causal: true},
		{At: at(3 * time.Millisecond), Actor: "kick", Text: `{"msg":"observed"}`, Log: true},
		{At: at(4 * time.Millisecond), Actor: "fault", Text: "kick will be killed at write 2 from now, that write lost", Causal: true},
	}
	var many []run.Failure
	for range 7 {
		many = append(many, run.Failure{Law: "nothing spurious", Message: "restart of shop/Deployment/web at 12:00:01.000Z", At: at(time.Second)})
	}
	return []run.Result{
		{Scenario: file("freshness-same-second", "scenarios/freshness.yaml", 1), Virtual: 12400 * time.Millisecond, Events: 214, Wall: 900 * time.Microsecond,
			Restarts: map[string]int{"shop/Deployment/web": 1, "shop/DaemonSet/log": 1}},
		{Scenario: file("lost-after-ledger", "scenarios/lost.yaml", 1), Virtual: 4 * time.Minute, Events: 1902, Wall: 6100 * time.Microsecond,
			Failures: []run.Failure{{Law: "nothing lost", Message: "shop/Deployment/web: pod web-7d9-x2 still runs old content", At: at(2 * time.Hour)}},
			Trail:    run.TrailOf(zero, lines)},
		{Scenario: file("spurious-many", "scenarios/lost.yaml", 30), Virtual: 130 * time.Minute, Events: 1234567, Wall: 1200 * time.Millisecond, Failures: many, Trail: run.TrailOf(zero, nil)},
	}
}

func TestGolden(t *testing.T) {
	var scenarios []scenario.Scenario
	for _, r := range results() {
		scenarios = append(scenarios, r.Scenario)
	}
	text := func(explain bool) func(*bytes.Buffer) error {
		return func(out *bytes.Buffer) error {
			printer := NewText(out, scenarios, TextOptions{Explain: explain})
			for _, r := range results() {
				printer.Result(r)
			}
			printer.Summary(300 * time.Millisecond)
			return nil
		}
	}
	tests := map[string]func(*bytes.Buffer) error{
		"text":    text(false),
		"explain": text(true),
		"json":    func(out *bytes.Buffer) error { return JSON(out, results(), 300*time.Millisecond) },
		"junit":   func(out *bytes.Buffer) error { return JUnit(out, results(), 300*time.Millisecond) },
		"html":    func(out *bytes.Buffer) error { return HTML(out, results(), 300*time.Millisecond) },
		"trace":   func(out *bytes.Buffer) error { return Trace(out, "4c1d2e7", results()) },
	}
	for name, write := range tests {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := write(&got); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".golden")
			if *rewrite {
				if err := os.WriteFile(path, got.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("got\n%s\nwant\n%s", got.Bytes(), want)
			}
		})
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0s", 12400 * time.Millisecond: "12.4s", 4 * time.Minute: "4m00s", 61 * time.Second: "1m01s",
		130 * time.Minute: "2h10m", 50 * time.Hour: "2d02h",
	} {
		if got := virtual(d); got != want {
			t.Errorf("%s: got %s, want %s", d, got, want)
		}
	}
	if got := thousands(1234567) + " " + thousands(12) + " " + thousands(1000); got != "1,234,567 12 1,000" {
		t.Errorf("got %s", got)
	}
}
