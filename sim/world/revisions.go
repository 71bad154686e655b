package world

import (
	"cmp"
	"encoding/json"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// labelRevisionHash is the label with the hash on a StatefulSet's ControllerRevision.
// A DaemonSet's carries controller-revision-hash, like its pods.
const labelRevisionHash = "controller.kubernetes.io/hash"

// revisionData is what a ControllerRevision stores of a template: a strategic merge
// patch that restores it.
func revisionData(template string) string {
	return `{"spec":{"template":{"$patch":"replace",` + template[1:] + `}}`
}

// templateIn is the template that a ControllerRevision stores.
func templateIn(revision *appsv1.ControllerRevision) *corev1.PodTemplateSpec {
	var data struct {
		Spec struct {
			Template corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(revision.Data.Raw, &data); err != nil {
		panic("world: ControllerRevision " + revision.Name + ": " + err.Error())
	}
	return &data.Spec.Template
}

// sortRevisions sorts the oldest number first.
func sortRevisions(list []*appsv1.ControllerRevision) {
	slices.SortFunc(list, func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
}

// currentRevision finds the revision of the owner's template, or creates it. An
// equal older one is used again with a raised number: so a rollback shows. The
// list is sorted; collisions is the owner's counter and may be raised.
func (w *World) currentRevision(owner client.Object, hashLabel string, list []*appsv1.ControllerRevision, collisions *int32) (*appsv1.ControllerRevision, error) {
	data := revisionData(w.objects.templateOf(owner))
	next := int64(1)
	var equal *appsv1.ControllerRevision
	for _, revision := range list {
		next = max(next, revision.Revision+1)
		if string(revision.Data.Raw) == data {
			equal = revision
		}
	}
	switch {
	case equal == nil:
		return w.createRevision(owner, hashLabel, next, collisions)
	case equal == list[len(list)-1]:
		return equal, nil
	}
	raised := *equal
	raised.Revision = next
	stored, err := w.update(&raised)
	if err != nil {
		return nil, err
	}
	return stored.(*appsv1.ControllerRevision), nil
}

// createRevision stores the owner's template under a name made from its hash.
func (w *World) createRevision(owner client.Object, hashLabel string, number int64, collisions *int32) (*appsv1.ControllerRevision, error) {
	template := w.objects.templateOf(owner)
	gvk := appsKind(w.objects.get(owner.GetUID()).kind.Kind)
	for {
		hash := templateHash(template, collisions)
		revision := &appsv1.ControllerRevision{
			ObjectMeta: metav1.ObjectMeta{
				Name: revisionPrefix(owner, hashLabel) + "-" + hash, Namespace: owner.GetNamespace(),
				Labels: withKey(podTemplate(owner).Labels, hashLabel, hash), Annotations: owner.GetAnnotations(),
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, gvk)},
			},
			Data:     runtime.RawExtension{Raw: []byte(revisionData(template))},
			Revision: number,
		}
		stored, err := w.create(revision)
		if err == nil {
			return stored.(*appsv1.ControllerRevision), nil
		}
		if !apierrors.IsAlreadyExists(err) {
			return nil, err
		}
		// The name belongs to another template, or to a dead owner of the same name.
		*collisions++
	}
}

// revisionPrefix is the owner's name, cut to 223 characters for a StatefulSet only: a
// DaemonSet whose name is longer than 242 gets no revision, and so no pods.
func revisionPrefix(owner client.Object, hashLabel string) string {
	name := owner.GetName()
	if hashLabel == labelRevisionHash {
		name = name[:min(len(name), 223)]
	}
	return name
}

// trimRevisions deletes the oldest revisions beyond the limit that nothing uses.
func (w *World) trimRevisions(list []*appsv1.ControllerRevision, limit *int32, inUse func(*appsv1.ControllerRevision) bool) error {
	keep := int32(10)
	if limit != nil {
		keep = *limit
	}
	if len(list) <= int(keep) {
		return nil
	}
	var idle []*appsv1.ControllerRevision
	for _, revision := range list {
		if !inUse(revision) {
			idle = append(idle, revision)
		}
	}
	for i := 0; i < len(idle)-int(keep); i++ {
		if err := w.deleteAs(managerKCM, kindControllerRevision, idle[i]); err != nil {
			return err
		}
	}
	return nil
}
