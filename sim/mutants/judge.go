package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// The judges.
const (
	unitTests = "unit tests"
	scenarios = "scenarios"
	exploring = "explore"
)

// testTime ends tests that a mutation made run for ever; they take a second or two without it.
const testTime = "30s"

// scorer measures how many small changes of the decisions go unnoticed.
type scorer struct {
	root, dir string
	clean     program       // the one without a mutation
	budget    time.Duration // of exploring, for each mutant that came so far; zero: the unit tests judge alone
	out       io.Writer
}

// trial is what the judges run.
type trial struct {
	dir     string
	texts   map[string]string
	tests   map[string]test // of each package, by its folder
	kickSim string          // built when first needed
}

// test is the compiled test of a package.
type test struct {
	program
	flags []string
}

// A property that fails is failed at once: to find the smallest case takes half a
// minute. Cases drawn at random are the same for every mutant.
var rapidFlags = []string{"-rapid.shrinktime=0s", "-rapid.nofailfile", "-rapid.seed=1"}

// compile makes the tests of the packages for which texts has other files.
func (s *scorer) compile(ctx context.Context, name string, texts map[string]string) (*trial, error) {
	j := &trial{dir: filepath.Join(s.dir, name), texts: texts, tests: map[string]test{}}
	over, err := overlay(s.root, j.dir, texts)
	if err != nil {
		return nil, err
	}
	for file := range texts {
		folder := path.Dir(file)
		if _, done := j.tests[folder]; done || !strings.HasPrefix(folder, decisionsPath) {
			continue
		}
		t := test{flags: []string{"-test.failfast", "-test.timeout=" + testTime}}
		t.binary = filepath.Join(j.dir, path.Base(folder)+".test")
		if _, err := goTool(ctx, s.root, "test", "-c", "-vet=off", "-overlay", over, "-o", t.binary, "./"+folder); err != nil {
			return nil, err
		}
		if exec.CommandContext(ctx, t.binary, append(rapidFlags, "-test.list=^$")...).Run() == nil {
			t.flags = append(t.flags, rapidFlags...)
		}
		j.tests[folder] = t
	}
	return j, nil
}

// judge asks the judges one after the other and names the first that notices.
func (s *scorer) judge(ctx context.Context, j *trial, folder, plant string) (string, error) {
	failed, err := s.fails(ctx, j.tests[folder], folder, plant)
	switch {
	case err != nil:
		return "", err
	case failed:
		return unitTests, nil
	case s.budget <= 0:
		return "", nil
	}
	if j.kickSim == "" {
		if j.kickSim, err = buildWith(ctx, s.root, j.dir, j.texts); err != nil {
			return "", err
		}
	}
	for _, judge := range []string{scenarios, exploring} {
		h := hunter{options: options{scenarios: judge == scenarios, seeds: 1, budget: s.budget}, root: s.root, clean: s.clean}
		if h.try(ctx, program{binary: j.kickSim, plant: plant}).Law != "" {
			return judge, ctx.Err()
		}
	}
	return "", ctx.Err()
}

// fails reports whether the tests of a package fail.
func (s *scorer) fails(ctx context.Context, t test, folder, plant string) (bool, error) {
	t.plant = plant
	err := t.command(ctx, filepath.Join(s.root, filepath.FromSlash(folder)), t.flags...).Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		return false, fmt.Errorf("test %s: %w", folder, errors.Join(err, ctx.Err()))
	}
	return err != nil, nil
}

// passes is an error where tests fail without a mutation, too: they judge nothing then.
func (s *scorer) passes(ctx context.Context, j *trial) error {
	for folder, t := range j.tests {
		if failed, err := s.fails(ctx, t, folder, ""); failed || err != nil {
			return errors.Join(err, fmt.Errorf("the tests of %s fail without a mutation", folder))
		}
	}
	return nil
}
