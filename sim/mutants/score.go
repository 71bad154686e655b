package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/corewire/kick/kick/kicktest/controlplane"
)

// decisionsPath is the folder of the decisions.
const decisionsPath = "kick/model/"

// decisions are the packages whose tests are put to the test.
var decisions = []string{"freshness", "decide", "observation", "schedule", "request", "discover", "fingerprint"}

// wanted is the share of mutants that must die, in percent.
const wanted = 85

// score lets every mutant of the decision packages face the judges: the unit tests
// of its package, the scenarios, and exploring.
func score(ctx context.Context, root string, o options, out io.Writer) error {
	packages, err := choosePackages(o.only)
	if err != nil {
		return err
	}
	cache, err := controlplane.CacheDir()
	if err != nil {
		return err
	}
	c, err := newCompiler(ctx, root)
	if err != nil {
		return err
	}
	all := &mutations{texts: map[string]string{switchPath: switchText}}
	for _, name := range packages {
		if err := c.mutate(decisionsPath+name, all); err != nil {
			return err
		}
	}
	s := &scorer{root: root, dir: filepath.Join(cache, "mutants"), budget: o.budget, out: out}
	if s.clean, err = build(ctx, root, s.dir, &Plant{ID: clean}); err != nil {
		return err
	}
	done, err := s.judgeAll(ctx, all)
	if err != nil {
		return err
	}
	return s.table(packages, done)
}

// choosePackages reads names separated by commas; none: all of them.
func choosePackages(names string) ([]string, error) {
	if names == "" {
		return decisions, nil
	}
	chosen := strings.Split(names, ",")
	for _, name := range chosen {
		if !slices.Contains(decisions, name) {
			return nil, fmt.Errorf("--only %q: no package of the decisions, want some of %s", name, strings.Join(decisions, ","))
		}
	}
	return chosen, nil
}

// judgeAll judges the mutations that share a program, then those that each need one of
// their own. One that does not compile is none.
func (s *scorer) judgeAll(ctx context.Context, all *mutations) ([]mutation, error) {
	shared, err := s.compile(ctx, "mutations", all.texts)
	if err != nil {
		return nil, err
	}
	if err := s.passes(ctx, shared); err != nil {
		return nil, err
	}
	var done []mutation
	for i, m := range all.switched {
		if m.judge, err = s.judge(ctx, shared, path.Dir(m.file), strconv.Itoa(i+1)); err != nil {
			return nil, err
		}
		done = append(done, m)
		s.tell(&m)
	}
	for _, m := range all.separate {
		text, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(m.file)))
		if err != nil {
			return nil, err
		}
		own, err := s.compile(ctx, "mutation", map[string]string{m.file: m.apply(string(text))})
		if _, failed := errors.AsType[*exec.ExitError](err); failed {
			continue
		}
		if err != nil {
			return nil, err
		}
		if m.judge, err = s.judge(ctx, own, path.Dir(m.file), ""); err != nil {
			return nil, err
		}
		done = append(done, m)
		s.tell(&m)
	}
	return done, nil
}

// tell says at once what the unit tests of a package did not notice.
func (s *scorer) tell(m *mutation) {
	switch m.judge {
	case unitTests:
	case "":
		s.line("survived: %s", m.name())
	default:
		s.line("noticed by %s only: %s", m.judge, m.name())
	}
}

func (s *scorer) line(format string, args ...any) { _, _ = fmt.Fprintf(s.out, format+"\n", args...) }

// table prints what became of the mutants of each package.
func (s *scorer) table(packages []string, done []mutation) error {
	s.line("%-12s %8s %11s %10s %8s %9s  %s", "package", "mutants", unitTests, scenarios, exploring, "survived", "score")
	for _, name := range packages {
		var own []mutation
		for _, m := range done {
			if path.Base(path.Dir(m.file)) == name {
				own = append(own, m)
			}
		}
		s.row(name, own)
	}
	if share := s.row("all", done); share < wanted {
		return fmt.Errorf("%.1f%% of the mutants were noticed, want %d%%", share, wanted)
	}
	return nil
}

// row prints a package and returns its score in percent.
func (s *scorer) row(name string, mutations []mutation) float64 {
	by := map[string]int{}
	for i := range mutations {
		by[mutations[i].judge]++
	}
	share := 100 * (1 - float64(by[""])/float64(max(len(mutations), 1)))
	s.line("%-12s %8d %11d %10d %8d %9d  %.1f%%", name, len(mutations), by[unitTests], by[scenarios], by[exploring], by[""], share)
	return share
}
