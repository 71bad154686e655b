package cluster_test

import (
	"maps"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/corewire/kick/sim/cluster"
)

// Order is a custom kind whose schema exercises defaults, bounds, rules and transitions.
type Order struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              OrderSpec   `json:"spec,omitzero"`
	Status            OrderStatus `json:"status,omitzero"`
}

// OrderSpec is what the user wants.
type OrderSpec struct {
	Item     string            `json:"item,omitempty"`
	Count    int32             `json:"count,omitempty"`
	Speed    string            `json:"speed,omitempty"`
	Unknown  string            `json:"unknown,omitempty"` // not in the schema: pruned
	Due      *metav1.Time      `json:"due,omitempty"`
	Extras   []OrderExtra      `json:"extras,omitempty"`
	Features map[string]string `json:"features,omitempty"`
	Notes    []OrderNote       `json:"notes,omitempty"`
}

// OrderNote is an element of a list that nothing sees as a whole.
type OrderNote struct {
	By    string `json:"by"`
	Grade string `json:"grade,omitempty"`
	Text  string `json:"text,omitempty"`
}

// OrderExtra is an element of a list that merges by name.
type OrderExtra struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

// OrderStatus is what was done.
type OrderStatus struct {
	Phase string      `json:"phase,omitempty"`
	Notes []OrderNote `json:"notes,omitempty"`
}

// OrderList lists orders.
type OrderList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Order `json:"items"`
}

func (o *Order) DeepCopyObject() runtime.Object {
	out := *o
	o.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Due = o.Spec.Due.DeepCopy()
	out.Spec.Extras = append([]OrderExtra(nil), o.Spec.Extras...)
	out.Spec.Features = maps.Clone(o.Spec.Features)
	out.Spec.Notes = slices.Clone(o.Spec.Notes)
	out.Status.Notes = slices.Clone(o.Status.Notes)
	return &out
}

func (l *OrderList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*Order))
	}
	return &out
}

const orderCRD = `
metadata: {name: orders.test.example.com}
spec:
  group: test.example.com
  names: {kind: Order, plural: orders, singular: order, listKind: OrderList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [item]
            x-kubernetes-validations:
            - {rule: "self.speed != 'fast' || self.count <= 10", message: "fast orders hold at most 10"}
            properties:
              item:
                type: string
                maxLength: 20
                x-kubernetes-validations:
                - {rule: "self == oldSelf", message: "item is immutable"}
              count: {type: integer, format: int32, minimum: 1, default: 1}
              speed: {type: string, enum: [slow, fast], default: slow}
              due: {type: string, format: date-time}
              features: {type: object, additionalProperties: {type: string}}
              notes:
                type: array
                minItems: 1
                maxItems: 3
                items:
                  type: object
                  required: [by]
                  properties: {by: {type: string, enum: [ann, bob]}, grade: {type: string, default: b}, text: {type: string, maxLength: 3}}
              extras:
                type: array
                maxItems: 10
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string, maxLength: 10}, value: {type: string}}
          status:
            type: object
            properties:
              phase: {type: string, enum: [Open, Done]}
              notes:
                type: array
                minItems: 1
                maxItems: 3
                items:
                  type: object
                  required: [by]
                  properties: {by: {type: string, enum: [ann, bob]}, grade: {type: string, default: b}, text: {type: string, maxLength: 3}}
`

var (
	orderGV  = schema.GroupVersion{Group: "test.example.com", Version: "v1"}
	orderGK  = schema.GroupKind{Group: "test.example.com", Kind: "Order"}
	orderKey = types.NamespacedName{Namespace: "shop", Name: "first"}
	orderDef = func() *apiextensionsv1.CustomResourceDefinition {
		out := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict([]byte(orderCRD), out); err != nil {
			panic(err)
		}
		return out
	}()
)

// orderOptions are those of a server that knows the custom kind.
func orderOptions(t testing.TB) cluster.Options {
	scheme := runtime.NewScheme()
	must(t, clientgoscheme.AddToScheme(scheme))
	scheme.AddKnownTypes(orderGV, &Order{}, &OrderList{})
	metav1.AddToGroupVersion(scheme, orderGV)
	return cluster.Options{Scheme: scheme, CRDs: []*apiextensionsv1.CustomResourceDefinition{orderDef}}
}

// orderWorld is a world that knows the custom kind.
func orderWorld(t testing.TB, edit ...func(*cluster.Options)) *world {
	known := orderOptions(t)
	return newWorld(t, append(edit, func(o *cluster.Options) { o.Scheme, o.CRDs = known.Scheme, known.CRDs })...)
}

func order() *Order { return &Order{ObjectMeta: meta("first"), Spec: OrderSpec{Item: "tea"}} }

// TestCustomResourceCreate has one row for each rule about a new custom resource.
func TestCustomResourceCreate(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Order)
		want   refusal
	}{
		{"plain", func(*Order) {}, refusal{}},
		{"a required field", func(o *Order) { o.Spec.Item, o.Spec.Count = "", 1 }, refusal{apierrors.IsInvalid, "spec.item: Required value"}},
		{"too long", func(o *Order) { o.Spec.Item = "a very long name of an item" }, refusal{apierrors.IsInvalid, "spec.item: Too long"}},
		{"below the minimum", func(o *Order) { o.Spec.Count = -1 }, refusal{apierrors.IsInvalid, "spec.count"}},
		{"not in the enum", func(o *Order) { o.Spec.Speed = "warp" }, refusal{apierrors.IsInvalid, "Unsupported value"}},
		{"a rule", func(o *Order) { o.Spec.Speed, o.Spec.Count = "fast", 11 }, refusal{apierrors.IsInvalid, "fast orders hold at most 10"}},
		{"a map key twice", func(o *Order) { o.Spec.Extras = []OrderExtra{{Name: "a"}, {Name: "a"}} }, refusal{apierrors.IsInvalid, "Duplicate value"}},
	}
	for _, tt := range tests {
		for _, round := range []string{"judged", "remembered"} {
			t.Run(tt.name+" "+round, func(t *testing.T) {
				w := orderWorld(t)
				o := order()
				tt.change(o)
				tt.want.check(t, w.Client("kubectl").Create(ctx, o))
			})
		}
	}
}

// TestCustomResourceFills shows defaults, pruning and the loss of status on create.
func TestCustomResourceFills(t *testing.T) {
	w := orderWorld(t)
	o := order()
	o.Spec.Unknown, o.Status.Phase, o.Spec.Due = "x", "Done", &metav1.Time{Time: start}
	must(t, w.Client("kubectl").Create(ctx, o))
	if o.Spec.Count != 1 || o.Spec.Speed != "slow" || o.Spec.Unknown != "" || o.Status.Phase != "" || o.Generation != 1 ||
		o.Spec.Due.Nanosecond() != 0 {
		t.Errorf("got %+v", o)
	}
}

// TestCustomResourceUpdate has one row for each rule about a change.
func TestCustomResourceUpdate(t *testing.T) {
	tests := []struct {
		name       string
		change     func(*Order)
		status     bool
		want       refusal
		generation int64
	}{
		{"spec", func(o *Order) { o.Spec.Count = 2 }, false, refusal{}, 2},
		{"metadata", func(o *Order) { o.Annotations = labels }, false, refusal{}, 1},
		{"nothing", func(o *Order) { o.Status.Phase = "Done" }, false, refusal{}, 1},
		{"a transition rule", func(o *Order) { o.Spec.Item = "milk" }, false, refusal{apierrors.IsInvalid, "item is immutable"}, 1},
		{"no resourceVersion", func(o *Order) { o.ResourceVersion = "" }, false, refusal{apierrors.IsInvalid, "must be specified for an update"}, 1},
		{"old resourceVersion", func(o *Order) { o.ResourceVersion = "1" }, false, refusal{apierrors.IsConflict, ""}, 1},
		{"status", func(o *Order) { o.Status.Phase, o.Spec.Count, o.Labels = "Done", 7, labels }, true, refusal{}, 1},
		{"bad status", func(o *Order) { o.Status.Phase = "Lost" }, true, refusal{apierrors.IsInvalid, "status.phase: Unsupported value"}, 1},
		{"status, old resourceVersion", func(o *Order) { o.ResourceVersion = "1" }, true, refusal{apierrors.IsConflict, ""}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := orderWorld(t)
			c := w.Client("kubectl")
			o := order()
			must(t, c.Create(ctx, o))
			tt.change(o)
			if tt.status {
				tt.want.check(t, c.Status().Update(ctx, o))
			} else {
				tt.want.check(t, c.Update(ctx, o))
			}
			got := w.Get(orderGK, orderKey).(*Order)
			if got.Generation != tt.generation || tt.status && (got.Spec.Count != 1 || got.Labels != nil) || !tt.status && got.Status.Phase != "" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestCustomResourceApply shows that the CRD's list keys steer server-side apply.
func TestCustomResourceApply(t *testing.T) {
	w := orderWorld(t)
	apply := func(manager, extra string) {
		o := order()
		o.TypeMeta = metav1.TypeMeta{APIVersion: orderGV.String(), Kind: "Order"}
		o.Spec.Extras = []OrderExtra{{Name: extra, Value: "x"}}
		must(t, w.Client(manager).Patch(ctx, o, client.Apply, client.ForceOwnership)) //nolint:staticcheck // typed apply is what is tested
	}
	apply("ann", "sugar")
	apply("bob", "lemon")
	if got := w.Get(orderGK, orderKey).(*Order).Spec.Extras; len(got) != 2 {
		t.Errorf("extras %v", got)
	}
	patch := client.RawPatch(types.StrategicMergePatchType, []byte(`{}`))
	if err := w.Client("ann").Patch(ctx, order(), patch); !apierrors.IsUnsupportedMediaType(err) {
		t.Errorf("strategic merge of a custom resource: %v", err)
	}
}

func BenchmarkCustomResourceStatus(b *testing.B) {
	w := orderWorld(b, func(o *cluster.Options) { o.DetectMutation = false })
	c := w.Client("kick")
	o := order()
	must(b, c.Create(ctx, o))
	b.ReportAllocs()
	reportCPU(b)
	phases := []string{"Open", "Done"}
	for i := 0; b.Loop(); i++ {
		o.Status.Phase = phases[i%2]
		must(b, c.Status().Update(ctx, o))
		w.events = w.events[:0]
	}
}
