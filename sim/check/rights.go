package check

import "slices"

const lawRights = "granted verbs only"

// rights holds every call against the role KICK is given.
type rights struct {
	grants  []Grant
	checked map[Access]bool // calls that were judged already
}

// OnAccess reports a call that KICK's role does not allow.
func (r *rights) OnAccess(c *Context, a Access) {
	if r.checked[a] || c.Operator == nil {
		return
	}
	if r.checked == nil {
		r.checked, r.grants = map[Access]bool{}, c.Operator.Grants()
	}
	r.checked[a] = true
	resource := a.Resource
	if a.Sub != "" {
		resource += "/" + a.Sub
	}
	for _, g := range r.grants {
		if (!g.Own || a.Namespace == c.Own) && g.allows(a.Verb, a.Group, resource) {
			return
		}
	}
	where := "namespace " + a.Namespace
	if a.Namespace == "" {
		where = "all namespaces"
	}
	c.report(lawRights, "KICK made a call its role does not allow: %s %s (group %q) in %s", a.Verb, resource, a.Group, where)
}

func (g *Grant) allows(verb, group, resource string) bool {
	return slices.Contains(g.Groups, group) && slices.Contains(g.Resources, resource) && slices.Contains(g.Verbs, verb)
}
