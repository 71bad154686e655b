package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"time"

	"github.com/corewire/kick/kick/kicktest/controlplane"
)

// decisions are the packages whose tests are put to the test.
var decisions = []string{"freshness", "decide", "observation", "schedule", "request", "discover", "fingerprint"}

// wanted is the share of mutants that must die, in percent.
const wanted = 85

// scorer measures how many small changes of the decisions go unnoticed.
type scorer struct {
	root, cache, gremlins string
	clean                 string        // the program without a mutation
	budget                time.Duration // of exploring, for each mutant that the tests let live
	out                   io.Writer
}

// score lets gremlins mutate every decision package with its unit tests as the judge.
// What they let live, or what the measure of coverage cannot see, is judged again: by
// the unit tests with the mutation laid over, by the scenarios, and by exploring.
func score(ctx context.Context, root string, budget time.Duration, out io.Writer) error {
	binaries, err := controlplane.Build(ctx, out, controlplane.Gremlins)
	if err != nil {
		return err
	}
	cache, err := controlplane.CacheDir()
	if err != nil {
		return err
	}
	s := &scorer{root: root, cache: filepath.Join(cache, "mutants"), gremlins: binaries[controlplane.Gremlins], budget: budget, out: out}
	if s.clean, err = build(ctx, root, s.cache, &Plant{ID: clean}); err != nil {
		return err
	}
	s.line("%-12s %8s %11s %10s %9s  %s", "package", "mutants", "unit tests", "simulator", "survived", "score")
	var all []mutation
	for _, name := range decisions {
		mutations, err := s.measure(ctx, "kick/model/"+name)
		if err != nil {
			return err
		}
		s.row(name, mutations)
		all = append(all, mutations...)
	}
	share := s.row("all", all)
	for i := range all {
		if all[i].judge == "" {
			s.line("survived: %s", all[i].name())
		}
	}
	if share < wanted {
		return fmt.Errorf("%.1f%% of the mutants were noticed, want %d%%", share, wanted)
	}
	return nil
}

func (s *scorer) line(format string, args ...any) { _, _ = fmt.Fprintf(s.out, format+"\n", args...) }

// row prints a package and returns its score in percent.
func (s *scorer) row(name string, mutations []mutation) float64 {
	by := map[string]int{}
	for i := range mutations {
		by[mutations[i].judge]++
	}
	share := 100 * (1 - float64(by[""])/float64(max(len(mutations), 1)))
	s.line("%-12s %8d %11d %10d %9d  %.1f%%", name, len(mutations), by[unitTests], by[simulator], by[""], share)
	return share
}

// The judges.
const (
	unitTests = "unit tests"
	simulator = "kick-sim"
)

// measure mutates one package.
func (s *scorer) measure(ctx context.Context, pkg string) ([]mutation, error) {
	if err := os.MkdirAll(s.cache, 0o755); err != nil {
		return nil, err
	}
	report := filepath.Join(s.cache, path.Base(pkg)+".json")
	cmd := exec.CommandContext(ctx, s.gremlins, "unleash", "--silent", "--invert-logical", "--workers", "1", "--timeout-coefficient", "20", "-o", report, "./"+pkg)
	cmd.Dir = s.root
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("gremlins on %s: %w\n%s", pkg, err, said)
	}
	mutations, err := readReport(report, pkg)
	if err != nil {
		return nil, err
	}
	for i := range mutations {
		m := &mutations[i]
		if m.Status == "KILLED" {
			m.judge = unitTests
			continue
		}
		if m.judge, err = s.judge(ctx, m); err != nil {
			return nil, err
		}
	}
	return mutations, nil
}

// readReport reads what gremlins found; mutations that do not compile are none.
func readReport(file, pkg string) ([]mutation, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var report struct {
		Files []struct {
			Name      string `json:"file_name"`
			Mutations []mutation
		}
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var all []mutation
	for _, f := range report.Files {
		for _, m := range f.Mutations {
			if m.Status == "NOT VIABLE" || m.Status == "SKIPPED" {
				continue
			}
			m.File = path.Join(pkg, path.Base(f.Name))
			all = append(all, m)
		}
	}
	return all, nil
}

// judge asks the judges one after the other and names the first that notices.
func (s *scorer) judge(ctx context.Context, m *mutation) (string, error) {
	text, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(m.File)))
	if err != nil {
		return "", err
	}
	mutated, err := m.apply(string(text))
	if err != nil {
		return "", err
	}
	dir := filepath.Join(s.cache, "survivor")
	binary, err := buildWith(ctx, s.root, dir, map[string]string{m.File: mutated})
	if err != nil {
		return "", err
	}
	_, err = goTool(ctx, s.root, "test", "-timeout", "5m", "-overlay", filepath.Join(dir, overlayName), "./"+path.Dir(m.File))
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		return unitTests, nil
	case err != nil:
		return "", err
	}
	for _, scenarios := range []bool{true, false} {
		h := hunter{options: options{scenarios: scenarios, seeds: 1, budget: s.budget}, root: s.root, clean: s.clean}
		if h.try(ctx, binary).Law != "" {
			return simulator, nil
		}
	}
	return "", ctx.Err()
}
