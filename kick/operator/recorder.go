package operator

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/apply"
	kickevents "github.com/corewire/kick/kick/events"
	"github.com/corewire/kick/kick/model"
)

// reportingController is how KICK signs its events.
const reportingController = "kick"

// recorder sends events through events.k8s.io. Events that are alike but for their note
// are merged there, and the note of the first is told for all. So the reference to a
// request or a bundle carries its resourceVersion: what is told of another status is an
// event of its own.
type recorder struct{ events.EventRecorder }

// Record tells of a transition of a request.
func (r recorder) Record(about *model.Request, target *model.Workload, e kickevents.Event) {
	regarding := &corev1.ObjectReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "KickRequest",
		Namespace: about.ID.Namespace, Name: about.ID.Name, UID: types.UID(about.UID), ResourceVersion: about.Version,
	}
	if target == nil {
		r.Eventf(regarding, nil, e.Type, e.Reason, e.Action, "%s", apply.Cut(e.Note))
		return
	}
	related := &corev1.ObjectReference{
		APIVersion: target.APIVersion, Kind: target.ID.Kind,
		Namespace: target.ID.Namespace, Name: target.ID.Name, UID: types.UID(target.UID),
	}
	r.Eventf(regarding, related, e.Type, e.Reason, e.Action, "%s", apply.Cut(e.Note))
}

// RecordSource tells of a source.
func (r recorder) RecordSource(about model.Key, uid string, e kickevents.Event) {
	regarding := &corev1.ObjectReference{APIVersion: "v1", Kind: about.Kind, Namespace: about.Namespace, Name: about.Name, UID: types.UID(uid)}
	r.Eventf(regarding, nil, e.Type, e.Reason, e.Action, "%s", apply.Cut(e.Note))
}

// RecordBundle tells of a bundle.
func (r recorder) RecordBundle(about model.Key, uid, version string, e kickevents.Event) {
	regarding := &corev1.ObjectReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: about.Kind, Namespace: about.Namespace, Name: about.Name, UID: types.UID(uid), ResourceVersion: version,
	}
	r.Eventf(regarding, nil, e.Type, e.Reason, e.Action, "%s", apply.Cut(e.Note))
}
