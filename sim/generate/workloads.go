package generate

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/argorollouts"
)

const (
	kindDeployment  = "Deployment"
	kindStatefulSet = "StatefulSet"
	kindDaemonSet   = "DaemonSet"
	kindRollout     = "Rollout"
)

// labelRestart with the value off is how users of generated worlds opt a workload
// out, where a policy's selector looks at it.
const labelRestart = "restart"

// workloads gives one to three workloads of a namespace, all but the first
// namespace's with one only.
func (b *builder) workloads(namespace string, sources []source, many bool) {
	count := 1
	if many && b.has[moreWorkloads] {
		count = 1 + b.below(3, "workloads")
	}
	kinds := []string{kindDeployment}
	if b.has[statefulSets] {
		kinds = append(kinds, kindStatefulSet)
	}
	if b.has[daemonSets] {
		kinds = append(kinds, kindDaemonSet)
	}
	if b.has[argoRollouts] {
		kinds = append(kinds, kindRollout)
	}
	for i, name := range []string{"web", "worker", "store"}[:count] {
		kind := pick(b.maker, "workload kind", kinds)
		b.give(b.workload(kind, namespace, name, sources))
		if i == 0 && b.has[sameNames] && kind == kindDeployment {
			b.give(b.workload(kindStatefulSet, namespace, name, sources))
		}
	}
}

// workload makes one workload.
func (b *builder) workload(kind, namespace, name string, sources []source) client.Object {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}}
	if b.has[selectors] && b.seldom(3, "opted out") {
		meta.Labels[labelRestart] = "off"
	}
	app := map[string]string{"app": name, "kind": strings.ToLower(kind)}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: app}}
	container(&template.Spec, "app")
	b.references(&template.Spec, sources)
	b.mountClass(&template.Spec, namespace)
	selector := &metav1.LabelSelector{MatchLabels: app}
	switch kind {
	case kindStatefulSet:
		out := &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{
			ServiceName: name, Selector: selector, Template: template, Replicas: b.replicas(), MinReadySeconds: b.minReady(),
		}}
		b.statefulSetStrategy(&out.Spec)
		out.TypeMeta = appsKind(kind)
		return out
	case kindDaemonSet:
		out := &appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{
			Selector: selector, Template: template, MinReadySeconds: b.minReady(),
		}}
		b.daemonSetStrategy(&out.Spec)
		out.TypeMeta = appsKind(kind)
		return out
	case kindRollout:
		out := &argorollouts.Rollout{ObjectMeta: meta, Spec: argorollouts.RolloutSpec{
			Selector: selector, Template: template, Replicas: b.replicas(), MinReadySeconds: b.minReady(), Strategy: b.rolloutStrategy(),
		}}
		out.TypeMeta = metav1.TypeMeta{APIVersion: argorollouts.GroupVersion.String(), Kind: kind}
		return out
	default:
		out := &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
			Selector: selector, Template: template, Replicas: b.replicas(), MinReadySeconds: b.minReady(),
		}}
		b.deploymentStrategy(&out.Spec)
		out.TypeMeta = appsKind(kind)
		return out
	}
}

func appsKind(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: "apps/v1", Kind: kind}
}

// references lets a pod read one to three of the sources, and pull its image with
// another one, which is none of KICK's business.
func (b *builder) references(pod *corev1.PodSpec, sources []source) {
	count := 1
	if b.has[moreReferences] {
		count = 1 + b.below(3, "references")
	}
	for range count {
		refer(pod, b.reference(sources))
	}
	if b.has[pullSecrets] {
		pull := pick(b.maker, "pull secret", []string{"pull", "db"})
		pod.ImagePullSecrets = []corev1.LocalObjectReference{{Name: pull}}
	}
}

func (b *builder) replicas() *int32 {
	if !b.has[replicas] {
		return new(int32(1))
	}
	return new(pick(b.maker, "replicas", []int32{1, 2, 3, 0, 4}))
}

func (b *builder) minReady() int32 {
	if !b.has[readiness] {
		return 0
	}
	return pick(b.maker, "min ready seconds", []int32{0, 5, 30})
}

func (b *builder) deploymentStrategy(spec *appsv1.DeploymentSpec) {
	if b.has[strategies] {
		spec.Strategy = pick(b.maker, "deployment strategy", []appsv1.DeploymentStrategy{
			{}, {Type: appsv1.RecreateDeploymentStrategyType}, rolling("1", "0"), rolling("0", "1"), rolling("50%", "50%"),
		})
	}
	if b.has[readiness] && b.maybe("progress deadline") {
		spec.ProgressDeadlineSeconds = new(int32(60))
	}
	spec.Paused = b.has[paused] && b.maybe("paused")
}

func rolling(unavailable, surge string) appsv1.DeploymentStrategy {
	u, s := intstr.Parse(unavailable), intstr.Parse(surge)
	return appsv1.DeploymentStrategy{
		Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: &u, MaxSurge: &s},
	}
}

// canaries are the steps of Rollouts; nobody promotes one.
var canaries = [][]argorollouts.CanaryStep{
	nil, {{SetWeight: new(int32(50))}, {Pause: &argorollouts.StepPause{Duration: new(intstr.FromInt32(30))}}}, {{SetWeight: new(int32(50))}},
}

// rolloutStrategy is how a Rollout brings out a new template; a restart takes no step of it.
func (b *builder) rolloutStrategy() argorollouts.Strategy {
	canary := &argorollouts.Canary{}
	if b.has[strategies] {
		canary.Steps = pick(b.maker, "canary", canaries)
	}
	return argorollouts.Strategy{Canary: canary}
}

func (b *builder) statefulSetStrategy(spec *appsv1.StatefulSetSpec) {
	if !b.has[strategies] && !b.seldom(3, "a strategy") {
		return
	}
	if b.maybe("parallel pods") {
		spec.PodManagementPolicy = appsv1.ParallelPodManagement
	}
	switch b.below(4, "stateful set strategy") {
	case 1:
		spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
	case 2, 3:
		spec.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		partition := pick(b.maker, "partition", []int32{0, 1, 2})
		spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: &partition}
	}
}

func (b *builder) daemonSetStrategy(spec *appsv1.DaemonSetSpec) {
	if !b.has[strategies] && !b.seldom(3, "a strategy") {
		return
	}
	two, half, none, one := intstr.FromInt32(2), intstr.FromString("50%"), intstr.FromInt32(0), intstr.FromInt32(1)
	rolling := func(r appsv1.RollingUpdateDaemonSet) appsv1.DaemonSetUpdateStrategy {
		return appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &r}
	}
	spec.UpdateStrategy = pick(b.maker, "daemon set strategy", []appsv1.DaemonSetUpdateStrategy{
		{}, {Type: appsv1.OnDeleteDaemonSetStrategyType},
		rolling(appsv1.RollingUpdateDaemonSet{MaxUnavailable: &two}),
		rolling(appsv1.RollingUpdateDaemonSet{MaxUnavailable: &half}),
		rolling(appsv1.RollingUpdateDaemonSet{MaxUnavailable: &none, MaxSurge: &one}),
	})
}
