// Package build makes snapshots for tests. Snapshot gives a quiet, healthy
// workload whose pods carry the current content; each option changes one fact, so
// that a test shows only what matters in it.
//
//	s := build.Snapshot(build.Change("B", 0), build.Request(request.Pending))
//
// Times are counted in seconds from Start.
package build

import (
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/kick/model/request"
)

// Start is the instant from which tests count.
var Start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// At is an instant, in seconds from Start.
func At(seconds float64) time.Time {
	return Start.Add(time.Duration(seconds * float64(time.Second))).Truncate(time.Microsecond)
}

// Allowance is the clock allowance of every snapshot.
const Allowance = 5 * time.Second

// The objects of a snapshot.
var (
	Web    = model.Key{Kind: "Deployment", Namespace: "shop", Name: "web"}
	DB     = model.Key{Kind: "Secret", Namespace: "shop", Name: "db"}
	Flags  = model.Key{Kind: "ConfigMap", Namespace: "shop", Name: "flags"}
	Policy = model.Key{Kind: "KickPolicy", Namespace: "shop", Name: "all"}
)

// Born is when the workload, its revision and its pod were made.
const Born = -3600

// Option changes one fact of a snapshot.
type Option func(*model.Snapshot)

// Snapshot is Deployment shop/web with one pod of one container, app, which reads
// Secret shop/db through its environment; everything was made an hour before
// Start and nothing has changed since. A policy without windows, delays or limits
// selects it. Pods are listed. There is no request.
func Snapshot(options ...Option) *model.Snapshot {
	s := &model.Snapshot{
		Target: Web,
		Settings: model.Settings{
			RolloutTimeout: 15 * time.Minute, RequestRetention: 24 * time.Hour, ClockAllowance: Allowance,
		},
		Workload: &model.Workload{
			ID: Web, APIVersion: "apps/v1", UID: "uid-web", Version: "100", Generation: 1, Created: At(Born),
			Rollout: model.Rollout{Observed: true, Replicas: 1, Complete: true},
		},
		Policies:   []model.Policy{{ID: Policy}},
		Revisions:  []model.Revision{{Name: "web-1", Created: At(Born), Wanted: true}},
		Provider:   model.Gate{Open: true, Reason: request.Allowed},
		PodsListed: true,
	}
	for _, option := range append([]Option{Reads(DB, Env()), Pod("web-1-a", Born)}, options...) {
		option(s)
	}
	return s
}

// Env is a required reading through the environment, by container app.
func Env() discover.Use { return discover.Use{Container: "app", Env: true} }

// Volume is a required reading through a mounted volume, by container app.
func Volume() discover.Use { return discover.Use{Container: "app", Volume: true} }

// Optional makes a reading optional.
func Optional(u discover.Use) discover.Use {
	u.Optional = true
	return u
}

// Reads replaces what the workload reads of a source, or adds the source. It is on
// record with content A since long before the workload.
func Reads(source model.Key, uses ...discover.Use) Option {
	return func(s *model.Snapshot) {
		d := model.Dependency{
			Dependency: discover.Dependency{Ref: discover.Ref{Kind: source.Kind, Name: source.Name}, Uses: uses},
			InScope:    true,
			Source:     model.Source{ID: source, Present: true, ResourceVersion: "10", KeyNames: []string{"password"}},
			Record: &model.Record{
				ID: source, UID: "uid-record", Version: "11", Created: At(2 * Born), Since: At(3 * Born),
				SourceVersion: "10", KeyID: "key", History: []model.Content{Baseline("A", 2*Born)},
			},
		}
		for i := range s.Dependencies {
			if s.Dependencies[i].Source.ID == source {
				s.Dependencies[i] = d
				return
			}
		}
		s.Dependencies = append(s.Dependencies, d)
	}
}

// Baseline is content that was found, written at the given second.
func Baseline(seal string, at float64) model.Content {
	return model.Content{
		Seal: seal, Observed: At(at), Written: At(at), LastWrite: At(at).Truncate(time.Second),
		KnownUntil: At(at + 1).Add(-Allowance), Baseline: true,
	}
}

// Content is content that was written at the given second and seen a quarter of a
// second later.
func Content(seal string, at float64) model.Content {
	return model.Content{
		Seal: seal, Observed: At(at + 0.25), Written: At(at).Truncate(time.Second), LastWrite: At(at).Truncate(time.Second),
		KnownUntil: At(at + 0.25).Add(-Allowance),
	}
}

// History replaces what is on record of Secret db.
func History(contents ...model.Content) Option {
	return func(s *model.Snapshot) { s.Dependencies[0].Record.History = contents }
}

// Change records another content of Secret db. The former one was seen to stand
// up to then.
func Change(seal string, at float64) Option {
	return func(s *model.Snapshot) {
		r := s.Dependencies[0].Record
		r.History[len(r.History)-1].KnownUntil = At(at).Truncate(time.Second)
		r.History = append(r.History, Content(seal, at))
	}
}

// Pod adds a running pod of revision web-1, or replaces the one of that name. Its
// container app started two seconds after the pod was made.
func Pod(name string, created float64, options ...func(*model.Pod)) Option {
	p := model.Pod{
		Name: name, Created: At(created).Truncate(time.Second), Revision: "web-1", Ordinal: -1, Running: true,
		ReadySince: At(created + 3).Truncate(time.Second),
		Containers: []model.Container{{Name: "app", StartedAt: At(created + 2).Truncate(time.Second)}},
	}
	for _, option := range options {
		option(&p)
	}
	return func(s *model.Snapshot) {
		for i := range s.Pods {
			if s.Pods[i].Name == name {
				s.Pods[i] = p
				return
			}
		}
		s.Pods = append(s.Pods, p)
	}
}

// NoPods removes all pods.
func NoPods(s *model.Snapshot) { s.Pods = nil }

// Stamped lets a manager restart the workload: the stamp, the revision web-2 it
// made within a second, and its pod in place of the others. The rollout is complete.
func Stamped(manager string, at float64) Option {
	return func(s *model.Snapshot) {
		stamp := At(at)
		raw := stamp.Format("2006-01-02T15:04:05.000000Z07:00")
		s.Workload.Stamp = model.Stamp{Raw: raw, At: stamp, Manager: manager}
		s.Workload.Generation++
		for i := range s.Revisions {
			s.Revisions[i].Wanted = false
		}
		s.Revisions = append(s.Revisions, model.Revision{Name: "web-2", Created: stamp.Truncate(time.Second), Wanted: true, Stamp: raw})
		s.Pods = nil
		Pod("web-2-a", at, func(p *model.Pod) { p.Revision = "web-2" })(s)
	}
}

// Rollout changes the progress of the workload.
func Rollout(change func(*model.Rollout)) Option {
	return func(s *model.Snapshot) { change(&s.Workload.Rollout) }
}

// Rolling puts the workload between two revisions.
func Rolling(r *model.Rollout) {
	r.Rolling, r.Complete, r.Detail = true, false, "0 of 1 pod is of the wanted revision"
}

// With changes the policy.
func With(change func(*model.Policy)) Option {
	return func(s *model.Snapshot) { change(&s.Policies[0]) }
}

// Request adds KICK's own request, made at Start and opened then.
func Request(phase request.Phase, options ...func(*model.Request)) Option {
	return func(s *model.Snapshot) {
		s.Request = &model.Request{
			ID:  model.Key{Kind: "KickRequest", Namespace: s.Target.Namespace, Name: model.ObjectName(s.Target)},
			UID: "uid-request", Version: "200", Generation: 1, Created: At(0),
			Status: model.RequestStatus{Phase: phase},
		}
		if phase != "" {
			s.Request.Status.OpenedAt = At(0)
		}
		for _, option := range options {
			option(s.Request)
		}
	}
}
