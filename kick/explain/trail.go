package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
)

// Line is one rule of a trail in words.
type Line struct {
	Rule    string         `json:"rule"`
	Outcome decide.Outcome `json:"outcome"`
	Message string         `json:"message"`
}

// Trail is a verdict's trail in words, in the order in which the rules were asked; while
// a restart is watched, none is asked. What nothing is known of is left out.
func Trail(v *decide.Verdict) []Line {
	if s := v.Decisive; len(v.Trail) == 0 && s != nil {
		return []Line{{s.Rule, s.Outcome, Step(s)}}
	}
	out := make([]Line, 0, len(v.Trail))
	for i := range v.Trail {
		if s := &v.Trail[i]; known(s, v) {
			out = append(out, Line{s.Rule, s.Outcome, Step(s)})
		}
	}
	return out
}

// ofPolicy are the rules that go by what the policy says.
var ofPolicy = []string{"windows", decide.RuleProvider, "settling", "dry-run", "interval", "concurrency"}

// known reports whether a step says something that holds. What would be done if nothing
// stood against it does not where something does; nor do the rules of one of several
// policies that are in conflict; and other restarts are counted only before a restart.
func known(s *decide.Step, v *decide.Verdict) bool {
	switch deed := s.Outcome == decide.Act || s.Reason == request.DryRunOnly; {
	case v.Decisive != nil && v.Decisive.Reason == request.PolicyConflict && slices.Contains(ofPolicy, s.Rule):
		return false
	case s.Rule == "concurrency" && s.Outcome == decide.Pass:
		return v.Action == decide.Stamp
	default:
		return !deed || v.Decisive != nil && v.Decisive.Rule == s.Rule
	}
}

// allows are the sentences of rules that have nothing against a restart, where they have
// no facts of their own to tell.
var allows = map[string]string{
	"asked":       "No change that is still to come is waited for.",
	"provider":    "No GitOps tool stands against it.",
	"rollout":     "No other rollout of it is under way.",
	"freshness":   "Nothing is known of its pods.",
	"strategy":    "A restart reaches its pods.",
	"settling":    "No further edit is waited for.",
	"sources":     "New pods find all that they need to start.",
	"dry-run":     "Restarts are made, not only told of.",
	"interval":    "No earlier restart is too near.",
	"flapping":    "No source of it is rotated over and over.",
	"mirrors":     "No Secret that mirrors a rotated class is waited for.",
	"concurrency": "Few enough other restarts are under way.",
}

// passed is the sentence of a rule that had nothing against a restart.
func passed(s *decide.Step) string {
	if tell := facts[s.Rule]; tell != nil {
		if words := tell(s); words != "" {
			return words
		}
	}
	if words := allows[s.Rule]; words != "" {
		return sentence(strings.TrimSuffix(words, "."), s.Detail)
	}
	return sentence(s.Rule+" allows it", s.Detail)
}

// facts say what a rule saw, where it saw something; empty: it did not.
var facts = map[string]func(*decide.Step) string{
	"target": func(s *decide.Step) string { return ofObject(s, "%s exists.") },
	"policy": func(s *decide.Step) string { return ofObject(s, "%s selects it and is not suspended.") },
	"windows": func(s *decide.Step) string {
		return ofDetail(s, "The policy's schedule allows it")
	},
	decide.RuleProvider: func(s *decide.Step) string { return ofDetail(s, "The GitOps tool allows it") },
	"interval": func(s *decide.Step) string {
		if s.At.IsZero() {
			return ""
		}
		return fmt.Sprintf("KICK restarted it %s, which is long enough ago.", Time(s.At))
	},
	"freshness": func(s *decide.Step) string {
		switch {
		case s.At.IsZero():
			return ""
		case s.Pod != "":
			return fmt.Sprintf("%s changed %s.%s", s.Object, Time(s.At), proof(s))
		}
		return fmt.Sprintf("%s changed %s, while its pods were running.", s.Object, Time(s.At))
	},
}

func ofObject(s *decide.Step, words string) string {
	if s.Object.Name == "" {
		return ""
	}
	return fmt.Sprintf(words, s.Object)
}

func ofDetail(s *decide.Step, words string) string {
	if s.Detail == "" {
		return ""
	}
	return sentence(words, s.Detail)
}
