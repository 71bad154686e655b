package confirm

import (
	"maps"
	"slices"
	"strings"

	"github.com/corewire/kick/kick/operator"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

// namespaces maps the namespaces of a scenario to those that it has on the real
// cluster, where several scenarios with the same names run side by side.
type namespaces struct {
	suffix string // unique to this run of the scenario
	own    string // KICK's own
}

const watchFlag = "watch-namespaces"

// real is what a namespace of the scenario is called on the cluster.
func (n namespaces) real(name string) string {
	switch name {
	case "":
		return ""
	case operator.DefaultNamespace:
		return n.own
	}
	const longest = 63
	return name[:min(len(name), longest-len(n.suffix)-1)] + "-" + n.suffix
}

// namespacesOf lists the namespaces a scenario speaks of, KICK's own left out.
func namespacesOf(s scenario.Scenario) []string {
	found := map[string]bool{}
	add := func(r scenario.Resource) {
		if r.GVK.Kind == "Namespace" {
			found[r.Key.Name] = true
		}
		found[r.Key.Namespace] = true
	}
	for _, r := range s.Given {
		add(r)
	}
	for _, step := range s.Steps {
		act := steps.ActOf(step)
		for _, r := range act.Objects {
			add(r)
		}
		found[act.Target.Namespace] = true
	}
	for name := range strings.SplitSeq(s.Operator.Flags[watchFlag], ",") {
		found[name] = true
	}
	delete(found, "")
	delete(found, operator.DefaultNamespace)
	return slices.Sorted(maps.Keys(found))
}

// moved is an object of the scenario in its real namespace.
func (n namespaces) moved(r scenario.Resource) scenario.Resource {
	out := changed(r, func(data map[string]any) {
		meta, _ := data["metadata"].(map[string]any)
		if meta == nil {
			return
		}
		if name, ok := meta["namespace"].(string); ok {
			meta["namespace"] = n.real(name)
		}
		if name, ok := meta["name"].(string); ok && r.GVK.Kind == "Namespace" {
			meta["name"] = n.real(name)
		}
	})
	out.Key.Namespace = n.real(r.Key.Namespace)
	if r.GVK.Kind == "Namespace" {
		out.Key.Name = n.real(r.Key.Name)
	}
	return out
}

// movedBack is the scenario's name for a real namespace.
func (n namespaces) movedBack(real string, names []string) string {
	for _, name := range names {
		if n.real(name) == real {
			return name
		}
	}
	return real
}
