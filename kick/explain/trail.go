package explain

import (
	"fmt"
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
// a restart is watched, none is asked. What would be done if nothing stood against it is
// left out where something does.
func Trail(v *decide.Verdict) []Line {
	if s := v.Decisive; len(v.Trail) == 0 && s != nil {
		return []Line{{s.Rule, s.Outcome, Step(s)}}
	}
	out := make([]Line, 0, len(v.Trail))
	for i := range v.Trail {
		s := &v.Trail[i]
		deed := s.Outcome == decide.Act || s.Reason == request.DryRunOnly
		if deed && (v.Decisive == nil || v.Decisive.Rule != s.Rule) {
			continue
		}
		out = append(out, Line{s.Rule, s.Outcome, Step(s)})
	}
	return out
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
	"concurrency": "Few enough other restarts are under way.",
}

// passed is the sentence of a rule that had nothing against a restart.
func passed(s *decide.Step) string {
	switch {
	case s.Rule == "target" && s.Object.Name != "":
		return fmt.Sprintf("%s exists.", s.Object)
	case s.Rule == "policy" && s.Object.Name != "":
		return fmt.Sprintf("%s selects it and is not suspended.", s.Object)
	case s.Rule == "windows" && s.Detail != "":
		return sentence("The policy's schedule allows it", s.Detail)
	case s.Rule == decide.RuleProvider && s.Detail != "":
		return sentence("The GitOps tool allows it", s.Detail)
	case s.Rule == "interval" && !s.At.IsZero():
		return fmt.Sprintf("KICK restarted it %s, which is long enough ago.", Time(s.At))
	case s.Rule == "freshness" && s.Pod != "" && !s.At.IsZero():
		return fmt.Sprintf("%s changed %s.%s", s.Object, Time(s.At), proof(s))
	case s.Rule == "freshness" && !s.At.IsZero():
		return fmt.Sprintf("%s changed %s, while its pods were running.", s.Object, Time(s.At))
	case allows[s.Rule] != "":
		return sentence(strings.TrimSuffix(allows[s.Rule], "."), s.Detail)
	default:
		return sentence(s.Rule+" allows it", s.Detail)
	}
}
