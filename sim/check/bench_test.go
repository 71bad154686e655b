package check

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// bench is a cluster without any controller: a test writes what it wants judged.
type bench struct {
	*testing.T
	loop   *sched.Loop
	server *cluster.Server
	clocks map[clock.Domain]*clock.Virtual
	pods   map[string][]Pod // what the kubelet knows, by workload id
	laws   *Laws

	seconds  int   // counted up by what a test writes
	requests int64 // status writes a test made up
}

// newBench returns a bench that judges by one law only.
func newBench(t *testing.T, law string) *bench {
	t.Helper()
	b := &bench{T: t, loop: sched.New(noon, sched.FIFO{}), clocks: map[clock.Domain]*clock.Virtual{}, pods: map[string][]Pod{}}
	for _, domain := range clock.Domains {
		b.clocks[domain] = clock.New(b.loop, 0)
	}
	b.server = cluster.New(cluster.Options{Now: b.loop.Now, Scheme: scenario.Scheme, NamespaceAutoCreate: true})
	b.laws = New(Context{
		API: b.server, Truth: b, Loop: b.loop, Clocks: b.clocks, Allowance: 5 * time.Second,
		Expect: scenario.Expect{Restarts: map[string]scenario.Range{}, Requests: map[string]string{}},
	}, law)
	b.server.Subscribe(b.laws.OnWrite)
	return b
}

// Pods is the truth a test made up.
func (b *bench) Pods(namespace, kind, name string) []Pod {
	return b.pods[namespace+"/"+kind+"/"+name]
}

// Current is what the server holds.
func (b *bench) Current(s Source) Content {
	object := b.server.Get(schema.GroupKind{Kind: s.Kind}, types.NamespacedName{Namespace: s.Namespace, Name: s.Name})
	if object == nil {
		return Content{}
	}
	return Content{Exists: true, Key: fmt.Sprint(payload(object))}
}

func (b *bench) wait(d time.Duration) { b.loop.RunUntil(b.loop.Now().Add(d)) }

func (b *bench) create(manager string, objects ...client.Object) {
	b.Helper()
	for _, object := range objects {
		if _, err := b.server.Create(object, cluster.WriteOptions{Manager: manager}); err != nil {
			b.Fatal(err)
		}
	}
}

// edit changes a stored object as a manager.
func edit[T client.Object](b *bench, manager string, kind schema.GroupKind, name string, change func(T)) {
	b.Helper()
	stored := b.server.Get(kind, types.NamespacedName{Namespace: "shop", Name: name})
	if stored == nil {
		b.Fatalf("%s shop/%s does not exist", kind.Kind, name)
	}
	object := stored.DeepCopyObject().(T)
	change(object)
	if _, err := b.server.Update(object, cluster.WriteOptions{Manager: manager}); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) delete(manager string, kind schema.GroupKind, name string) {
	b.Helper()
	if err := b.server.Delete(kind, types.NamespacedName{Namespace: "shop", Name: name}, client.DeleteOptions{}, cluster.WriteOptions{Manager: manager}); err != nil {
		b.Fatal(err)
	}
}

// restart stamps the Deployment web as KICK does.
func (b *bench) restart() {
	b.Helper()
	edit(b, Manager, deploymentKind, "web", func(d *appsv1.Deployment) {
		d.Spec.Template.Annotations = map[string]string{Stamp: b.loop.Now().Format(time.RFC3339Nano)}
	})
}

// run says that one pod of the Deployment web carries the given content of the
// Secret db, read now.
func (b *bench) run(content Content) *Container {
	return b.runAs("shop/Deployment/web", Source{"Secret", "shop", "db"}, content)
}

func (b *bench) runAs(id string, source Source, content Content) *Container {
	pod := Pod{Name: "pod-0", Created: b.loop.Now().Truncate(time.Second), Containers: []Container{
		{Name: "app", Started: b.loop.Now(), Loaded: map[Source]Content{source: content}},
	}}
	b.pods[id] = []Pod{pod}
	return &b.pods[id][0].Containers[0]
}

func (b *bench) now() Content { return b.Current(Source{"Secret", "shop", "db"}) }

// rotate gives the Secret db another content.
func (b *bench) rotate(value string) {
	b.Helper()
	edit(b, "kubectl", secretKind, "db", func(s *corev1.Secret) { s.Data = map[string][]byte{"password": []byte(value)} })
}

// holds fails if any law broke.
func (b *bench) holds() {
	b.Helper()
	for _, v := range b.laws.Violations() {
		b.Errorf("%s: %s", v.Law, v.Message)
	}
}

// fires fails unless exactly one law broke, with these words.
func (b *bench) fires(words string) {
	b.Helper()
	found := b.laws.Violations()
	if len(found) != 1 || !strings.Contains(found[0].Message, words) {
		b.Errorf("got %v, want one violation with %q", found, words)
	}
}

// judged fails unless one law broke, with these words; none where there are no words.
func (b *bench) judged(words string) {
	b.Helper()
	if words == "" {
		b.holds()
		return
	}
	b.fires(words)
}

var (
	deploymentKind = schema.GroupKind{Group: "apps", Kind: "Deployment"}
	secretKind     = schema.GroupKind{Kind: "Secret"}
)

func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "shop", Name: name} }

func secret() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: meta("db"), Data: map[string][]byte{"password": []byte("first-password")}}
}

func policy(name string) *v1alpha1.KickPolicy { return &v1alpha1.KickPolicy{ObjectMeta: meta(name)} }

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{
		Name: "app", Image: "example.com/web",
		EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}}}},
	}}}
}

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, Spec: podSpec()}
}

func deployment() *appsv1.Deployment {
	object := meta("web")
	object.Labels = map[string]string{"app": "web"}
	return &appsv1.Deployment{ObjectMeta: object, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Template: template(),
	}}
}

func request(name string) *v1alpha1.KickRequest {
	return &v1alpha1.KickRequest{ObjectMeta: meta(name), Spec: v1alpha1.KickRequestSpec{
		TargetRef: v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}, Trigger: v1alpha1.TriggerDependency,
	}}
}

// shop is a bench with a managed Deployment whose pod carries the current content.
func shop(t *testing.T, law string) *bench {
	b := newBench(t, law)
	b.create("kubectl", secret(), policy("web"))
	b.wait(10 * time.Second)
	b.create("kubectl", deployment())
	b.wait(10 * time.Second)
	b.run(b.now())
	b.wait(10 * time.Second)
	return b
}

var (
	setKind     = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
	statusWrite = cluster.WriteOptions{Manager: "kube-controller-manager", Subresource: "status"}
)

func key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: name}
}

func partition(n int32) appsv1.StatefulSetUpdateStrategy {
	return appsv1.StatefulSetUpdateStrategy{
		Type: appsv1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: &n},
	}
}

type clusterEvent = cluster.Event

// statusEvent is a status write of KICK; the server of a bench keeps old and new in
// one object, because it knows no subresource of a custom kind without its CRD.
func statusEvent(old, now client.Object, revision int64) cluster.Event {
	return cluster.Event{
		Type: cluster.Modified, Kind: requestKind, Key: client.ObjectKeyFromObject(now), Object: now, Old: old,
		Revision: revision, Manager: Manager, Verb: "update", Sub: "status",
	}
}
