package gather

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/bundle"
)

// Bundle reads a bundle with what stands under its name. The ConfigMap is read live: no
// cache of KICK keeps what it holds. So is the record, and only where there may be one: a
// ConfigMap that is gone, and a status that a crash kept from being written, say nothing.
func (g *Gatherer) Bundle(ctx context.Context, id model.Key, f Freshness) (*bundle.Snapshot, error) {
	var o v1alpha1.ConfigBundle
	found, err := get(ctx, g.reader(f), id, &o)
	if err != nil || !found {
		return &bundle.Snapshot{}, err
	}
	s := &bundle.Snapshot{}
	if s.Bundle, err = Bundle(&o); err != nil || s.Bundle.Deleting {
		return s, err
	}
	if s.ConfigMap, err = g.configMap(ctx, id); err != nil {
		return nil, err
	}
	if s.Bundle.Spec.Immutable || s.Bundle.Status.Immutable || s.ConfigMap == nil || s.ConfigMap.Content.Immutable {
		s.Record, err = g.bundleRecord(ctx, s.Bundle)
	}
	return s, err
}

// BundleStands reports whether a bundle is, live, what the snapshot says. The
// preconditions of a write to the ConfigMap do not cover the bundle, and what a cache
// that lags declares may have been replaced and applied long since.
func (g *Gatherer) BundleStands(ctx context.Context, s *bundle.Snapshot) (bool, error) {
	var o v1alpha1.ConfigBundle
	found, err := get(ctx, g.Live, s.Bundle.ID, &o)
	return found && string(o.UID) == s.Bundle.UID && o.ResourceVersion == s.Bundle.Version, err
}

// HasBundle reports whether the cache shows a bundle.
func (g *Gatherer) HasBundle(ctx context.Context, id model.Key) bool {
	found, err := get(ctx, g.Cache, id, &v1alpha1.ConfigBundle{})
	return found || err != nil // a cache that cannot be read may have it
}

// Bundle is a ConfigBundle in plain values.
func Bundle(o *v1alpha1.ConfigBundle) (*bundle.Bundle, error) {
	spec, err := bundleSpec(&o.Spec)
	if err != nil {
		return nil, fmt.Errorf("ConfigBundle %s/%s: %w", o.Namespace, o.Name, err)
	}
	return &bundle.Bundle{
		ID:  model.Key{Kind: bundle.Kind, Namespace: o.Namespace, Name: o.Name},
		UID: string(o.UID), Version: o.ResourceVersion, Generation: o.Generation, Deleting: o.DeletionTimestamp != nil,
		Spec: spec, Meta: bundle.Handed(o.Labels, o.Annotations), Status: BundleStatus(&o.Status),
	}, nil
}

func bundleSpec(o *v1alpha1.ConfigBundleSpec) (bundle.Spec, error) {
	s := bundle.Spec{Message: o.Message, Immutable: o.Immutable, Data: make(map[string]string, len(o.Data))}
	for k, v := range o.Data {
		s.Data[k] = string(v)
	}
	s.Binary = make(map[string][]byte, len(o.BinaryData))
	for k, v := range o.BinaryData {
		raw, err := base64.StdEncoding.DecodeString(string(v))
		if err != nil {
			return s, fmt.Errorf("spec.binaryData.%s is not standard base64 with padding", k)
		}
		s.Binary[k] = raw
	}
	return s, nil
}

// BundleStatus reads the status of a ConfigBundle.
func BundleStatus(o *v1alpha1.ConfigBundleStatus) bundle.Status {
	st := bundle.Status{
		Generation: o.ObservedGeneration, Metadata: o.ObservedMetadata, Immutable: o.Immutable, Heals: bundle.Heals{Count: o.Heals},
		Ready:   bundleCondition(o.Conditions, v1alpha1.ConditionReady),
		Drifted: bundleCondition(o.Conditions, v1alpha1.ConditionDrifted),
	}
	if o.LastHealTime != nil {
		st.Heals.Last = o.LastHealTime.UTC()
	}
	if o.ConfigMap != nil {
		st.ConfigMap = o.ConfigMap.UID
	}
	return st
}

func bundleCondition(all []metav1.Condition, name string) bundle.Condition {
	c := meta.FindStatusCondition(all, name)
	if c == nil {
		return bundle.Condition{}
	}
	return bundle.Condition{
		True: c.Status == metav1.ConditionTrue, Reason: bundle.Reason(c.Reason), Message: c.Message, Since: c.LastTransitionTime.UTC(),
	}
}

// configMap is the ConfigMap of a name, live; nil: there is none.
func (g *Gatherer) configMap(ctx context.Context, id model.Key) (*bundle.ConfigMap, error) {
	var o corev1.ConfigMap
	found, err := get(ctx, g.Live, model.Key{Kind: "ConfigMap", Namespace: id.Namespace, Name: id.Name}, &o)
	if err != nil || !found {
		return nil, err
	}
	cm := &bundle.ConfigMap{
		UID: string(o.UID), Version: o.ResourceVersion, Deleting: o.DeletionTimestamp != nil,
		Content: bundle.Content{Data: o.Data, Binary: o.BinaryData, Immutable: o.Immutable != nil && *o.Immutable},
		Meta:    bundle.Meta{Labels: o.Labels, Annotations: o.Annotations},
		Owned:   ownedFields(o.ManagedFields), Heals: healsOf(o.Annotations),
	}
	for _, ref := range o.OwnerReferences {
		cm.Owners = append(cm.Owners, bundle.Owner{
			APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name, UID: string(ref.UID), Controller: ref.Controller != nil && *ref.Controller,
		})
	}
	return cm, nil
}

// healsOf reads what the ConfigMap says of its heals; what cannot be read says nothing.
func healsOf(annotations map[string]string) bundle.Heals {
	count, err := strconv.ParseInt(annotations[bundle.AnnotationHeals], 10, 64)
	last, timeErr := time.Parse(time.RFC3339Nano, annotations[bundle.AnnotationLastHeal])
	if err != nil || timeErr != nil || count < 0 {
		return bundle.Heals{}
	}
	return bundle.Heals{Count: count, Last: last.UTC()}
}

// bundleRecord reads what an immutable bundle declared.
func (g *Gatherer) bundleRecord(ctx context.Context, b *bundle.Bundle) (*bundle.Record, error) {
	var o appsv1.ControllerRevision
	id := model.Key{Kind: "ControllerRevision", Namespace: b.ID.Namespace, Name: bundle.RecordName(b.UID)}
	found, err := get(ctx, g.Live, id, &o)
	if err != nil || !found {
		return nil, err
	}
	var spec v1alpha1.ConfigBundleSpec
	if err := json.Unmarshal(o.Data.Raw, &spec); err != nil {
		return nil, fmt.Errorf("%s does not hold a ConfigBundle's spec: %w; delete it, and it is made anew", id, err)
	}
	r := &bundle.Record{}
	if r.Spec, err = bundleSpec(&spec); err != nil {
		return nil, fmt.Errorf("%s: %w; delete it, and it is made anew", id, err)
	}
	return r, nil
}
