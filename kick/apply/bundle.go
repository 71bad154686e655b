package apply

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/bundle"
)

// noVersion is a resourceVersion that no object has: the first write of a cluster has
// the next one. An apply that carries it creates an object and never touches one that
// is there already, which is a conflict (the API server compares versions only where
// there is an object). A create would do the same, but would leave the fields with a
// second owner, who keeps them from ever being removed by an apply.
const noVersion = "1"

// ApplyBundle applies a bundle's ConfigMap: creates it if cm is nil, and else changes
// the one that was judged.
func (a *Applier) ApplyBundle(ctx context.Context, b *bundle.Bundle, cm *bundle.ConfigMap, d bundle.Desired) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	act := "create"
	if cm != nil {
		act = "apply"
	}
	o := bareConfigMap(b)
	patch := client.RawPatch(types.ApplyPatchType, encode(configMapOf(b, cm, d)))
	err := a.Client.Patch(ctx, o, patch, owner, client.ForceOwnership)
	return wrap(act, configMapID(b), effective(err, cm, o))
}

// errAltered says that the API server took a write and stored what was there before.
var errAltered = errors.New("it was taken, and what was there before was stored: an admission webhook or policy changes what is written")

// effective is errAltered if a write of what differed from the object that was judged
// left it as it was.
func effective(err error, judged *bundle.ConfigMap, stored *corev1.ConfigMap) error {
	if err == nil && judged != nil && stored.ResourceVersion == judged.Version {
		return errAltered
	}
	return err
}

// configMapOf is the apply configuration of a bundle's ConfigMap.
func configMapOf(b *bundle.Bundle, cm *bundle.ConfigMap, d bundle.Desired) map[string]any {
	metadata := map[string]any{
		"namespace": b.ID.Namespace, "name": b.ID.Name, "resourceVersion": noVersion,
		"ownerReferences": []map[string]any{{
			"apiVersion": bundle.APIVersion, "kind": bundle.Kind, "name": b.ID.Name, "uid": b.UID, "controller": true,
		}},
	}
	if cm != nil {
		metadata["uid"], metadata["resourceVersion"] = cm.UID, cm.Version
	}
	annotations := maps.Clone(d.Meta.Annotations)
	maps.Copy(annotations, healNotes(d.Heals))
	set(metadata, "labels", d.Meta.Labels)
	set(metadata, "annotations", annotations)
	o := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
	set(o, "data", d.Content.Data)
	set(o, "binaryData", d.Content.Binary)
	if d.Content.Immutable {
		o["immutable"] = true
	}
	return o
}

// set sets a map that holds anything.
func set[V any](o map[string]any, field string, values map[string]V) {
	if len(values) > 0 {
		o[field] = values
	}
}

func healNotes(h bundle.Heals) map[string]string {
	if h.Count == 0 {
		return map[string]string{}
	}
	return map[string]string{bundle.AnnotationHeals: strconv.FormatInt(h.Count, 10), bundle.AnnotationLastHeal: StampValue(h.Last)}
}

// PruneBundle removes undeclared keys of others from a bundle's ConfigMap.
func (a *Applier) PruneBundle(ctx context.Context, b *bundle.Bundle, cm *bundle.ConfigMap, v *bundle.Verdict) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	metadata := map[string]any{"uid": cm.UID, "resourceVersion": cm.Version}
	set(metadata, "annotations", healNotes(v.Desired.Heals))
	patch := map[string]any{"metadata": metadata}
	set(patch, "data", nulls(v.Difference.Extra.Data))
	set(patch, "binaryData", nulls(v.Difference.Extra.Binary))
	o := bareConfigMap(b)
	err := a.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, encode(patch)), owner)
	return wrap("remove keys from", configMapID(b), effective(err, cm, o))
}

// nulls remove keys in a merge patch.
func nulls(keys []string) map[string]any {
	out := map[string]any{}
	for _, k := range keys {
		out[k] = nil
	}
	return out
}

// DeleteConfigMap deletes a bundle's ConfigMap, which cannot be put right in place.
func (a *Applier) DeleteConfigMap(ctx context.Context, b *bundle.Bundle, cm *bundle.ConfigMap) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	o := bareConfigMap(b)
	return wrap("delete", configMapID(b), a.delete(ctx, o, cm.UID, cm.Version))
}

// KeepBundle puts on record what an immutable bundle declares; its status could not
// hold it. The record goes with the bundle and is never changed.
func (a *Applier) KeepBundle(ctx context.Context, b *bundle.Bundle, spec bundle.Spec) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	controller := true
	o := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: b.ID.Namespace, Name: bundle.RecordName(b.UID),
			Labels: map[string]string{"app.kubernetes.io/managed-by": model.FieldManager},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: bundle.APIVersion, Kind: bundle.Kind, Name: b.ID.Name, UID: types.UID(b.UID), Controller: &controller,
			}},
		},
		Data: runtime.RawExtension{Raw: encode(specOf(spec))}, Revision: 1,
	}
	return wrap("record what is declared by", b.ID, a.Client.Create(ctx, o, owner))
}

// RestoreBundle takes a change of an immutable bundle back.
func (a *Applier) RestoreBundle(ctx context.Context, b *bundle.Bundle, spec bundle.Spec) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	was, is := specOf(spec), specOf(b.Spec)
	patch := map[string]any{
		"metadata": map[string]any{"uid": b.UID, "resourceVersion": b.Version},
		"spec": map[string]any{
			"message": was.Message, "immutable": was.Immutable,
			"data": replacing(is.Data, was.Data), "binaryData": replacing(is.BinaryData, was.BinaryData),
		},
	}
	o := &v1alpha1.ConfigBundle{ObjectMeta: metav1.ObjectMeta{Namespace: b.ID.Namespace, Name: b.ID.Name}}
	return wrap("restore", b.ID, a.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, encode(patch)), owner))
}

// replacing makes, as part of a merge patch, one map of another; nil: there is to be
// none.
func replacing[V any](is, was map[string]V) map[string]any {
	if len(was) == 0 {
		return nil
	}
	out := nulls(slices.Collect(maps.Keys(is)))
	for k, v := range was {
		out[k] = v
	}
	return out
}

func specOf(s bundle.Spec) v1alpha1.ConfigBundleSpec {
	o := v1alpha1.ConfigBundleSpec{Message: s.Message, Immutable: s.Immutable}
	for k, v := range s.Data {
		if o.Data == nil {
			o.Data = map[string]v1alpha1.BundleText{}
		}
		o.Data[k] = v1alpha1.BundleText(v)
	}
	for k, v := range s.Binary {
		if o.BinaryData == nil {
			o.BinaryData = map[string]v1alpha1.BundleBytes{}
		}
		o.BinaryData[k] = v1alpha1.BundleBytes(base64.StdEncoding.EncodeToString(v))
	}
	return o
}

// BundleStatus writes the status of a bundle that is still the one that was judged.
func (a *Applier) BundleStatus(ctx context.Context, b *bundle.Bundle, st bundle.Status) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	o := &v1alpha1.ConfigBundle{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.ID.Namespace, Name: b.ID.Name, UID: types.UID(b.UID), ResourceVersion: b.Version},
		Status: v1alpha1.ConfigBundleStatus{
			ObservedGeneration: st.Generation, ObservedMetadata: st.Metadata, Immutable: st.Immutable,
			Heals: st.Heals.Count, LastHealTime: micro(st.Heals.Last),
			Conditions: []metav1.Condition{
				bundleCondition(v1alpha1.ConditionReady, st.Ready, st.Generation), bundleCondition(v1alpha1.ConditionDrifted, st.Drifted, st.Generation),
			},
		},
	}
	if st.ConfigMap != "" {
		o.Status.ConfigMap = &v1alpha1.ManagedConfigMap{Name: b.ID.Name, Namespace: b.ID.Namespace, UID: st.ConfigMap}
	}
	return wrap("update status of", b.ID, a.Client.Status().Update(ctx, o, owner))
}

func bundleCondition(name string, c bundle.Condition, generation int64) metav1.Condition {
	out := metav1.Condition{
		Type: name, Status: metav1.ConditionFalse, ObservedGeneration: generation,
		LastTransitionTime: metav1.NewTime(c.Since), Reason: string(c.Reason), Message: c.Message,
	}
	if c.True {
		out.Status = metav1.ConditionTrue
	}
	return out
}

// RefusedBundle reports whether the API server will not have a write for a bundle
// however often it is tried, with its reason and its words. One that it takes and does
// not store is of reason Differs.
func RefusedBundle(err error) (reason bundle.Reason, why string, refused bool) {
	if errors.Is(err, errAltered) {
		return bundle.Differs, errAltered.Error(), true
	}
	why, refused = Refused(err)
	if !refused && !apierrors.IsRequestEntityTooLargeError(err) {
		return "", "", false
	}
	return bundle.Reason(apierrors.ReasonForError(err)), why, true
}

// bareConfigMap names a bundle's ConfigMap in a call.
func bareConfigMap(b *bundle.Bundle) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.ID.Namespace, Name: b.ID.Name}}
}

func configMapID(b *bundle.Bundle) model.Key {
	return model.Key{Kind: "ConfigMap", Namespace: b.ID.Namespace, Name: b.ID.Name}
}

// encode is JSON that leaves <, > and & as they are: escaped, a text near the size
// limit would no longer fit.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // strings, maps and flags always encode
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
