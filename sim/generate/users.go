package generate

import (
	"encoding/base64"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/model/schedule"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

// ref names the source.
func (s source) ref() scenario.Ref {
	return scenario.Ref{GVK: corev1.SchemeGroupVersion.WithKind(s.kind), Key: types.NamespacedName{Namespace: s.namespace, Name: s.name}}
}

// patch is a merge patch of the source.
func (s source) patch(data map[string]any) scenario.Resource {
	return scenario.NewPatch(s.ref().GVK, s.ref().Key, data)
}

// contentPatch is the merge patch that turns what a source holds into c.
func contentPatch(k *sourceState, c content) map[string]any {
	text, binary := map[string]any{}, map[string]any{}
	set := func(key string, value any, encoded bool) {
		switch {
		case k.kind == kindConfigMap && encoded:
			binary[key] = value
		default:
			text[key] = value
		}
	}
	for key, old := range k.content {
		if _, stays := c[key]; !stays {
			set(key, nil, !utf8.ValidString(old))
		}
	}
	for key, value := range c {
		odd := !utf8.ValidString(value)
		if odd || k.kind == kindSecret {
			value = base64.StdEncoding.EncodeToString([]byte(value))
		}
		set(key, value, odd)
	}
	out := map[string]any{}
	if len(text) > 0 {
		out["data"] = text
	}
	if len(binary) > 0 {
		out["binaryData"] = binary
	}
	return out
}

// burst is several changes within a second, some at the very same instant.
func (s *story) burst() {
	for range 2 + s.below(3, "burst") {
		s.edit()
		s.at += pick(s.maker, "burst gap", shortGaps[:4])
	}
}

// thereAndBack is a change that is taken back.
func (s *story) thereAndBack() {
	k := s.someSource()
	before := k.content
	s.change(k, s.otherContent())
	if s.maybe("long after") {
		s.pause()
	} else {
		s.breathe()
	}
	if before != nil {
		s.change(k, before)
	}
}

// keys adds a key or removes one.
func (s *story) keys() {
	k := s.someSource()
	c := maps.Clone(k.content)
	if names := slices.Sorted(maps.Keys(c)); len(names) > 0 && s.maybe("remove a key") {
		delete(c, pick(s.maker, "removed key", names))
	} else {
		c = content(with(c, pick(s.maker, "added key", []string{"b", "c", "a"}), "added-value"))
	}
	s.change(k, c)
}

// metadata writes labels or annotations of a source and nothing else, once or, as
// producers do, again and again.
func (s *story) metadata() {
	k := s.someSource()
	writer := pick(s.maker, "writer", writers)
	if s.maybe("labels") {
		label := pick(s.maker, "tier", []any{"app", "infra", nil})
		s.try(steps.PatchStep(k.patch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"tier": label}}}), writer, ""))
		return
	}
	for i := range 1 + s.below(4, "churn") {
		at := s.zero.Add(s.at).UTC().Format(time.RFC3339)
		annotations := map[string]any{"synced-at": at, "round": string(rune('a' + i))}
		s.try(steps.PatchStep(k.patch(map[string]any{"metadata": map[string]any{"annotations": annotations}}), writer, ""))
		s.breathe()
	}
}

// restored leaves a source with a note of a write that lies in the future, as a
// backup does that was taken where clocks were ahead and is restored with its
// managedFields.
func (s *story) restored() {
	k := s.someSource()
	ahead := pick(s.maker, "ahead", []time.Duration{time.Hour, 10 * time.Second, 48 * time.Hour})
	note := map[string]any{
		"manager": "old-cluster", "operation": "Update", "apiVersion": "v1",
		"time":       s.zero.Add(s.at + ahead).UTC().Format(time.RFC3339),
		"fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:data": map[string]any{".": map[string]any{}}},
	}
	s.try(steps.PatchStep(k.patch(map[string]any{"metadata": map[string]any{"managedFields": []any{note}}}), "restore", ""))
	s.breathe()
	s.change(k, s.otherContent())
}

// flood gives a source more contents than a record holds, while its consumers may
// not restart.
func (s *story) flood() {
	k := s.someSource()
	policy := s.policyOf(k.namespace)
	if policy == nil || k.dress.immutable || !s.seldom(4, "flood") {
		s.burst()
		return
	}
	s.patchPolicy(policy, map[string]any{"suspend": true})
	gap := pick(s.maker, "flood gap", []time.Duration{31 * time.Second, 2 * time.Second})
	for i := range 33 + s.below(8, "more contents") {
		s.at += gap
		c := plainContents[i%len(plainContents)]
		s.try(steps.ApplyStep(scenario.NewResource(k.object(c, k.dress)), ""))
		k.exists, k.content = true, c
	}
	s.at += gap
	if s.maybe("back to the first content") && k.past != nil {
		s.change(k, k.past[0])
	}
	s.patchPolicy(policy, map[string]any{"suspend": false})
}

// freeze makes a source immutable.
func (s *story) freeze() {
	k := s.someSource()
	s.try(steps.PatchStep(k.patch(map[string]any{"immutable": true}), "", ""))
	k.dress.immutable = k.dress.immutable || k.exists
}

// replace deletes a source and creates it with another content, as one does with
// an immutable one.
func (s *story) replace() {
	k := s.someSource()
	c := s.otherContent()
	s.do(steps.DeleteStep(k.ref()))
	if s.maybe("away for a while") {
		s.breathe()
	}
	s.try(steps.CreateStep(scenario.NewResource(k.object(c, k.dress)), pick(s.maker, "writer", writers)))
	k.past = append(k.past, k.content)
	k.exists, k.content = true, c
}

// comeAndGo deletes a source, or creates one that is missing: with what it held
// before, or with something else.
func (s *story) comeAndGo() {
	k := s.someSource()
	if k.exists {
		s.do(steps.DeleteStep(k.ref()))
		k.exists = false
		if !s.maybe("created again") {
			return
		}
		s.pause()
	}
	c := k.content
	if c == nil || s.maybe("other content") {
		c = s.otherContent()
	}
	k.dress.immutable = false
	s.change(k, c)
}

// manualRequest is a KickRequest that a user makes.
func (s *story) manualRequest() {
	w := s.someWorkload()
	if w == nil {
		return
	}
	request := newRequest(w, w.name, pick(s.maker, "request", []string{"by-hand", "by-hand-2", w.request()}))
	if s.maybe("changedAt") {
		before := pick(s.maker, "changed before", []time.Duration{0, time.Second, time.Hour, -10 * time.Minute, -2 * time.Hour})
		at := s.zero.Add(s.at - before).UTC().Truncate(time.Microsecond)
		request.Spec.ChangedAt = microTime(at)
	}
	s.try(steps.ApplyStep(scenario.NewResource(request), ""))
}

// newRequest asks for a restart of a workload, by its name, in the namespace of w.
func newRequest(w *workloadState, target, name string) *v1alpha1.KickRequest {
	request := &v1alpha1.KickRequest{Spec: v1alpha1.KickRequestSpec{
		TargetRef: v1alpha1.TargetReference{Kind: v1alpha1.WorkloadKind(w.kind), Name: target},
		Reason:    "the license server was renewed",
	}}
	request.APIVersion, request.Kind = v1alpha1.GroupVersion.String(), "KickRequest"
	request.Namespace, request.Name = w.namespace, name
	return request
}

// takeName is a request by hand for another workload, or for one that does not
// exist, under the name that KICK gives to its own request of w.
func (s *story) takeName() {
	w := s.someWorkload()
	if w == nil {
		return
	}
	target := "ghost"
	for _, other := range s.workloads {
		if other != w && other.kind == w.kind && other.namespace == w.namespace && s.maybe("one that exists") {
			target = other.name
		}
	}
	s.do(steps.DeleteStep(w.requestRef()))
	s.try(steps.CreateStep(scenario.NewResource(newRequest(w, target, w.request())), ""))
	s.breathe()
	s.change(s.sourceOf(w), s.otherContent())
}

// forget deletes a request or the record of a source.
func (s *story) forget() {
	k, w := s.someSource(), s.someWorkload()
	ref := scenario.Ref{GVK: kickKind("SourceObservation"), Key: types.NamespacedName{Namespace: k.namespace, Name: lower(k.kind) + "-" + k.name}}
	if w != nil && s.maybe("a request") {
		ref = w.requestRef()
	}
	s.do(steps.DeleteStep(ref))
}

func kickKind(kind string) schema.GroupVersionKind { return v1alpha1.GroupVersion.WithKind(kind) }

// nextEdge is the next instant after now at which windows open or close.
func nextEdge(list []v1alpha1.Window, now time.Time) (time.Time, bool) {
	if len(list) == 0 {
		return time.Time{}, false
	}
	var parsed []schedule.Window
	for _, w := range list {
		parsed = append(parsed, schedule.Window{
			Deny: w.Type == v1alpha1.WindowDeny, Cron: w.Cron, Duration: w.Duration.Duration, TimeZone: w.TimeZone,
		})
	}
	read, err := schedule.Parse(parsed)
	if err != nil {
		return time.Time{}, false
	}
	edge := read.At(now).Until
	return edge, !edge.IsZero() && edge.Sub(now) < 10*24*time.Hour
}
