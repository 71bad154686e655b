package run

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/argorollouts"
	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

const (
	// sourcesFirst is how much older given sources are than given pods, so that no
	// scenario meets the whole-second limits of the API by accident.
	sourcesFirst = 2 * time.Second
	// spare lies between the end of the rollout and t=0.
	spare = 5 * time.Second
)

// given applies the given objects and lets time pass up to t=0. It reports
// whether everything had settled by then.
func (r *rig) given(lead time.Duration) (bool, error) {
	if err := r.applyGiven(false); err != nil {
		return false, err
	}
	r.loop.RunUntil(r.zero.Add(-lead + sourcesFirst))
	if err := r.applyGiven(true); err != nil {
		return false, err
	}
	r.loop.RunUntil(r.zero.Add(-time.Second))
	settled := r.world.Settled()
	r.loop.RunUntil(r.zero)
	return settled, nil
}

// applyGiven applies the objects that make pods, or all others.
func (r *rig) applyGiven(pods bool) error {
	for _, object := range r.scenario.Given {
		if makesPods(object) != pods {
			continue
		}
		if err := steps.Apply(r.server, object, cmp.Or(object.Manager, scenario.DefaultManager)); err != nil {
			return inputError{object.Where, fmt.Errorf("given %s: %w", object, err)}
		}
		if err := r.giveStatus(object); err != nil {
			return inputError{object.Where, fmt.Errorf("given status of %s: %w", object, err)}
		}
	}
	return nil
}

// giveStatus writes the status that is given of a GitOps tool's object, as its
// controller did, where the API server would drop it from what a user applies.
func (r *rig) giveStatus(object scenario.Resource) error {
	if object.GVK.Group == v1alpha1.GroupVersion.Group || !r.server.HasStatus(object.GVK) || !givesStatus(object) {
		return nil
	}
	_, err := r.server.Patch(object.GVK.GroupKind(), object.Key, types.MergePatchType, object.JSON, cluster.WriteOptions{Manager: "controller", Subresource: "status"})
	return err
}

func makesPods(r scenario.Resource) bool {
	switch r.Object.(type) {
	case *appsv1.Deployment, *appsv1.StatefulSet, *appsv1.DaemonSet, *appsv1.ReplicaSet, *argorollouts.Rollout, *corev1.Pod, *batchv1.Job, *batchv1.CronJob:
		return true
	default:
		return false
	}
}

// firstLead guesses how long the rollout of the given objects takes: pods of a
// StatefulSet start one after another, and a pod counts only after minReadySeconds.
func firstLead(s scenario.Scenario) time.Duration {
	longest := s.World.PodStart
	for _, r := range s.Given {
		pods, ready := int32(1), int32(0)
		switch o := r.Object.(type) {
		case *appsv1.StatefulSet:
			ready = o.Spec.MinReadySeconds
			if o.Spec.Replicas != nil {
				pods = *o.Spec.Replicas
			}
		case *appsv1.Deployment:
			ready = o.Spec.MinReadySeconds
		case *appsv1.DaemonSet:
			ready = o.Spec.MinReadySeconds
		}
		each := s.World.PodStart + 100*time.Millisecond + time.Duration(ready)*time.Second
		longest = max(longest, time.Duration(pods)*each)
	}
	return (sourcesFirst + longest + spare + time.Second).Truncate(time.Second)
}

// givesStatus looks into what is written: an object that was made, not read, has no more.
func givesStatus(object scenario.Resource) bool {
	var of struct {
		Status map[string]any `json:"status"`
	}
	return json.Unmarshal(object.JSON, &of) == nil && len(of.Status) > 0
}
