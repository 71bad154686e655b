package generate

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/secretsstore"
	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
	"github.com/corewire/kick/sim/steps"
)

// story is a story being told: the steps so far, and what exists as far as they
// tell. Each step stands at its own time, so that a shrinker may drop any of them
// and leave the others where they are.
type story struct {
	maker
	world scenario.Scenario
	zero  time.Time
	at    time.Duration
	steps []scenario.Step

	sources   []*sourceState
	workloads []*workloadState
	policies  []*policyState
	bundles   []*bundleState
	classes   []*classState
	offsets   map[clock.Domain]time.Duration
	hooks     []string // namespaces with a web server that hears of restarts
	tool      string   // the GitOps tool of the world; empty: none
	broken    bool     // there may be a fault that lasts until it is healed
}

// sourceState is what the story knows of a source.
type sourceState struct {
	source
	exists  bool
	content content
	dress   dress
	past    []content // contents it had before, oldest first
}

// workloadState is what the story knows of a workload.
type workloadState struct {
	kind, namespace, name string
	object                client.Object // as it was written last
	exists, paused, fails bool
	refs                  int
}

// policyState is what the story knows of a policy.
type policyState struct {
	policy *v1alpha1.KickPolicy
	exists bool
}

// actChances are how many acts a story has at most.
var actChances = []int{1, 1, 2, 3, 5, 8}

// Story makes the steps of users, machines and faults in a world. Any world will
// do, one read from a file too; its own steps are not looked at.
func Story(c sched.Chooser, world scenario.Scenario) []scenario.Step {
	s := &story{maker: maker{c}, world: world, zero: world.Start, offsets: map[clock.Domain]time.Duration{}}
	for _, r := range world.Given {
		s.know(r.Object)
	}
	s.knowMissing()
	var on [acts]bool
	s.swarm(on[:], "acts")
	choices := []func(*story){(*story).edit}
	for i, act := range actList {
		if on[i] {
			choices = append(choices, act)
		}
	}
	if len(s.bundles) > 0 {
		choices = append(choices, slices.Repeat([]func(*story){(*story).bundle}, 1+len(choices)/6)...)
	}
	if len(s.classes) > 0 {
		choices = append(choices, slices.Repeat([]func(*story){(*story).classAct}, 2*len(choices))...) // two acts of three: few worlds have a driver
	}
	if s.tool = toolIn(&world); s.tool != "" {
		choices = append(choices, slices.Repeat([]func(*story){(*story).sync}, len(choices))...) // every other act: few worlds have a tool
	}
	for range 1 + s.below(pick(s.maker, "length", actChances), "acts") {
		s.pause()
		if len(s.sources) == 0 {
			continue
		}
		pick(s.maker, "act", choices)(s)
		if s.seldom(4, "a change follows") {
			s.breathe()
			s.edit()
		}
	}
	return s.steps
}

// know takes up a given object.
func (s *story) know(object client.Object) {
	switch o := object.(type) {
	case *corev1.Secret:
		c := content{}
		for key, value := range o.Data {
			c[key] = string(value)
		}
		maps.Copy(c, o.StringData)
		s.knowSource(source{kindSecret, o.Namespace, o.Name}, c, o.Labels, o.Immutable)
	case *corev1.ConfigMap:
		if o.Name == hookName {
			s.hooks = append(s.hooks, o.Namespace)
			return
		}
		c := content{}
		maps.Copy(c, o.Data)
		for key, value := range o.BinaryData {
			c[key] = string(value)
		}
		s.knowSource(source{kindConfigMap, o.Namespace, o.Name}, c, o.Labels, o.Immutable)
	case *v1alpha1.KickPolicy:
		s.policies = append(s.policies, &policyState{o, true})
	case *v1alpha1.ConfigBundle:
		s.knowBundle(o)
	case *secretsstore.SecretProviderClass:
		s.classes = append(s.classes, &classState{o, true})
	default:
		if template := templateOf(object); template != nil {
			kind := object.GetObjectKind().GroupVersionKind().Kind
			s.workloads = append(s.workloads, &workloadState{
				kind: kind, namespace: object.GetNamespace(), name: object.GetName(), object: object, exists: true,
			})
		}
	}
}

func (s *story) knowSource(of source, c content, labels map[string]string, immutable *bool) {
	d := dress{labels: labels, immutable: immutable != nil && *immutable, stringData: of.kind == kindSecret}
	s.sources = append(s.sources, &sourceState{source: of, exists: true, content: c, dress: d})
}

// knowMissing takes up sources that workloads refer to and nobody gave.
func (s *story) knowMissing() {
	known := map[source]bool{}
	for _, k := range s.sources {
		known[k.source] = true
	}
	for _, w := range s.workloads {
		for _, ref := range discover.Refs(&templateOf(w.object).Spec) {
			of := source{ref.Kind, w.namespace, ref.Name}
			if !known[of] && ref.Kind != discover.KindSecretProviderClass {
				known[of] = true
				s.sources = append(s.sources, &sourceState{source: of, dress: dress{stringData: true}})
			}
		}
	}
}

// gaps are how long it is between two acts.
var gaps = []time.Duration{
	time.Minute, 0, time.Millisecond, 400 * time.Millisecond, time.Second, 1001 * time.Millisecond, 5 * time.Second, 15 * time.Second,
	5 * time.Minute, 16 * time.Minute, time.Hour,
}

// longGaps are seldom: a day in which a pod cannot start costs thousands of events, and so
// do days of a world that has something to do all the time.
var longGaps = []time.Duration{6 * time.Hour, 25 * time.Hour, 48 * time.Hour}

// longGap is how long nobody does anything.
func (s *story) longGap() time.Duration {
	if busy(&s.world) {
		return longGaps[0]
	}
	return pick(s.maker, "long gap", longGaps)
}

// busy reports whether KICK has something to do each hour of a world, even if nothing
// happens: windows open and close, or bundles are looked at, or a driver looks at its classes.
func busy(world *scenario.Scenario) bool {
	if every, err := time.ParseDuration(world.Operator.Flags[flagBundleCheck]); err == nil && every < time.Hour {
		return true
	}
	for _, r := range world.Given {
		if _, polled := r.Object.(*secretsstore.SecretProviderClass); polled {
			return true
		}
		p, ok := r.Object.(*v1alpha1.KickPolicy)
		if ok && slices.ContainsFunc(p.Spec.Schedule.Windows, func(w v1alpha1.Window) bool { return everyHour(w.Cron) }) {
			return true
		}
	}
	return false
}

// shortGaps are how long it is between two changes that belong together.
var shortGaps = []time.Duration{0, time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, 999 * time.Millisecond, 2 * time.Second, 31 * time.Second}

func (s *story) pause() {
	if s.seldom(12, "long pause") {
		s.mend()
		s.at += s.longGap()
		return
	}
	gap := pick(s.maker, "gap", gaps)
	if gap > 10*time.Minute {
		s.mend()
	}
	s.at += gap
	if p := s.scheduled(); p != nil && s.seldom(4, "to an edge") {
		s.toEdge(p)
	}
}

// fail adds a fault.
func (s *story) fail(on steps.Fault) {
	s.try(steps.FaultStep(on))
	s.broken = s.broken || on.Times == 0
}

// mend ends the faults that last: hours of calls that fail, or of a watch that shows nothing, would be
// thousands of events.
func (s *story) mend() {
	if s.broken {
		s.do(steps.HealStep())
		s.broken = false
	}
}

func (s *story) breathe() { s.at += pick(s.maker, "short gap", shortGaps) }

// do adds a step that cannot be refused.
func (s *story) do(step scenario.Step) {
	step.AtSet, step.At = true, s.at
	s.steps = append(s.steps, step)
}

// try adds a step that may be refused, or not apply any more.
func (s *story) try(step scenario.Step) {
	step.MayFail = true
	s.do(step)
}

// The acts besides edit, which every story has.
const acts = 40

var actList = [acts]func(*story){
	(*story).burst, (*story).thereAndBack, (*story).keys, (*story).metadata, (*story).freeze,
	(*story).replace, (*story).comeAndGo, (*story).rollout, (*story).images, (*story).pods, (*story).drain,
	(*story).workloadComesAndGoes, (*story).template, (*story).workloadLabels, (*story).policyEdit,
	(*story).policyComesAndGoes, (*story).manualRequest, (*story).forget, (*story).operator, (*story).downTime,
	(*story).fault, (*story).clock, (*story).debug, (*story).edge,
	(*story).restored, (*story).flood, (*story).takeName, (*story).lastMoment, (*story).manyReferences, (*story).loseKey,
	(*story).lookalike, (*story).meddle, (*story).restless, (*story).refusal, (*story).failing, (*story).takenBack, (*story).oldStart, (*story).inPlace,
	(*story).newcomer, (*story).answer,
}

// writers are who changes sources.
var writers = []string{"", "helm", "external-secrets", "argocd-controller"}

func (s *story) someSource() *sourceState { return pick(s.maker, "source", s.sources) }

// edit gives a source another content, or creates it.
func (s *story) edit() {
	k := s.someSource()
	c, found := s.twin(k)
	if !found {
		c = s.otherContent()
	}
	s.change(k, c)
}

func (s *story) otherContent() content {
	if s.maybe("odd content") {
		return pick(s.maker, "content", oddContents)
	}
	return plainContents[(1+s.below(len(plainContents), "plain content"))%len(plainContents)]
}

// change writes a content in one of the ways that users have.
func (s *story) change(k *sourceState, c content) {
	r := func() scenario.Resource { return scenario.NewResource(k.object(c, k.dress)) }
	writer := pick(s.maker, "writer", writers)
	switch way := s.below(3, "way"); {
	case !k.exists && way > 0:
		s.try(steps.CreateStep(r(), writer))
	case way == 1:
		k.dress.stringData = false
		s.try(steps.UpdateStep(r(), writer))
	case way == 2:
		s.try(steps.PatchStep(k.patch(contentPatch(k, c)), writer, ""))
	default:
		s.try(steps.ApplyStep(r(), writer))
	}
	if !k.exists || !k.dress.immutable {
		k.past = append(k.past, k.content)
		k.exists, k.content = true, c
	}
}

// edge makes a change at the very edge of a settle delay or of a window.
func (s *story) edge() {
	k := s.someSource()
	if policy := s.policyOf(k.namespace); policy != nil && s.maybe("window edge") {
		s.toEdge(policy)
		s.change(k, s.otherContent())
		return
	}
	offset := pick(s.maker, "beside the edge", []time.Duration{0, -time.Millisecond, time.Millisecond, -time.Second})
	s.change(k, s.otherContent())
	s.at += max(s.settle(k.namespace)+offset, 0)
	s.change(k, s.otherContent())
}

// toEdge lets time pass until a window is about to open or to close, or a restart
// would come just then.
func (s *story) toEdge(policy *v1alpha1.KickPolicy) {
	edge, ok := nextEdge(policy.Spec.Schedule.Windows, s.zero.Add(s.at))
	if !ok {
		return
	}
	settle := s.settle(policy.Namespace)
	offset := pick(s.maker, "beside the window", []time.Duration{
		0, -settle, -settle / 2, -time.Millisecond, time.Millisecond, -settle - 2*time.Millisecond, time.Second, -settle - 500*time.Millisecond,
	})
	s.at = max(s.at, edge.Add(offset).Sub(s.zero))
}

// scheduled is the first policy with windows; nil where there is none.
func (s *story) scheduled() *v1alpha1.KickPolicy {
	for _, p := range s.policies {
		if p.exists && len(p.policy.Spec.Schedule.Windows) > 0 {
			return p.policy
		}
	}
	return nil
}

// settle is the settle delay that holds in a namespace.
func (s *story) settle(namespace string) time.Duration {
	if policy := s.policyOf(namespace); policy != nil && policy.Spec.Restart.SettleDelay != nil {
		return policy.Spec.Restart.SettleDelay.Duration
	}
	return time.Second
}

// policyOf is the first policy of a namespace that exists.
func (s *story) policyOf(namespace string) *v1alpha1.KickPolicy {
	for _, p := range s.policies {
		if p.exists && p.policy.Namespace == namespace {
			return p.policy
		}
	}
	return nil
}
