package argocd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/request"
)

// ownerWakes is what may give a workload an owner, or another one.
var ownerWakes = []model.WakeOn{model.WakeOnWorkload, gitops.WakeOnOwner, gitops.WakeOnProject}

// Owner picks the one Application that owns the workload, or says in a shut gate why
// none does. The candidates are those that exist among the one its annotations name and
// those that list it, in any order.
func Owner(c *Config, workload gitops.Object, t Track, candidates []*Application) (*Application, model.Gate) {
	switch {
	case t.Foreign:
		return nil, unknown(workload, t.Note+": another Argo CD manages it")
	case t.App != (Ref{}) && !c.Watches(t.App.Namespace):
		return nil, unknown(workload, t.Note+", whose namespace is not among the ones KICK is told to look at")
	}
	owners, notes := claims(c, t, candidates)
	switch len(owners) {
	case 0:
		return nil, unknown(workload, notes...)
	case 1:
		return shared(owners[0], workload)
	}
	names := make([]string, len(owners))
	for i, a := range owners {
		names[i] = a.String()
	}
	slices.Sort(names)
	return nil, gitops.Closed(request.AmbiguousOwner, fmt.Sprintf("%s is claimed by %s", workload, strings.Join(names, " and ")), ownerWakes...)
}

func unknown(workload gitops.Object, notes ...string) model.Gate {
	detail := fmt.Sprintf("%s has no owner in Argo CD: %s", workload, strings.Join(notes, "; "))
	return gitops.Closed(request.OwnerUnknown, detail, ownerWakes...)
}

// claims are the candidates that own the workload, and notes on why others do not.
func claims(c *Config, t Track, candidates []*Application) (owners []*Application, notes []string) {
	notes = []string{t.Note, "no Application that deploys to this cluster lists it in status.resources"}
	if t.App != (Ref{}) && !slices.ContainsFunc(candidates, func(a *Application) bool { return a.Ref == t.App }) {
		notes[0] += ", which does not exist"
	}
	for _, a := range candidates {
		switch {
		case a.Ref != t.App && !a.lists():
		case !c.here(a.Destination):
			notes = append(notes, fmt.Sprintf("%s: spec.destination is %s, which is not known to be this cluster", a.Ref, a.Destination))
		default:
			owners = append(owners, a)
		}
	}
	return owners, notes
}

// shared is the owner, unless Argo CD itself warns that others manage the workload.
func shared(a *Application, workload gitops.Object) (*Application, model.Gate) {
	for _, c := range a.Conditions {
		if c.Type == "SharedResourceWarning" && strings.Contains(c.Message+" ", workload.Kind+"/"+workload.Name+" ") {
			detail := fmt.Sprintf("%s: status.conditions has a SharedResourceWarning for %s: other Applications manage it as well", a.Ref, workload)
			return nil, gitops.Closed(request.AmbiguousOwner, detail, ownerWakes...)
		}
	}
	return a, model.Gate{}
}
