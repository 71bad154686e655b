package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// folder holds the patches, from the root of the module.
const folder = "sim/mutants"

// Plant is one planted bug, as its patch file tells of it.
type Plant struct {
	ID    string // P07: from the list of known bugs; X07: our own; N07: neutral
	What  string // what is planted, in one sentence
	Needs string // what has to happen for it to do harm
	Trips string // the laws it breaks, separated by semicolons
	Rare  string // why it takes longer to find than a canary may; empty: it does not
	files []fileDiff
}

// clean is the plant that plants nothing.
const clean = "clean"

// Neutral reports that nothing may be found in the plant.
func (p *Plant) Neutral() bool { return p.ID == clean || strings.HasPrefix(p.ID, "N") }

// load reads all plants, in the order of their names.
func load(root string) ([]Plant, error) {
	names, err := filepath.Glob(filepath.Join(root, folder, "*.patch"))
	if err != nil {
		return nil, err
	}
	plants := make([]Plant, 0, len(names))
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		p, err := parsePlant(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
		if p.ID+".patch" != filepath.Base(name) {
			return nil, fmt.Errorf("%s: its first line is about %q", filepath.Base(name), p.ID)
		}
		plants = append(plants, p)
	}
	return plants, nil
}

// parsePlant reads a patch file: a header of "name: value" lines, then a diff.
func parsePlant(text string) (Plant, error) {
	head, diff, found := strings.Cut(text, "\n--- ")
	if !found {
		return Plant{}, fmt.Errorf("there is no --- a/FILE in it")
	}
	var p Plant
	for i, line := range strings.Split(head, "\n") {
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case i == 0:
			p.ID, p.What = name, value
		case name == "needs":
			p.Needs = value
		case name == "trips":
			p.Trips = value
		case name == "rare":
			p.Rare = value
		default:
			return Plant{}, fmt.Errorf("header %q: want needs, trips or rare", line)
		}
	}
	if p.What == "" || p.Needs == "" || p.Trips == "" {
		return Plant{}, fmt.Errorf("its header must say what is planted, what that needs and what it trips")
	}
	var err error
	p.files, err = parseDiff("--- " + diff)
	return p, err
}

// patched is the new text of every file the plant touches, by its path in the module.
func (p *Plant) patched(root string) (map[string]string, error) {
	out := map[string]string{}
	for i := range p.files {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.files[i].path)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.ID, err)
		}
		if out[p.files[i].path], err = p.files[i].apply(string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", p.ID, err)
		}
	}
	return out, nil
}

// choose keeps the plants with the names given, in the order of the plants.
func choose(plants []Plant, only []string) ([]Plant, error) {
	var chosen []Plant
	for _, p := range plants {
		if slices.Contains(only, p.ID) {
			chosen = append(chosen, p)
		}
	}
	if len(chosen) != len(only) {
		return nil, fmt.Errorf("--only %s: %d of them exist in %s", strings.Join(only, ","), len(chosen), folder)
	}
	return chosen, nil
}
