package operator_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const stampAnnotation = "kubectl.kubernetes.io/restartedAt"

// podReading is a pod that reads one source in one way.
type podReading func(source string) corev1.PodSpec

func container(name string) corev1.Container { return corev1.Container{Name: name, Image: "nginx"} }

func byEnv(source string) corev1.PodSpec {
	c := container("app")
	c.Env = []corev1.EnvVar{{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: source}, Key: "TOKEN",
	}}}}
	return corev1.PodSpec{Containers: []corev1.Container{c}}
}

func envFrom(source string) corev1.Container {
	c := container("reader")
	c.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: source}}}}
	return c
}

func byEnvFrom(source string) corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{envFrom(source)}}
}

func byInit(source string) corev1.PodSpec {
	return corev1.PodSpec{InitContainers: []corev1.Container{envFrom(source)}, Containers: []corev1.Container{container("app")}}
}

func bySidecar(source string) corev1.PodSpec {
	sidecar, always := envFrom(source), corev1.ContainerRestartPolicyAlways
	sidecar.RestartPolicy = &always
	return corev1.PodSpec{InitContainers: []corev1.Container{sidecar}, Containers: []corev1.Container{container("app")}}
}

func byVolume(source string) corev1.PodSpec {
	return mounting(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: source}})
}

func byProjected(source string) corev1.PodSpec {
	return mounting(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{
		Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: source}},
	}}}})
}

func byConfigMapVolume(source string) corev1.PodSpec {
	return mounting(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: source}}})
}

func byConfigMapEnv(source string) corev1.PodSpec {
	c := container("app")
	c.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: source}}}}
	return corev1.PodSpec{Containers: []corev1.Container{c}}
}

func byPullSecret(source string) corev1.PodSpec {
	return corev1.PodSpec{
		Containers:       []corev1.Container{container("app")},
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: source}},
	}
}

func mounting(v corev1.VolumeSource) corev1.PodSpec {
	c := container("app")
	c.VolumeMounts = []corev1.VolumeMount{{Name: "config", MountPath: "/config"}}
	return corev1.PodSpec{Containers: []corev1.Container{c}, Volumes: []corev1.Volume{{Name: "config", VolumeSource: v}}}
}

func template(name string, spec corev1.PodSpec) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}}, Spec: spec}
}

func selector(name string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
}

func (w *world) deployment(name string, replicas int32, spec corev1.PodSpec) {
	w.t.Helper()
	w.create(&appsv1.Deployment{ObjectMeta: w.meta(name), Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: selector(name), Template: template(name, spec),
	}})
}

func (w *world) statefulSet(name string, replicas int32, spec corev1.PodSpec) {
	w.t.Helper()
	w.create(&appsv1.StatefulSet{ObjectMeta: w.meta(name), Spec: appsv1.StatefulSetSpec{
		Replicas: &replicas, Selector: selector(name), Template: template(name, spec), ServiceName: name,
	}})
}

func (w *world) daemonSet(name string, spec corev1.PodSpec) {
	w.t.Helper()
	w.create(&appsv1.DaemonSet{ObjectMeta: w.meta(name), Spec: appsv1.DaemonSetSpec{
		Selector: selector(name), Template: template(name, spec),
	}})
}

// state is what a test asks of a workload of any kind.
type state struct {
	generation int64
	stamp      string
	manager    string // who wrote the stamp
	complete   bool
	progress   string
}

func (w *world) state(ctx context.Context, kind, name string) (state, error) {
	key := client.ObjectKey{Namespace: w.ns, Name: name}
	switch kind {
	case "Deployment":
		var d appsv1.Deployment
		err := w.c.Get(ctx, key, &d)
		n, st := replicas(d.Spec.Replicas), d.Status
		return stateOf(&d, &d.Spec.Template, st.ObservedGeneration, st.UpdatedReplicas == n && st.Replicas == n && st.AvailableReplicas == n), err
	case "StatefulSet":
		var s appsv1.StatefulSet
		err := w.c.Get(ctx, key, &s)
		n, st := replicas(s.Spec.Replicas), s.Status
		return stateOf(&s, &s.Spec.Template, st.ObservedGeneration, st.UpdatedReplicas == n && st.AvailableReplicas == n && st.CurrentRevision == st.UpdateRevision), err
	case "DaemonSet":
		var s appsv1.DaemonSet
		err := w.c.Get(ctx, key, &s)
		st := s.Status
		return stateOf(&s, &s.Spec.Template, st.ObservedGeneration, st.DesiredNumberScheduled > 0 && st.UpdatedNumberScheduled == st.DesiredNumberScheduled && st.NumberAvailable == st.DesiredNumberScheduled), err
	}
	return state{}, fmt.Errorf("no kind %s", kind)
}

func replicas(n *int32) int32 {
	if n == nil {
		return 1
	}
	return *n
}

func stateOf(o client.Object, t *corev1.PodTemplateSpec, observed int64, complete bool) state {
	s := state{generation: o.GetGeneration(), stamp: t.Annotations[stampAnnotation], complete: complete && observed == o.GetGeneration()}
	s.progress = fmt.Sprintf("generation %d, observed %d, complete: %t", s.generation, observed, complete)
	for _, f := range o.GetManagedFields() {
		if s.stamp != "" && f.FieldsV1 != nil && slices.Contains([]string{"kick", "somebody"}, f.Manager) && f.Subresource == "" {
			s.manager = f.Manager
		}
	}
	return s
}

// rolledOut waits until a workload is complete at a generation.
func (w *world) rolledOut(kind, name string, generation int64) {
	w.t.Helper()
	w.eventually(kind+" "+name, func(ctx context.Context) string {
		s, err := w.state(ctx, kind, name)
		switch {
		case err != nil:
			return err.Error()
		case s.generation > generation:
			w.t.Fatalf("%s %s has generation %d, want %d: one change, one restart", kind, name, s.generation, generation)
		case s.generation != generation || !s.complete:
			return s.progress
		}
		return ""
	})
}

// restarted waits for the end of a restart and checks that it was the only one, by
// KICK, and that no pod from before is left.
func (w *world) restarted(kind, name string, generation int64, before map[string]bool) {
	w.t.Helper()
	w.reaches(kind, name, "Succeeded", "RestartCompleted")
	w.rolledOut(kind, name, generation)
	s, err := w.state(w.t.Context(), kind, name)
	if err != nil {
		w.t.Fatal(err)
	}
	at, err := time.Parse("2006-01-02T15:04:05.000000Z", s.stamp)
	if err != nil || s.manager != "kick" {
		w.t.Errorf("%s %s: stamp %q by %q, want microseconds in UTC by kick", kind, name, s.stamp, s.manager)
	}
	r := w.request(kind, name)
	if c := r.Status.CurrentRollout; c == nil || !c.StartedAt.Time.Equal(at) || c.Generation != generation {
		w.t.Errorf("%s %s: request tells of rollout %+v, want stamp %s, generation %d", kind, name, c, s.stamp, generation)
	}
	for uid := range w.pods(name) {
		if before[uid] {
			w.t.Errorf("%s %s: pod %s from before the change still runs", kind, name, uid)
		}
	}
}

// pods are the UIDs of the pods of a workload that are not on their way out.
func (w *world) pods(name string) map[string]bool {
	w.t.Helper()
	var list corev1.PodList
	if err := w.c.List(w.t.Context(), &list, client.InNamespace(w.ns), client.MatchingLabels{"app": name}); err != nil {
		w.t.Fatal(err)
	}
	uids := map[string]bool{}
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			uids[string(list.Items[i].UID)] = true
		}
	}
	return uids
}
