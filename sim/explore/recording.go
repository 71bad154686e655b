package explore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/corewire/kick/sim/sched"
)

// recordingFormat is raised whenever an older program could not read the file.
const recordingFormat = "kick-sim-recording/1"

// Recording is a schedule with all its choices, as a file. It survives changes of
// the code that a seed does not: the first question that is another one is named.
type Recording struct {
	Format   string
	Build    string
	Law      string
	Message  string
	File     string // of the scenario; empty: the seed makes the world
	Scenario string // its name
	Schedule Schedule
	Choices  []sched.Choice
}

// choiceJSON is a choice as recordings have it.
type choiceJSON struct {
	Class string `json:"class"`
	Site  string `json:"site"`
	Of    int    `json:"of"`
	Pick  int    `json:"pick"`
}

type recordingJSON struct {
	Format   string       `json:"format"`
	Build    string       `json:"build"`
	Law      string       `json:"law"`
	Message  string       `json:"message"`
	Seed     string       `json:"seed,omitempty"`
	File     string       `json:"file,omitempty"`
	Scenario string       `json:"scenario,omitempty"`
	Crashes  []Crash      `json:"crashes,omitempty"`
	Picks    map[int]int  `json:"picks,omitempty"`
	Choices  []choiceJSON `json:"choices"`
}

// Save writes what a finding is made of into a folder and returns the file.
func (f Finding) Save(folder, build string, choices []sched.Choice) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	s := f.Schedule
	out := recordingJSON{Format: recordingFormat, Build: build, Law: f.Failure.Law, Message: f.Failure.Message, Crashes: s.Crashes, Picks: s.Picks}
	name := "plain"
	if s.SeedText() != "" {
		out.Seed = FormatSeed(s.Seed, build)
		name = strings.ReplaceAll(out.Seed, "@", "-")
	}
	if s.Scenario != nil {
		out.File, out.Scenario = s.Scenario.At.File, s.Scenario.Name
		name += "-" + s.Scenario.Name
	}
	for _, c := range s.Crashes {
		name += "-crash-" + strings.ReplaceAll(c.String(), ":", "-")
	}
	for _, at := range slices.Sorted(maps.Keys(s.Picks)) {
		name += fmt.Sprintf("-pick-%d-%d", at, s.Picks[at])
	}
	for _, c := range choices {
		out.Choices = append(out.Choices, choiceJSON{c.Class.String(), c.Site, c.N, c.Pick})
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(out); err != nil {
		return "", err
	}
	path := filepath.Join(folder, name+".json")
	return path, os.WriteFile(path, text.Bytes(), 0o600)
}

// ReadRecording reads a file that Save wrote.
func ReadRecording(path string) (Recording, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Recording{}, err
	}
	var in recordingJSON
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return Recording{}, fmt.Errorf("%s: not a recording of kick-sim explore --save: %w", path, err)
	}
	if in.Format != recordingFormat {
		return Recording{}, fmt.Errorf("%s: format %q of build %s, this program reads %q", path, in.Format, in.Build, recordingFormat)
	}
	out := Recording{Build: in.Build, Law: in.Law, Message: in.Message, File: in.File, Scenario: in.Scenario}
	out.Schedule.Crashes, out.Schedule.Picks = in.Crashes, in.Picks
	if in.Seed != "" {
		out.Schedule.Seed, _, out.Schedule.Seeded = ParseSeed(in.Seed)
		out.Schedule.Seeded = len(in.Picks) == 0
	}
	for i, c := range in.Choices {
		class, known := sched.ClassOf(c.Class)
		if !known || c.Pick < 0 || c.Pick >= max(c.Of, 1) {
			return Recording{}, fmt.Errorf("%s: choice %d is none: class %q, pick %d of %d", path, i+1, c.Class, c.Pick, c.Of)
		}
		out.Choices = append(out.Choices, sched.Choice{Class: class, Site: c.Site, N: c.Of, Pick: c.Pick})
	}
	return out, nil
}
