package gather

import (
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/bundle"
)

// fields is a node of managedFields: "f:<name>" leads to a field of that name.
type fields map[string]json.RawMessage

// ownedFields are the fields of a ConfigMap that KICK's own apply owns. Fields that
// cannot be read are not owned: they are then applied anew.
func ownedFields(entries []metav1.ManagedFieldsEntry) bundle.Owned {
	for _, e := range entries {
		if e.Manager != model.FieldManager || e.Operation != metav1.ManagedFieldsOperationApply || e.Subresource != "" || e.FieldsV1 == nil {
			continue
		}
		var top fields
		if json.Unmarshal(e.FieldsV1.GetRawBytes(), &top) != nil {
			continue
		}
		metadata := top.child("metadata")
		_, immutable := top["f:immutable"]
		return bundle.Owned{
			Labels: metadata.child("labels").names(), Annotations: metadata.child("annotations").names(),
			Data: top.child("data").names(), Binary: top.child("binaryData").names(), Immutable: immutable,
		}
	}
	return bundle.Owned{}
}

// child is the node of a field; empty if it has none.
func (f fields) child(name string) fields {
	var out fields
	if json.Unmarshal(f["f:"+name], &out) != nil {
		return nil
	}
	return out
}

// names are the fields of a node.
func (f fields) names() map[string]bool {
	out := make(map[string]bool, len(f))
	for k := range f {
		if name, isField := strings.CutPrefix(k, "f:"); isField {
			out[name] = true
		}
	}
	return out
}
