package generate

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

// flagBundles turns ConfigBundles on.
const flagBundles = "enable-config-bundles"

// flagBundleCheck is how often KICK looks at each bundle for no reason.
const flagBundleCheck = "config-bundle-check-interval"

// bundleFlags let KICK keep bundles. The periodic check is rarer than by default where
// restarts wait for long: a story of days would be made of little else.
func (b *builder) bundleFlags() {
	b.flag(flagBundles, "true")
	intervals := []string{"10m", "2m", "2h"}
	if b.wait > time.Hour || (b.has[windows] || b.has[denials]) && !b.windowsOften {
		intervals = []string{"1h", "2h", "12h"}
	}
	b.flag(flagBundleCheck, pick(b.maker, "check interval", intervals))
}

// bundles gives up to two bundles of a namespace, one of which may have the name of a
// source that workloads read. One may find its name taken.
func (b *builder) bundles(namespace string) {
	for _, name := range []string{"feed", "settings"}[:1+b.below(2, "bundles")] {
		if _, given := b.contents[source{kindConfigMap, namespace, name}]; !given && b.seldom(4, "name taken") {
			b.give(source{kindConfigMap, namespace, name}.object(b.content(), b.dress()))
		}
		b.give(newBundle(namespace, name, b.content(), b.dress()))
	}
}

// newBundle declares a content.
func newBundle(namespace, name string, c content, d dress) *v1alpha1.ConfigBundle {
	o := &v1alpha1.ConfigBundle{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: d.labels, Annotations: d.annotations}}
	o.APIVersion, o.Kind = v1alpha1.GroupVersion.String(), "ConfigBundle"
	o.Spec.Immutable = d.immutable
	for _, key := range slices.Sorted(maps.Keys(c)) {
		switch value := c[key]; {
		case !utf8.ValidString(value):
			o.Spec.BinaryData = with(o.Spec.BinaryData, key, v1alpha1.BundleBytes(base64.StdEncoding.EncodeToString([]byte(value))))
		case key == "a":
			o.Spec.Message = &value
		default:
			o.Spec.Data = with(o.Spec.Data, key, v1alpha1.BundleText(value))
		}
	}
	return o
}

// bundleState is what the story knows of a bundle.
type bundleState struct {
	namespace, name string
	dress           dress
	exists          bool
}

func (k *bundleState) key() types.NamespacedName {
	return types.NamespacedName{Namespace: k.namespace, Name: k.name}
}

func (k *bundleState) configMap(fields map[string]any) scenario.Resource {
	return scenario.NewPatch(corev1.SchemeGroupVersion.WithKind(kindConfigMap), k.key(), fields)
}

// bundle is something that happens to a bundle or to its ConfigMap. Every story that
// begins with bundles has it.
func (s *story) bundle() {
	k := pick(s.maker, "bundle", s.bundles)
	pick(s.maker, "bundle act", []func(*story, *bundleState){
		(*story).drift, (*story).declare, (*story).relabel, (*story).makeFinal, (*story).bundleGoes, (*story).loseConfigMap,
		(*story).bundleTrouble, (*story).bundleDown, (*story).hold, (*story).fight, (*story).race, (*story).takeOver, (*story).takeOver, (*story).letGo, (*story).letGo, (*story).denied, (*story).bundleTrouble, (*story).bundleTrouble, // of which there are many kinds
	})(s, k)
}

// drifts are edits of a bundle's ConfigMap by somebody else.
var drifts = []map[string]any{
	{"data": map[string]any{"message": "edited-by-hand"}}, {"data": map[string]any{"message": nil}}, {"data": nil},
	{"data": map[string]any{"extra": "added-by-hand"}}, {"binaryData": map[string]any{"extra": "AAEC"}}, {"immutable": true},
	{"metadata": map[string]any{"labels": map[string]any{"tier": "theirs", "own": "1"}}}, {"metadata": map[string]any{"labels": nil}},
	{"metadata": map[string]any{"annotations": map[string]any{"seen": "yes", "kick.corewire.io/heals": nil}}},
	{"metadata": map[string]any{"ownerReferences": nil}},
	{"metadata": map[string]any{"ownerReferences": []any{map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "name": "ghost", "uid": "00000000-0000-0000-0000-00000000abcd", "controller": true,
	}}}},
}

// drift lets somebody edit the ConfigMap, in several ways one after the other.
func (s *story) drift(k *bundleState) {
	for range 1 + s.below(3, "edits") {
		s.try(steps.PatchStep(k.configMap(pick(s.maker, "drift", drifts)), pick(s.maker, "writer", writers), ""))
		s.breathe()
	}
}

// fight lets somebody undo at once, time and again, what KICK puts right.
func (s *story) fight(k *bundleState) {
	act, writer := pick(s.maker, "drift", drifts), pick(s.maker, "writer", writers)
	for range 12 {
		s.try(steps.PatchStep(k.configMap(act), writer, ""))
		s.at += 100 * time.Millisecond
	}
}

// declare gives a bundle another content.
func (s *story) declare(k *bundleState) {
	r := scenario.NewResource(newBundle(k.namespace, k.name, s.otherContent(), k.dress))
	k.exists = true
	if s.maybe("replaced") {
		s.try(steps.UpdateStep(r, pick(s.maker, "writer", writers)))
		return
	}
	s.try(steps.ApplyStep(r, pick(s.maker, "writer", writers)))
}

// makeFinal makes a bundle immutable, or tries to undo that; a change follows.
func (s *story) makeFinal(k *bundleState) {
	k.dress.immutable = !k.dress.immutable
	s.declare(k)
	s.breathe()
	s.declare(k)
}

// bundleMetadata are edits of a bundle's own metadata.
var bundleMetadata = []map[string]any{
	{"labels": map[string]any{"tier": "app"}}, {"labels": map[string]any{"tier": "infra", "zone": "b"}}, {"labels": map[string]any{"tier": nil}},
	{"labels": nil, "annotations": nil}, {"annotations": map[string]any{"note": "a", "argocd.argoproj.io/tracking-id": "x"}},
	{"labels": map[string]any{"app.kubernetes.io/instance": "shop", "own": "2"}}, {"labels": map[string]any{"kustomize.toolkit.fluxcd.io/name": "shop"}},
}

func (s *story) relabel(k *bundleState) {
	patch := map[string]any{"metadata": pick(s.maker, "bundle metadata", bundleMetadata)}
	s.try(steps.PatchStep(scenario.NewPatch(kickKind("ConfigBundle"), k.key(), patch), pick(s.maker, "writer", writers), ""))
}

// bundleGoes deletes a bundle, and may make it again at once or later.
func (s *story) bundleGoes(k *bundleState) {
	s.do(steps.DeleteStep(scenario.Ref{GVK: kickKind("ConfigBundle"), Key: k.key()}))
	k.exists = false
	if !s.maybe("made again") {
		return
	}
	if s.maybe("away for a while") {
		s.breathe()
	}
	k.dress.immutable = s.maybe("immutable")
	k.exists = true
	s.try(steps.CreateStep(scenario.NewResource(newBundle(k.namespace, k.name, s.otherContent(), k.dress)), ""))
}

// loseConfigMap deletes the ConfigMap of a bundle, and may put another one in its
// place.
func (s *story) loseConfigMap(k *bundleState) {
	of := source{kindConfigMap, k.namespace, k.name}
	s.do(steps.DeleteStep(scenario.Ref{GVK: corev1.SchemeGroupVersion.WithKind(kindConfigMap), Key: k.key()}))
	if s.seldom(3, "another in its place") {
		s.try(steps.CreateStep(scenario.NewResource(of.object(s.otherContent(), dress{immutable: s.maybe("immutable")})), ""))
		if s.maybe("and goes") {
			s.pause()
			s.do(steps.DeleteStep(scenario.Ref{GVK: corev1.SchemeGroupVersion.WithKind(kindConfigMap), Key: k.key()}))
		}
	}
}

// hold keeps a ConfigMap from going for a while; KICK may not see what it says of that.
func (s *story) hold(k *bundleState) {
	unseen := s.seldom(3, "unseen")
	if unseen {
		s.fail(steps.Fault{Name: faults.StaleCache.Name, Kind: "ConfigBundle"})
	}
	s.try(steps.PatchStep(k.configMap(map[string]any{"metadata": map[string]any{"finalizers": []any{"example.com/hold"}}}), "", ""))
	s.breathe()
	pick(s.maker, "held", []func(*story, *bundleState){(*story).loseConfigMap, (*story).bundleGoes, (*story).drift})(s, k)
	s.pause()
	s.try(steps.PatchStep(k.configMap(map[string]any{"metadata": map[string]any{"finalizers": nil}}), "", ""))
	if unseen {
		s.breathe()
		s.do(steps.HealStep())
	}
}

// race lets somebody act on a ConfigMap while a call of KICK for it hangs or is refused.
func (s *story) race(k *bundleState) {
	f := pick(s.maker, "call", []*faults.Fault{faults.PauseAtCall, faults.Forbidden, faults.TimeoutLate})
	s.fail(steps.Fault{Name: f.Name, Kind: kindConfigMap, Times: 1 + s.below(2, "times")})
	pick(s.maker, "raced", []func(*story, *bundleState){(*story).drift, (*story).loseConfigMap, (*story).bundleGoes})(s, k)
	s.at += time.Second
	if s.maybe("replaced meanwhile") {
		of := source{kindConfigMap, k.namespace, k.name}
		s.do(steps.DeleteStep(scenario.Ref{GVK: corev1.SchemeGroupVersion.WithKind(kindConfigMap), Key: k.key()}))
		s.try(steps.CreateStep(scenario.NewResource(of.object(s.otherContent(), dress{})), ""))
	}
}

// bundleTrouble lets calls for bundles go wrong, or watches of them lie, while one
// changes.
func (s *story) bundleTrouble(k *bundleState) {
	f := pick(s.maker, "bundle fault", faults.All)
	on := steps.Fault{Name: f.Name, Kind: pick(s.maker, "bundle kind", []string{kindConfigMap, "ConfigBundle"})}
	if f.Place == faults.Start {
		s.oldStart()
		return
	}
	if f.Place != faults.Watch {
		on.Times = 1 + s.below(3, "times")
		if s.seldom(3, "the record") {
			on.Kind = "ControllerRevision"
		}
	}
	s.fail(on)
	pick(s.maker, "while it lasts", []func(*story, *bundleState){
		(*story).drift, (*story).declare, (*story).bundleGoes, (*story).makeFinal, (*story).relabel, (*story).loseConfigMap, (*story).hold,
	})(s, k)
	if s.maybe("healed") {
		s.pause()
		s.do(steps.HealStep())
	}
}

// denied lets somebody delete a ConfigMap while the API server will not have it made anew.
func (s *story) denied(k *bundleState) {
	s.fail(steps.Fault{Name: faults.Forbidden.Name, Verb: "patch", Kind: kindConfigMap, Times: 1 + s.below(3, "times")})
	s.do(steps.DeleteStep(scenario.Ref{GVK: corev1.SchemeGroupVersion.WithKind(kindConfigMap), Key: k.key()}))
}

// takeOver declares a bundle whose name is taken, deletes what has it and says so with a note
// on the bundle, which may be taken off again. Then its ConfigMap may be lost while KICK is
// away, and KICK come back to what it knew before all that.
func (s *story) takeOver(of *bundleState) {
	k := s.nameTaken(of.namespace)
	ref := scenario.Ref{GVK: corev1.SchemeGroupVersion.WithKind(kindConfigMap), Key: k.key()}
	s.do(steps.DeleteStep(ref))
	s.note(k, "please")
	s.at += pick(s.maker, "note stands for", []time.Duration{time.Second, 2 * time.Millisecond, time.Minute})
	end := s.below(3, "taken over")
	if end == 0 {
		return
	}
	s.note(k, nil)
	s.at += pick(s.maker, "note is off for", []time.Duration{time.Second, 100 * time.Millisecond})
	if end == 1 {
		return
	}
	s.do(steps.OperatorStep("stop"))
	s.do(steps.DeleteStep(ref))
	s.fail(steps.Fault{Name: faults.OldCache.Name})
	s.fail(steps.Fault{Name: pick(s.maker, "catches up by", []string{faults.SkippedStates.Name, faults.Relist.Name}), Kind: "ConfigBundle"})
	s.do(steps.OperatorStep("start"))
}

// nameTaken declares a bundle whose name somebody's ConfigMap has, and lets KICK say so.
func (s *story) nameTaken(namespace string) *bundleState {
	k := &bundleState{namespace: namespace, name: fmt.Sprintf("taken-%d", len(s.bundles)), exists: true}
	s.bundles = append(s.bundles, k)
	s.try(steps.ApplyStep(scenario.NewResource(source{kindConfigMap, k.namespace, k.name}.object(s.otherContent(), dress{})), ""))
	s.try(steps.ApplyStep(scenario.NewResource(newBundle(k.namespace, k.name, s.otherContent(), k.dress)), ""))
	s.at += pick(s.maker, "taken for", []time.Duration{15 * time.Second, time.Minute})
	return k
}

// bundlesLate are the faults by which KICK's cache of bundles falls behind.
var bundlesLate = []*faults.Fault{faults.StaleCache, faults.LateWatch, faults.SkippedStates, faults.Relist}

// letGo deletes, in two steps, the ConfigMap that has the name of a bundle: first it goes, which
// KICK waits for, then it is gone. KICK's cache of bundles shows none of what it said meanwhile.
func (s *story) letGo(of *bundleState) {
	k := s.nameTaken(of.namespace)
	s.fail(steps.Fault{Name: pick(s.maker, "bundles late by", bundlesLate).Name, Kind: "ConfigBundle"})
	s.try(steps.PatchStep(k.configMap(map[string]any{"metadata": map[string]any{"finalizers": []any{"example.com/hold"}}}), "", ""))
	s.do(steps.DeleteStep(scenario.Ref{GVK: corev1.SchemeGroupVersion.WithKind(kindConfigMap), Key: k.key()}))
	s.at += pick(s.maker, "held for", []time.Duration{time.Second, 100 * time.Millisecond, 4 * time.Second})
	s.try(steps.PatchStep(k.configMap(map[string]any{"metadata": map[string]any{"finalizers": nil}}), "", ""))
	s.at += pick(s.maker, "late for", []time.Duration{time.Minute, time.Second, 10 * time.Second})
	s.do(steps.HealStep())
}

func (s *story) note(k *bundleState, again any) {
	fields := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"again": again}}}
	s.try(steps.PatchStep(scenario.NewPatch(kickKind("ConfigBundle"), k.key(), fields), "", ""))
}

// bundleDown is what happens to a bundle while KICK is down, or is killed.
func (s *story) bundleDown(k *bundleState) {
	if s.maybe("killed") {
		s.try(steps.CrashAtWriteStep(1+s.below(4, "write"), s.maybe("landed")))
	} else {
		s.do(steps.OperatorStep("stop"))
	}
	for range 1 + s.below(3, "changes while down") {
		s.breathe()
		pick(s.maker, "to the bundle while down", []func(*story, *bundleState){
			(*story).declare, (*story).relabel, (*story).drift, (*story).loseConfigMap, (*story).makeFinal, (*story).bundleGoes,
		})(s, k)
	}
	s.at += pick(s.maker, "down for", []time.Duration{time.Second, 5 * time.Second, time.Minute})
	s.do(steps.OperatorStep("start"))
}

// knowBundle takes up a given bundle.
func (s *story) knowBundle(o *v1alpha1.ConfigBundle) {
	s.bundles = append(s.bundles, &bundleState{
		namespace: o.Namespace, name: o.Name, exists: true,
		dress: dress{labels: o.Labels, annotations: o.Annotations, immutable: o.Spec.Immutable},
	})
}

// newcomer declares a bundle that nobody gave.
func (s *story) newcomer() {
	if s.world.Operator.Flags[flagBundles] == "" {
		s.edit()
		return
	}
	k := &bundleState{namespace: s.someSource().namespace, name: fmt.Sprintf("late-%d", len(s.bundles)), exists: true}
	k.dress.immutable = s.maybe("immutable")
	s.bundles = append(s.bundles, k)
	s.try(steps.ApplyStep(scenario.NewResource(newBundle(k.namespace, k.name, s.otherContent(), k.dress)), ""))
}
