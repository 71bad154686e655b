package request

// Reason says in one word why a request is where it is. It stands in
// status.gate.reason, in the Completed condition and in events.
type Reason string

// Reasons of a request that waits at a gate.
const (
	Allowed             Reason = "Allowed"             // every gate is open
	OutsideSchedule     Reason = "OutsideSchedule"     // no allow window is open, or a deny window is
	ConfigurationError  Reason = "ConfigurationError"  // the policy's schedule cannot be read; its gate stays closed
	PolicySuspended     Reason = "PolicySuspended"     // spec.suspend of the policy
	PolicyConflict      Reason = "PolicyConflict"      // several policies select the workload; KICK never guesses
	ProviderUnavailable Reason = "ProviderUnavailable" // the GitOps tool could not be asked
	Settling            Reason = "Settling"            // the last change is younger than restart.settleDelay
	SourceMissing       Reason = "SourceMissing"       // a required source or key does not exist: new pods could not start
	NotYet              Reason = "NotYet"              // spec.changedAt of a manual request lies in the future
	RateLimited         Reason = "RateLimited"         // KICK's last restart is younger than restart.minInterval
	MirrorPending       Reason = "MirrorPending"       // a Secret that mirrors the rotated SecretProviderClass has not followed yet
	ClassFlapping       Reason = "ClassFlapping"       // the versions of a SecretProviderClass do not come to rest; restarts for it have stopped
	ConcurrencyLimited  Reason = "ConcurrencyLimited"  // as many restarts as restart.maxConcurrent or --max-concurrent-restarts allows, or more, are under way
)

// Reasons that only a GitOps provider gives.
const (
	OwnerUnknown     Reason = "OwnerUnknown"     // no owner of the workload could be named
	AmbiguousOwner   Reason = "AmbiguousOwner"   // several objects claim the workload
	OwnerOutOfSync   Reason = "OwnerOutOfSync"   // the owner is not in its declared state
	OwnerReconciling Reason = "OwnerReconciling" // the owner is being applied
	ProjectUnknown   Reason = "ProjectUnknown"   // the project that holds the sync windows could not be read
)

// Reasons of a request that waits for its workload.
const (
	RolloutInProgress Reason = "RolloutInProgress" // the workload is between two revisions
	Paused            Reason = "Paused"            // spec.paused: a stamp would do nothing until resume
	OnDelete          Reason = "OnDelete"          // updateStrategy OnDelete: somebody must delete the pods
	Partitioned       Reason = "Partitioned"       // only pods below the partition are stale; a stamp does not reach them
	PodsNotStarted    Reason = "PodsNotStarted"    // only pods that have not started are left to judge
	RunByRollout      Reason = "RunByRollout"      // a Rollout runs its template: a stamp in it would start a canary
)

// Reasons that only an Argo Rollout gives.
const (
	UpdateInProgress Reason = "UpdateInProgress" // it is between two templates, at a step of its canary
	RolloutAborted   Reason = "RolloutAborted"   // its update was aborted; the stable pods serve
	RolloutInvalid   Reason = "RolloutInvalid"   // its controller takes no step with the spec as it is
	RestartScheduled Reason = "RestartScheduled" // somebody else's spec.restartAt lies in the future
	RestartDropped   Reason = "RestartDropped"   // its controller dropped the restart for an update; stale pods are left
	UnreadyPods      Reason = "UnreadyPods"      // the restart does not go on: too few pods are available to take one down
	EvictionRefused  Reason = "EvictionRefused"  // the restart does not go on: its pods are not evicted
)

// Reasons of an open or finished request.
const (
	Opened                   Reason = "Opened"                   // waiting for the first judgement
	Restarting               Reason = "Restarting"               // stamped; the rollout runs
	RestartCompleted         Reason = "RestartCompleted"         // the rollout KICK started is complete
	Fresh                    Reason = "Fresh"                    // every pod carries the current content
	NotRunning               Reason = "NotRunning"               // no pod runs, so none is stale
	NoLongerManaged          Reason = "NoLongerManaged"          // no policy selects the workload any more
	DryRunOnly               Reason = "DryRun"                   // spec.dryRun of the policy
	RolloutTimeout           Reason = "RolloutTimeout"           // no progress for restart.rolloutTimeout or --rollout-timeout
	ProgressDeadlineExceeded Reason = "ProgressDeadlineExceeded" // the Deployment's own deadline passed
	Reverted                 Reason = "Reverted"                 // somebody removed or replaced the stamp and left stale pods
	TargetNotFound           Reason = "TargetNotFound"           // the workload does not exist
	PatchRejected            Reason = "PatchRejected"            // the API server refuses the stamp for good
)
