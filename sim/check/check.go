package check

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/clock"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/sched"
)

// Manager is the field manager KICK writes with.
const Manager = "kick"

// API is what laws read of the simulated API server.
type API interface {
	Get(schema.GroupKind, types.NamespacedName) client.Object
	List(schema.GroupKind, string) []client.Object
}

// Write is a call KICK makes, as the engine tells of it: once before it is sent,
// and once when its outcome is known.
type Write struct {
	Verb string // create, update, patch, apply, delete
	Kind schema.GroupKind
	Key  types.NamespacedName
	Sub  string // "" or "status"
	At   time.Time

	Known Known  // when the caller began to judge
	By    any    // the process that makes it, in this life
	Body  []byte // of a patch

	Done          bool  // false: about to be sent
	Err           error // outcome as KICK saw it
	Before, After int64 // the server's revision around the call
}

// Context is what laws know about a run. Fill in the exported fields before New.
type Context struct {
	API       API
	Truth     Truth
	Loop      *sched.Loop
	Clocks    map[clock.Domain]*clock.Virtual
	World     scenario.World
	Expect    scenario.Expect
	Allowance time.Duration // KICK's --clock-allowance
	// RolloutTimeout is KICK's --rollout-timeout.
	RolloutTimeout time.Duration
	Retention      time.Duration // KICK's --request-retention
	MaxConcurrent  int           // KICK's --max-concurrent-restarts; 0: no limit
	Watched        []string      // KICK's --watch-namespaces; empty: all
	Own            string        // KICK's own namespace
	Bundles        bool          // KICK's --enable-config-bundles
	Rollouts       bool          // KICK's --enable-argo-rollouts
	CSI            bool          // KICK's --enable-csi-integration
	Rotation       time.Duration // KICK's --csi-rotation-poll-interval
	Operator       Operator      // nil: it is not running yet
	Healed         time.Time     // when the last fault ended; zero before
	Broken         func()        // told when a law is broken; may be nil
	Restarts       map[string]int

	sources    *sourceLog
	stamps     map[string]string    // newest stamp KICK wrote, by workload id
	stampedAt  map[string]time.Time // when it landed
	redone     map[string]string    // the stamp of a restart that followed one which its controller had dropped, by workload id
	ended      time.Time            // when KICK last wrote that a restart is over
	policyEdit map[string]time.Time // newest write of a policy, by namespace
	toolEdit   time.Time            // newest write of an object of a GitOps tool
	busy       map[string]time.Time // newest write of anybody but KICK, by namespace
	leaving    map[string]time.Time // newest deletion of a pod, by namespace
	violations []Violation
}

// KickNow is what KICK's clock shows.
func (c *Context) KickNow() time.Time { return c.now(clock.Kick) }

func (c *Context) now(domain clock.Domain) time.Time {
	if v := c.Clocks[domain]; v != nil {
		return v.Now()
	}
	return c.Loop.Now()
}

// Violation is one broken law.
type Violation struct {
	Law     string
	Message string
	At      time.Time
}

func (c *Context) report(law, format string, args ...any) {
	c.violations = append(c.violations, Violation{Law: law, Message: fmt.Sprintf(format, args...), At: c.Loop.Now()})
	if c.Broken != nil {
		c.Broken()
	}
}

// Law is one law. It has one or more of the hooks below.
type Law any

// Hooks of a law. OnKick sees the writes KICK's field manager made, OnWrite all.
type (
	writeHook interface {
		OnWrite(*Context, cluster.Event)
	}
	kickHook interface {
		OnKick(*Context, cluster.Event)
	}
	callHook   interface{ OnCall(*Context, Write) }
	accessHook interface{ OnAccess(*Context, Access) }
	toldHook   interface{ OnTold(*Context, Told) }
	passHook   interface{ OnPass(*Context, Pass) }
	noticeHook interface{ OnNotified(*Context, Notified) }
	logHook    interface{ OnLog(*Context, string) }
	endHook    interface{ AtEnd(*Context) }
)

// Entry describes a law for lists.
type Entry struct {
	Name string
	Doc  string
	New  func() Law
}

// All lists every law in the order in which they report.
func All() []Entry {
	return []Entry{
		{lawLost, "After faults end and gates open, no running pod of a managed workload carries old content, or KICK names the block that truly holds.", func() Law { return &lost{} }},
		{lawSpurious, "KICK restarts a workload only if some running pod truly carries old content, as far as KICK can have been told.", func() Law { return &spurious{} }},
		{lawRestarts, "Each workload is restarted by KICK as often as the scenario says, others never.", func() Law { return &restarts{} }},
		{lawOneRequest, "At most one unfinished request exists per workload.", func() Law { return oneRequest{} }},
		{lawGate, "The policy's gate is open when the restart is sent.", func() Law { return &gateOpen{} }},
		{lawStartable, "KICK restarts nothing while a source or key that the template requires is missing.", startable},
		{lawStampOnly, "KICK changes nothing of a workload but the restartedAt annotation of its template, and of a Rollout its spec.restartAt.", func() Law { return stampOnly{} }},
		{lawPhases, "Requests move along legal edges only.", func() Law { return phaseEdges{} }},
		{lawTimes, "Recorded change times never go back.", func() Law { return timesForward{} }},
		{lawSeen, "No date of before anybody looked shows in a request, a record or an Event.", func() Law { return seen{} }},
		{lawNoop, "KICK makes no write that changes nothing.", func() Law { return &noop{} }},
		{lawTerminal, "A finished request does not change until it is reopened or removed.", func() Law { return terminalInert{} }},
		{lawNoRequest, "A workload created after all its sources has no request.", func() Law { return &sourceDriven{} }},
		{lawEpisode, "One stale episode of a workload gets at most one restart.", func() Law { return &episode{} }},
		{lawDryRun, "A workload under a dry-run policy is never written.", func() Law { return &dryRun{} }},
		{lawCanary, "No content of a Secret or ConfigMap shows in what KICK writes or logs.", func() Law { return &canaries{} }},
		{lawStorm, "KICK does not create one object over and over.", func() Law { return &storm{} }},
		{lawInterval, "Two restarts of a workload are at least its policy's minInterval apart.", interval},
		{lawConcurrent, "KICK has no more restarts under way than a policy's maxConcurrent and --max-concurrent-restarts allow.", func() Law { return &concurrent{} }},
		{lawRetention, "KICK deletes no request but finished ones whose retention is over.", func() Law { return &retention{} }},
		{lawIdentity, "A restart carries the UID or resourceVersion of the object it was decided on.", func() Law { return &identity{} }},
		{lawRights, "KICK makes no call its generated role does not allow.", func() Law { return &rights{} }},
		{lawEvents, "KICK emits at most one Event for each transition of a request.", func() Law { return &events{} }},
		{lawRest, "KICK does not write an object again and again while nobody else writes.", func() Law { return &rest{} }},
		{lawHurry, "No pass asks to be made again within milliseconds, time after time.", func() Law { return &hurry{} }},
		{lawDeadline, "After the last fault each restart comes as soon as nothing stands against it.", func() Law { return &deadline{} }},
		{lawBounds, "KICK writes in its namespaces only, and no request stays open for what no policy selects.", func() Law { return bounds{} }},
		{lawIndex, "At the end KICK's cache finds the readers of each source that a walk through all workloads finds.", func() Law { return index{} }},
		{lawLedger, "At the end there is a record for each source that is read where a policy is, and for no other.", func() Law { return ledger{} }},
		{lawWake, "At the end every unfinished request has something that wakes it, and its time is not over.", func() Law { return wake{} }},
		{lawOutcome, "Success follows a restart of the request's own, and the reason of a wait holds.", func() Law { return outcome{} }},
		{lawServed, "A request succeeds after the rollout of its own restart was complete, waits for no rollout that KICK began for it, and fails only of what can have happened.", func() Law { return &served{} }},
		{lawFollows, "A record never goes back to an older version of its source, and at the end it tells of the content that stands.", func() Law { return follows{} }},
		{lawRepeat, "A restart that failed or was taken back is not repeated for the change it was for.", func() Law { return repeat{} }},
		{lawWaited, "No restart comes in the middle of a rollout that neither failed nor had its time.", func() Law { return &waited{} }},
		{lawRestartAt, "KICK's restartAt is later than the change it answers, and never later than the API server's clock.", func() Law { return restartAt{} }},
		{lawRefusal, "A restart that the API server refuses is not sent over and over.", func() Law { return &refusals{} }},
		{lawQuiet, "Changes that follow one another hold a restart back for ten settle delays at most.", func() Law { return quiet{} }},
		{lawSettled, "KICK restarts no sooner after a change that it recorded than its policy's settle delay, unless it waited ten of them.", func() Law { return &settled{} }},
		{lawFlapping, "A SecretProviderClass that was rotated three times within five polls of its driver restarts nobody until it is quiet.", flapping},
		{lawMirrors, "A workload that mounts a class and reads the Secret that mirrors it is not restarted while that is behind a rotation, for one poll at most.", mirrors},
		{lawPace, "KICK writes no object more often than a hundred times in ten seconds.", func() Law { return &paces{} }},
		{lawBundleHeld, "At the end each bundle's ConfigMap holds what is declared, with its labels, annotations and owner, or the API server refused it, or the name is somebody else's.", func() Law { return &bundleHeld{} }},
		{lawBundleForeign, "KICK writes no ConfigMap that is no bundle's, and takes away nothing that others put on one.", func() Law { return &bundleForeign{} }},
		{lawBundleFrozen, "What an immutable bundle declared when it was accepted is what its ConfigMap holds, and what it says, for ever.", func() Law { return &bundleFrozen{} }},
		{lawBundleRefused, "A bundle that was refused its first ConfigMap is tried again only when it changes, and one Event follows one write.", func() Law { return &bundleRefused{} }},
		{lawBundleMissed, "A ConfigMap that a bundle had and that is gone is made anew, or tried to be, within 90 seconds, and as often.", func() Law { return &bundleMissed{} }},
		{lawLastWord, "No pass leaves a bundle without its ConfigMap to itself but one that was refused, or whose name was taken, as the API server has it.", func() Law { return &lastWord{} }},
		{lawNotified, "Each transition that a NotificationPolicy in force wants is told, or tried three times, and it is told once, but for what a crash, or a leader that is none any more, repeats.", func() Law { return &notified{} }},
		{lawRequests, "Requests end in the phases the scenario says.", func() Law { return requests{} }},
	}
}

// Laws judges one run.
type Laws struct {
	*Context
	judges []judge
	writes []writeHook
	kicks  []kickHook
	calls  []callHook
	access []accessHook
	told   []toldHook
	passes []passHook
	notes  []noticeHook
	logs   []logHook
	ends   []endHook
}

// New returns the judges of one run: all laws, or those named.
func New(c Context, only ...string) *Laws {
	l := &Laws{Context: &c}
	c.sources = newSourceLog()
	c.Restarts, c.stamps, c.stampedAt = map[string]int{}, map[string]string{}, map[string]time.Time{}
	c.redone = map[string]string{}
	c.policyEdit, c.busy, c.leaving = map[string]time.Time{}, map[string]time.Time{}, map[string]time.Time{}
	for _, entry := range All() {
		if len(only) > 0 && !slices.Contains(only, entry.Name) {
			continue
		}
		l.appoint(judge{entry, entry.New()})
	}
	return l
}

func (l *Laws) add(law Law) {
	if h, ok := law.(writeHook); ok {
		l.writes = append(l.writes, h)
	}
	if h, ok := law.(kickHook); ok {
		l.kicks = append(l.kicks, h)
	}
	if h, ok := law.(callHook); ok {
		l.calls = append(l.calls, h)
	}
	if h, ok := law.(accessHook); ok {
		l.access = append(l.access, h)
	}
	if h, ok := law.(toldHook); ok {
		l.told = append(l.told, h)
	}
	if h, ok := law.(passHook); ok {
		l.passes = append(l.passes, h)
	}
	if h, ok := law.(noticeHook); ok {
		l.notes = append(l.notes, h)
	}
	if h, ok := law.(logHook); ok {
		l.logs = append(l.logs, h)
	}
	if h, ok := law.(endHook); ok {
		l.ends = append(l.ends, h)
	}
}

// OnWrite takes a committed write.
func (l *Laws) OnWrite(ev cluster.Event) {
	l.sources.record(l.Context, ev)
	if ev.Kind == policyKind && ev.Sub == "" {
		l.policyEdit[ev.Key.Namespace] = l.Loop.Now()
	}
	if ofTool(ev.Kind) {
		l.toolEdit = l.Loop.Now()
	}
	if ev.Manager != Manager {
		l.busy[ev.Key.Namespace] = l.Loop.Now()
	}
	if ev.Kind.Kind == "Pod" && (ev.Type == cluster.Deleted || ev.Object.GetDeletionTimestamp() != nil) {
		l.leaving[ev.Key.Namespace] = l.Loop.Now()
	}
	for _, h := range l.writes {
		h.OnWrite(l.Context, ev)
	}
	if ev.Manager != Manager {
		return
	}
	for _, h := range l.kicks {
		h.OnKick(l.Context, ev)
	}
	l.count(ev)
	l.noteEnd(ev)
}

// OnCall takes a call of KICK, before and after it is made.
func (l *Laws) OnCall(w Write) {
	l.sources.send(w)
	for _, h := range l.calls {
		h.OnCall(l.Context, w)
	}
}

// OnAccess takes a call of KICK as a role sees it.
func (l *Laws) OnAccess(a Access) {
	for _, h := range l.access {
		h.OnAccess(l.Context, a)
	}
}

// OnTold takes an Event KICK emitted.
func (l *Laws) OnTold(t Told) {
	for _, h := range l.told {
		h.OnTold(l.Context, t)
	}
}

// OnPass takes a pass that ended well.
func (l *Laws) OnPass(p Pass) {
	for _, h := range l.passes {
		h.OnPass(l.Context, p)
	}
}

// OnNotified takes a try to deliver a notification.
func (l *Laws) OnNotified(n Notified) {
	for _, h := range l.notes {
		h.OnNotified(l.Context, n)
	}
}

// OnLog takes a line KICK logged.
func (l *Laws) OnLog(line string) {
	for _, h := range l.logs {
		h.OnLog(l.Context, line)
	}
}

// AtEnd judges the final state.
func (l *Laws) AtEnd() {
	for _, h := range l.ends {
		h.AtEnd(l.Context)
	}
}

// Violations are the broken laws, after what the scenario allows is taken off.
func (l *Laws) Violations() []Violation {
	allowed := map[string]int{lawLost: l.Expect.Allow.Lost, lawSpurious: l.Expect.Allow.Spurious}
	var out []Violation
	for _, v := range l.violations {
		if allowed[v.Law] > 0 {
			allowed[v.Law]--
			continue
		}
		out = append(out, v)
	}
	return out
}
