package generate

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/secretsstore"
	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
)

// feature is something that a world has or has not.
type feature int

const (
	namespaces feature = iota
	moreWorkloads
	statefulSets
	daemonSets
	sameNames
	replicas
	strategies
	readiness
	paused
	moreSources
	configMaps
	contentForms // binary values, empty ones, many keys
	immutables
	missingSources
	sourceLabels
	moreReferences
	referenceForms
	optionals
	pullSecrets
	managers
	windows
	zones
	denials
	starts
	selectors
	secondPolicy
	noPolicy
	suspended
	dryRuns
	paces
	podTiming
	cacheLag
	skews
	twoReplicas
	flags
	lateStart
	configBundles
	gitOpsTools
	notifications
	argoRollouts
	classes // of the Secrets Store CSI driver
	features
)

// builder makes one world.
type builder struct {
	maker
	has      [features]bool
	world    scenario.Scenario
	contents map[source]content // of the sources given
	wait     time.Duration      // the longest that a policy can make a restart wait
	zone     string             // a zone that the start is about; may be empty
	changing bool               // whose clocks are about to change

	windowsOften bool // windows come each hour or more often, not each day or more seldom

	driver  bool          // there is a Secrets Store CSI driver
	poll    time.Duration // how often that looks
	classes map[string][]*secretsstore.SecretProviderClass

	tool, asked v1alpha1.GitOpsProvider // the GitOps tool, and what policies ask; empty: none
}

// World makes a cluster: its start, the operator, its timing and what is given.
// It has no steps.
func World(c sched.Chooser) scenario.Scenario {
	b := &builder{maker: maker{c}, world: scenario.New("generated"), contents: map[source]content{}, classes: map[string][]*secretsstore.SecretProviderClass{}}
	b.swarm(b.has[:], "features")
	b.world.Summary = "Made by kick-sim explore"
	b.world.Start = b.start()
	b.operator()
	b.drawDriver()
	b.windowsOften = (b.has[windows] || b.has[denials] || b.has[gitOpsTools]) && (b.driver || !b.changing && b.maybe("windows often"))
	b.timing()
	b.drawTools()
	names := []string{"shop", "blog", "api"}[:1]
	if b.has[namespaces] {
		names = []string{"shop", "blog", "api"}[:2+b.below(2, "namespaces")]
	}
	for i, name := range names {
		b.namespace(name, i == 0)
	}
	if b.has[gitOpsTools] {
		b.giveTool()
	}
	if b.has[configBundles] {
		b.bundleFlags()
	}
	if b.has[missingSources] {
		b.wait = min(b.wait, day) // a day in which a pod cannot start costs thousands of events
	}
	b.world.Expect = scenario.Expect{AnyRestarts: true, Settle: b.wait + rollouts}
	return b.world
}

// drawTools draws what else runs in a world.
func (b *builder) drawTools() {
	if b.has[gitOpsTools] {
		b.drawTool()
	}
	if b.has[argoRollouts] {
		b.install("argo-rollouts")
		b.flag("enable-argo-rollouts", "true")
	}
}

// flag sets a flag of the operator.
func (b *builder) flag(name, value string) {
	flags := map[string]string{name: value}
	for other, is := range b.world.Operator.Flags { // which may be one of a table
		if other != name {
			flags[other] = is
		}
	}
	b.world.Operator.Flags = flags
}

// install puts the CRDs of a tool into the cluster.
func (b *builder) install(tool string) { b.world.World.CRDs = append(b.world.World.CRDs, tool) }

// rollouts is how long the rollouts of a world may take, failing ones too.
const rollouts = 4 * time.Hour

// give adds an object to what is given.
func (b *builder) give(object client.Object) {
	r := scenario.NewResource(object)
	if b.has[managers] {
		r.Manager = pick(b.maker, "given by", []string{"", "helm", "argocd-controller"})
	}
	b.world.Given = append(b.world.Given, r)
}

// namespace fills a namespace; only the first one may be large.
func (b *builder) namespace(name string, first bool) {
	b.give(&corev1.Namespace{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: name},
	})
	sources := b.sources(name)
	b.giveClasses(name)
	b.workloads(name, sources, first)
	if b.has[configBundles] {
		b.bundles(name)
	}
	if b.has[notifications] {
		b.notifications(name)
	}
	if first || !b.has[noPolicy] {
		b.policies(name)
	}
}

// instants are times of zones.
type instants []struct{ at, zone string }

// clockChanges are instants shortly before the clocks of a zone are put forward or back.
var clockChanges = instants{
	{"2026-03-29T00:59:50Z", "Europe/Berlin"}, {"2026-10-25T00:59:50Z", "Europe/Berlin"},
	{"2026-03-08T06:59:50Z", "America/New_York"}, {"2026-11-01T05:59:50Z", "America/New_York"},
	{"2026-10-03T15:29:50Z", "Australia/Lord_Howe"}, {"2026-04-04T14:59:50Z", "Australia/Lord_Howe"},
}

// otherTimes are instants shortly before something else: an hour, the end of a year or of a
// February.
var otherTimes = instants{
	{"2026-12-31T23:59:50Z", ""}, {"2028-02-28T23:59:50Z", ""}, {"2026-05-05T12:29:55Z", "Europe/Berlin"}, {"2026-01-01T01:59:55Z", ""},
	{"2026-07-03T21:58:00Z", "Europe/Berlin"}, {"2026-03-01T12:00:00.4Z", ""}, {"2026-03-01T12:00:00.9995Z", ""},
}

// start is when the world begins, and a zone of which that is a time to look at: its
// clocks change, or it has summer time.
type start struct {
	at   time.Time
	zone string
}

var changeList, otherList = clockChanges.parse(), append([]start{{at: scenario.DefaultStart}}, otherTimes.parse()...)

func (list instants) parse() []start {
	var out []start
	for _, s := range list {
		t, err := time.Parse(time.RFC3339Nano, s.at)
		if err != nil {
			panic(err) // the list above is wrong
		}
		out = append(out, start{t, s.zone})
	}
	return out
}

func (b *builder) start() time.Time {
	if !b.has[starts] && !b.has[zones] && !b.has[windows] && !b.has[denials] {
		return scenario.DefaultStart
	}
	from := otherList
	if b.changing = (b.has[windows] || b.has[denials]) && b.seldom(3, "clocks change"); b.changing {
		from = changeList
	}
	s := pick(b.maker, "start", from)
	b.zone = s.zone
	return s.at
}
