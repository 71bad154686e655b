package check

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

var (
	bundleKind    = schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: "ConfigBundle"}
	configMapKind = schema.GroupKind{Kind: "ConfigMap"}
)

// declaration is what a bundle says its ConfigMap is to hold.
type declaration struct {
	data      map[string]string
	binary    map[string][]byte
	immutable bool
}

// declaredBy reads a bundle.
func declaredBy(spec *v1alpha1.ConfigBundleSpec) declaration {
	d := declaration{data: map[string]string{}, binary: map[string][]byte{}, immutable: spec.Immutable}
	for k, v := range spec.Data {
		d.data[k] = string(v)
	}
	for k, v := range spec.BinaryData {
		d.binary[k], _ = base64.StdEncoding.DecodeString(string(v)) // the schema admits nothing else
	}
	if spec.Message != nil {
		d.data["message"] = *spec.Message
	}
	return d
}

// heldBy reads a ConfigMap.
func heldBy(cm *corev1.ConfigMap) declaration {
	return declaration{data: cm.Data, binary: cm.BinaryData, immutable: cm.Immutable != nil && *cm.Immutable}
}

func (d declaration) equal(o declaration) bool {
	return d.immutable == o.immutable && maps.Equal(d.data, o.data) && maps.EqualFunc(d.binary, o.binary, bytes.Equal)
}

// handedOn reports whether a label or annotation of a bundle belongs on its ConfigMap:
// not what kubectl, Argo CD, Flux and the like know their own objects by.
func handedOn(key string) bool {
	prefix, _, found := strings.Cut(key, "/")
	if !found {
		return true
	}
	return key != "app.kubernetes.io/instance" && !strings.HasSuffix(prefix, ".toolkit.fluxcd.io") &&
		!slices.Contains([]string{
			"kick.corewire.io", "kubectl.kubernetes.io", "argocd.argoproj.io", "applyset.kubernetes.io", "meta.helm.sh",
			"kapp.k14s.io", "objectset.rio.cattle.io", "config.k8s.io", "kargo.akuity.io",
		}, prefix)
}

// owningBundle is what an object says of the bundle that owns it; the zero value: none does.
func owningBundle(o metav1.Object) metav1.OwnerReference {
	for _, ref := range o.GetOwnerReferences() {
		if ref.Kind == bundleKind.Kind && strings.HasPrefix(ref.APIVersion, bundleKind.Group+"/") {
			return ref
		}
	}
	return metav1.OwnerReference{}
}

// bundleOf is the bundle of a name, or nil.
func (c *Context) bundleOf(key types.NamespacedName) *v1alpha1.ConfigBundle {
	b, _ := c.API.Get(bundleKind, key).(*v1alpha1.ConfigBundle)
	return b
}

// configMapOf is the ConfigMap of a name, or nil.
func (c *Context) configMapOf(key types.NamespacedName) *corev1.ConfigMap {
	cm, _ := c.API.Get(configMapKind, key).(*corev1.ConfigMap)
	return cm
}

// readyReason is the reason of a bundle's Ready condition, and whether it is true.
func readyReason(b *v1alpha1.ConfigBundle) (string, bool) {
	for _, c := range b.Status.Conditions {
		if c.Type == v1alpha1.ConditionReady {
			return c.Reason, c.Status == metav1.ConditionTrue
		}
	}
	return "", false
}

// authors remembers who wrote each label and annotation of each ConfigMap last.
type authors map[authored]string

type authored struct {
	uid   types.UID
	field string // label or annotation
	key   string
}

// note takes a write of a ConfigMap.
func (a authors) note(old, now metav1.Object, manager string) {
	for field, values := range metadataOf(now) {
		var before map[string]string
		if old != nil {
			before = metadataOf(old)[field]
		}
		for k, v := range values {
			if was, there := before[k]; !there || was != v {
				a[authored{now.GetUID(), field, k}] = manager
			}
		}
	}
}

func metadataOf(o metav1.Object) map[string]map[string]string {
	return map[string]map[string]string{"label": o.GetLabels(), "annotation": o.GetAnnotations()}
}

// others reports whether anybody but KICK owns a label or annotation.
func others(o metav1.Object, field, key string) bool {
	for _, e := range o.GetManagedFields() {
		if e.Manager == Manager || e.FieldsV1 == nil {
			continue
		}
		var top struct {
			Metadata map[string]map[string]any `json:"f:metadata"`
		}
		if json.Unmarshal(e.FieldsV1.GetRawBytes(), &top) != nil {
			return true
		}
		if _, owns := top.Metadata["f:"+field+"s"]["f:"+key]; owns {
			return true
		}
	}
	return false
}
