// Package apply does all the writing. Each function makes one API write, under
// field manager "kick", with the UID and resourceVersion of what was judged as
// preconditions; it reads nothing and chooses nothing. A conflict, a timeout or a
// refusal comes back as an error: whether the write landed is for the next pass to
// see (DESIGN section 3).
package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/workloads"
)

// Timeout bounds every API write. A write that hangs longer may still land; its
// preconditions then decide.
const Timeout = 5 * time.Second

// Client is the writing half of a client.
type Client interface {
	client.Writer
	client.StatusClient
}

// Applier writes for all controllers.
type Applier struct {
	Client    Client
	Workloads workloads.Registry
}

var owner = client.FieldOwner(model.FieldManager)

// Record creates or replaces the record of a source.
func (a *Applier) Record(ctx context.Context, r *model.Record) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	o := ledger.Observation(r)
	if r.Version == "" {
		return wrap("create record of", r.ID, a.Client.Create(ctx, o, owner))
	}
	o.UID = types.UID(r.UID)
	return wrap("update record of", r.ID, a.Client.Update(ctx, o, owner))
}

// Forget deletes the record of a source that nothing refers to any more.
func (a *Applier) Forget(ctx context.Context, r *model.Record) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	o := &v1alpha1.SourceObservation{ObjectMeta: metav1.ObjectMeta{Namespace: r.ID.Namespace, Name: ledger.Name(r.ID)}}
	return wrap("delete record of", r.ID, a.delete(ctx, o, r.UID, r.Version))
}

// Delete deletes a finished request.
func (a *Applier) Delete(ctx context.Context, r *model.Request) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	o := &v1alpha1.KickRequest{ObjectMeta: metav1.ObjectMeta{Namespace: r.ID.Namespace, Name: r.ID.Name}}
	return wrap("delete", r.ID, a.delete(ctx, o, r.UID, r.Version))
}

func (a *Applier) delete(ctx context.Context, o client.Object, uid, version string) error {
	id := types.UID(uid)
	err := a.Client.Delete(ctx, o, client.Preconditions{UID: &id, ResourceVersion: &version})
	return client.IgnoreNotFound(err)
}

// Open creates the request of a workload: spec only, owned by the workload, so
// that it goes when the workload goes.
func (a *Applier) Open(ctx context.Context, w *model.Workload, name string) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	r := &v1alpha1.KickRequest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.ID.Namespace, Name: name,
			Labels: map[string]string{
				"app.kubernetes.io/managed-by": model.FieldManager,
				"kick.corewire.io/target-kind": w.ID.Kind,
				"kick.corewire.io/target-name": model.LabelValue(w.ID.Name),
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: w.APIVersion, Kind: w.ID.Kind, Name: w.ID.Name, UID: types.UID(w.UID),
			}},
		},
		Spec: v1alpha1.KickRequestSpec{
			TargetRef: v1alpha1.TargetReference{
				APIVersion: w.APIVersion, Kind: v1alpha1.WorkloadKind(w.ID.Kind), Name: w.ID.Name,
			},
			Trigger: v1alpha1.TriggerDependency,
		},
	}
	err := a.Client.Create(ctx, r, owner)
	if apierrors.IsAlreadyExists(err) {
		mark.Hit(mark.RequestExists)
	}
	return wrap("create request for", w.ID, err)
}

// Stamp restarts a workload: it sets the one field, if the object is still the one that
// was judged.
func (a *Applier) Stamp(ctx context.Context, w *model.Workload, at time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	kind := a.Workloads.ByName(w.ID.Kind)
	obj := kind.New()
	obj.SetNamespace(w.ID.Namespace)
	obj.SetName(w.ID.Name)
	return wrap("restart", w.ID, a.Client.Patch(ctx, obj, client.RawPatch(types.MergePatchType, stampPatch(kind, w, at)), owner))
}

func stampPatch(kind workloads.Kind, w *model.Workload, at time.Time) []byte {
	path := kind.StampPath()
	var value any = kind.StampValue(at)
	for _, name := range slices.Backward(path[1:]) {
		value = map[string]any{name: value}
	}
	patch, _ := json.Marshal(map[string]any{ // strings in maps always encode
		"metadata": map[string]any{"uid": w.UID, "resourceVersion": w.Version},
		path[0]:    value,
	})
	return patch
}

// StampValue is how times are written in annotations: RFC 3339, microseconds, UTC.
func StampValue(at time.Time) string { return workloads.TemplateStamp{}.StampValue(at) }

// PolicyStatus writes the status of a policy.
func (a *Applier) PolicyStatus(ctx context.Context, p *v1alpha1.KickPolicy) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	return wrap("update status of", model.Key{Kind: "KickPolicy", Namespace: p.Namespace, Name: p.Name}, a.Client.Status().Update(ctx, p, owner))
}

// InstallationKey creates the Secret of the installation key; somebody else's
// having been faster is no error.
func (a *Applier) InstallationKey(ctx context.Context, namespace string, key []byte) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	err := a.Client.Create(ctx, ledger.KeyObject(namespace, key), owner)
	if apierrors.IsAlreadyExists(err) {
		mark.Hit(mark.KeyRaceLost)
		return nil
	}
	if err == nil {
		mark.Hit(mark.KeyMade)
	}
	return wrap("create", model.Key{Kind: "Secret", Namespace: namespace, Name: ledger.KeySecret}, err)
}

// wrap says what was attempted on what.
func wrap(act string, k model.Key, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", act, k, err)
}

// Outdated reports whether a write failed because what was judged is no longer
// what stands: the pass has to be made again on live objects.
func Outdated(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) || uidChanged(err)
}

// Refused reports whether the API server will not take this write however often
// it is tried, and in which words.
func Refused(err error) (string, bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || uidChanged(err) {
		return "", false
	}
	return status.Status().Message, apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err)
}

// uidChanged recognises the answer to a patch whose UID precondition failed: the
// API server calls that an attempt to change an immutable field.
func uidChanged(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	for _, c := range status.Status().Details.Causes {
		if c.Field == "metadata.uid" {
			return true
		}
	}
	return false
}
