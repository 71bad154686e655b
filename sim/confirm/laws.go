package confirm

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/model"
)

// workloadKinds are the kinds that KICK restarts.
var workloadKinds = []string{"Deployment", "StatefulSet", "DaemonSet"}

// stamp is one restart by KICK as the watch brought it.
type stamp struct {
	of workload
	at time.Time
}

// stamps lists the distinct stamps that KICK wrote, in the order of time.
func (r *rig) stamps() []stamp {
	var out []stamp
	for _, kind := range workloadKinds {
		for _, key := range r.record.keys(kind, "") {
			seen := map[string]bool{}
			for _, v := range r.record.since(key, time.Time{}) {
				if value := stampOf(v.object); value != "" && !seen[value] {
					seen[value] = true
					out = append(out, stamp{workload{kind, key.Namespace, key.Name}, v.at})
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b stamp) int { return a.at.Compare(b.at) })
	return out
}

// stampOf is the stamp of a workload where KICK wrote it, else empty.
func stampOf(object *unstructured.Unstructured) string {
	if object == nil {
		return ""
	}
	value, _, _ := unstructured.NestedString(object.Object, "spec", "template", "metadata", "annotations", restartedAt)
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == model.FieldManager && entry.Subresource == "" && entry.FieldsV1 != nil && value != "" {
			return value
		}
	}
	return ""
}

// phases are the phases of all requests, under the scenario's names.
func (r *rig) phases() map[string]string {
	out := map[string]string{}
	for _, request := range r.record.living("KickRequest", "") {
		phase, _, _ := unstructured.NestedString(request.Object, "status", "phase")
		out[r.names.movedBack(request.GetNamespace(), r.spoken)+"/"+request.GetName()] = phaseOf(phase)
	}
	return out
}

// counts and phases as they are now.
func (r *rig) now() Outcome {
	o := Outcome{Restarts: map[string]int{}, Requests: r.phases()}
	for _, s := range r.stamps() {
		o.Restarts[r.names.movedBack(s.of.namespace, r.spoken)+"/"+s.of.kind+"/"+s.of.name]++
	}
	return o
}

// reached reports that all is as the simulator foretold.
func (r *rig) reached() bool { return r.now().equals(r.plan.sim, r.plan.scenario.Expect) }

// outcome is the end, with the two laws judged.
func (r *rig) outcome() Outcome {
	o := r.now()
	var broken []string
	for _, s := range r.stamps() {
		if why := r.spurious(s); why != "" {
			broken = append(broken, "nothing spurious: "+why)
		}
	}
	broken = dropFirst(broken, r.plan.scenario.Expect.Allow.Spurious)
	lost := r.lost()
	o.Broken = append(broken, dropFirst(lost, r.plan.scenario.Expect.Allow.Lost)...)
	return o
}

func dropFirst(list []string, n int) []string { return list[min(n, len(list)):] }

// sourcesOf lists what a pod template reads and the policy of its namespace counts.
func (r *rig) sourcesOf(of workload, spec *corev1.PodSpec) []objectKey {
	var out []objectKey
	for _, kind := range []string{"Secret", "ConfigMap"} {
		for _, key := range r.record.keys(kind, of.namespace) {
			if reads(spec, key) && r.inScope(key) {
				out = append(out, key)
			}
		}
	}
	return out
}

// reads reports whether any container of a pod gets to see a source.
func reads(spec *corev1.PodSpec, source objectKey) bool {
	for _, v := range spec.Volumes {
		if len(itemsOf(v, source)) > 0 {
			return true
		}
	}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		if containerReads(c, source) {
			return true
		}
	}
	return false
}

func containerReads(c corev1.Container, source objectKey) bool {
	return slices.ContainsFunc(readings(c), func(r reading) bool { return is(source, r.kind, r.name) })
}

// policies are those of a namespace as they are now.
func (r *rig) policies(namespace string) []v1alpha1.KickPolicy {
	var out []v1alpha1.KickPolicy
	for _, object := range r.record.living("KickPolicy", namespace) {
		var p v1alpha1.KickPolicy
		if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &p) == nil {
			out = append(out, p)
		}
	}
	return out
}

func (r *rig) inScope(source objectKey) bool {
	object := r.record.at(source, time.Now())
	for _, p := range r.policies(source.Namespace) {
		s := p.Spec.Discovery.DependencySelector
		if s == nil || (object != nil && selects(s, object.GetLabels())) {
			return true
		}
	}
	return false
}

func selects(s *metav1.LabelSelector, set map[string]string) bool {
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(set))
}

// stale lists containers of a workload that ran at an instant and surely carried
// other content than their sources had then; vague reports that some may have.
func (r *rig) stale(of workload, t time.Time) (certain []string, vague bool) {
	for _, l := range r.node.running(of, t) {
		for _, source := range r.sourcesOf(of, l.spec) {
			current := contentOf(r.record.at(source, t))
			held, sure := r.node.loaded(l, source)
			switch {
			case !sure:
				vague = true
			case held.text() != current.text() && current != nil:
				certain = append(certain, fmt.Sprintf("pod %s container %s carries old content of %s %s", l.pod.Name, l.container, source.kind, source.Name))
			case held.text() != current.text():
				vague = true // its source is gone: optional or not, nothing newer is there to carry
			}
		}
	}
	return certain, vague
}

// near is how close to a change a container may have started for nobody outside
// the node to tell what it read: the clock allowance, and a start.
const near = 10 * time.Second

// spurious says why a restart was needless, or nothing.
func (r *rig) spurious(s stamp) string {
	at := s.at.Add(-time.Millisecond)
	certain, vague := r.stale(s.of, at)
	if len(certain) > 0 || vague || r.asked(s.of) {
		return ""
	}
	for _, l := range r.node.running(s.of, at) {
		for _, source := range r.sourcesOf(s.of, l.spec) {
			versions := r.record.since(source, time.Time{})
			if l.again || len(versions) > 32 || len(versions) == 1 {
				return "" // restarted in place; forgotten; no change, so that only the baseline can have asked
			}
			for _, v := range versions {
				if v.at.Sub(l.at).Abs() < near {
					return ""
				}
			}
		}
	}
	return fmt.Sprintf("%s %s was restarted although every container carried what its sources held", s.of.kind, s.of.name)
}

// asked reports a request by a user.
func (r *rig) asked(of workload) bool {
	for _, request := range r.record.living("KickRequest", of.namespace) {
		trigger, _, _ := unstructured.NestedString(request.Object, "spec", "trigger")
		name, _, _ := unstructured.NestedString(request.Object, "spec", "targetRef", "name")
		if trigger == string(v1alpha1.TriggerManual) && name == of.name {
			return true
		}
	}
	return false
}

// lost lists what is stale at the end although KICK is done with it.
func (r *rig) lost() []string {
	var out []string
	now := time.Now()
	for _, kind := range workloadKinds {
		for _, key := range r.record.keys(kind, "") {
			of := workload{kind, key.Namespace, key.Name}
			object := r.record.at(key, now)
			if object == nil || !r.done(of, object.GetLabels()) {
				continue
			}
			certain, _ := r.stale(of, now)
			for _, what := range certain {
				out = append(out, fmt.Sprintf("nothing lost: %s %s: %s", kind, key.Name, what))
			}
		}
	}
	return out
}

// done reports that KICK manages a workload and waits for nothing: its request has
// ended well, or there is none.
func (r *rig) done(of workload, set map[string]string) bool {
	managing := 0
	for _, p := range r.policies(of.namespace) {
		if p.Spec.Discovery.WorkloadSelector == nil || selects(p.Spec.Discovery.WorkloadSelector, set) {
			managing++
			if p.Spec.Suspend || p.Spec.DryRun {
				return false
			}
		}
	}
	name := model.ObjectName(model.Key{Kind: of.kind, Namespace: of.namespace, Name: of.name})
	request := r.record.at(objectKey{"KickRequest", types.NamespacedName{Namespace: of.namespace, Name: name}}, time.Now())
	if managing != 1 || request == nil {
		return managing == 1
	}
	phase, _, _ := unstructured.NestedString(request.Object, "status", "phase")
	return phase == string(v1alpha1.PhaseSucceeded) || phase == string(v1alpha1.PhaseNoLongerRequired)
}
