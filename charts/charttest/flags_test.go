package charttest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/corewire/kick/kick/operator"
)

// withoutValue are flags that a chart has no use for, and why.
var withoutValue = map[string]string{
	"kubeconfig":        "in a pod the service account is used",
	"otel-otlp-ca-file": "a file has to be mounted: extraVolumes and extraArgs",
}

// TestFlags: every flag of the operator can be set by a value, and the chart sets none
// that does not exist.
func TestFlags(t *testing.T) {
	content, err := os.ReadFile(chart + "/templates/_flags.tpl")
	if err != nil {
		t.Fatal(err)
	}
	var set []string
	for _, line := range regexp.MustCompile(`(?m)^([a-z-]+): `).FindAllSubmatch(content, -1) {
		set = append(set, string(line[1]))
	}
	o := operator.NewOptions()
	flags := pflag.NewFlagSet("kick", pflag.ContinueOnError)
	o.AddFlags(flags)
	flags.VisitAll(func(f *pflag.Flag) {
		_, without := withoutValue[f.Name]
		if slices.Contains(set, f.Name) == without {
			t.Errorf("--%s: in _flags.tpl %t, in withoutValue %t; it has to be in one of them", f.Name, !without, without)
		}
	})
	for _, name := range set {
		if flags.Lookup(name) == nil {
			t.Errorf("the chart sets --%s, which KICK does not have", name)
		}
	}
}

// foreignSeries are of controller-runtime and Prometheus itself.
var foreignSeries = []string{"up", "leader_election_master_status", "controller_runtime_reconcile_time_seconds", "workqueue_depth"}

// added are labels that Prometheus adds, and that of a histogram's buckets.
var added = []string{"job", "le"}

// labelsIn are the labels that a query groups or selects by.
func labelsIn(query string) (all []string) {
	for _, list := range regexp.MustCompile(`\bby \(([^)]*)\)`).FindAllStringSubmatch(query, -1) {
		all = append(all, regexp.MustCompile(`\w+`).FindAllString(list[1], -1)...)
	}
	for _, match := range regexp.MustCompile(`(\w+)(?:=~|!~|!=|=)\\?"`).FindAllStringSubmatch(query, -1) {
		all = append(all, match[1])
	}
	return all
}

// TestQueries: alerts and dashboard ask only for series and labels that exist, and each
// alert has its place in the runbooks.
func TestQueries(t *testing.T) {
	known := slices.Clone(foreignSeries)
	page, err := os.ReadFile("../../docs/metrics.md") // which is written from the code
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string][]string{}
	for _, line := range regexp.MustCompile("(?m)^\\| `(kick_\\w+)` \\| \\w+ \\| ([^|]*)\\|").FindAllSubmatch(page, -1) {
		known = append(known, string(line[1]))
		labels[string(line[1])] = regexp.MustCompile(`\w+`).FindAllString(string(line[2]), -1)
	}
	dashboard, err := os.ReadFile(chart + "/files/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	alerts, err := os.ReadFile(chart + "/templates/prometheusrule.yaml")
	if err != nil {
		t.Fatal(err)
	}
	queries := regexp.MustCompile(`"expr":? +(?:\(printf )?"((?:[^"\\]|\\.)*)"`).FindAllStringSubmatch(string(dashboard)+string(alerts), -1)
	if len(queries) < 10 {
		t.Fatalf("only %d queries found", len(queries))
	}
	series := regexp.MustCompile(`\b(?:kick_\w+|up\b|[a-z]+(?:_[a-z0-9]+)+)(?:\{|\[|\b)`)
	for _, q := range queries {
		for _, name := range series.FindAllString(q[1], -1) {
			name = strings.TrimRight(name, "{[")
			if name == "histogram_quantile" {
				continue
			}
			name = strings.TrimSuffix(name, "_bucket")
			if !slices.Contains(known, name) {
				t.Errorf("%s: no series %s", q[1], name)
			}
			for _, label := range labelsIn(q[1]) {
				if has, own := labels[name]; own && !slices.Contains(has, label) && !slices.Contains(added, label) {
					t.Errorf("%s: series %s has no label %s", q[1], name, label)
				}
			}
		}
	}
	runbooks, err := os.ReadFile("../../docs/runbooks.md")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`"name" "(Kick\w+)"`).FindAllSubmatch(alerts, -1)
	for _, name := range names {
		if !strings.Contains(string(runbooks), "\n## "+string(name[1])+"\n") {
			t.Errorf("docs/runbooks.md says nothing of alert %s", name[1])
		}
	}
	if headings := strings.Count(string(runbooks), "\n## "); headings != len(names) {
		t.Errorf("%d headings in docs/runbooks.md for %d alerts", headings, len(names))
	}
}
