// Command promquery answers queries as Prometheus does, with its own parser, engine and
// reader of what a target serves, from scrapes that its input lists. It takes and prints
// JSON:
//
//	promquery <question.json
//	{"interval": 60, "targets": [{"labels": {"job": "a"}, "scrapes": ["up_to_date 1\n", null]}], "queries": ["up == 0"]}
//
// Scrapes are as many seconds apart as interval says; null is one that failed. The answer
// is, for each query, the list of what it gave at the time of each scrape.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// question is the input.
type question struct {
	Interval int64    `json:"interval"`
	Targets  []target `json:"targets"`
	Queries  []string `json:"queries"`
}

type target struct {
	Labels  map[string]string `json:"labels"`
	Scrapes []*string         `json:"scrapes"`
}

// result is a series of an answer. Its value is a text, as JSON has no NaN.
type result struct {
	Labels map[string]string `json:"labels"`
	Value  string            `json:"value"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "promquery:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	var q question
	if err := json.NewDecoder(in).Decode(&q); err != nil {
		return err
	}
	s, steps := stored{}, 0
	for _, t := range q.Targets {
		if err := s.scrape(t, q.Interval); err != nil {
			return err
		}
		steps = max(steps, len(t.Scrapes))
	}
	parse := parser.NewParser(parser.Options{})
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 50_000_000, Timeout: time.Minute, LookbackDelta: 5 * time.Minute, EnableAtModifier: true, EnableNegativeOffset: true, Parser: parse})
	answers := make([][][]result, len(q.Queries))
	for i, query := range q.Queries {
		for step := range steps {
			answer, err := ask(engine, s, query, time.Unix(int64(step)*q.Interval, 0))
			if err != nil {
				return fmt.Errorf("%s: %w", query, err)
			}
			answers[i] = append(answers[i], answer)
		}
	}
	return json.NewEncoder(out).Encode(answers)
}

// ask answers one query at one time. Warnings are errors: they tell of a query that does
// not fit what it reads, such as a rate of what is no counter.
func ask(engine *promql.Engine, s stored, query string, at time.Time) ([]result, error) {
	asked, err := engine.NewInstantQuery(context.Background(), s, nil, query, at)
	if err != nil {
		return nil, err
	}
	defer asked.Close()
	got := asked.Exec(context.Background())
	if got.Err != nil {
		return nil, got.Err
	}
	if warned := got.Warnings.AsErrors(); len(warned) > 0 {
		return nil, errors.Join(warned...)
	}
	vector, err := got.Vector()
	if err != nil {
		return nil, err
	}
	answer := make([]result, len(vector))
	for i, sample := range vector {
		answer[i] = result{sample.Metric.Map(), strconv.FormatFloat(sample.F, 'g', -1, 64)}
	}
	return answer, nil
}

// stored are all series, by their labels.
type stored map[string]*series

type series struct {
	labels  labels.Labels
	samples []chunks.Sample
}

// scrape stores what a target served: its samples, up, and a mark where a series that was
// there is no longer.
func (s stored) scrape(t target, interval int64) error {
	before := map[string]bool{}
	for i, text := range t.Scrapes {
		at, now := int64(i)*interval*1000, map[string]bool{}
		up := 0.0
		if text != nil {
			up = 1
			if err := s.read(*text, t.Labels, at, now); err != nil {
				return err
			}
		}
		s.add(labels.FromStrings(labels.MetricName, "up"), t.Labels, at, up)
		for id := range before {
			if !now[id] {
				s[id].samples = append(s[id].samples, sample{at, math.Float64frombits(value.StaleNaN)})
			}
		}
		before = now
	}
	return nil
}

func (s stored) read(text string, of map[string]string, at int64, seen map[string]bool) error {
	p, err := textparse.New([]byte(text), "text/plain; version=0.0.4", nil, textparse.ParserOptions{})
	if err != nil {
		return err
	}
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if entry != textparse.EntrySeries {
			continue
		}
		var own labels.Labels
		p.Labels(&own)
		_, _, v := p.Series()
		seen[s.add(own, of, at, v)] = true
	}
}

// add stores a sample. The target's labels win; a series' own of the same name are kept
// under exported_, as Prometheus does without honorLabels.
func (s stored) add(own labels.Labels, of map[string]string, at int64, v float64) (id string) {
	all := labels.NewBuilder(own)
	for name, text := range of {
		if had := own.Get(name); had != "" {
			all.Set("exported_"+name, had)
		}
		all.Set(name, text)
	}
	with := all.Labels()
	id = with.String()
	if s[id] == nil {
		s[id] = &series{labels: with}
	}
	s[id].samples = append(s[id].samples, sample{at, v})
	return id
}

// Querier makes it a storage.Queryable.
func (s stored) Querier(from, to int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, by ...*labels.Matcher) storage.SeriesSet {
		var found []storage.Series
		for _, one := range s {
			if one.selected(by) {
				found = append(found, storage.NewListSeries(one.labels, one.between(from, to)))
			}
		}
		return &set{found, -1}
	}}, nil
}

func (s *series) selected(by []*labels.Matcher) bool {
	for _, m := range by {
		if !m.Matches(s.labels.Get(m.Name)) {
			return false
		}
	}
	return true
}

func (s *series) between(from, to int64) (some []chunks.Sample) {
	for _, one := range s.samples {
		if one.T() >= from && one.T() <= to {
			some = append(some, one)
		}
	}
	return some
}

// set is a storage.SeriesSet over a list.
type set struct {
	all []storage.Series
	at  int
}

func (s *set) Next() bool                      { s.at++; return s.at < len(s.all) }
func (s *set) At() storage.Series              { return s.all[s.at] }
func (*set) Err() error                        { return nil }
func (*set) Warnings() annotations.Annotations { return nil }

// sample is a chunks.Sample.
type sample struct {
	t int64
	v float64
}

func (s sample) T() int64                    { return s.t }
func (sample) ST() int64                     { return 0 }
func (s sample) F() float64                  { return s.v }
func (sample) H() *histogram.Histogram       { return nil }
func (sample) FH() *histogram.FloatHistogram { return nil }
func (sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample         { return s }
