package steps

import (
	"time"

	"gopkg.in/yaml.v3"

	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/scenario"
)

type clockStep struct {
	domain string
	by     time.Duration
}

var clockVerb = scenario.Verb{
	Name:    "clock",
	Doc:     "Step the wall clock of a part of the cluster: apiserver, kcm, kubelet or kick.",
	Example: "clock: {domain: kick, step: -2s}",
	Decode: func(d *scenario.Decoder, n *yaml.Node) any {
		var s clockStep
		var domains []string
		for _, domain := range clock.Domains {
			domains = append(domains, string(domain))
		}
		named := false
		ok := d.Map(n, scenario.Fields{
			"domain": func(v *yaml.Node) { named = true; d.OneOf(v, &s.domain, "clock domain", domains) },
			"step":   func(v *yaml.Node) { d.SignedDuration(v, &s.by) },
		})
		if ok && !named {
			d.Problemf(n, "clock without a domain")
		}
		return s
	},
}

func (s clockStep) run(e *Env) error {
	e.note("fault", "clock of %s steps by %s", s.domain, s.by)
	e.Clocks[clock.Domain(s.domain)].Step(s.by)
	return nil
}
