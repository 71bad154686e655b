package charttest

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/corewire/kick/kick/kicktest/installation"
)

// sample is a line that /metrics serves: the labels of a series.
type sample map[string]string

var (
	pair = regexp.MustCompile(`(\w+)="((?:[^"\\]|\\.)*)"`)
	// operand is what a query may read: a name, what it selects by, and what follows.
	operand = regexp.MustCompile(`([a-zA-Z_:][\w:]*)(?:\{([^}]*)\})?(\[\w+\])?\s*(\(?)`)
	matcher = regexp.MustCompile(`(\w+)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"`)
	grouped = regexp.MustCompile(`\bby\s*\(([^)]*)\)`)
)

// ofPrometheus are what Prometheus itself adds: the series of a target, and its labels.
var ofPrometheus = map[string]bool{"up": true, "job": true, "namespace": true}

// metrics is what a running operator serves.
func (w *world) metrics(o *installation.Operator) string {
	w.t.Helper()
	_, body, err := o.Get(w.t.Context(), o.Metrics, "/metrics")
	if err != nil {
		w.t.Fatal(err)
	}
	return body
}

// scrape is what a running operator serves, by the names of the series.
func (w *world) scrape(o *installation.Operator) map[string][]sample {
	w.t.Helper()
	all := map[string][]sample{}
	for line := range strings.Lines(w.metrics(o)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		end := strings.IndexAny(line, "{ ")
		if end < 0 {
			continue
		}
		s := sample{}
		for _, p := range pair.FindAllStringSubmatch(line, -1) {
			s[p[1]] = p[2]
		}
		all[line[:end]] = append(all[line[:end]], s)
	}
	return all
}

// answers holds every query of the rendered alerts and of the dashboard against what a
// running operator serves: each series that it reads is there, with the labels and values
// that it selects and groups by.
func (w *world) answers(o *installation.Operator) {
	w.t.Helper()
	served, all := w.scrape(o), queries(w.t)
	if len(all) < 12 {
		w.t.Fatalf("only %d queries found: %q", len(all), all)
	}
	for _, query := range all {
		var groups []string
		for _, list := range grouped.FindAllStringSubmatch(query, -1) {
			groups = append(groups, regexp.MustCompile(`\w+`).FindAllString(list[1], -1)...)
		}
		read := 0
		for _, part := range operand.FindAllStringSubmatch(grouped.ReplaceAllString(query, ""), -1) {
			if part[4] != "" || !strings.Contains(part[1], "_") && !ofPrometheus[part[1]] { // a function, or an aggregation
				continue
			}
			read++
			if !ofPrometheus[part[1]] && !answered(served[part[1]], part[2], groups) {
				w.t.Errorf("%s: /metrics serves no %s{%s} with labels %q", query, part[1], part[2], groups)
			}
		}
		if read == 0 {
			w.t.Errorf("%s: it seems to read nothing", query)
		}
	}
}

// answered reports whether one of the samples is selected and has the labels of all groups.
func answered(all []sample, selector string, groups []string) bool {
	for _, s := range all {
		fits := true
		for _, m := range matcher.FindAllStringSubmatch(selector, -1) {
			fits = fits && (ofPrometheus[m[1]] || s.selected(m[1], m[2], m[3]))
		}
		for _, label := range groups {
			_, has := s[label]
			fits = fits && has
		}
		if fits {
			return true
		}
	}
	return false
}

// selected reports whether a matcher of a query takes the sample.
func (s sample) selected(label, operator, value string) bool {
	got, has := s[label]
	if !has {
		return false
	}
	same := got == value
	if strings.HasSuffix(operator, "~") {
		same = regexp.MustCompile("^(?:" + value + ")$").MatchString(got)
	}
	return same == strings.HasPrefix(operator, "=")
}

// queries are those of the alerts and of the dashboard, as the chart renders them.
func queries(t *testing.T) (all []string) {
	t.Helper()
	alerts, _ := rules(t)
	for _, a := range alerts {
		all = append(all, a.expr)
	}
	return append(all, dashboard(t)...)
}

// dashboard are the queries of the dashboard.
func dashboard(t *testing.T) (all []string) {
	t.Helper()
	text, err := render(t, "--set", "metrics.dashboard.enabled=true")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects(t, text) {
		if board, _, _ := unstructured.NestedStringMap(o.Object, "data"); o.GetKind() == "ConfigMap" && o.GetLabels()["grafana_dashboard"] != "" {
			for _, content := range board {
				var parsed any
				if err := json.Unmarshal([]byte(content), &parsed); err != nil {
					t.Fatal(err)
				}
				all = append(all, expressions(parsed)...)
			}
		}
	}
	return all
}

// expressions are the texts under the key expr, wherever it stands.
func expressions(v any) (all []string) {
	switch v := v.(type) {
	case map[string]any:
		for key, below := range v {
			if text, is := below.(string); is && key == "expr" {
				all = append(all, text)
				continue
			}
			all = append(all, expressions(below)...)
		}
	case []any:
		for _, below := range v {
			all = append(all, expressions(below)...)
		}
	}
	return all
}
