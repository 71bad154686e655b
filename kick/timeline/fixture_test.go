package timeline_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/go-logr/logr"

	"github.com/corewire/kick/kick/explain"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/kick/model/fingerprint"
	"github.com/corewire/kick/kick/model/request"
	"github.com/corewire/kick/kick/timeline"
)

// noon is when the tests' records are looked at: now, as a stream's deadlines are real ones.
var noon = time.Now().UTC().Truncate(time.Second)

func before(d time.Duration) time.Time { return noon.Add(-d) }

// shelf is a cluster's records, for as many pages as look.
type shelf struct {
	mu  sync.Mutex
	all []gather.Standing
}

func (s *shelf) Standings(_ context.Context, namespace string, _ time.Time, keep func(model.Key) bool) (out []gather.Standing, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.all {
		if id := s.all[i].Workload.ID; (namespace == "" || namespace == id.Namespace) && keep(id) {
			out = append(out, s.all[i])
		}
	}
	return out, nil
}

// Workload judges by what is on the shelf: the pods are not there, so none is asked for.
func (s *shelf) Workload(_ context.Context, target model.Key, _ time.Time, _ gather.Freshness) (*model.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &model.Snapshot{Target: target}
	for i := range s.all {
		if one := s.all[i]; one.Workload.ID == target {
			out.Workload, out.Policies, out.Dependencies, out.Request = &one.Workload, one.Policies, one.Sources, one.Request
			out.Provider.Open = true
		}
	}
	return out, nil
}

func (s *shelf) Managed(context.Context) (out []string, err error) {
	for i := range s.all {
		out = append(out, s.all[i].Workload.ID.Namespace)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func (s *shelf) PolicyKeys(_ context.Context, namespace string) (out []model.Key, err error) {
	for i := range s.all {
		if s.all[i].Workload.ID.Namespace == namespace {
			for _, p := range s.all[i].Policies {
				if !slices.Contains(out, p.ID) {
					out = append(out, p.ID)
				}
			}
		}
	}
	return out, nil
}

// change replaces what is on record of one workload.
func (s *shelf) change(id model.Key, edit func(*gather.Standing)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.all {
		if s.all[i].Workload.ID == id {
			edit(&s.all[i])
		}
	}
}

// secretSeal is a digest as the ledger has it: no answer may hold it.
const secretSeal = "seal-that-nobody-may-see"

func workload(kind, namespace, name string) gather.Standing {
	s := gather.Standing{Workload: model.Workload{
		ID: model.Key{Kind: kind, Namespace: namespace, Name: name}, Created: before(96 * time.Hour), Rollout: model.Rollout{Observed: true, Complete: true},
	}}
	return s
}

func managed(s gather.Standing, policy string) gather.Standing {
	s.Policies = append(s.Policies, model.Policy{ID: model.Key{Kind: "KickPolicy", Namespace: s.Workload.ID.Namespace, Name: policy}})
	return s
}

// reads adds a source that was found and then changed at the given times.
func reads(s gather.Standing, kind, name string, changed ...time.Time) gather.Standing {
	id := model.Key{Kind: kind, Namespace: s.Workload.ID.Namespace, Name: name}
	r := &model.Record{ID: id, History: []model.Content{
		{Seal: fingerprint.Absent, Observed: time.Unix(0, 0).UTC(), Baseline: true}, // what came before is not known
		{Seal: secretSeal, Observed: before(90 * time.Hour), Baseline: true},
	}}
	for i, at := range changed {
		r.History = append(r.History, model.Content{Seal: fmt.Sprint(secretSeal, i), Observed: at})
	}
	s.Sources = append(s.Sources, model.Dependency{
		Dependency: discover.Dependency{Ref: discover.Ref{Kind: kind, Name: name}}, Source: model.Source{ID: id, Present: true}, Record: r, InScope: true,
	})
	return s
}

// asked adds a request in a phase for a reason; opened is when its change was seen.
func asked(s gather.Standing, phase request.Phase, opened time.Time, step decide.Step) gather.Standing {
	id := s.Workload.ID
	r := &model.Request{ID: model.Key{Kind: "KickRequest", Namespace: id.Namespace, Name: model.ObjectName(id)}, Created: opened.Truncate(time.Second)}
	r.Status = model.RequestStatus{Phase: phase, Reason: step.Reason, Message: explain.Step(&step), OpenedAt: opened, LatestChange: opened, RequeueAt: step.Until}
	if len(s.Sources) > 0 {
		r.Status.Causes = []model.Cause{{Source: s.Sources[0].Record.ID, ChangedAt: opened}}
	}
	if phase.Terminal() {
		r.Status.CompletedAt = opened.Add(40 * time.Second)
	}
	s.Request = r
	return s
}

func stamped(s gather.Standing, at time.Time, manager string) gather.Standing {
	s.Workload.Stamp = model.Stamp{At: at, Manager: manager, Raw: at.Format(time.RFC3339Nano)}
	s.Rollouts = append(s.Rollouts, gather.Rolled{Revision: s.Workload.ID.Name + "-7d9c4", Created: at.Truncate(time.Second), Stamp: at})
	if s.Request != nil {
		s.Request.Status.RolloutStart = at
	}
	return s
}

// shop is a small cluster in which something of everything happens.
func shop() []gather.Standing {
	dbChange := before(3*time.Hour + 4*time.Minute).Add(412356 * time.Microsecond)
	window := decide.Step{Reason: request.OutsideSchedule, Object: model.Key{Kind: "KickPolicy", Namespace: "shop", Name: "nightly"}, Detail: "next Allow window opens at 02:00 Europe/Berlin", Until: noon.Add(13 * time.Hour)}
	web := asked(reads(managed(workload("Deployment", "shop", "web"), "nightly"), "Secret", "db", before(50*time.Hour), dbChange), request.WaitingForGate, dbChange, window)
	web = stamped(reads(web, "ConfigMap", "web-config", before(30*time.Hour)), before(30*time.Hour).Add(2*time.Second), model.FieldManager)
	web.Request.Status.RolloutStart = time.Time{}
	web.Told = []gather.Told{{At: dbChange.Add(time.Second), Reason: "WaitingForSchedule", Note: web.Request.Status.Message}}

	api := asked(reads(managed(workload("Deployment", "shop", "api"), "always"), "Secret", "db", dbChange), request.Succeeded, dbChange, decide.Step{Reason: request.RestartCompleted, At: dbChange.Add(time.Second)})
	api = stamped(api, dbChange.Add(time.Second), model.FieldManager)
	cart := asked(reads(managed(workload("StatefulSet", "shop", "cart"), "always"), "ConfigMap", "flags", before(20*time.Minute)), request.Failed, before(20*time.Minute),
		decide.Step{Reason: request.RolloutTimeout, At: before(19 * time.Minute), Setting: "15m0s", Detail: "2 of 3 pods are of the wanted revision"})
	cart = stamped(cart, before(19*time.Minute), model.FieldManager)
	cart.Request.Status.CompletedAt = before(4 * time.Minute)
	node := asked(reads(managed(workload("DaemonSet", "infra", "log-shipper"), "agents"), "Secret", "ca", before(3*time.Minute)), request.Executing, before(3*time.Minute),
		decide.Step{Reason: request.Restarting, At: before(2 * time.Minute)})
	node = stamped(node, before(2*time.Minute), model.FieldManager)
	exporter := asked(reads(managed(workload("Deployment", "infra", "exporter"), "agents"), "ConfigMap", "targets", before(26*time.Minute)), request.DryRun, before(26*time.Minute),
		decide.Step{Reason: request.DryRunOnly, Object: model.Key{Kind: "KickPolicy", Namespace: "infra", Name: "agents"}})
	calm := reads(managed(workload("Deployment", "infra", "dns"), "agents"), "ConfigMap", "corefile")
	return []gather.Standing{calm, exporter, node, api, cart, web}
}

// served is a server of records.
func served(t testing.TB, facts *shelf, guard timeline.Guard) (*timeline.Server, http.Handler) {
	t.Helper()
	s := &timeline.Server{Facts: facts, Guard: guard, Hub: timeline.NewHub(3), Clock: clock.New(), Log: logr.Discard()}
	return s, s.Handler()
}
