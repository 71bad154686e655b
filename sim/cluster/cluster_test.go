package cluster_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/sim/cluster"
)

var ctx = context.Background()

// start is not a whole second, so that truncation shows.
var start = time.Date(2031, 5, 6, 7, 8, 9, 123456789, time.UTC)

// world is a server with a clock that a test moves.
type world struct {
	*cluster.Server
	now    time.Time
	events []cluster.Event
}

// advance moves the API server's clock.
func (w *world) advance(d time.Duration) { w.now = w.now.Add(d) }

// newWorld makes a server with a namespace "shop" and records its events from then on.
func newWorld(t testing.TB, edit ...func(*cluster.Options)) *world {
	t.Helper()
	w := &world{now: start}
	opts := cluster.Options{Now: func() time.Time { return w.now }, DetectMutation: true}
	for _, f := range edit {
		f(&opts)
	}
	w.Server = cluster.New(opts)
	must(t, w.Client("kubectl").Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}))
	w.Subscribe(func(e cluster.Event) { w.events = append(w.events, e) })
	t.Cleanup(func() {
		if err := w.CheckMutation(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var (
	deploymentGK = schema.GroupKind{Group: "apps", Kind: "Deployment"}
	secretGK     = schema.GroupKind{Kind: "Secret"}
	podGK        = schema.GroupKind{Kind: "Pod"}
	webKey       = types.NamespacedName{Namespace: "shop", Name: "web"}
	labels       = map[string]string{"app": "web"}
	restartedAt  = "kubectl.kubernetes.io/restartedAt"
)

func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "shop", Name: name} }

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: "app", Image: "shop/web:1",
			Env: []corev1.EnvVar{{Name: "PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "db"}, Key: "password"}}}},
			VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/web"}},
		}},
		Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "web"}}}}},
	}
}

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec()}
}

func deployment() *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: meta("web"), Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template()}}
}

func secret(data map[string]string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: meta("db"), StringData: data}
}

func pod(name string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: meta(name), Spec: podSpec()}
	p.Labels = labels
	return p
}

func schemaGK(kind string) schema.GroupKind { return schema.GroupKind{Kind: kind} }
