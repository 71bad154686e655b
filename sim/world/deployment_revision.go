package world

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxHistoryChars bounds the annotation revision-history.
const maxHistoryChars = 2000

// notCopied lists the annotations of a Deployment that its ReplicaSets do not get.
var notCopied = map[string]bool{
	"kubectl.kubernetes.io/last-applied-configuration": true,
	annRevision: true, annHistory: true, annDesired: true, annMax: true,
	"deprecated.deployment.rollback.to": true,
}

// adopt makes f.next the ReplicaSet of the current template: it gives an existing
// one the newest revision number (which is how a rollback shows), or creates one.
func (c *deployments) adopt(f *family, create bool) error {
	revision := int64(1)
	for _, rs := range f.old {
		revision = max(revision, revisionOf(rs)+1)
	}
	if f.next != nil {
		return c.renew(f, revision)
	}
	if !create {
		return nil
	}
	return c.createNext(f, revision)
}

// revisionOf is the revision number of a ReplicaSet, 0 when it has none.
func revisionOf(rs *appsv1.ReplicaSet) int64 {
	n, err := strconv.ParseInt(rs.Annotations[annRevision], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// renew brings the annotations of the current ReplicaSet up to date, then those of
// the Deployment. Each ends at one write: the rest waits for the next sync.
func (c *deployments) renew(f *family, revision int64) error {
	annotations, changed := nextAnnotations(f.d, f.next, revision)
	if changed || f.next.Spec.MinReadySeconds != f.d.Spec.MinReadySeconds {
		rs := *f.next
		rs.Annotations = annotations
		rs.Spec.MinReadySeconds = f.d.Spec.MinReadySeconds
		stored, err := c.w.update(&rs)
		if err != nil {
			return err
		}
		f.replace(stored.(*appsv1.ReplicaSet))
		return nil
	}
	write := setRevision(f.d, annotations[annRevision])
	if hasDeadline(f.d) && condition(&f.d.Status, appsv1.DeploymentProgressing) == nil {
		c.setProgressing(&f.d.Status, corev1.ConditionTrue, "FoundNewReplicaSet", "Found new replica set "+strconv.Quote(f.next.Name))
		write = true
	}
	if !write {
		return nil
	}
	return c.writeStatus(f.d)
}

// replace puts a newer version of the current ReplicaSet into the family.
func (f *family) replace(rs *appsv1.ReplicaSet) {
	for i := range f.all {
		if f.all[i] == f.next {
			f.all[i] = rs
		}
	}
	f.next = rs
}

// nextAnnotations are the annotations the current ReplicaSet should have.
func nextAnnotations(d *appsv1.Deployment, rs *appsv1.ReplicaSet, revision int64) (map[string]string, bool) {
	out := make(map[string]string, len(rs.Annotations)+2)
	maps.Copy(out, rs.Annotations)
	changed := false
	set := func(key, value string) {
		if old, ok := out[key]; !ok || old != value {
			out[key] = value
			changed = true
		}
	}
	for k, v := range d.Annotations {
		if !notCopied[k] {
			set(k, v)
		}
	}
	old, had := rs.Annotations[annRevision]
	if revisionOf(rs) < revision {
		set(annRevision, strconv.FormatInt(revision, 10))
		if had {
			set(annHistory, longerHistory(rs.Annotations[annHistory], old))
		}
	}
	return out, changed
}

// longerHistory appends a revision to a history, dropping the oldest beyond the bound.
func longerHistory(history, revision string) string {
	if history == "" {
		return revision
	}
	history += "," + revision
	for len(history) > maxHistoryChars {
		_, history, _ = strings.Cut(history, ",")
	}
	return history
}

// setRevision notes the current revision on the Deployment, and tells whether that
// was news.
func setRevision(d *appsv1.Deployment, revision string) bool {
	if d.Annotations[annRevision] == revision {
		return false
	}
	d.Annotations = withKey(d.Annotations, annRevision, revision)
	return true
}

// createNext creates the ReplicaSet of the current template.
func (c *deployments) createNext(f *family, revision int64) error {
	d := f.d
	rs := c.draftNext(f, revision)
	created, err := c.w.create(rs)
	switch {
	case apierrors.IsAlreadyExists(err):
		// Another ReplicaSet has this name: a collision of hashes, or a leftover that
		// the garbage collector has not reached. Another hash gives another name.
		count := int32(1)
		if d.Status.CollisionCount != nil {
			count = *d.Status.CollisionCount + 1
		}
		d.Status.CollisionCount = &count
		_ = c.writeStatus(d) // the retry decides, as upstream
		return err
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return err
	case err != nil:
		if hasDeadline(d) {
			c.setProgressing(&d.Status, corev1.ConditionFalse, "ReplicaSetCreateError",
				"Failed to create new replica set "+strconv.Quote(rs.Name)+": "+err.Error())
			_ = c.writeStatus(d)
		}
		return err
	}
	f.next = created.(*appsv1.ReplicaSet)
	f.all = append(f.all, f.next)
	write := setRevision(d, strconv.FormatInt(revision, 10))
	if hasDeadline(d) {
		c.setProgressing(&d.Status, corev1.ConditionTrue, "NewReplicaSetCreated", "Created new replica set "+strconv.Quote(rs.Name))
		write = true
	}
	if !write {
		return nil
	}
	return c.writeStatus(d)
}

// draftNext is the ReplicaSet of the current template before it is stored.
func (c *deployments) draftNext(f *family, revision int64) *appsv1.ReplicaSet {
	d := f.d
	hash := templateHash(c.w.objects.templateOf(d), d.Status.CollisionCount)
	template := *d.Spec.Template.DeepCopy()
	template.Labels = withKey(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	selector := d.Spec.Selector.DeepCopy()
	if selector == nil {
		selector = &metav1.LabelSelector{}
	}
	selector.MatchLabels = withKey(selector.MatchLabels, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	none := int32(0)
	rs := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: d.Name[:min(len(d.Name), 252-len(hash))] + "-" + hash, Namespace: d.Namespace, Labels: template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, appsKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &none, MinReadySeconds: d.Spec.MinReadySeconds, Selector: selector, Template: template,
		},
	}
	replicas := nextReplicas(d, append(slices.Clone(f.all), rs), rs)
	rs.Spec.Replicas = &replicas
	annotations, _ := nextAnnotations(d, rs, revision)
	rs.Annotations = withReplicaAnnotations(annotations, d)
	return rs
}

// withReplicaAnnotations notes for which size of the Deployment a ReplicaSet was scaled.
func withReplicaAnnotations(annotations map[string]string, d *appsv1.Deployment) map[string]string {
	replicas := replicasOf(d.Spec.Replicas)
	out := withKey(annotations, annDesired, strconv.Itoa(int(replicas)))
	out[annMax] = strconv.Itoa(int(replicas + maxSurge(d)))
	return out
}

// cleanUp deletes the oldest revisions beyond revisionHistoryLimit that hold no pods.
func (c *deployments) cleanUp(f *family) error {
	if !hasHistoryLimit(f.d) {
		return nil
	}
	var old []*appsv1.ReplicaSet
	for _, rs := range f.old {
		if rs.DeletionTimestamp == nil {
			old = append(old, rs)
		}
	}
	surplus := len(old) - int(*f.d.Spec.RevisionHistoryLimit)
	if surplus <= 0 {
		return nil
	}
	slices.SortStableFunc(old, func(a, b *appsv1.ReplicaSet) int { return cmp.Compare(revisionOf(a), revisionOf(b)) })
	for _, rs := range old[:surplus] {
		if rs.Status.Replicas != 0 || replicasOf(rs.Spec.Replicas) != 0 || rs.Generation > rs.Status.ObservedGeneration {
			continue
		}
		if err := c.w.deleteAs(managerKCM, kindReplicaSet, rs); err != nil {
			return err
		}
	}
	return nil
}
