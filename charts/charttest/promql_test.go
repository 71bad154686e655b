package charttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	texts "text/template"
	"time"

	"github.com/corewire/kick/kick/kicktest/controlplane"
)

// minute is how far apart scrapes are.
const minute = 60

// prometheus is what .tools/promquery takes: what targets served, and what is asked.
type prometheus struct {
	Interval int      `json:"interval"`
	Targets  []target `json:"targets"`
	Queries  []string `json:"queries"`
}

type target struct {
	Labels  map[string]string `json:"labels"`
	Scrapes []*string         `json:"scrapes"` // nil: it failed
}

// result is a series of an answer.
type result struct {
	Labels map[string]string `json:"labels"`
	Value  string            `json:"value"`
}

// answers are those to each query, at the time of each scrape.
func (p prometheus) answers(t *testing.T) [][][]result {
	t.Helper()
	built, err := controlplane.Build(t.Context(), nil, controlplane.PromQuery)
	if err != nil {
		t.Fatal(err)
	}
	question, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), built[controlplane.PromQuery])
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(question), &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	var all [][][]result
	if err := json.Unmarshal(out.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// alert is one of the chart's, as Prometheus gets it.
type alert struct {
	name, expr, summary string
	holds               int // minutes that it has to hold before it fires
}

// rules are the alerts that the chart renders, and the labels of the target that they are about.
func rules(t *testing.T) (all map[string]alert, labels map[string]string) {
	t.Helper()
	text, err := render(t, "--set", "metrics.serviceMonitor.enabled=true,metrics.prometheusRule.enabled=true")
	if err != nil {
		t.Fatal(err)
	}
	all, labels = map[string]alert{}, map[string]string{}
	for _, o := range objects(t, text) {
		if o.GetKind() != "PrometheusRule" {
			continue
		}
		content, err := json.Marshal(o.Object["spec"])
		if err != nil {
			t.Fatal(err)
		}
		var spec struct {
			Groups []struct {
				Rules []struct {
					Alert, Expr, For string
					Annotations      map[string]string
				}
			}
		}
		if err := json.Unmarshal(content, &spec); err != nil {
			t.Fatal(err)
		}
		for _, r := range spec.Groups[0].Rules {
			holds, err := time.ParseDuration(r.For)
			if err != nil {
				t.Fatalf("%s: %v", r.Alert, err)
			}
			all[r.Alert] = alert{r.Alert, r.Expr, r.Annotations["summary"], int(holds.Minutes())}
		}
	}
	for _, m := range regexp.MustCompile(`(namespace|job)="([^"]*)"`).FindAllStringSubmatch(all["KickDown"].expr, -1) {
		labels[m[1]] = m[2]
	}
	return all, labels
}

// fires reports whether an alert fires at any time: one series of its answers has held for as
// long as it must. said is its summary then.
func (a alert) fires(t *testing.T, answers [][]result) (said string, fires bool) {
	t.Helper()
	since := map[string]int{}
	for at, answer := range answers {
		held := map[string]int{}
		for _, r := range answer {
			id := fmt.Sprint(r.Labels)
			if _, goes := since[id]; !goes {
				since[id] = at
			}
			if held[id] = since[id]; at-since[id] >= a.holds {
				return a.says(t, r), true
			}
		}
		since = held
	}
	return "", false
}

// says is the summary, filled in as Prometheus does. A label that the series has not fails.
func (a alert) says(t *testing.T, r result) string {
	t.Helper()
	var out strings.Builder
	parsed, err := texts.New(a.name).Option("missingkey=error").Parse(`{{$labels := .}}` + a.summary)
	if err == nil {
		err = parsed.Execute(&out, r.Labels)
	}
	if err != nil {
		t.Errorf("%s: %v", a.name, err)
	}
	return out.String()
}

// edit changes what a target serves at a minute; false: the scrape fails.
type edit func(t *testing.T, minute int, text string) (string, bool)

// steady is a target that serves one text.
func steady(_ *testing.T, _ int, text string) (string, bool) { return text, true }

// series sets all series that begin with one of a name and some of its labels, to a value by the
// minute. They must be served: what Prometheus has never seen has not increased.
func series(name string, with map[string]string, value func(minute int) float64) edit {
	return func(t *testing.T, minute int, text string) (string, bool) {
		t.Helper()
		found := false
		var out strings.Builder
		for line := range strings.Lines(text) {
			if begin, _, has := strings.Cut(line, " "); has && strings.HasPrefix(line, name+"{") && labelled(begin, with) {
				line, found = begin+" "+strconv.FormatFloat(value(minute), 'f', -1, 64)+"\n", true
			}
			out.WriteString(line)
		}
		if !found {
			t.Fatalf("/metrics serves no %s with %v", name, with)
		}
		return out.String(), true
	}
}

func labelled(series string, with map[string]string) bool {
	has := map[string]string{}
	for _, p := range pair.FindAllStringSubmatch(series, -1) {
		has[p[1]] = p[2]
	}
	for name, value := range with {
		if has[name] != value {
			return false
		}
	}
	return true
}

// watched is a target whose text an edit changes, for so many minutes.
func watched(t *testing.T, labels map[string]string, text string, minutes int, change edit) target {
	t.Helper()
	out := target{Labels: maps.Clone(labels)}
	for at := range minutes {
		changed, up := change(t, at, text)
		out.Scrapes = append(out.Scrapes, nil)
		if up {
			out.Scrapes[at] = &changed
		}
	}
	return out
}
