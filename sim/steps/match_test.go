package steps

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/corewire/kick/sim/scenario"
)

func web() *appsv1.Deployment {
	replicas := int32(3)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Labels: map[string]string{"app": "web", "team": "shop"}},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "app", Image: "web:1"}, {Name: "side", Image: "side:1"}},
		}}},
		Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{{Type: "Available", Status: "True"}}},
	}
}

func pattern(t *testing.T, kind, text string) scenario.Resource {
	t.Helper()
	var data map[string]any
	if err := yaml.Unmarshal([]byte(text), &data); err != nil {
		t.Fatal(err)
	}
	return scenario.Resource{GVK: schema.GroupVersionKind{Version: "v1", Kind: kind}, Data: whole(data).(map[string]any)}
}

// whole turns the ints of yaml.Unmarshal into those of the parser.
func whole(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case map[string]any:
		for k := range v {
			v[k] = whole(v[k])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	}
	return v
}

func TestMatch(t *testing.T) {
	tests := map[string]struct{ pattern, want string }{
		"nothing asked":         {"{}", ""},
		"a subset of a map":     {"metadata: {labels: {app: web}}", ""},
		"another value":         {"metadata: {labels: {app: api}}", "metadata.labels.app: is web, want api"},
		"a missing key":         {"metadata: {labels: {tier: a}}", "metadata.labels.tier: is not there"},
		"null asks for nothing": {"metadata: {labels: {tier: null}}", ""},
		"null, but it is there": {"metadata: {labels: {app: null}}", "metadata.labels.app: is web, want not set"},
		"numbers by value":      {"spec: {replicas: 3.0}", ""},
		"another number":        {"spec: {replicas: 4}", "spec.replicas: is 3, want 4"},
		"text is no number":     {"spec: {replicas: '3'}", "spec.replicas: is 3, want 3"},
		"list by index":         {"spec: {template: {spec: {containers: [{name: app}, {name: side}]}}}", ""},
		"list of other length":  {"spec: {template: {spec: {containers: [{name: app}]}}}", "spec.template.spec.containers: has 2 items, want 1"},
		"list in other order":   {"spec: {template: {spec: {containers: [{name: side}, {name: app}]}}}", "spec.template.spec.containers[0].name: is app, want side; spec.template.spec.containers[1].name: is side, want app"},
		"named string types":    {"status: {conditions: [{type: Available, status: 'True'}]}", ""},
		"a list that is empty":  {"status: {conditions: []}", "status.conditions: has 1 items, want 0"},
		"no such list":          {"spec: {template: {spec: {volumes: []}}}", "spec.template.spec.volumes: is not there"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(compare(pattern(t, "Deployment", tt.pattern), web()), "; "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMatchShowsNoContent(t *testing.T) {
	secret := &corev1.Secret{Data: map[string][]byte{"password": []byte("first-password")}}
	got := strings.Join(compare(pattern(t, "Secret", "data: {password: c2Vjb25k}"), secret), "; ")
	if got != "data.password: another value" {
		t.Errorf("got %q", got)
	}
}
