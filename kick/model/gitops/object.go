package gitops

import (
	"strings"

	"github.com/corewire/kick/kick/model"
)

// Object names an object the way GitOps tools list them: by group, without version.
type Object struct {
	Group     string // empty: the core group
	Kind      string
	Namespace string // empty: cluster-scoped
	Name      string
}

// ObjectOf is the workload as a GitOps tool names it.
func ObjectOf(w *model.Workload) Object {
	group, _, versioned := strings.Cut(w.APIVersion, "/")
	if !versioned {
		group = "" // a core version has no group before it
	}
	return Object{Group: group, Kind: w.ID.Kind, Namespace: w.ID.Namespace, Name: w.ID.Name}
}

// String is "Kind namespace/name", as messages print it.
func (o Object) String() string {
	return model.Key{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}.String()
}
