package argorollout_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/corewire/kick/kick/api/argorollouts"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/workloads/argorollout"
)

// healthy is a Rollout of three pods, all of which are there, of generation 4.
func healthy(change ...func(*argorollouts.Rollout)) *argorollouts.Rollout {
	three := int32(3)
	r := &argorollouts.Rollout{ObjectMeta: metav1.ObjectMeta{Generation: 4}}
	r.Spec.Replicas = &three
	r.Spec.Strategy.Canary = &argorollouts.Canary{Steps: make([]argorollouts.CanaryStep, 4)}
	r.Status = argorollouts.RolloutStatus{
		ObservedGeneration: "4", CurrentPodHash: "aaa", StableRS: "aaa", Phase: "Healthy",
		Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3,
	}
	for _, c := range change {
		c(r)
	}
	return r
}

func restartAt(seconds int) func(*argorollouts.Rollout) {
	return func(r *argorollouts.Rollout) {
		at := metav1.NewTime(noon.Add(time.Duration(seconds) * time.Second))
		r.Spec.RestartAt = &at
	}
}

func restartedAt(seconds int) func(*argorollouts.Rollout) {
	return func(r *argorollouts.Rollout) {
		at := metav1.NewTime(noon.Add(time.Duration(seconds) * time.Second))
		r.Status.RestartedAt = &at
	}
}

func midCanary(r *argorollouts.Rollout) {
	step := int32(1)
	r.Status.CurrentPodHash, r.Status.CurrentStepIndex, r.Status.UpdatedReplicas = "bbb", &step, 1
}

func pausing(r *argorollouts.Rollout) {
	r.Status.PauseConditions = []argorollouts.PauseCondition{{Reason: "CanaryPauseStep"}}
}

// Proves: KICK-FEAT-024.
func TestRollout(t *testing.T) {
	quiet := model.InPlace{Spare: 1}
	whole := model.Rollout{Observed: true, Replicas: 3, Complete: true, InPlace: &quiet}
	tests := map[string]struct {
		given []func(*argorollouts.Rollout)
		want  func(*model.Rollout)
	}{
		"healthy": {want: func(*model.Rollout) {}},
		"restarted": {
			given: []func(*argorollouts.Rollout){restartAt(5), restartedAt(5)}, want: func(*model.Rollout) {},
		},
		"just restarted: all the status is that of before": {
			given: []func(*argorollouts.Rollout){restartAt(5), func(r *argorollouts.Rollout) { r.Generation = 5 }},
			want: func(m *model.Rollout) {
				m.Observed, m.Rolling, m.Complete, m.InPlace.Pending, m.Detail = false, true, false, true, "generation 4 of 5 is seen by its controller"
			},
		},
		"pods are being replaced": {
			given: []func(*argorollouts.Rollout){restartAt(5), restartedAt(1)},
			want: func(m *model.Rollout) {
				m.Rolling, m.Complete, m.InPlace.Pending, m.Detail = true, false, true, "pods are being replaced"
			},
		},
		"an earlier time than the last is to be dealt with, too": {
			given: []func(*argorollouts.Rollout){restartAt(1), restartedAt(5)},
			want: func(m *model.Rollout) {
				m.Rolling, m.Complete, m.InPlace.Pending, m.Detail = true, false, true, "pods are being replaced"
			},
		},
		"one pod is down": {
			given: []func(*argorollouts.Rollout){restartAt(5), restartedAt(5), func(r *argorollouts.Rollout) { r.Status.AvailableReplicas = 2 }},
			want: func(m *model.Rollout) {
				m.Complete, m.InPlace.Spare, m.Detail = false, 0, "2 of 3 pods are available"
			},
		},
		"between two steps of a canary": {
			given: []func(*argorollouts.Rollout){midCanary},
			want: func(m *model.Rollout) {
				m.Rolling, m.Complete, m.InPlace.Updating, m.Detail = true, false, true, "canary step 2 of 4"
			},
		},
		"at a pause of a canary": {
			given: []func(*argorollouts.Rollout){midCanary, pausing},
			want: func(m *model.Rollout) {
				m.Rolling, m.Complete, m.Paused, m.InPlace.Updating, m.Detail = true, false, true, true, "canary step 2 of 4"
			},
		},
		"resumed, but not gone on yet": {
			given: []func(*argorollouts.Rollout){midCanary, func(r *argorollouts.Rollout) { r.Status.ControllerPause = true }},
			want: func(m *model.Rollout) {
				m.Rolling, m.Complete, m.Paused, m.InPlace.Updating, m.Detail = true, false, true, true, "canary step 2 of 4"
			},
		},
		"paused by hand": {
			given: []func(*argorollouts.Rollout){func(r *argorollouts.Rollout) { r.Spec.Paused = true }},
			want:  func(m *model.Rollout) { m.Paused = true },
		},
		"aborted": {
			given: []func(*argorollouts.Rollout){midCanary, func(r *argorollouts.Rollout) { r.Status.Abort = true }},
			want: func(m *model.Rollout) {
				m.Rolling, m.Complete, m.InPlace.Updating, m.InPlace.Aborted, m.Detail = true, false, true, true, "canary step 2 of 4"
			},
		},
		"blue and green": {
			given: []func(*argorollouts.Rollout){midCanary, func(r *argorollouts.Rollout) {
				r.Spec.Strategy = argorollouts.Strategy{BlueGreen: &argorollouts.BlueGreen{}}
			}},
			want: func(m *model.Rollout) {
				m.Rolling, m.Complete, m.InPlace.Updating, m.Detail = true, false, true, "the new ReplicaSet does not serve yet"
			},
		},
		"its spec is invalid": {
			given: []func(*argorollouts.Rollout){func(r *argorollouts.Rollout) {
				r.Status.Conditions = []argorollouts.Condition{{Type: "Healthy", Status: "False"}, {Type: "InvalidSpec", Status: corev1.ConditionTrue, Message: "no strategy"}}
			}},
			want: func(m *model.Rollout) { m.Rolling, m.Complete, m.InPlace.Invalid = true, false, "no strategy" },
		},
		"one pod, which goes before the new one is up": {
			given: []func(*argorollouts.Rollout){restartAt(5), func(r *argorollouts.Rollout) {
				r.Spec.Replicas = nil
				r.Status.Replicas, r.Status.UpdatedReplicas, r.Status.AvailableReplicas = 1, 1, 1
			}},
			want: func(m *model.Rollout) {
				m.Replicas, m.Rolling, m.Complete, m.InPlace.Pending, m.Detail = 1, true, false, true, "its one pod goes before the new one is up"
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			want, in := whole, quiet
			want.InPlace = &in
			tt.want(&want)
			if diff := cmp.Diff(want, argorollout.Kind{}.Rollout(healthy(tt.given...))); diff != "" {
				t.Errorf("Rollout() (-want +got):\n%s", diff)
			}
		})
	}
}

// TestObserved: observedGeneration is a number as text, or the hash of a controller of old.
//
// Proves: KICK-FEAT-024.
func TestObserved(t *testing.T) {
	tests := map[string]struct {
		status, note, workload string
		refers                 bool
		want                   bool
	}{
		"the same":                        {status: "4", want: true},
		"one behind":                      {status: "3"},
		"ten is more than four":           {status: "10", want: true},
		"no controller has looked":        {status: ""},
		"a hash":                          {status: "6f9c8d", want: true},
		"a hash of digits":                {status: "7482916350", want: true},
		"the workload it runs, seen":      {status: "4", refers: true, note: "12", workload: "12", want: true},
		"the workload it runs, not seen":  {status: "4", refers: true, note: "12", workload: "9"},
		"the workload it runs, never":     {status: "4", refers: true, note: "12"},
		"the workload's is not noted yet": {status: "4", refers: true, want: true},
		"a note without a workload":       {status: "4", note: "12", workload: "9", want: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := healthy(func(r *argorollouts.Rollout) {
				r.Status.ObservedGeneration, r.Status.WorkloadObservedGeneration = tt.status, tt.workload
				r.Annotations = map[string]string{"rollout.argoproj.io/workload-generation": tt.note}
				if tt.refers {
					r.Spec.WorkloadRef = &argorollouts.WorkloadRef{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}
				}
			})
			if got := (argorollout.Kind{}).Rollout(r).Observed; got != tt.want {
				t.Errorf("observed %t, want %t", got, tt.want)
			}
		})
	}
}

// TestSpare: how many pods the controller may evict, by its own reckoning; none is the
// deadlock of pods that are not ready.
//
// Proves: KICK-FEAT-024.
func TestSpare(t *testing.T) {
	of := func(n int) *intstr.IntOrString { v := intstr.FromInt32(int32(n)); return &v }
	percent := func(s string) *intstr.IntOrString { v := intstr.FromString(s); return &v }
	blueGreen := func(most *intstr.IntOrString) argorollouts.Strategy {
		return argorollouts.Strategy{BlueGreen: &argorollouts.BlueGreen{MaxUnavailable: most}}
	}
	canary := func(most *intstr.IntOrString) argorollouts.Strategy {
		return argorollouts.Strategy{Canary: &argorollouts.Canary{MaxUnavailable: most}}
	}
	tests := map[string]struct {
		strategy                 argorollouts.Strategy
		wanted, there, available int32
		want                     int32
	}{
		"a quarter of three is none: one":        {canary(nil), 3, 3, 3, 1},
		"a quarter of nine is two":               {canary(nil), 9, 9, 9, 2},
		"the one pod is not ready":               {canary(nil), 1, 1, 0, 0},
		"one of three is not ready":              {canary(nil), 3, 3, 2, 0},
		"two may be missing, one is":             {canary(of(2)), 3, 3, 2, 1},
		"two thirds, rounded down":               {canary(percent("66%")), 3, 3, 3, 1},
		"none may be missing: one":               {canary(of(0)), 3, 3, 3, 1},
		"a surge counts":                         {canary(nil), 3, 4, 3, 0},
		"a surge does not count for blue-green":  {blueGreen(nil), 3, 6, 3, 1},
		"blue-green, a quarter of eight":         {blueGreen(nil), 8, 8, 8, 2},
		"what is no number: the spec is invalid": {canary(percent("many")), 3, 3, 3, 1},
		"no strategy at all":                     {argorollouts.Strategy{}, 3, 3, 3, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := healthy(func(r *argorollouts.Rollout) {
				r.Spec.Replicas, r.Spec.Strategy = &tt.wanted, tt.strategy
				r.Status.Replicas, r.Status.AvailableReplicas = tt.there, tt.available
			})
			if got := (argorollout.Kind{}).Rollout(r).InPlace.Spare; got != tt.want {
				t.Errorf("%d pods to spare, want %d", got, tt.want)
			}
		})
	}
}
