package argorollout

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/argorollouts"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/workloads"
)

// Rollout reads the status. An update is under way until the newest template is the one
// that serves; a restart until its time stands in status.restartedAt.
func (Kind) Rollout(o client.Object) model.Rollout {
	r := o.(*argorollouts.Rollout)
	want, st := replicas(r), &r.Status
	in := &model.InPlace{
		Pending:  pending(r),
		Updating: st.StableRS != st.CurrentPodHash || st.Abort,
		Aborted:  st.Abort,
		Invalid:  invalid(r),
		Spare:    spare(r),
	}
	m := model.Rollout{
		Observed: observed(r),
		Replicas: want,
		Paused:   r.Spec.Paused || len(st.PauseConditions) > 0 || st.ControllerPause,
		InPlace:  in,
	}
	m.Rolling = !m.Observed || in.Updating || in.Pending || in.Invalid != "" || st.UpdatedReplicas < want
	m.Complete = !m.Rolling && st.AvailableReplicas >= want
	m.Detail = detail(r, m, want)
	return m
}

// detail says what is still to come, in words.
func detail(r *argorollouts.Rollout, m model.Rollout, want int32) string {
	switch st := &r.Status; {
	case !m.Observed:
		return fmt.Sprintf("generation %s of %d is seen by its controller", st.ObservedGeneration, r.Generation)
	case m.InPlace.Updating && r.Spec.Strategy.Canary != nil && len(r.Spec.Strategy.Canary.Steps) > 0:
		return fmt.Sprintf("canary step %d of %d", step(r), len(r.Spec.Strategy.Canary.Steps))
	case m.InPlace.Updating:
		return "the new ReplicaSet does not serve yet"
	case m.InPlace.Pending && want == 1:
		return "its one pod goes before the new one is up"
	case m.InPlace.Pending:
		return "pods are being replaced"
	case st.UpdatedReplicas < want:
		return workloads.PodsAre(st.UpdatedReplicas, want, "there")
	case st.AvailableReplicas < want:
		return workloads.PodsAre(st.AvailableReplicas, want, "available")
	}
	return ""
}

// step is the number of the canary step that runs, from 1.
func step(r *argorollouts.Rollout) int32 {
	if r.Status.CurrentStepIndex == nil {
		return 1
	}
	return min(*r.Status.CurrentStepIndex+1, int32(len(r.Spec.Strategy.Canary.Steps)))
}

// observed compares the number that status.observedGeneration holds as text. What is no
// number, or too large, is a hash of a controller before 0.10; the tool, too, takes that
// for observed. Nothing at all means that no controller has looked yet.
func observed(r *argorollouts.Rollout) bool {
	return reached(r.Status.ObservedGeneration, r.Generation) && templateObserved(r)
}

// annotationGeneration is where the controller notes the generation of the workload that
// workloadRef names, to compare status.workloadObservedGeneration with.
const annotationGeneration = "rollout.argoproj.io/workload-generation"

func templateObserved(r *argorollouts.Rollout) bool {
	want, err := strconv.ParseInt(r.Annotations[annotationGeneration], 10, 64)
	return r.Spec.WorkloadRef == nil || err != nil || reached(r.Status.WorkloadObservedGeneration, want)
}

func reached(text string, generation int64) bool {
	if text == "" {
		return false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return err != nil || n >= generation
}

// pending reports whether the controller has not dealt with spec.restartAt. It compares
// for equality, so that an earlier time is dealt with, too.
func pending(r *argorollouts.Rollout) bool {
	at, done := r.Spec.RestartAt, r.Status.RestartedAt
	return at != nil && (done == nil || !done.Equal(at))
}

// invalid is why the controller takes no step at all with the spec as it stands.
func invalid(r *argorollouts.Rollout) string {
	for i := range r.Status.Conditions {
		if c := &r.Status.Conditions[i]; c.Type == "InvalidSpec" && c.Status == corev1.ConditionTrue {
			return c.Message
		}
	}
	return ""
}

// spare is how many pods the controller's restarter may evict now: as many as are
// available beyond those that must stay. One unavailable pod can use it up for ever.
func spare(r *argorollouts.Rollout) int32 {
	want := replicas(r)
	if r.Spec.Strategy.BlueGreen == nil { // else what is available counts the active pods alone
		want = max(want, r.Status.Replicas)
	}
	return r.Status.AvailableReplicas - (want - max(maxUnavailable(r), 1))
}

// maxUnavailable is that of the strategy: by default a quarter, rounded down; of a canary
// 1 where it and the surge would both be nothing.
func maxUnavailable(r *argorollouts.Rollout) int32 {
	want, given := int(replicas(r)), (*intstr.IntOrString)(nil)
	switch s := r.Spec.Strategy; {
	case s.Canary != nil:
		given = s.Canary.MaxUnavailable
	case s.BlueGreen != nil:
		given = s.BlueGreen.MaxUnavailable
	}
	quarter := intstr.FromString("25%")
	n, err := intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(given, quarter), want, false)
	if err != nil { // the controller calls such a spec invalid
		return 1
	}
	return int32(n)
}

func replicas(r *argorollouts.Rollout) int32 {
	if r.Spec.Replicas == nil {
		return 1
	}
	return *r.Spec.Replicas
}
