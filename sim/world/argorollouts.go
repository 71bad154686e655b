package world

import (
	"reflect"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/argorollouts"
	"github.com/corewire/kick/sim/cluster"
)

const (
	managerRollouts = "rollouts-controller"
	annWorkload     = "rollout.argoproj.io/workload-generation"
	annNotPlayed    = "sim.kick.corewire.io/not-played" // no controller looks at an object that carries it
)

// Timing of Argo Rollouts.
const (
	rolloutsRetry   = 30 * time.Second // until the restarter tries again
	rolloutsInvalid = 20 * time.Second // until an invalid spec is looked at again
	rolloutsResync  = 15 * time.Minute // until everything is looked at again; a later restart waits for that
)

// argoRollouts plays the controller of Argo Rollouts. Its quirks are the real one's: it
// restarts by evicting pods that are older than spec.restartAt, of all ReplicaSets, no
// more than the strategy lets be unavailable, and none while too few are available; it
// does so in the middle of a canary and while paused; a new template, or new steps,
// make it note a restart as done that it did not make.
type argoRollouts struct {
	w     *World
	queue *queue[types.NamespacedName]
}

func newArgoRollouts(w *World) {
	c := &argoRollouts{w: w}
	c.queue = newKeyQueue(w, "rollouts-controller", c.sync)
	w.on(kindRollout, func(ev cluster.Event) { c.queue.add(ev.Key) })
	w.on(kindReplicaSet, func(ev cluster.Event) {
		if owner := w.objects.controller(ev.Object, kindRollout); owner != nil {
			c.queue.add(owner.key)
		}
	})
	w.on(kindPod, func(ev cluster.Event) {
		if rs := w.objects.controller(ev.Object, kindReplicaSet); rs != nil {
			if owner := w.objects.controller(rs.object, kindRollout); owner != nil {
				c.queue.add(owner.key)
			}
		}
	})
	w.on(kindDeployment, func(ev cluster.Event) {
		for _, o := range w.server.List(kindRollout, ev.Key.Namespace) {
			if ref := o.(*argorollouts.Rollout).Spec.WorkloadRef; ref != nil && ref.Kind == "Deployment" && ref.Name == ev.Key.Name {
				c.queue.add(client.ObjectKeyFromObject(o))
			}
		}
	})
}

// turn is one sync of one Rollout.
type turn struct {
	*argoRollouts
	key      types.NamespacedName
	ro       *argorollouts.Rollout // the sync's own
	template corev1.PodTemplateSpec
	selector *metav1.LabelSelector
	hash     string
	all      []*appsv1.ReplicaSet // oldest first
	next     *appsv1.ReplicaSet   // of the current template; nil: not made yet
	stable   *appsv1.ReplicaSet   // what serves; nil: nothing yet
}

// sync makes one step.
func (c *argoRollouts) sync(key types.NamespacedName) error {
	stored, ok := c.w.server.Get(kindRollout, key).(*argorollouts.Rollout)
	if !ok {
		c.queue.forget(key)
		return nil
	}
	if stored.DeletionTimestamp != nil || stored.Annotations[annNotPlayed] != "" {
		return nil
	}
	t := &turn{argoRollouts: c, key: key, ro: stored.DeepCopy()}
	if noted, err := t.resolve(); noted || err != nil {
		return err
	}
	if !t.invalid() {
		if err := t.proceed(); err != nil {
			return err
		}
	}
	t.ro.Status.ObservedGeneration = strconv.FormatInt(t.ro.Generation, 10)
	t.count()
	if reflect.DeepEqual(stored.Status, t.ro.Status) {
		return nil
	}
	_, err := c.w.updateStatus(t.ro, managerRollouts)
	return client.IgnoreNotFound(err)
}

// resolve finds the template. The generation of a referenced workload is noted first,
// in a write of its own.
func (t *turn) resolve() (noted bool, err error) {
	t.template, t.selector = t.ro.Spec.Template, t.ro.Spec.Selector
	ref := t.ro.Spec.WorkloadRef
	if ref == nil {
		return false, nil
	}
	d, ok := t.w.server.Get(kindDeployment, types.NamespacedName{Namespace: t.key.Namespace, Name: ref.Name}).(*appsv1.Deployment)
	if !ok {
		return false, nil
	}
	t.template = d.Spec.Template
	if t.selector == nil {
		t.selector = d.Spec.Selector
	}
	generation := strconv.FormatInt(d.Generation, 10)
	t.ro.Status.WorkloadObservedGeneration = generation
	if t.ro.Annotations[annWorkload] == generation {
		return false, nil
	}
	t.ro.SetAnnotations(withKey(t.ro.Annotations, annWorkload, generation))
	_, err = t.w.server.Update(t.ro, cluster.WriteOptions{Manager: managerRollouts})
	return true, err
}

// invalid reports a spec that the controller takes no step with.
func (t *turn) invalid() bool {
	message := ""
	switch {
	case len(t.template.Spec.Containers) == 0:
		message = "The Rollout \"" + t.ro.Name + "\" is invalid: spec.template.spec.containers: Required value"
	case t.selector == nil:
		message = "The Rollout \"" + t.ro.Name + "\" is invalid: spec.selector: Required value"
	case t.ro.Spec.Strategy.Canary == nil && t.ro.Spec.Strategy.BlueGreen == nil:
		message = "The Rollout \"" + t.ro.Name + "\" is invalid: spec.strategy: Required value"
	}
	before := t.ro.Status.Conditions
	t.ro.Status.Conditions = nil
	if message == "" {
		return false
	}
	t.queue.addAfter(t.key, rolloutsInvalid)
	if len(before) > 0 && before[0].Message == message {
		t.ro.Status.Conditions = before
		return true
	}
	now := seconds(t.w.opt.KCM.Now())
	t.ro.Status.Conditions = []argorollouts.Condition{{
		Type: "InvalidSpec", Status: corev1.ConditionTrue, Reason: "InvalidSpec", Message: message, LastUpdateTime: now, LastTransitionTime: now,
	}}
	return true
}

// proceed restarts, and rolls the template out.
func (t *turn) proceed() error {
	t.hash = templateHash("rollout "+canonicalTemplate(&t.template), nil) // not the Deployment's of the same template
	t.find()
	t.reset()
	early, err := t.restart()
	if early || err != nil {
		return err
	}
	if t.next == nil {
		return t.makeNext()
	}
	if t.ro.Spec.Strategy.BlueGreen != nil {
		return t.blueGreen()
	}
	return t.canary()
}

func (t *turn) find() {
	t.all = t.w.objects.replicaSets(t.ro.UID)
	sortByCreation(t.all)
	for _, rs := range t.all {
		switch rs.Labels[argorollouts.HashLabel] {
		case t.hash:
			t.next = rs
		case t.ro.Status.StableRS:
			t.stable = rs
		}
	}
	if t.hash == t.ro.Status.StableRS {
		t.stable = t.next
	}
}

// reset begins anew for a new template or new steps, and drops a restart by noting it
// as done.
func (t *turn) reset() {
	st := &t.ro.Status
	steps := ""
	if canary := t.ro.Spec.Strategy.Canary; canary != nil && len(canary.Steps) > 0 {
		steps = templateHash(canonicalSteps(canary.Steps), nil)
	}
	if st.CurrentPodHash == t.hash && st.CurrentStepHash == steps {
		return
	}
	index := int32(0)
	if t.hash == st.StableRS && canarySteps(t.ro) != nil { // back to what serves: nothing to step through
		index = int32(len(canarySteps(t.ro)))
	}
	st.CurrentPodHash, st.CurrentStepHash, st.CurrentStepIndex = t.hash, steps, &index
	st.Abort, st.ControllerPause, st.PauseConditions = false, false, nil
	st.RestartedAt = t.ro.Spec.RestartAt
}

// makeNext creates the ReplicaSet of the current template, empty.
func (t *turn) makeNext() error {
	none := int32(0)
	template := *t.template.DeepCopy()
	template.Labels = withKey(template.Labels, argorollouts.HashLabel, t.hash)
	selector := t.selector.DeepCopy()
	selector.MatchLabels = withKey(selector.MatchLabels, argorollouts.HashLabel, t.hash)
	_, err := t.w.server.Create(&appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: t.key.Namespace, Name: t.key.Name + "-" + t.hash, Labels: template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(t.ro, argorollouts.RolloutKind)},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: &none, MinReadySeconds: t.ro.Spec.MinReadySeconds, Selector: selector, Template: template},
	}, cluster.WriteOptions{Manager: managerRollouts})
	return err
}

// scale brings a ReplicaSet to a size; nil and a deleted one are left alone.
func (t *turn) scale(rs *appsv1.ReplicaSet, to int32) error {
	if rs == nil || rs.DeletionTimestamp != nil || replicasOf(rs.Spec.Replicas) == to {
		return nil
	}
	changed := *rs
	changed.Spec.Replicas = &to
	_, err := t.w.server.Update(&changed, cluster.WriteOptions{Manager: managerRollouts})
	return client.IgnoreNotFound(err)
}

// others scales all but two ReplicaSets away.
func (t *turn) others(to int32) error {
	for _, rs := range t.all {
		if rs == t.next || rs == t.stable {
			continue
		}
		if err := t.scale(rs, to); err != nil {
			return err
		}
	}
	return nil
}
