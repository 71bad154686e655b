package model

import (
	"cmp"
	"slices"
	"time"

	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/kick/model/fingerprint"
	"github.com/corewire/kick/kick/model/schedule"
)

// Key names one object: a workload, a source or a request, depending on Kind.
type Key struct {
	Kind      string
	Namespace string
	Name      string
}

// String is "Kind namespace/name", as messages print it.
func (k Key) String() string { return k.Kind + " " + k.Namespace + "/" + k.Name }

// Source is a Secret, ConfigMap or SecretProviderClass as the cache holds it: its digest
// and key names, never its values.
type Source struct {
	ID              Key
	Present         bool // false: no such object; the other fields are then zero
	UID             string
	ResourceVersion string
	Labels          map[string]string
	Digest          fingerprint.Digest
	KeyNames        []string  // sorted payload key names
	Created         time.Time // API server's clock
	LastWrite       time.Time // lambda: newest write of a content owner, API server's clock, whole seconds
	Dated           bool      // LastWrite is the date of a content owner, and each key has one; false: some write's date is not there
	Mirrors         []string  // of a SecretProviderClass: names of the Secrets that the driver makes of it
}

// HasKeys reports whether every name is a key of the payload.
func (s Source) HasKeys(names []string) (missing string, ok bool) {
	for _, name := range names {
		if !slices.Contains(s.KeyNames, name) {
			return name, false
		}
	}
	return "", true
}

// Content is one state a source has been in, and when (DESIGN section 4).
type Content struct {
	Seal       string    // keyed digest, or fingerprint.Absent while the source did not exist
	Observed   time.Time // KICK's clock; compared with KICK's own stamps only
	Written    time.Time // API server's clock; compared with creation times only
	LastWrite  time.Time // lambda as it stood when it was recorded, API server's clock, whole seconds; after Written: it lay in the future and dates nothing
	KnownUntil time.Time // API server's clock: an instant at which this content still stood
	Baseline   bool      // dated by lambda at first sight; a pod of the same second counts as fresh
}

// UnknownPast dates content of which nothing tells since when it stood: before any pod. It is
// for comparing, and told to nobody.
var UnknownPast = time.Unix(0, 0).UTC()

// Known reports whether a time is one that somebody saw.
func Known(t time.Time) bool { return t.After(UnknownPast) }

// Told is a time as it may be told: zero if nobody saw it.
func Told(t time.Time) time.Time {
	if Known(t) {
		return t
	}
	return time.Time{}
}

// Absent reports whether the source did not exist.
func (c Content) Absent() bool { return c.Seal == fingerprint.Absent }

// Record is what the ledger durably knows of one source.
type Record struct {
	ID              Key               // the source
	UID             string            // of the record object; precondition of its writes
	Version         string            // resourceVersion of the record object
	Created         time.Time         // of the record object, API server's clock
	Since           time.Time         // API server's clock: workloads older than this were there before KICK looked
	Labels          map[string]string // of the source when it last existed
	SourceVersion   string            // resourceVersion of the source when its content was recorded
	KeyID           string            // the installation key that sealed the digests
	KeyNames        []string          // sealed payload key names
	KeyNamesPartial bool              // there are more key names than the record holds
	History         []Content         // oldest first, never empty; of a SecretProviderClass its rotations
	Mounts          []Mount           // of a SecretProviderClass: what each pod mounted, by UID of the pod
}

// Mount is what one pod mounted of a SecretProviderClass, as it is on record.
type Mount struct {
	Pod     string    // UID of the pod
	Version string    // resourceVersion of the pod's status when it was recorded last
	History []Content // oldest first, never empty; the first is what the pod was first seen with
}

// Current is what the pod's status tells now.
func (m *Mount) Current() Content { return m.History[len(m.History)-1] }

// Mounted is what the status object of one pod tells of a SecretProviderClass.
type Mounted struct {
	Pod       string // UID of the pod
	Version   string // resourceVersion of the status object
	Created   time.Time
	Digest    fingerprint.Digest
	LastWrite time.Time // newest write of the status object's content, API server's clock, whole seconds
}

// Current is the newest content on record.
func (r *Record) Current() Content { return r.History[len(r.History)-1] }

// Mount is what a pod mounted, by its UID; nil: nothing is on record.
func (r *Record) Mount(pod string) *Mount {
	i, found := slices.BinarySearchFunc(r.Mounts, pod, func(m Mount, pod string) int { return cmp.Compare(m.Pod, pod) })
	if !found {
		return nil
	}
	return &r.Mounts[i]
}

// HistoryFor is the history as one consumer sees it. A pod cannot start without
// a required source, so for a consumer that requires it the times of absence
// vanish and equal contents around them are one; a consumer that tolerates
// absence has absence as a content like any other.
func (r *Record) HistoryFor(required bool) []Content {
	if !required {
		return r.History
	}
	var seen []Content
	absent := false
	for _, c := range r.History {
		switch last := len(seen) - 1; {
		case c.Absent():
		case absent && last >= 0 && seen[last].Seal == c.Seal:
			seen[last].KnownUntil = c.KnownUntil
		default:
			seen = append(seen, c)
		}
		absent = c.Absent()
	}
	return seen
}

// Dependency is a source that the workload's template reads, with all that is
// known about it.
type Dependency struct {
	discover.Dependency
	InScope    bool // the policy's dependencySelector matches it
	Source     Source
	Record     *Record   // nil: not on record yet
	Unrecorded bool      // what stands is not, or not provably, what is on record
	SeenLive   time.Time // when a change that this process saw was made, KICK's clock, at the earliest; zero: none, or no date tells
}

// Stamp is the restartedAt annotation of a template.
type Stamp struct {
	Raw     string    // as written
	At      time.Time // parsed; zero when absent or not a time
	Manager string    // field manager that owns it now
}

// ByKick reports whether KICK wrote the stamp.
func (s Stamp) ByKick() bool { return s.Manager == FieldManager && !s.At.IsZero() }

// FieldManager is the name under which KICK writes; Flux takes over fields of
// managers it takes for kubectl, so it must not look like one.
const FieldManager = "kick"

// StampAnnotation is the one thing KICK writes to a workload.
const StampAnnotation = "kubectl.kubernetes.io/restartedAt"

// Workload is a Deployment, StatefulSet or DaemonSet with the facts that matter.
type Workload struct {
	ID         Key
	APIVersion string
	UID        string
	Version    string // resourceVersion that was judged
	Generation int64
	Created    time.Time
	Deleting   bool
	Labels     map[string]string
	// Annotations of the workload object, not of its template: GitOps tools name owners there.
	Annotations map[string]string
	Stamp       Stamp
	Rollout     Rollout
	// RunBy is the workload that runs this one's template, for which a stamp in it would be
	// an update; zero: none.
	RunBy Key
}

// Rollout is how far the workload's controller is (DESIGN section 5).
type Rollout struct {
	Observed         bool   // status speaks of this generation
	Replicas         int32  // pods wanted
	Rolling          bool   // pods of another revision exist or are still to come
	Detail           string // why it is rolling or not complete, e.g. "2 of 3 pods updated"
	Complete         bool   // not rolling, and every wanted pod is available
	DeadlineExceeded bool   // the workload's own progress deadline passed
	Paused           bool
	Resumed          time.Time // when a pause ended, if nothing moved since
	OnDelete         bool      // pods are replaced only when somebody deletes them
	Partition        int32     // ordinals below it keep their revision; 0: none
	InPlace          *InPlace  // nil: a restart is a new revision
}

// InPlace is a workload whose restart replaces pods and makes no revision, so that the
// pods alone prove it (Argo Rollouts). Its stamp is whole seconds of the API server's
// clock: pods created before it go.
type InPlace struct {
	Pending  bool   // its controller has not dealt with the stamp
	Updating bool   // it is on its way from one template to another, or gave that up
	Aborted  bool   // it gave it up
	Invalid  string // why its controller takes no step at all; empty: it does
	Spare    int32  // how many pods its controller may take down now for a restart
}

// Revision is a ReplicaSet or ControllerRevision of the workload.
type Revision struct {
	Name    string
	Created time.Time
	Wanted  bool   // its template is the workload's template
	Stamp   string // raw restartedAt of its template
}

// Container is one container of a pod as its status tells.
type Container struct {
	Name       string
	Restarted  bool      // started in place more than once
	StartedAt  time.Time // upper bound of when it read its sources; zero: not running
	FinishedAt time.Time // end of its previous run; zero: none
}

// Pod is one pod of the workload, listed live.
type Pod struct {
	Name       string
	UID        string
	Created    time.Time
	Accepted   time.Time // when the kubelet took it on, before it read anything; the kubelet's clock
	Revision   string    // name of its Revision; empty: unknown
	Ordinal    int32     // StatefulSet ordinal, else -1
	Running    bool      // phase Running and not terminating
	Pending    bool      // phase Pending and not terminating
	ReadySince time.Time
	Containers []Container
	Sources    []Key // what its own template refers to, if that is not the wanted one; nil: what that does
}

// Reads reports whether the pod's template refers to a source that the workload's does.
func (p *Pod) Reads(source Key) bool { return p.Sources == nil || slices.Contains(p.Sources, source) }

// Policy is a KickPolicy that selects the workload.
type Policy struct {
	ID          Key
	Selector    string // of workloads, by their labels, as kubectl takes it; empty: all
	Suspended   bool
	DryRun      bool
	SettleDelay time.Duration
	MinInterval time.Duration
	// MaxConcurrent is how many of its workloads may be restarted at a time; 0: no limit.
	MaxConcurrent int
	// RolloutTimeout takes the place of Settings.RolloutTimeout; 0: it does not.
	RolloutTimeout time.Duration
	Schedule       schedule.Schedule
	Provider       string // the GitOps tool to ask, as spec.gitOps.provider names it; empty: none
	// Unreconciled is spec.gitOps.requireReconciled: false.
	Unreconciled bool
	Invalid      string // what is wrong with it; its gate stays closed. Empty: nothing
}

// WakeOn names a kind of event that ends a wait. Each one is backed by a watch of
// the request controller.
type WakeOn string

// What can wake a waiting request.
const (
	WakeOnWorkload WakeOn = "workload" // its spec, template or status changes
	WakeOnPolicy   WakeOn = "policy"   // a KickPolicy of the namespace changes
	WakeOnSource   WakeOn = "source"   // a source appears, disappears or changes
	WakeOnLedger   WakeOn = "ledger"   // a change is recorded
	WakeOnRequest  WakeOn = "request"  // the request itself changes
	WakeOnRestart  WakeOn = "restart"  // a restart of another workload has ended
)
