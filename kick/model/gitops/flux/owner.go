package flux

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/request"
)

// The kinds that own workloads.
const (
	Kustomization = "Kustomization"
	HelmRelease   = "HelmRelease"
)

// labelPrefix is that of the labels by which a kind marks what it applies.
var labelPrefix = map[string]string{
	Kustomization: "kustomize.toolkit.fluxcd.io/",
	HelmRelease:   "helm.toolkit.fluxcd.io/",
}

// Ref names an owner.
type Ref struct{ Kind, Namespace, Name string }

// String is "Kind namespace/name", as messages print it.
func (r Ref) String() string { return r.Kind + " " + r.Namespace + "/" + r.Name }

// Labelled is the owner of a kind that labels name; false: they name none. Flux always
// sets both labels; half of them were copied.
func Labelled(kind string, labels map[string]string) (Ref, bool) {
	r := Ref{Kind: kind, Namespace: labels[labelPrefix[kind]+"namespace"], Name: labels[labelPrefix[kind]+"name"]}
	return r, r.Namespace != "" && r.Name != ""
}

// Source is the object from which a Kustomization takes its manifests.
type Source struct {
	APIVersion, Kind, Namespace, Name string
	Missing                           bool   // there is no such object
	Revision                          string // of its newest artifact; empty: it has none
}

// String is "Kind namespace/name", as messages print it.
func (s *Source) String() string { return s.Kind + " " + s.Namespace + "/" + s.Name }

// Condition is what counts of a condition.
type Condition struct {
	Status, Reason string
	Since          time.Time
}

// Owner is a Kustomization or HelmRelease, with respect to one object it may manage.
type Owner struct {
	Ref
	Labels      map[string]string
	Deleting    bool
	Suspended   bool
	Remote      bool // it applies to another cluster
	Waits       bool // it waits for the health of what it applies
	Interval    time.Duration
	Generation  int64
	Observed    int64
	Conditions  map[string]Condition
	Applied     string // revision; Kustomization only
	Attempted   string // revision; Kustomization only
	Release     string // status of the newest release; HelmRelease only, empty: not told
	Requested   string // when somebody asked for a reconcile
	Handled     string // the same, of the last one that was handled
	Inventoried bool   // it has an inventory
	Holds       bool   // its inventory lists the object
	Source      *Source
}

// ReadOwner reads a Kustomization or HelmRelease with respect to an object.
func ReadOwner(ref Ref, object map[string]any, managed gitops.Object) (*Owner, error) {
	f := gitops.Read(ref.String(), object)
	o := &Owner{
		Ref: ref, Labels: map[string]string{}, Conditions: map[string]Condition{},
		Deleting:    f.Has("metadata", "deletionTimestamp"),
		Suspended:   f.Bool("spec", "suspend"),
		Remote:      f.Has("spec", "kubeConfig"),
		Waits:       f.Bool("spec", "wait") || f.Has("spec", "healthChecks"),
		Generation:  f.Int("metadata", "generation"),
		Observed:    f.Int("status", "observedGeneration"),
		Requested:   f.String("metadata", "annotations", "reconcile.fluxcd.io/requestedAt"),
		Handled:     f.String("status", "lastHandledReconcileAt"),
		Inventoried: f.Has("status", "inventory"),
	}
	if d, err := time.ParseDuration(f.String("spec", "interval")); err == nil {
		o.Interval = d
	}
	for key := range f.Map("metadata", "labels") {
		o.Labels[key] = f.String("metadata", "labels", key)
	}
	f.Each(func(c *gitops.Fields) {
		o.Conditions[c.String("type")] = Condition{Status: c.String("status"), Reason: c.String("reason"), Since: c.Time("lastTransitionTime")}
	}, "status", "conditions")
	o.Holds = slices.Contains(Inventory(f), managed)
	switch ref.Kind {
	case Kustomization:
		o.Applied, o.Attempted = f.String("status", "lastAppliedRevision"), f.String("status", "lastAttemptedRevision")
		o.Source = source(f, ref.Namespace)
	case HelmRelease:
		f.Each(func(h *gitops.Fields) {
			if o.Release == "" {
				o.Release = h.String("status")
			}
		}, "status", "history")
	}
	return o, f.Err()
}

func source(f *gitops.Fields, namespace string) *Source {
	s := &Source{
		APIVersion: f.String("spec", "sourceRef", "apiVersion"), Kind: f.String("spec", "sourceRef", "kind"),
		Namespace: f.String("spec", "sourceRef", "namespace"), Name: f.String("spec", "sourceRef", "name"),
	}
	if s.Namespace == "" {
		s.Namespace = namespace
	}
	return s
}

// Inventory is what an owner lists in status.inventory.
func Inventory(owner *gitops.Fields) []gitops.Object {
	var all []gitops.Object
	owner.Each(func(e *gitops.Fields) {
		id := e.String("id")
		o, ok := ParseID(id)
		if !ok {
			e.Wrong(id, "namespace_name_group_kind", "id")
			return
		}
		all = append(all, o)
	}, "status", "inventory", "entries")
	return all
}

// ParseID reads "<namespace>_<name>_<group>_<kind>". The group may be empty, and so may
// the namespace; in the name, two underscores stand for a colon.
func ParseID(id string) (gitops.Object, bool) {
	namespace, rest, ok := strings.Cut(id, "_")
	last := strings.LastIndex(rest, "_")
	if !ok || last < 0 {
		return gitops.Object{}, false
	}
	rest, kind := rest[:last], rest[last+1:]
	last = strings.LastIndex(rest, "_")
	if last < 0 {
		return gitops.Object{}, false
	}
	name, group := rest[:last], rest[last+1:]
	o := gitops.Object{Group: group, Kind: kind, Namespace: namespace, Name: strings.ReplaceAll(name, "__", ":")}
	return o, o.Name != "" && o.Kind != ""
}

var ownerWakes = []model.WakeOn{model.WakeOnWorkload, gitops.WakeOnOwner}

// Pick picks the one owner of a workload among those that exist of the ones its labels
// name and of the ones that list it, in any order.
func Pick(workload gitops.Object, labels map[string]string, candidates []*Owner) (*Owner, model.Gate) {
	owners, notes := claims(labels, candidates)
	switch len(owners) {
	case 1:
		return owners[0], model.Gate{}
	case 0:
		detail := fmt.Sprintf("%s has no owner in Flux: %s", workload, strings.Join(notes, "; "))
		return nil, gitops.Closed(request.OwnerUnknown, detail, ownerWakes...)
	}
	names := make([]string, len(owners))
	for i, o := range owners {
		names[i] = o.String()
	}
	slices.Sort(names)
	return nil, gitops.Closed(request.AmbiguousOwner, fmt.Sprintf("%s is claimed by %s", workload, strings.Join(names, " and ")), ownerWakes...)
}

// claims are the candidates that own the workload, and notes on why others do not.
func claims(labels map[string]string, candidates []*Owner) (owners []*Owner, notes []string) {
	named, notes := named(labels, candidates)
	for _, o := range candidates {
		switch {
		case !slices.Contains(named, o.Ref) && !o.Holds:
		case o.Remote:
			notes = append(notes, fmt.Sprintf("%s: spec.kubeConfig is set, so it applies to another cluster", o.Ref))
		case o.Inventoried && !o.Holds:
			notes = append(notes, fmt.Sprintf("its labels name %s, whose status.inventory does not list it", o.Ref))
		default:
			owners = append(owners, o)
		}
	}
	if notes == nil {
		notes = []string{"it has no labels of Flux, and no inventory lists it"}
	}
	return owners, notes
}

// named are the owners that labels name, and notes on those that are no candidates.
func named(labels map[string]string, candidates []*Owner) (refs []Ref, notes []string) {
	for _, kind := range []string{Kustomization, HelmRelease} {
		ref, ok := Labelled(kind, labels)
		if !ok {
			continue
		}
		refs = append(refs, ref)
		if !slices.ContainsFunc(candidates, func(o *Owner) bool { return o.Ref == ref }) {
			notes = append(notes, fmt.Sprintf("its labels name %s, which does not exist here: the workload is an orphan, or applied from another cluster", ref))
		}
	}
	return refs, notes
}
