package world

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
)

// nextReplicas is how far the current ReplicaSet may grow now.
func nextReplicas(d *appsv1.Deployment, all []*appsv1.ReplicaSet, next *appsv1.ReplicaSet) int32 {
	replicas, have := replicasOf(d.Spec.Replicas), replicasOf(next.Spec.Replicas)
	if !isRolling(d) {
		return replicas
	}
	room := replicas + maxSurge(d) - totalReplicas(all)
	if room <= 0 {
		return have
	}
	return have + min(room, replicas-have)
}

// totalReplicas is the number of pods that ReplicaSets shall have.
func totalReplicas(list []*appsv1.ReplicaSet) int32 {
	total := int32(0)
	for _, rs := range list {
		if rs != nil {
			total += replicasOf(rs.Spec.Replicas)
		}
	}
	return total
}

// availableReplicas is the number of available pods of ReplicaSets.
func availableReplicas(list []*appsv1.ReplicaSet) int32 {
	total := int32(0)
	for _, rs := range list {
		total += rs.Status.AvailableReplicas
	}
	return total
}

// scaleTo gives a ReplicaSet another size and reports whether it had one. With
// refresh, annotations that are out of date are reason enough to write.
func (c *deployments) scaleTo(d *appsv1.Deployment, rs *appsv1.ReplicaSet, size int32, refresh bool) (bool, error) {
	resize := replicasOf(rs.Spec.Replicas) != size
	stale := refresh && (rs.Annotations[annDesired] != strconv.Itoa(int(replicasOf(d.Spec.Replicas))) ||
		rs.Annotations[annMax] != strconv.Itoa(int(replicasOf(d.Spec.Replicas)+maxSurge(d))))
	if !resize && !stale {
		return false, nil
	}
	changed := *rs
	changed.Spec.Replicas = &size
	changed.Annotations = withReplicaAnnotations(rs.Annotations, d)
	_, err := c.w.update(&changed)
	return resize && err == nil, err
}

// growNext scales the current ReplicaSet towards the wanted size.
func (c *deployments) growNext(f *family) (bool, error) {
	have, want := replicasOf(f.next.Spec.Replicas), replicasOf(f.d.Spec.Replicas)
	if have == want {
		return false, nil
	}
	if have < want {
		want = nextReplicas(f.d, f.all, f.next)
	}
	return c.scaleTo(f.d, f.next, want, false)
}

// shrinkOld scales old ReplicaSets down as far as availability allows: first the
// pods that do not work anyway, then the oldest ReplicaSets.
func (c *deployments) shrinkOld(f *family) (bool, error) {
	minAvailable := replicasOf(f.d.Spec.Replicas) - maxUnavailable(f.d)
	missing := replicasOf(f.next.Spec.Replicas) - f.next.Status.AvailableReplicas
	budget := totalReplicas(f.all) - minAvailable - missing
	if totalReplicas(f.old) == 0 || budget <= 0 {
		return false, nil
	}
	sizes := make([]int32, len(f.old))
	down := int32(0)
	for i, rs := range f.old {
		sizes[i] = replicasOf(rs.Spec.Replicas)
		if broken := sizes[i] - rs.Status.AvailableReplicas; sizes[i] > 0 && broken != 0 && down < budget {
			cut := min(budget-down, broken)
			sizes[i] -= cut
			down += cut
		}
	}
	spare := availableReplicas(f.all) - minAvailable
	for i := range f.old {
		if spare <= 0 {
			break
		}
		cut := min(sizes[i], spare)
		sizes[i] -= cut
		spare -= cut
		down += cut
	}
	for i, rs := range f.old {
		if _, err := c.scaleTo(f.d, rs, sizes[i], false); err != nil {
			return down > 0, err
		}
	}
	return down > 0, nil
}

// scale follows a change of spec.replicas outside of a rollout's own steps.
func (c *deployments) scale(f *family) error {
	want := replicasOf(f.d.Spec.Replicas)
	if only, ok := f.activeOrLatest(); ok {
		if only == nil || replicasOf(only.Spec.Replicas) == want {
			return nil
		}
		_, err := c.scaleTo(f.d, only, want, false)
		return err
	}
	if f.isSaturated() {
		for _, rs := range f.old {
			if _, err := c.scaleTo(f.d, rs, 0, false); err != nil {
				return err
			}
		}
		return nil
	}
	if !isRolling(f.d) {
		return nil
	}
	return c.scaleInProportion(f)
}

// activeOrLatest returns the one ReplicaSet with replicas, or the newest when none
// has any; false when several are live.
func (f *family) activeOrLatest() (*appsv1.ReplicaSet, bool) {
	var active []*appsv1.ReplicaSet
	for _, rs := range f.all {
		if replicasOf(rs.Spec.Replicas) > 0 {
			active = append(active, rs)
		}
	}
	switch {
	case len(active) == 1:
		return active[0], true
	case len(active) > 1:
		return nil, false
	case f.next != nil:
		return f.next, true
	case len(f.old) > 0:
		return f.old[len(f.old)-1], true
	}
	return nil, true
}

// isSaturated reports that the current ReplicaSet alone is all that is wanted.
func (f *family) isSaturated() bool {
	want := replicasOf(f.d.Spec.Replicas)
	return f.next != nil && replicasOf(f.next.Spec.Replicas) == want && f.next.Status.AvailableReplicas == want &&
		f.next.Annotations[annDesired] == strconv.Itoa(int(want))
}

// scaleInProportion spreads a change of size over the live ReplicaSets of a rollout.
func (c *deployments) scaleInProportion(f *family) error {
	var live []*appsv1.ReplicaSet
	for _, rs := range f.all {
		if replicasOf(rs.Spec.Replicas) > 0 {
			live = append(live, rs)
		}
	}
	allowed := int32(0)
	if want := replicasOf(f.d.Spec.Replicas); want > 0 {
		allowed = want + maxSurge(f.d)
	}
	toAdd := allowed - totalReplicas(live)
	slices.SortStableFunc(live, func(a, b *appsv1.ReplicaSet) int {
		age := a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
		if toAdd > 0 {
			age = -age // the newest gets more, the oldest loses more
		}
		return cmp.Or(cmp.Compare(replicasOf(b.Spec.Replicas), replicasOf(a.Spec.Replicas)), age)
	})
	sizes := make([]int32, len(live))
	added := int32(0)
	for i, rs := range live {
		sizes[i] = replicasOf(rs.Spec.Replicas)
		if toAdd != 0 {
			share := proportion(f.d, rs, toAdd, added)
			sizes[i] += share
			added += share
		}
	}
	if len(live) > 0 && toAdd != 0 {
		sizes[0] = max(sizes[0]+toAdd-added, 0)
	}
	for i, rs := range live {
		if _, err := c.scaleTo(f.d, rs, sizes[i], true); err != nil {
			return err
		}
	}
	return nil
}

// proportion is a ReplicaSet's share of a change of size, within what is left of it.
func proportion(d *appsv1.Deployment, rs *appsv1.ReplicaSet, toAdd, added int32) int32 {
	have := replicasOf(rs.Spec.Replicas)
	want := replicasOf(d.Spec.Replicas)
	if have == 0 || toAdd == added {
		return 0
	}
	share := -have // a Deployment of size 0 keeps nothing
	if want > 0 {
		before := d.Status.Replicas
		if most, err := strconv.Atoi(rs.Annotations[annMax]); err == nil && most > 0 {
			before = int32(most)
		}
		grown := float64(have) * float64(want+maxSurge(d)) / float64(max(before, 1))
		share = int32(math.Round(grown)) - have
	}
	if toAdd > 0 {
		return min(share, toAdd-added)
	}
	return max(share, toAdd-added)
}
