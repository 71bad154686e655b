// Package ledger is the durable memory of observed changes: how a record looks as
// a SourceObservation, and how the key that seals it is kept. It reads and writes
// nothing itself; package gather and package apply do.
package ledger

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/model"
)

// Name is the name of the record of a source.
func Name(source model.Key) string { return model.ObjectName(source) }

// SourceOf is the source that an observation is about.
func SourceOf(o *v1alpha1.SourceObservation) model.Key {
	return model.Key{Kind: string(o.Spec.Source.Kind), Namespace: o.Namespace, Name: o.Spec.Source.Name}
}

// Record is the observation in plain values. A name may collide only by a broken
// hash, so what the record is about is taken from its spec.
func Record(o *v1alpha1.SourceObservation) *model.Record {
	r := &model.Record{
		ID:              SourceOf(o),
		UID:             string(o.UID),
		Version:         o.ResourceVersion,
		Created:         o.CreationTimestamp.UTC(),
		Since:           o.Spec.Since.UTC(),
		Labels:          convert[string](o.Spec.Labels),
		SourceVersion:   o.Spec.ResourceVersion,
		KeyID:           o.Spec.KeyID,
		KeyNames:        o.Spec.KeyNames,
		KeyNamesPartial: o.Spec.KeyNamesTruncated,
		History:         make([]model.Content, 0, len(o.Spec.History)),
	}
	for i := range o.Spec.History {
		r.History = append(r.History, content(&o.Spec.History[i]))
	}
	for i := range o.Spec.Mounts {
		m := &o.Spec.Mounts[i]
		mount := model.Mount{Pod: m.PodUID, Version: m.ResourceVersion}
		for j := range m.History {
			mount.History = append(mount.History, content(&m.History[j]))
		}
		r.Mounts = append(r.Mounts, mount)
	}
	return r
}

// content is an entry of a history in plain values.
func content(h *v1alpha1.ObservedContent) model.Content {
	c := model.Content{
		Seal: h.Fingerprint, Observed: past(h.Observed.Time), Written: past(h.Written.Time),
		LastWrite: past(h.LastWrite.Time), Baseline: h.Baseline,
	}
	if h.KnownUntil != nil {
		c.KnownUntil = h.KnownUntil.UTC()
	}
	return c
}

// past is a time of a history in plain values.
func past(t time.Time) time.Time {
	if t.IsZero() {
		return model.UnknownPast
	}
	return t.UTC()
}

// Observation is the object that holds a record.
func Observation(r *model.Record) *v1alpha1.SourceObservation {
	o := &v1alpha1.SourceObservation{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "SourceObservation"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.ID.Namespace, Name: Name(r.ID), ResourceVersion: r.Version,
			Labels: map[string]string{
				"app.kubernetes.io/managed-by": model.FieldManager,
				"kick.corewire.io/source-kind": r.ID.Kind,
				"kick.corewire.io/source-name": model.LabelValue(r.ID.Name),
			},
		},
		Spec: v1alpha1.SourceObservationSpec{
			Source:            v1alpha1.SourceReference{Kind: v1alpha1.SourceKind(r.ID.Kind), Name: r.ID.Name},
			Since:             metav1.NewMicroTime(r.Since),
			Labels:            convert[v1alpha1.LabelValue](r.Labels),
			ResourceVersion:   r.SourceVersion,
			KeyID:             r.KeyID,
			KeyNames:          r.KeyNames,
			KeyNamesTruncated: r.KeyNamesPartial,
		},
	}
	for i := range r.History {
		o.Spec.History = append(o.Spec.History, entry(&r.History[i]))
	}
	for i := range r.Mounts {
		m := v1alpha1.ObservedMount{PodUID: r.Mounts[i].Pod, ResourceVersion: r.Mounts[i].Version}
		for j := range r.Mounts[i].History {
			m.History = append(m.History, entry(&r.Mounts[i].History[j]))
		}
		o.Spec.Mounts = append(o.Spec.Mounts, m)
	}
	return o
}

// entry is a content as it stands in a history.
func entry(c *model.Content) v1alpha1.ObservedContent {
	e := v1alpha1.ObservedContent{
		Fingerprint: c.Seal, Observed: metav1.NewMicroTime(model.Told(c.Observed)), Written: metav1.NewMicroTime(model.Told(c.Written)),
		LastWrite: metav1.NewTime(model.Told(c.LastWrite)), Baseline: c.Baseline,
	}
	if !c.KnownUntil.IsZero() {
		until := metav1.NewMicroTime(c.KnownUntil.Truncate(time.Microsecond))
		e.KnownUntil = &until
	}
	return e
}

// convert is a map of labels with another type of value; no labels are nil.
func convert[To, From ~string](labels map[string]From) map[string]To {
	if len(labels) == 0 {
		return nil
	}
	out := make(map[string]To, len(labels))
	for k, v := range labels {
		out[k] = To(v)
	}
	return out
}
