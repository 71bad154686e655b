package gates

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/request"
)

// Auto is the value of spec.gitOps.provider that lets KICK find the tool.
const Auto = "Auto"

// Detectable is a provider that Auto may choose: what it owns can be told from the
// workload and from the tool's own objects. Kargo is none, since nothing about a
// workload shows that Kargo promotes it.
type Detectable interface {
	Provider
	// Detectable marks it.
	Detectable()
}

// Registry is the list of providers that this installation has, in a fixed order.
type Registry struct {
	Providers []Provider
	// Missing says of each other provider KICK knows why it cannot be asked: which flag
	// is off, or which kind is not installed. A list is made anew when that changes.
	Missing map[string]string
	// Off are those of the missing whose flag is off.
	Off map[string]bool
	// Named are those that a policy has to name: Auto does not miss them.
	Named map[string]bool
}

// Lacks says why the provider that a policy names cannot be asked; empty: it can. Off:
// because its flag is off, and not because a kind is not installed.
func (g Registry) Lacks(name string) (why string, off bool) {
	if name == Auto {
		if slices.ContainsFunc(g.Providers, func(p Provider) bool { _, is := p.(Detectable); return is }) {
			return "", false
		}
		return "no GitOps tool is there to be asked; Kargo is never detected" + g.missing(), false
	}
	return g.Missing[name], g.Off[name]
}

// Ask asks the provider that a policy names.
func (g Registry) Ask(ctx context.Context, r Readers, name string, q Question) (model.Gate, error) {
	if name == Auto {
		return g.auto(ctx, r, q)
	}
	for _, p := range g.Providers {
		if p.Name() == name {
			return p.Ask(ctx, r, q)
		}
	}
	why, known := g.Missing[name]
	if !known {
		why = "KICK knows no such provider"
	}
	detail := fmt.Sprintf("spec.gitOps.provider %s: %s", gitops.Quote(name), why)
	return gitops.Closed(request.ProviderUnavailable, detail, model.WakeOnPolicy), nil
}

// claim is what one provider says of a workload.
type claim struct {
	name string
	gate model.Gate
}

// auto asks every provider that can be detected. Exactly one must claim the workload.
// One that cannot be asked might, so that nobody knows.
func (g Registry) auto(ctx context.Context, r Readers, q Question) (model.Gate, error) {
	var claims, silent []claim
	asked := false
	for _, p := range g.Providers {
		if _, detectable := p.(Detectable); !detectable {
			continue
		}
		asked = true
		gate, err := p.Ask(ctx, r, q)
		switch c := (claim{p.Name(), gate}); {
		case err != nil:
			return model.Gate{}, err
		case gate.Reason == request.ProviderUnavailable:
			return named(c), nil
		case gate.Reason == request.OwnerUnknown:
			silent = append(silent, c)
		default:
			claims = append(claims, c)
		}
	}
	if !asked {
		why, _ := g.Lacks(Auto)
		detail := "spec.gitOps.provider Auto: " + why
		return gitops.Closed(request.ProviderUnavailable, detail, model.WakeOnPolicy), nil
	}
	switch len(claims) {
	case 0:
		return together(request.OwnerUnknown, "no GitOps tool owns it", silent), nil
	case 1:
		return named(claims[0]), nil
	}
	return together(request.AmbiguousOwner, "several GitOps tools own it", claims), nil
}

// missing lists why those that Auto would ask cannot be asked.
func (g Registry) missing() string {
	var all []string
	for name, why := range g.Missing {
		if g.Named[name] {
			continue
		}
		all = append(all, "; "+name+": "+why)
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

// named is an answer with the name of the tool that gave it.
func named(c claim) model.Gate {
	c.gate.Detail = c.name + ": " + c.gate.Detail
	return c.gate
}

// together is one answer made of several; whatever wakes one of them wakes it.
func together(reason request.Reason, what string, all []claim) model.Gate {
	details := []string{what}
	var at time.Time
	on := []model.WakeOn{gitops.WakeOnOwner}
	for _, c := range all {
		details = append(details, c.name+": "+gitops.Cause(c.gate))
		if t := c.gate.WakeAt; at.IsZero() || !t.IsZero() && t.Before(at) {
			at = t
		}
		for _, event := range c.gate.WakeOn {
			if !slices.Contains(on, event) {
				on = append(on, event)
			}
		}
	}
	return gitops.ClosedUntil(reason, strings.Join(details, "; "), at, on...)
}
