package run_test

import (
	"context"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/events"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
	"github.com/corewire/kick/sim/check"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/engine"
	"github.com/corewire/kick/sim/run"
)

// everybody are those that tell a person why a workload is where it is, beside the status of
// its request.
const everybody = "event, lane, why"

// tellers says for each reason where it comes about, and who must be seen there to say what
// the status says. Where somebody is left out, the comment says why that is right.
var tellers = map[request.Reason]struct{ scenario, who string }{
	request.OutsideSchedule:     {"window-edges.yaml", everybody},
	request.ConfigurationError:  {"window-never.yaml", everybody},
	request.PolicySuspended:     {"policy-suspend.yaml", everybody},
	request.PolicyConflict:      {"policy-conflict.yaml", everybody},
	request.ProviderUnavailable: {"argocd/sync.yaml", everybody},
	request.Settling:            {"policy-suspend.yaml", "lane, why"}, // over in a moment: no event
	request.SourceMissing:       {"required-source.yaml", everybody},
	request.NotYet:              {"regress/person-of-a-far-date.yaml", everybody},
	request.RateLimited:         {"rate-min-interval.yaml", everybody},
	request.MirrorPending:       {"csi/mirror.yaml", everybody},
	request.ClassFlapping:       {"csi/versions.yaml", everybody},
	request.ConcurrencyLimited:  {"policy/max-concurrent.yaml", everybody},

	request.OwnerUnknown:     {"argocd/owners.yaml", everybody},
	request.AmbiguousOwner:   {"argocd/owners.yaml", everybody},
	request.OwnerOutOfSync:   {"argocd/sync.yaml", everybody},
	request.OwnerReconciling: {"argocd/sync.yaml", everybody},
	request.ProjectUnknown:   {"argocd/owners.yaml", everybody},

	request.RolloutInProgress: {"pods-not-started.yaml", everybody},
	request.Paused:            {"paused.yaml", everybody},
	request.OnDelete:          {"on-delete.yaml", everybody},
	request.Partitioned:       {"partition.yaml", everybody},
	request.PodsNotStarted:    {"pods-not-started.yaml", everybody},
	request.RunByRollout:      {"rollouts/reference.yaml", everybody},

	request.UpdateInProgress: {"rollouts/waits.yaml", everybody},
	request.RolloutAborted:   {"rollouts/waits.yaml", everybody},
	request.RolloutInvalid:   {"rollouts/waits.yaml", everybody},
	request.RestartScheduled: {"rollouts/waits.yaml", everybody},
	request.RestartDropped:   {"rollouts/waits.yaml", "event, lane"}, // why tells of the next pass, which comes at once
	request.UnreadyPods:      {"rollouts/waits.yaml", everybody},
	request.EvictionRefused:  {"rollouts/waits.yaml", everybody},

	request.Restarting:               {"policy-suspend.yaml", everybody},
	request.RestartCompleted:         {"policy-suspend.yaml", everybody},
	request.Fresh:                    {"policy-suspend.yaml", everybody},
	request.NotRunning:               {"zero-replicas.yaml", everybody},
	request.NoLongerManaged:          {"manual-request.yaml", "event, lane"}, // why says which policies there are, and selects none
	request.DryRunOnly:               {"policy-dry-run.yaml", everybody},
	request.RolloutTimeout:           {"failed-rollout.yaml", everybody},
	request.ProgressDeadlineExceeded: {"failed-rollout.yaml", everybody},
	request.Reverted:                 {"revert-by-owner.yaml", everybody},
	request.TargetNotFound:           {"manual-request.yaml", "event"}, // the others are asked about a workload that exists
	request.PatchRejected:            {"fault-stamp-writes.yaml", everybody},
}

// unsaid are reasons that no status has: a gate that is open, and the moment before the first
// judgement, which stands in the status by its phase alone.
var unsaid = []request.Reason{request.Allowed, request.Opened}

// TestEveryReasonHasARow: no reason is left out of those that all readers are asked about.
func TestEveryReasonHasARow(t *testing.T) {
	file, err := os.ReadFile("../../kick/model/request/reason.go")
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`(?m)^\t\w+ +Reason = "(\w+)"`).FindAllStringSubmatch(string(file), -1)
	if len(all) != len(tellers)+len(unsaid) {
		t.Errorf("%d reasons, of which %d have a row and %d none", len(all), len(tellers), len(unsaid))
	}
	for _, m := range all {
		if _, has := tellers[request.Reason(m[1])]; !has && !slices.Contains(unsaid, request.Reason(m[1])) {
			t.Errorf("nobody is asked about reason %s: it needs a row, with a scenario", m[1])
		}
	}
}

// agreement notes who said what the status of a request says, by its reason.
type agreement struct {
	*onlooker
	said map[request.Reason]map[string]bool
}

// Whatever a request waits for and however it ends, its status, the event, kubectl kick why
// and the timeline say one sentence. Event and timeline never say another one; why may, as
// it judges what stands in the cluster now, which KICK's caches show later.
//
// Proves: KICK-FEAT-038, KICK-FEAT-043.
func TestAllReadersSayTheSameOfEveryReason(t *testing.T) {
	files := map[string][]request.Reason{}
	for reason, row := range tellers {
		files[row.scenario] = append(files[row.scenario], reason)
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			said := map[request.Reason]map[string]bool{}
			for _, s := range parse(t, "../../scenarios/"+file) {
				result := run.One(s, run.Options{NewOperator: func(o run.OperatorOptions) (run.Operator, error) {
					a := &agreement{newOnlooker(t, o), said}
					a.attend(&o)
					return engine.New(o)
				}})
				if !result.OK() {
					t.Error(s.Name, result.Problem, result.Failures)
				}
			}
			for _, reason := range files[file] {
				got := strings.Join(slices.Sorted(maps.Keys(said[reason])), ", ")
				if want := tellers[reason].who; got != want {
					t.Errorf("%s: the sentence of the status is told by %q, want %q", reason, got, want)
				}
			}
		})
	}
}

// attend is there when the status of a request is written, and when an event tells of it.
func (a *agreement) attend(o *run.OperatorOptions) {
	o.Server.Subscribe(func(e cluster.Event) {
		if r, is := e.Object.(*v1alpha1.KickRequest); is && e.Sub == "status" && r.Status.Gate != nil {
			a.asked(r)
		}
	})
	before := o.Told
	o.Told = func(told check.Told) {
		if before != nil {
			before(told)
		}
		if told.Request.Name != "" && told.Reason != events.GateOverridden {
			a.told(told)
		}
	}
}

func (a *agreement) asked(r *v1alpha1.KickRequest) {
	about, why, lane := a.says(gather.TargetOf(r))
	if about != r.Name {
		if request.Phase(r.Status.Phase).Terminal() && !a.open(gather.TargetOf(r)) {
			a.t.Errorf("KickRequest %s ended last (%s), people are told of %q", r.Name, r.Status.Phase, about)
		}
		return // another request for the workload has its turn
	}
	sentence := r.Status.Gate.Message
	if lane == sentence {
		a.note(r, "lane")
	} else if lane != "" {
		a.t.Errorf("%s: the timeline says\n%s\nthe status says\n%s", r.Status.Gate.Reason, lane, sentence)
	}
	if why == sentence {
		a.note(r, "why")
	}
}

// open reports whether a request for a workload has not ended, or is to be served again.
func (a *agreement) open(target model.Key) bool {
	return slices.ContainsFunc(a.o.Server.List(schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: "KickRequest"}, target.Namespace), func(obj client.Object) bool {
		r, is := obj.(*v1alpha1.KickRequest)
		return is && gather.TargetOf(r) == target && !request.Phase(r.Status.Phase).Terminal()
	})
}

// Of requests that have all ended, people are told of the one that did so last: a person's
// that failed is not hidden by KICK's own, which succeeded before, nor the other way round.
//
// Proves: KICK-FEAT-038, KICK-FEAT-043.
func TestPeopleAreToldOfTheRequestThatEndedLast(t *testing.T) {
	for _, s := range parse(t, "../../scenarios/regress/person-asks-after-kick.yaml") {
		t.Run(s.Name, func(t *testing.T) {
			said := map[request.Reason]map[string]bool{}
			result := run.One(s, run.Options{NewOperator: func(o run.OperatorOptions) (run.Operator, error) {
				a := &agreement{newOnlooker(t, o), said}
				a.attend(&o)
				return engine.New(o)
			}})
			if !result.OK() {
				t.Error(result.Problem, result.Failures)
			}
			for _, reason := range []request.Reason{request.RestartCompleted, request.ProgressDeadlineExceeded} {
				if !said[reason]["why"] || !said[reason]["lane"] {
					t.Errorf("%s is told by %v", reason, said[reason])
				}
			}
		})
	}
}

func (a *agreement) told(told check.Told) {
	var r v1alpha1.KickRequest
	key := types.NamespacedName(told.Request)
	if err := a.o.Server.Client("onlooker").Get(context.Background(), key, &r); err != nil || r.Status.Gate == nil {
		return // it is gone, or was opened anew: the event is late
	}
	if told.Note != r.Status.Gate.Message {
		a.t.Errorf("%s: the event says\n%s\nthe status says\n%s", r.Status.Gate.Reason, told.Note, r.Status.Gate.Message)
	}
	a.note(&r, "event")
}

func (a *agreement) note(r *v1alpha1.KickRequest, who string) {
	reason := request.Reason(r.Status.Gate.Reason)
	if a.said[reason] == nil {
		a.said[reason] = map[string]bool{}
	}
	a.said[reason][who] = true
}
