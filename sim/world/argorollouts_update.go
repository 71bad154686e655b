package world

import (
	"encoding/json"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/corewire/kick/kick/api/argorollouts"
	"github.com/corewire/kick/sim/cluster"
)

// canarySteps are the steps of a Rollout's canary.
func canarySteps(r *argorollouts.Rollout) []argorollouts.CanaryStep {
	if r.Spec.Strategy.Canary == nil {
		return nil
	}
	return r.Spec.Strategy.Canary.Steps
}

func canonicalSteps(steps []argorollouts.CanaryStep) string {
	raw, err := json.Marshal(steps)
	if err != nil {
		panic("world: steps that are no JSON: " + err.Error())
	}
	return string(raw)
}

func (t *turn) want() int32 { return replicasOf(t.ro.Spec.Replicas) }

// canary makes one step of a canary: the new ReplicaSet grows to its weight, the stable
// one gives way as new pods turn available.
func (t *turn) canary() error {
	want := t.want()
	if t.ro.Status.StableRS == "" || t.next == t.stable { // nothing to step through
		if err := t.scale(t.next, want); err != nil {
			return err
		}
		return t.promote(t.next.Status.AvailableReplicas >= want)
	}
	grown := t.grown(want)
	if err := t.scale(t.next, grown); err != nil {
		return err
	}
	if err := t.scale(t.stable, max(want-grown, want-t.next.Status.AvailableReplicas)); err != nil {
		return err
	}
	if err := t.others(0); err != nil || t.ro.Status.Abort {
		return err
	}
	steps := canarySteps(t.ro)
	index := t.index()
	if index >= len(steps) {
		return t.promote(t.next.Status.AvailableReplicas >= want)
	}
	reached := t.next.Status.AvailableReplicas >= grown && t.stable != nil && replicasOf(t.stable.Spec.Replicas) == want-grown
	t.step(&steps[index], reached)
	return nil
}

func (t *turn) index() int {
	if t.ro.Status.CurrentStepIndex == nil {
		return 0
	}
	return int(*t.ro.Status.CurrentStepIndex)
}

// grown is how large the new ReplicaSet is to be at the step that runs.
func (t *turn) grown(want int32) int32 {
	if t.ro.Status.Abort {
		return 0
	}
	steps, index := canarySteps(t.ro), t.index()
	if index >= len(steps) {
		return want
	}
	weight := int32(0)
	for _, s := range steps[:index+1] {
		if s.SetWeight != nil {
			weight = *s.SetWeight
		}
	}
	return (want*weight + 99) / 100
}

// step ends the step that runs, if it is done.
func (t *turn) step(s *argorollouts.CanaryStep, reached bool) {
	switch {
	case t.ro.Spec.Paused:
	case s.Pause == nil:
		if reached {
			t.advance()
		}
	default:
		t.pause("CanaryPauseStep", pauseOf(s.Pause))
	}
}

func (t *turn) advance() {
	next := int32(t.index() + 1)
	t.ro.Status.CurrentStepIndex, t.ro.Status.ControllerPause, t.ro.Status.PauseConditions = &next, false, nil
	t.queue.add(t.key)
}

// pause begins a pause, and ends it when its time is over or somebody took the condition
// away, as promoting does.
func (t *turn) pause(reason string, length time.Duration) {
	st, now := &t.ro.Status, seconds(t.w.opt.KCM.Now())
	switch {
	case len(st.PauseConditions) == 0 && st.ControllerPause:
		t.advance()
	case len(st.PauseConditions) == 0:
		st.PauseConditions = []argorollouts.PauseCondition{{Reason: reason, StartTime: now}}
		st.ControllerPause = true
		if length > 0 {
			t.queue.addAfter(t.key, length)
		}
	case length > 0 && !now.Before(&st.PauseConditions[0].StartTime) && now.Sub(st.PauseConditions[0].StartTime.Time) >= length:
		t.advance()
	case length > 0:
		t.queue.addAfter(t.key, length-now.Sub(st.PauseConditions[0].StartTime.Time))
	}
}

// pauseOf is how long a pause takes; 0: until somebody promotes.
func pauseOf(p *argorollouts.StepPause) time.Duration {
	if p.Duration == nil {
		return 0
	}
	if p.Duration.Type == intstr.Int {
		return time.Duration(p.Duration.IntVal) * time.Second
	}
	d, err := time.ParseDuration(p.Duration.StrVal)
	if err != nil {
		return 0
	}
	return d
}

// promote lets the new ReplicaSet be the one that serves.
func (t *turn) promote(available bool) error {
	if !available {
		return nil
	}
	st := &t.ro.Status
	end := int32(len(canarySteps(t.ro)))
	st.StableRS, st.ControllerPause, st.PauseConditions, st.CurrentStepIndex = t.hash, false, nil, &end
	if t.stable = t.next; t.ro.Spec.Strategy.BlueGreen == nil {
		if err := t.others(0); err != nil {
			return err
		}
	}
	return t.scaleReferenced()
}

// scaleReferenced gives up the pods of the workload whose template is run.
func (t *turn) scaleReferenced() error {
	ref := t.ro.Spec.WorkloadRef
	if ref == nil || ref.ScaleDown != "onsuccess" && ref.ScaleDown != "progressively" {
		return nil
	}
	key := types.NamespacedName{Namespace: t.key.Namespace, Name: ref.Name}
	d, ok := t.w.server.Get(kindDeployment, key).(*appsv1.Deployment)
	if !ok || replicasOf(d.Spec.Replicas) == 0 {
		return nil
	}
	_, err := t.w.server.Patch(kindDeployment, key, types.MergePatchType, []byte(`{"spec":{"replicas":0}}`), cluster.WriteOptions{Manager: managerRollouts})
	return err
}

// blueGreen grows the new ReplicaSet as a whole, switches to it, and gives the old one up
// a while later.
func (t *turn) blueGreen() error {
	st, want := &t.ro.Status, t.want()
	if t.ro.Status.Abort && t.stable != nil && t.next != t.stable {
		return t.scale(t.next, 0)
	}
	if err := t.scale(t.next, want); err != nil {
		return err
	}
	st.BlueGreen.PreviewSelector = t.hash
	available := t.next.Status.AvailableReplicas >= want
	switch {
	case st.StableRS == t.hash:
		return t.retire()
	case !available || t.ro.Spec.Paused:
		return nil
	case st.StableRS != "" && t.byHand():
		t.pause("BlueGreenPause", 0)
		return nil
	}
	st.BlueGreen.ActiveSelector = t.hash
	t.queue.add(t.key)
	return t.promote(true)
}

// retire scales old ReplicaSets down once their delay since the switch is over.
func (t *turn) retire() error {
	delay := 30 * time.Second
	if given := t.ro.Spec.Strategy.BlueGreen.ScaleDownDelaySeconds; given != nil {
		delay = time.Duration(*given) * time.Second
	}
	now := t.w.opt.KCM.Now()
	for _, rs := range t.all {
		if rs == t.next || replicasOf(rs.Spec.Replicas) == 0 {
			continue
		}
		due, err := time.Parse(time.RFC3339, rs.Annotations[annScaleDown])
		if err != nil {
			changed := *rs
			changed.Annotations = withKey(rs.Annotations, annScaleDown, seconds(now).Add(delay).UTC().Format(time.RFC3339))
			_, err := t.w.server.Update(&changed, cluster.WriteOptions{Manager: managerRollouts})
			return err
		}
		if now.Before(due) {
			t.queue.addAfter(t.key, due.Sub(now))
			continue
		}
		if err := t.scale(rs, 0); err != nil {
			return err
		}
	}
	return nil
}

const annScaleDown = "scale-down-deadline"

// count is what the status says of pods, and the phase.
func (t *turn) count() {
	st := &t.ro.Status
	st.Replicas, st.UpdatedReplicas, st.ReadyReplicas, st.AvailableReplicas = 0, 0, 0, 0
	for _, rs := range t.all {
		st.Replicas += rs.Status.Replicas
		st.ReadyReplicas += rs.Status.ReadyReplicas
		st.AvailableReplicas += rs.Status.AvailableReplicas
	}
	if t.next != nil {
		st.UpdatedReplicas = t.next.Status.Replicas
	}
	if active := t.stable; t.ro.Spec.Strategy.BlueGreen != nil && active != nil {
		st.ReadyReplicas, st.AvailableReplicas = active.Status.ReadyReplicas, active.Status.AvailableReplicas
	}
	st.Phase, st.Message = t.phase()
}

// phase asks in the order of the real one.
func (t *turn) phase() (phase, message string) {
	st, want := &t.ro.Status, t.want()
	switch {
	case len(st.Conditions) > 0:
		return "Degraded", "InvalidSpec: " + st.Conditions[0].Message
	case st.Abort:
		return "Degraded", "RolloutAborted: Rollout aborted update"
	case t.ro.Spec.Paused:
		return "Paused", "manually paused"
	case len(st.PauseConditions) > 0:
		return "Paused", st.PauseConditions[0].Reason
	case t.ro.Spec.RestartAt != nil && !t.ro.Spec.RestartAt.Equal(st.RestartedAt):
		return "Progressing", "rollout is restarting"
	case st.UpdatedReplicas < want:
		return "Progressing", "more replicas need to be updated"
	case st.AvailableReplicas < st.UpdatedReplicas:
		return "Progressing", "updated replicas are still becoming available"
	case st.StableRS != t.hash:
		return "Progressing", "waiting for all steps to complete"
	}
	return "Healthy", ""
}

// byHand: somebody has to promote it, and has not.
func (t *turn) byHand() bool {
	auto := t.ro.Spec.Strategy.BlueGreen.AutoPromotionEnabled
	st := &t.ro.Status
	return auto != nil && !*auto && (!st.ControllerPause || len(st.PauseConditions) > 0)
}
