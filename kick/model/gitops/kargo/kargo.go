// Package kargo judges what Kargo's promotions mean for a workload of Argo CD.
//
// Nothing about a workload shows that Kargo promotes it, so Kargo is never detected: a
// policy names it. The Argo CD Application that owns the workload names, in an
// annotation, the Stages that may change it; since Kargo 1.11 there may be several, and
// then all of them have to be idle. A Stage that only pushes to Git needs no annotation,
// so a missing one proves nothing and shuts the gate.
//
// A Stage is idle if it has no current promotion and none of its Promotions runs. One
// that is pending without being the current one writes nothing yet, and may stay so for
// hours while freight is verified: it does not count. A phase that nobody knows counts
// as running.
//
// With all Stages idle, Argo CD is asked (package argocd), and must have compared the
// Application after the last promotion ended: before that, it may still call the commit
// before it synced.
//
// The package is pure; kick/gates/kargo reads for it.
package kargo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/gitops/argocd"
	"github.com/corewire/kick/kick/model/request"
)

// Ref names a Stage; its namespace is its project's.
type Ref struct{ Project, Name string }

// String is "Stage project/name", as messages print it.
func (r Ref) String() string { return "Stage " + r.Project + "/" + r.Name }

// ParseStages reads the annotation on an Application: "<project>:<stage>" once or more,
// separated by commas. Blanks and empty entries do not count. One entry that cannot be
// read, or holds a star, makes the whole value an error, which quotes it.
func ParseStages(value string) ([]Ref, error) {
	var all []Ref
	for entry := range strings.SplitSeq(value, ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		project, stage, found := strings.Cut(entry, ":")
		r := Ref{Project: strings.TrimSpace(project), Name: strings.TrimSpace(stage)}
		switch {
		case !found || r.Project == "" || r.Name == "":
			return nil, fmt.Errorf("annotation %s: %s: want project:stage", argocd.StagesAnnotation, gitops.Quote(entry))
		case strings.Contains(entry, "*"):
			return nil, fmt.Errorf("annotation %s: %s: a star is not allowed; name each Stage", argocd.StagesAnnotation, gitops.Quote(entry))
		case !slices.Contains(all, r):
			all = append(all, r)
		}
	}
	return all, nil
}

// Stage is what counts of a Stage.
type Stage struct {
	Ref
	Missing  bool // there is no such Stage
	Current  string
	Last     string // the promotion that ended last
	Finished time.Time
	Running  []Promotion
}

// Promotion is one that writes.
type Promotion struct{ Name, Phase string }

// ReadStage reads a Stage.
func ReadStage(ref Ref, object map[string]any) (*Stage, error) {
	f := gitops.Read(ref.String(), object)
	s := &Stage{
		Ref:     ref,
		Current: f.String("status", "currentPromotion", "name"),
		Last:    f.String("status", "lastPromotion", "name"),
		Finished: model.Later(
			f.Time("status", "lastPromotion", "finishedAt"), f.Time("status", "lastPromotion", "status", "finishedAt")),
	}
	if f.Has("status", "currentPromotion") && s.Current == "" {
		f.Wrong(f.Any("status", "currentPromotion"), "a name", "status", "currentPromotion")
	}
	return s, f.Err()
}

// ReadPromotion tells whether a Promotion writes for a Stage.
func ReadPromotion(stage Ref, name string, object map[string]any) (p Promotion, running bool, err error) {
	f := gitops.Read("Promotion "+stage.Project+"/"+name, object)
	p = Promotion{Name: name, Phase: f.String("status", "phase")}
	running = f.String("spec", "stage") == stage.Name
	switch p.Phase {
	case "", "Pending", "Succeeded", "Failed", "Errored", "Aborted":
		running = false
	}
	return p, running, f.Err()
}

// Question is what Kargo is asked.
type Question struct {
	App      argocd.Ref
	Stages   []*Stage
	Tolerant bool // a Stage that does not exist is idle
}

// Unnamed is the answer where the Application names no Stage.
func Unnamed(app argocd.Ref, why string) model.Gate {
	return gitops.Closed(request.OwnerUnknown, fmt.Sprintf("%s: %s", app, why), gitops.WakeOnOwner)
}

// Judge is the answer of Kargo: a shut gate, or when the last promotion ended and what
// it was. A zero time is none.
func Judge(q *Question) (gate model.Gate, last time.Time, what string) {
	if len(q.Stages) == 0 {
		return Unnamed(q.App, fmt.Sprintf("annotation %s names no Stage", argocd.StagesAnnotation)), last, ""
	}
	shut := func(reason request.Reason, format string, args ...any) model.Gate {
		return gitops.Closed(reason, fmt.Sprintf(format, args...), gitops.WakeOnPromotion, gitops.WakeOnOwner)
	}
	for _, s := range q.Stages {
		switch {
		case s.Missing && !q.Tolerant:
			return shut(request.OwnerUnknown, "%s: annotation %s names %s, which does not exist", q.App, argocd.StagesAnnotation, s.Ref), last, ""
		case s.Current != "":
			return shut(request.OwnerReconciling, "%s: status.currentPromotion is %s", s.Ref, gitops.Quote(s.Current)), last, ""
		case len(s.Running) > 0:
			p := s.Running[0]
			return shut(request.OwnerReconciling, "Promotion %s/%s of %s: status.phase is %s", s.Project, p.Name, s.Ref, gitops.Quote(p.Phase)), last, ""
		case s.Finished.After(last):
			last, what = s.Finished, fmt.Sprintf("Promotion %s/%s of %s ended", s.Project, s.Last, s.Ref)
		}
	}
	return model.Gate{}, last, what
}
