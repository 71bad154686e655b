package workloads

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/corewire/kick/kick/model"
)

// fields is a managedFields entry as an API server writes it.
func fields(manager, second, subresource, raw string) metav1.ManagedFieldsEntry {
	e := metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1",
		FieldsType: "FieldsV1", Subresource: subresource, FieldsV1: metav1.NewFieldsV1(raw),
	}
	if second != "" {
		at, err := time.Parse(time.RFC3339, "2026-03-01T12:00:"+second+"Z")
		if err != nil {
			panic(err)
		}
		t := metav1.NewTime(at)
		e.Time = &t
	}
	return e
}

const (
	ownsStamp = `{"f:spec":{"f:template":{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/restartedAt":{}}}}}}`
	ownsRest  = `{"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/restartedAt":{}}},"f:spec":{"f:replicas":{},"f:template":{"f:metadata":{"f:annotations":{"f:prometheus.io/scrape":{}},"f:labels":{"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:image":{}}}}}}}`
)

func TestWhoOwnsTheStamp(t *testing.T) {
	noFields := fields("broken", "09", "", "")
	noFields.FieldsV1 = nil
	tests := map[string]struct {
		given []metav1.ManagedFieldsEntry
		want  string
	}{
		"nobody":                            {want: ""},
		"kick":                              {[]metav1.ManagedFieldsEntry{fields("helm", "01", "", ownsRest), fields("kick", "05", "", ownsStamp)}, "kick"},
		"the later of two that share it":    {[]metav1.ManagedFieldsEntry{fields("kick", "05", "", ownsStamp), fields("argocd-controller", "07", "", ownsStamp)}, "argocd-controller"},
		"the later of two, other order":     {[]metav1.ManagedFieldsEntry{fields("argocd-controller", "07", "", ownsStamp), fields("kick", "05", "", ownsStamp)}, "argocd-controller"},
		"a later write of somebody else":    {[]metav1.ManagedFieldsEntry{fields("kick", "05", "", ownsStamp), fields("kube-controller-manager", "09", "status", ownsStamp)}, "kick"},
		"the annotation of the object":      {[]metav1.ManagedFieldsEntry{fields("kubectl", "05", "", ownsRest)}, ""},
		"an entry that cannot be read":      {[]metav1.ManagedFieldsEntry{fields("broken", "05", "", `{`), fields("kick", "03", "", ownsStamp)}, "kick"},
		"an entry without fields":           {[]metav1.ManagedFieldsEntry{noFields, fields("kick", "03", "", ownsStamp)}, "kick"},
		"an entry without a time":           {[]metav1.ManagedFieldsEntry{fields("kick", "", "", ownsStamp)}, "kick"},
		"an entry without a time is oldest": {[]metav1.ManagedFieldsEntry{fields("old", "", "", ownsStamp), fields("kick", "03", "", ownsStamp)}, "kick"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := stampManager(tt.given, templateStampPath); got != tt.want {
				t.Errorf("stampManager() = %q, want %q", got, tt.want)
			}
		})
	}
}

func podTemplate() *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "app", Image: "app:1",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("500m")}},
		}}},
	}
}

func TestTemplateHash(t *testing.T) {
	base := TemplateHash(podTemplate())
	tests := map[string]struct {
		change func(*corev1.PodTemplateSpec)
		equal  bool
	}{
		"nothing":                {func(*corev1.PodTemplateSpec) {}, true},
		"the controller's label": {func(p *corev1.PodTemplateSpec) { p.Labels["pod-template-hash"] = "6d4b" }, true},
		"empty against unset": {func(p *corev1.PodTemplateSpec) {
			p.Annotations, p.Spec.Volumes, p.Spec.NodeSelector = map[string]string{}, []corev1.Volume{}, map[string]string{}
			p.Spec.Tolerations, p.Spec.Containers[0].Args = []corev1.Toleration{}, []string{}
		}, true},
		"image":    {func(p *corev1.PodTemplateSpec) { p.Spec.Containers[0].Image = "app:2" }, false},
		"stamp":    {func(p *corev1.PodTemplateSpec) { p.Annotations = map[string]string{model.StampAnnotation: "x"} }, false},
		"label":    {func(p *corev1.PodTemplateSpec) { p.Labels["tier"] = "x" }, false},
		"no label": {func(p *corev1.PodTemplateSpec) { p.Labels = nil }, false},
		"quantity": {func(p *corev1.PodTemplateSpec) {
			p.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("600m")
		}, false},
		"a quantity written differently": {func(p *corev1.PodTemplateSpec) {
			p.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("0.5")
		}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := podTemplate()
			tt.change(p)
			if got := TemplateHash(p) == base; got != tt.equal {
				t.Errorf("equal hash = %v, want %v", got, tt.equal)
			}
		})
	}
}

func TestTemplateHashOfOnlyTheControllersLabel(t *testing.T) {
	bare, labelled := podTemplate(), podTemplate()
	bare.Labels = nil
	labelled.Labels = map[string]string{"pod-template-hash": "6d4b"}
	if TemplateHash(bare) != TemplateHash(labelled) {
		t.Error("a template without labels differs from one with the controller's only")
	}
	if labelled.Labels["pod-template-hash"] != "6d4b" {
		t.Error("the template that was given is changed")
	}
}

// A cache hands a stripped struct the same maps and bytes that other readers hold.
func TestStripLeavesSharedPartsAlone(t *testing.T) {
	t.Run("workload", func(t *testing.T) {
		shared := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
			Annotations: map[string]string{"a": "b"}, ManagedFields: []metav1.ManagedFieldsEntry{fields("kick", "05", "", ownsStamp)},
		}}
		before := shared.DeepCopy()
		mine := *shared
		Strip(&mine, templateStampPath)
		untouched(t, before, shared)
		if mine.ManagedFields != nil || mine.Annotations[noteStampManager] != "kick" || mine.Annotations["a"] != "b" {
			t.Errorf("stripped = %+v", mine.ObjectMeta)
		}
	})
	t.Run("replica set", func(t *testing.T) {
		shared := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"a": "b"}}, Spec: appsv1.ReplicaSetSpec{Template: *podTemplate()}}
		before := shared.DeepCopy()
		mine := *shared
		StripReplicaSet(&mine, &mine.Spec.Template)
		untouched(t, before, shared)
	})
	t.Run("controller revision", func(t *testing.T) {
		raw := []byte(`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"x"}}}}}`)
		shared := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"a": "b"}}, Data: runtime.RawExtension{Raw: raw}}
		before := shared.DeepCopy()
		mine := *shared
		StripControllerRevision(&mine, &mine.Data.Raw)
		untouched(t, before, shared)
		if NotedStamp(&mine) != "x" {
			t.Errorf("stamp = %q, want x", NotedStamp(&mine))
		}
	})
}

func untouched(t *testing.T, before, after any) {
	t.Helper()
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the shared object is changed (-before +after):\n%s", diff)
	}
}

func TestStripTwice(t *testing.T) {
	once := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{fields("kick", "05", "", ownsStamp)}}}
	Strip(once, templateStampPath)
	twice := once.DeepCopy()
	Strip(twice, templateStampPath)
	untouched(t, once, twice)
}

func TestAUserCannotWriteTheNotes(t *testing.T) {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Annotations:   map[string]string{noteStampManager: "kick"},
		ManagedFields: []metav1.ManagedFieldsEntry{fields("kubectl", "05", "", ownsStamp)},
	}}
	Strip(d, templateStampPath)
	if got := d.Annotations[noteStampManager]; got != "kubectl" {
		t.Errorf("manager = %q, want what managedFields say", got)
	}
}

func TestOrdinal(t *testing.T) {
	tests := map[string]struct {
		owner, name string
		labels      map[string]string
		want        int32
	}{
		"of nobody":             {"", "db-2", nil, -1},
		"of a replica set":      {"ReplicaSet", "db-2", nil, -1},
		"of a set, labelled":    {"StatefulSet", "db-2", map[string]string{appsv1.PodIndexLabel: "12"}, 12},
		"of a set, by its name": {"StatefulSet", "db-2", nil, 2},
		"nonsense":              {"StatefulSet", "db-2", map[string]string{appsv1.PodIndexLabel: "x"}, -1},
		"too big":               {"StatefulSet", "db-99999999999", nil, -1},
		"named otherwise":       {"StatefulSet", "other-2", nil, -1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			yes := true
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: tt.name, Labels: tt.labels}}
			if tt.owner != "" {
				p.OwnerReferences = []metav1.OwnerReference{{Kind: tt.owner, Name: "db", Controller: &yes}}
			}
			if got := Ordinal(p); got != tt.want {
				t.Errorf("Ordinal() = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestTheHashSurvivesARoundTrip(t *testing.T) {
	p := podTemplate()
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back corev1.PodTemplateSpec
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if TemplateHash(p) != TemplateHash(&back) {
		t.Error("the hash does not survive the way through the API server")
	}
}
