package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Mutant schemata (Untch, Offutt, Harrold, 1993): one program holds many plants, and
// a variable of its environment picks the one that lives. It is compiled once.

// plantVariable names the plant that a program built from schemata has; where it is
// unset, the program has none.
const plantVariable = "KICK_PLANT"

// The package that reads the variable. It exists in the overlay only.
const (
	switchImport = "github.com/corewire/kick/kick/planted"
	switchPath   = "kick/planted/planted.go"
	switchText   = "package planted\n\nimport \"os\"\n\nvar ID = os.Getenv(\"" + plantVariable + "\")\n"
)

// program is a kick-sim to search.
type program struct {
	binary string
	plant  string // for plantVariable
}

// command calls the program in a folder.
func (p program) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.binary, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), plantVariable+"="+p.plant)
	return cmd
}

// schemata are the files that plants touch, with all their variants.
type schemata struct {
	root  string
	files map[string]*graft // by path in the module
	holds map[string]bool   // the plants in them, by name
}

func newSchemata(root string) *schemata {
	return &schemata{root: root, files: map[string]*graft{}, holds: map[string]bool{}}
}

// add takes up a plant, whole or not at all: it may change the bodies of functions
// and add fields and declarations. What does more needs a program of its own.
func (s *schemata) add(p *Plant) error {
	texts, err := p.patched(s.root)
	if err != nil {
		return err
	}
	added := map[string][]insert{}
	for path, text := range texts {
		if s.files[path] == nil {
			if s.files[path], err = newGraft(s.root, path); err != nil {
				return err
			}
		}
		if added[path], err = s.files[path].inserts(p.ID, text); err != nil {
			return fmt.Errorf("%s: %s: %w", p.ID, path, err)
		}
	}
	for path, inserts := range added {
		s.files[path].take(inserts)
	}
	s.holds[p.ID] = true
	return nil
}

// texts are the new texts of all files, by their path in the module.
func (s *schemata) texts() map[string]string {
	out := map[string]string{switchPath: switchText}
	for path, g := range s.files {
		out[path] = g.joined()
	}
	return out
}

// build compiles the program into dir.
func (s *schemata) build(ctx context.Context, dir string) (program, error) {
	binary, err := buildWith(ctx, s.root, dir, s.texts())
	return program{binary: binary}, err
}

// factory makes the programs of a hunt.
type factory struct {
	dir      string
	schemata *schemata
	shared   program // from the schemata
}

// open compiles all plants that can share a program and returns it without a plant.
func (f *factory) open(ctx context.Context, plants []Plant) (program, error) {
	for i := range plants {
		_ = f.schemata.add(&plants[i]) // or it is compiled alone
	}
	var err error
	f.shared, err = f.schemata.build(ctx, filepath.Join(f.dir, "all"))
	return f.shared, err
}

// program is the one with the plant.
func (f *factory) program(ctx context.Context, p *Plant) (program, error) {
	if f.schemata.holds[p.ID] {
		return program{binary: f.shared.binary, plant: p.ID}, nil
	}
	return build(ctx, f.schemata.root, f.dir, p)
}
