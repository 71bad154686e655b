package generate

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/argorollouts"
	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

func lower(kind string) string { return strings.ToLower(kind) }

func microTime(t time.Time) *metav1.MicroTime { return &metav1.MicroTime{Time: t} }

// templateOf is the pod template of a workload; nil for any other object.
func templateOf(object client.Object) *corev1.PodTemplateSpec {
	switch o := object.(type) {
	case *appsv1.Deployment:
		return &o.Spec.Template
	case *appsv1.StatefulSet:
		return &o.Spec.Template
	case *appsv1.DaemonSet:
		return &o.Spec.Template
	case *argorollouts.Rollout:
		return &o.Spec.Template
	default:
		return nil
	}
}

func (w *workloadState) ref() scenario.Ref {
	return scenario.Ref{GVK: w.object.GetObjectKind().GroupVersionKind(), Key: types.NamespacedName{Namespace: w.namespace, Name: w.name}}
}

// request is the name that KICK gives to the workload's request.
func (w *workloadState) request() string { return lower(w.kind) + "-" + w.name }

func (w *workloadState) requestRef() scenario.Ref {
	return scenario.Ref{GVK: kickKind("KickRequest"), Key: types.NamespacedName{Namespace: w.namespace, Name: w.request()}}
}

// someWorkload is nil where there are none.
func (s *story) someWorkload() *workloadState {
	if len(s.workloads) == 0 {
		return nil
	}
	return pick(s.maker, "workload", s.workloads)
}

// sourceOf is one that the workload refers to, or any if it refers to none.
func (s *story) sourceOf(w *workloadState) *sourceState {
	refs := map[source]bool{}
	for _, ref := range discover.Refs(&templateOf(w.object).Spec) {
		if ref.Kind == discover.KindSecretProviderClass {
			refs[vaultOf(w.namespace, ref.Name)] = true // whoever writes that changes what is mounted
			continue
		}
		refs[source{ref.Kind, w.namespace, ref.Name}] = true
	}
	var read []*sourceState
	for _, k := range s.sources {
		if refs[k.source] {
			read = append(read, k)
		}
	}
	if len(read) == 0 {
		return s.someSource()
	}
	return pick(s.maker, "source it reads", read)
}

func (s *story) roll(w *workloadState, op string, n int) {
	s.try(steps.RolloutStep(op, w.kind, w.namespace, w.name, n))
}

// rollout is what users do with kubectl rollout and kubectl scale.
func (s *story) rollout() {
	w := s.someWorkload()
	if w == nil {
		return
	}
	switch op := pick(s.maker, "rollout", []string{"restart", "undo", "scale", "pause"}); {
	case op == "scale":
		s.roll(w, op, pick(s.maker, "scaled to", []int{2, 0, 1, 3}))
	case op == "pause" && (w.kind == kindDeployment || w.kind == kindRollout):
		if w.paused {
			op = "resume"
		}
		w.paused = !w.paused
		s.roll(w, op, 0)
		if w.paused && s.maybe("resumed") {
			s.pause()
			s.edit()
			w.paused = false
			s.roll(w, "resume", 0)
		}
	case op == "pause":
		s.roll(w, "restart", 0)
	default:
		s.roll(w, op, 0)
	}
}

// images breaks the image of a workload, or mends it.
func (s *story) images() {
	w := s.someWorkload()
	if w == nil {
		return
	}
	op := "failImage"
	if w.fails {
		op = "fixImage"
	}
	w.fails = !w.fails
	s.roll(w, op, 0)
	if w.fails && s.maybe("a change meets it") {
		s.edit()
	}
}

// pods are evicted or crash in place.
func (s *story) pods() {
	if w := s.someWorkload(); w != nil {
		s.roll(w, pick(s.maker, "pods", []string{"evict", "crashContainers"}), s.below(3, "how many pods"))
	}
}

// drain empties a node: pods of several workloads go at one instant.
func (s *story) drain() {
	for _, w := range s.workloads {
		if s.maybe("drained") {
			s.roll(w, "evict", 1)
		}
	}
}

// workloadComesAndGoes deletes a workload, and creates it again at once or later.
func (s *story) workloadComesAndGoes() {
	w := s.someWorkload()
	if w == nil {
		return
	}
	if w.exists {
		s.do(steps.DeleteStep(w.ref()))
		w.exists = false
		if !s.maybe("created again") {
			return
		}
		s.breathe()
	}
	s.try(steps.ApplyStep(scenario.NewResource(w.object.DeepCopyObject().(client.Object)), pick(s.maker, "writer", writers)))
	w.exists, w.paused = true, false
}

// lastMoment takes away what a restart needs about when it is due, often unseen for a
// while: the workload, which may be made again, or the consent of its policy.
func (s *story) lastMoment() {
	w := s.someWorkload()
	if w == nil || !w.exists {
		return
	}
	policy, due := s.policyOf(w.namespace), time.Second
	switch {
	case policy == nil:
	case s.maybe("at once"):
		due = 2 * time.Millisecond // a record, a request and then the restart
		s.patchPolicy(policy, map[string]any{"restart": map[string]any{"settleDelay": "0s", "minInterval": "0s"}})
		s.at += time.Second
	case policy.Spec.Restart.SettleDelay != nil:
		due = policy.Spec.Restart.SettleDelay.Duration
	}
	s.change(s.sourceOf(w), s.otherContent())
	beside := []time.Duration{0, 0, 0, -time.Millisecond, time.Millisecond, -400 * time.Millisecond} // mostly right at it
	s.at += max(due+pick(s.maker, "beside the restart", beside), 0)
	kind := w.kind
	closes := policy != nil && s.seldom(4, "the policy")
	if closes {
		kind = "KickPolicy"
	}
	if !s.seldom(4, "seen") {
		s.fail(steps.Fault{Name: faults.LateWatch.Name, Kind: kind, Times: 1})
	}
	if closes {
		s.close(policy)
		return
	}
	s.do(steps.DeleteStep(w.ref()))
	w.exists = false
	if s.maybe("created again") {
		s.try(steps.CreateStep(scenario.NewResource(w.object.DeepCopyObject().(client.Object)), pick(s.maker, "writer", writers)))
		w.exists, w.paused = true, false
	}
}

// manyReferences lets a workload name more optional sources, none of which exists,
// than KICK puts on record at once.
func (s *story) manyReferences() {
	w := s.someWorkload()
	if w == nil || !s.seldom(4, "many references") {
		s.template()
		return
	}
	object := w.object.DeepCopyObject().(client.Object)
	pod := &templateOf(object).Spec
	for i := range 22 + s.below(4, "more references") {
		of := source{kindConfigMap, w.namespace, fmt.Sprintf("part-%02d", i)}
		refer(pod, reference{form: envFrom, optional: true, source: of})
	}
	w.object = object
	s.try(steps.ApplyStep(scenario.NewResource(object), ""))
}

// template edits a pod template: another image, a reference more, or all
// references dropped. Whoever replaces the object drops KICK's stamp with it.
func (s *story) template() {
	w := s.someWorkload()
	if w == nil {
		return
	}
	object := w.object.DeepCopyObject().(client.Object)
	pod := &templateOf(object).Spec
	switch s.below(3, "template") {
	case 1:
		k := pick(s.maker, "source", s.sources)
		w.refs++
		refer(pod, reference{
			form: pick(s.maker, "added reference", []form{envFrom, volume}), optional: s.maybe("optional"),
			source: source{k.kind, w.namespace, k.name},
		})
	case 2:
		for i := range pod.Containers {
			pod.Containers[i].Env, pod.Containers[i].EnvFrom = nil, nil
		}
	default:
		w.refs++
		pod.Containers[0].Image = fmt.Sprintf("example.com/app:%d", w.refs)
	}
	w.object = object
	r := scenario.NewResource(object)
	if s.maybe("replaced") {
		s.try(steps.UpdateStep(r, pick(s.maker, "writer", writers)))
		return
	}
	s.try(steps.ApplyStep(r, ""))
}

// workloadLabels opts a workload out or in.
func (s *story) workloadLabels() {
	w := s.someWorkload()
	if w == nil {
		return
	}
	value := pick(s.maker, "restart label", []any{"off", nil, "on"})
	patch := map[string]any{"metadata": map[string]any{"labels": map[string]any{labelRestart: value}}}
	s.try(steps.PatchStep(scenario.NewPatch(w.ref().GVK, w.ref().Key, patch), "", ""))
}

// debug attaches an ephemeral container that reads a source to a pod whose name is
// known.
func (s *story) debug() {
	w := s.someWorkload()
	if w == nil || w.kind != kindStatefulSet {
		s.edit()
		return
	}
	k := s.someSource()
	from := map[string]any{lower(k.kind[:1]) + k.kind[1:] + "Ref": map[string]any{"name": k.name}}
	patch := map[string]any{"spec": map[string]any{"ephemeralContainers": []any{
		map[string]any{"name": "shell", "image": "example.com/shell", "envFrom": []any{from}},
	}}}
	key := types.NamespacedName{Namespace: w.namespace, Name: w.name + "-0"}
	s.try(steps.PatchStep(scenario.NewPatch(corev1.SchemeGroupVersion.WithKind("Pod"), key, patch), "", "ephemeralcontainers"))
}

// meddle lets somebody handle a workload while KICK's restart of it is under way.
func (s *story) meddle() {
	w := s.someWorkload()
	if w == nil || !w.exists {
		return
	}
	s.change(s.sourceOf(w), s.otherContent())
	s.at += s.settle(w.namespace) + pick(s.maker, "into the rollout", []time.Duration{time.Second, 10 * time.Millisecond, 4 * time.Second, 20 * time.Second})
	if s.maybe("taken back") {
		s.roll(w, "undo", 0)
		return
	}
	pick(s.maker, "meddling", []func(*story){
		(*story).edit, (*story).rollout, (*story).template, (*story).images, (*story).pods, (*story).policyEdit, (*story).forget, (*story).clock,
	})(s)
}

// policyEdits are merge patches of a policy's spec.
var policyEdits = []map[string]any{
	{"suspend": true}, {"suspend": false}, {"dryRun": true}, {"dryRun": false},
	{"discovery": map[string]any{"workloadSelector": map[string]any{"matchLabels": map[string]any{"app": "web"}}}},
	{"discovery": nil},
	{"discovery": map[string]any{"dependencySelector": map[string]any{"matchLabels": map[string]any{"tier": "app"}}}},
	{"schedule": nil},
	{"schedule": map[string]any{"windows": []any{map[string]any{"type": "Allow", "cron": "0 * * * *", "duration": "20m"}}}},
	{"schedule": map[string]any{"windows": []any{map[string]any{"type": "Allow", "cron": "0 0 30 2 *", "duration": "1h"}}}}, // never
	{"schedule": map[string]any{"windows": []any{map[string]any{"type": "Deny", "cron": "*/30 * * * *", "duration": "10m"}}}},
	{"restart": map[string]any{"settleDelay": "0s", "minInterval": "0s"}},
	{"restart": map[string]any{"settleDelay": "20s"}},
}

// policyEdit changes one thing of a policy.
func (s *story) policyEdit() {
	if len(s.policies) == 0 {
		return
	}
	p := pick(s.maker, "policy", s.policies)
	s.patchPolicy(p.policy, pick(s.maker, "policy edit", policyEdits))
}

func (s *story) patchPolicy(p *v1alpha1.KickPolicy, spec map[string]any) {
	s.try(steps.PatchStep(scenario.NewPatch(kickKind("KickPolicy"), client.ObjectKeyFromObject(p), map[string]any{"spec": spec}), "", ""))
}

// policyComesAndGoes deletes a policy, creates it again, or adds another one.
func (s *story) policyComesAndGoes() {
	if len(s.policies) == 0 || s.seldom(3, "one more policy") {
		namespace := s.someSource().namespace
		p := newPolicy(namespace, "late", v1alpha1.KickPolicySpec{})
		s.policies = append(s.policies, &policyState{p, true})
		s.try(steps.ApplyStep(scenario.NewResource(p), ""))
		return
	}
	p := pick(s.maker, "policy", s.policies)
	if !p.exists {
		p.exists = true
		s.try(steps.ApplyStep(scenario.NewResource(p.policy.DeepCopy()), ""))
		return
	}
	p.exists = false
	s.do(steps.DeleteStep(scenario.Ref{GVK: kickKind("KickPolicy"), Key: types.NamespacedName{Namespace: p.policy.Namespace, Name: p.policy.Name}}))
	if s.maybe("created again") {
		s.pause()
		p.exists = true
		s.try(steps.ApplyStep(scenario.NewResource(p.policy.DeepCopy()), ""))
	}
}
