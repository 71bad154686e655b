package steps

import (
	"fmt"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/scenario"
)

type assertStep struct {
	pattern scenario.Resource
	within  time.Duration
}

var assertVerb = scenario.Verb{
	Name:    "assert",
	Doc:     "An object that matches exists now, or within a time (partial match: maps are subsets, lists match by index and length).",
	Example: "assert: {resource: {apiVersion: kick.corewire.io/v1alpha1, kind: KickRequest, metadata: {namespace: shop}, status: {phase: Succeeded}}, within: 30s}",
	Decode: func(d *scenario.Decoder, n *yaml.Node) any {
		var s assertStep
		found := false
		ok := d.Map(n, scenario.Fields{
			"resource": func(v *yaml.Node) { found = true; s.pattern, _ = decodePattern(d, v) },
			"within":   d.DurationField(&s.within),
		})
		if ok && !found {
			d.Problemf(n, "assert needs resource:")
		}
		return s
	},
}

func (s assertStep) run(e *Env) error {
	var differences []string
	var seen client.Object
	holds := func() bool {
		if s.pattern.Key.Name != "" { // a stored object never changes: another one takes its place
			now := e.API.Get(s.pattern.GVK.GroupKind(), s.pattern.Key)
			if now != nil && now == seen {
				return false
			}
			seen = now
		}
		found, d := find(e.API, s.pattern)
		differences = d
		return found != nil
	}
	if e.Await(e.Loop.Now().Add(s.within), holds) {
		return nil
	}
	limit := ""
	if s.within > 0 {
		limit = fmt.Sprintf(" within %s", s.within)
	}
	return fmt.Errorf("assert: no %s matches%s: %s", describe(s.pattern), limit, strings.Join(differences, "; "))
}

func describe(r scenario.Resource) string {
	if r.Key.Name != "" {
		return r.String()
	}
	if r.Key.Namespace == "" {
		return r.GVK.Kind
	}
	return fmt.Sprintf("%s in %s", r.GVK.Kind, r.Key.Namespace)
}
