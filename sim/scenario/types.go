package scenario

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/sched"
)

// The header every scenario document carries.
const (
	APIVersion = "sim.kick.corewire.io/v1alpha1"
	Kind       = "Scenario"
)

// Defaults of fields that a file may leave out.
const (
	DefaultSettle   = 2 * time.Hour
	DefaultPodStart = 2 * time.Second
	DefaultSeed     = 1
	// DefaultManager is the field manager of a user who types kubectl.
	DefaultManager = "kubectl"
)

// DefaultStart is t=0 where a file names no start.
var DefaultStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Position is a place in a file.
type Position struct {
	File      string
	Line, Col int
}

// Scenario is one document of a scenario file, checked and with defaults set.
type Scenario struct {
	Name     string
	Summary  string
	Proves   []string
	Start    time.Time
	Seed     uint64
	Operator Operator
	World    World
	Given    []Resource
	Steps    []Step
	Choices  []Choice
	Expect   Expect
	At       Position
}

// Choice answers one question that the simulated cluster leaves open, see
// sched.Answer. All others are answered as usual.
type Choice struct {
	sched.Answer
	Where Position
}

// Operator says how KICK itself runs.
type Operator struct {
	Replicas int
	StartAt  time.Duration
	Flags    map[string]string
	At       Position // of the flags, for messages about them
}

// World is the timing of the simulated cluster.
type World struct {
	PodStart        time.Duration
	KubeletCacheLag time.Duration
	ClockSkew       map[clock.Domain]time.Duration
	CRDs            []string
}

// Step is one thing that happens. Exactly one of At and After places it: At
// where AtSet, else After counted from the end of the previous step.
type Step struct {
	Name  string
	Verb  string
	AtSet bool
	At    time.Duration
	After time.Duration
	// MayFail: a write that the API server refuses, or an operation that does not
	// apply at that moment, is no failure of the scenario.
	MayFail bool
	Action  any // made and understood by the verb
	Where   Position
}

// Resource is one Kubernetes object as written in a file: the typed object, and
// the same as plain data, because a patch and a pattern must tell a field that
// was left out from one that is empty.
type Resource struct {
	GVK    schema.GroupVersionKind
	Key    types.NamespacedName
	Object client.Object
	Data   map[string]any
	JSON   []byte
	// Manager is the field manager that applies a given object; empty: DefaultManager.
	Manager string
	Where   Position
}

// Ref names one object.
type Ref struct {
	GVK schema.GroupVersionKind
	Key types.NamespacedName
}

// Expect is what must be true at the end.
type Expect struct {
	Settle   time.Duration
	Restarts map[string]Range // namespace/Kind/name; workloads it does not name want none
	// AnyRestarts: how often KICK restarts what is not stated, and only the laws judge.
	AnyRestarts bool
	Requests    map[string]string // namespace/name -> phase
	Allow       Allow
}

// Range is an inclusive range of counts; Max < 0 means no upper bound.
type Range struct{ Min, Max int }

// Contains reports whether n lies in the range.
func (r Range) Contains(n int) bool { return n >= r.Min && (r.Max < 0 || n <= r.Max) }

// Allow is how many violations of a law a scenario tolerates.
type Allow struct{ Spurious, Lost int }
