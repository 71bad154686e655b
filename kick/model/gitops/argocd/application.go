package argocd

import (
	"reflect"
	"strconv"
	"time"

	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/gitops/syncwindow"
)

// Annotations of an Application that ask something of its controller.
const (
	refreshAnnotation = "argocd.argoproj.io/refresh"
	hydrateAnnotation = "argocd.argoproj.io/hydrate"
	skipAnnotation    = "argocd.argoproj.io/skip-reconcile"
)

// Destination is where an Application deploys to, as written.
type Destination struct{ Server, Name, Namespace string }

// String names the cluster.
func (d Destination) String() string {
	if d.Server != "" {
		return "server " + gitops.Quote(d.Server)
	}
	return "name " + gitops.Quote(d.Name)
}

// Entry is an element of status.resources.
type Entry struct {
	Status  string
	Pruning bool // it is to be deleted, so it is no longer wanted
}

// Operation is the sync that runs or ran last.
type Operation struct {
	Requested bool   // the field operation: one is asked for or runs
	Phase     string // empty: there was none
	Started   time.Time
	Finished  time.Time
}

// Condition of an Application.
type Condition struct{ Type, Message string }

// Application is what counts of an Application, with respect to one workload.
type Application struct {
	Ref
	Annotations         map[string]string
	Deleting            bool
	Project             string
	Destination         Destination
	Operation           Operation
	ControllerNamespace string
	Sync                string    // status.sync.status
	Compared            string    // which field of spec differs from what was compared; empty: none
	Reconciled          time.Time // status.reconciledAt
	Hydrating           bool
	Conditions          []Condition
	Entries             []Entry // of the workload
}

// ReadApplication reads an Application with respect to a workload.
func ReadApplication(ref Ref, object map[string]any, workload gitops.Object) (*Application, error) {
	f := gitops.Read(ref.String(), object)
	a := &Application{
		Ref:         ref,
		Annotations: map[string]string{},
		Deleting:    f.Has("metadata", "deletionTimestamp"),
		Project:     f.String("spec", "project"),
		Destination: Destination{
			Server: f.String("spec", "destination", "server"), Name: f.String("spec", "destination", "name"),
			Namespace: f.String("spec", "destination", "namespace"),
		},
		Operation: Operation{
			Requested: f.Has("operation"), Phase: f.String("status", "operationState", "phase"),
			Started: f.Time("status", "operationState", "startedAt"), Finished: f.Time("status", "operationState", "finishedAt"),
		},
		ControllerNamespace: f.String("status", "controllerNamespace"),
		Sync:                f.String("status", "sync", "status"),
		Compared:            compared(f),
		Reconciled:          f.Time("status", "reconciledAt"),
		Hydrating:           f.String("status", "sourceHydrator", "currentOperation", "phase") == "Hydrating",
	}
	if a.Project == "" {
		a.Project = "default"
	}
	for _, key := range []string{refreshAnnotation, hydrateAnnotation, skipAnnotation, StagesAnnotation} {
		a.Annotations[key] = f.String("metadata", "annotations", key)
	}
	f.Each(func(c *gitops.Fields) {
		a.Conditions = append(a.Conditions, Condition{Type: c.String("type"), Message: c.String("message")})
	}, "status", "conditions")
	f.Each(func(r *gitops.Fields) {
		if ResourceOf(r) == workload {
			a.Entries = append(a.Entries, Entry{Status: r.String("status"), Pruning: r.Bool("requiresPruning")})
		}
	}, "status", "resources")
	return a, f.Err()
}

// StagesAnnotation names the Kargo Stages that may change an Application.
const StagesAnnotation = "kargo.akuity.io/authorized-stage"

// ResourceOf is the object that an element of status.resources is about. The core group
// has no group.
func ResourceOf(r *gitops.Fields) gitops.Object {
	return gitops.Object{Group: r.String("group"), Kind: r.String("kind"), Namespace: r.String("namespace"), Name: r.String("name")}
}

// compared names the field of spec that is not what was compared last. With a source
// hydrator, what was compared is not what spec names.
func compared(f *gitops.Fields) string {
	if f.Has("spec", "sourceHydrator") {
		return ""
	}
	source := "source"
	if sources, several := f.Any("spec", "sources").([]any); several && len(sources) > 0 {
		source = "sources"
	}
	for _, field := range []string{source, "destination"} {
		if !reflect.DeepEqual(lean(f.Any("spec", field)), lean(f.Any("status", "sync", "comparedTo", field))) {
			return field
		}
	}
	return ""
}

// lean drops what is empty: the copy in the status was written by Argo CD, which leaves
// such fields out.
func lean(value any) any {
	switch v := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, element := range v {
			if e := lean(element); e != nil {
				kept[key] = e
			}
		}
		if len(kept) > 0 {
			return kept
		}
		return nil
	case []any:
		if len(v) == 0 {
			return nil
		}
		kept := make([]any, len(v))
		for i := range v {
			kept[i] = lean(v[i])
		}
		return kept
	case string, bool, int64, float64:
		if reflect.ValueOf(v).IsZero() {
			return nil
		}
	}
	return value
}

// frozen reports that its controller leaves it alone.
func (a *Application) frozen() bool {
	skip, err := strconv.ParseBool(a.Annotations[skipAnnotation])
	return err == nil && skip
}

// lists reports whether status.resources names the workload as wanted.
func (a *Application) lists() bool {
	for _, e := range a.Entries {
		if !e.Pruning {
			return true
		}
	}
	return false
}

// target is what sync windows select it by.
func (a *Application) target() syncwindow.Target {
	return syncwindow.Target{
		Application: a.Name, Server: a.Destination.Server, Cluster: a.Destination.Name, Namespace: a.Destination.Namespace,
	}
}
