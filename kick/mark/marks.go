package mark

// The marks, by the part of the product they stand in.
const (
	// Ledger: what a look at a source found.
	Baseline Mark = iota
	BaselinePaced
	ChangeDatedByServer
	ChangeDatedByKick
	SourceAppeared
	AppearedAndChanged
	SourceVanished
	ContentReturned
	HistoryEvicted
	RotationBegan
	RotationMissed
	KeyMade
	KeyRaceLost
	Rekeyed
	Rebaselined
	FutureWriteClamped
	StaleCacheDoubted
	RecordConflict
	RecordForgotten
	TakenOver
	WatchInterrupted

	// Freshness: which proof decided.
	FreshByRevision
	FreshByStamp
	FreshByContainerRestart
	FreshByAppearance
	FreshByEarlierContent
	FreshByMount
	StaleByMount
	JudgedWithoutPods
	RecordsReadLive

	// Phases of a request.
	PhasePending
	PhaseWaitingForGate
	PhaseWaitingForRollout
	PhaseExecuting
	PhaseSucceeded
	PhaseNoLongerRequired
	PhaseFailed
	PhaseDryRun

	// Reasons of a request.
	ReasonOutsideSchedule
	ReasonConfigurationError
	ReasonPolicySuspended
	ReasonPolicyConflict
	ReasonSettling
	ReasonSourceMissing
	ReasonNotYet
	ReasonRateLimited
	ReasonConcurrencyLimited
	ReasonClassFlapping
	ReasonMirrorPending
	WaitedForReserved
	RestartsReadLive
	ReasonRolloutInProgress
	ReasonPaused
	ReasonOnDelete
	ReasonPartitioned
	ReasonPodsNotStarted
	ReasonFresh
	ReasonNotRunning
	ReasonNoLongerManaged
	ReasonRolloutTimeout
	ReasonProgressDeadlineExceeded
	ReasonReverted
	ReasonTargetNotFound
	ReasonPatchRejected

	// Decisions that neither phase nor reason shows.
	OpenedForStalePods
	OpenedForNews
	ReopenedByChange
	ReopenedByStalePods
	FailureNotRepeated
	ChangeWhileExecuting
	ChangesCoalesced
	SettleCapped
	SteppedClockWaitOver
	StuckRolloutOverruled
	RestartFoundLate
	StampTaken
	OthersRolloutAccepted
	ManualRequestServed
	FailureKept

	// Writes and what came back.
	GateClosedBetween
	RewordedLater
	StampConflict
	StampUnanswered
	TargetReplaced
	OpenTargetReplaced
	RequestExists
	RequestJudgedLive
	RequestNameTaken
	RequestExpired
	CountsPaced

	// Bundles.
	BundleJudgedLive
	BundleHealed
	BundlePruned
	BundleReplaced
	BundleRestored
	BundleRefused
	BundlePaced

	// Notifications.
	NotificationJudgedLive
	NotificationRecordedLater
	NotificationGivenUp
	NotificationDropped

	end
)

var infos = [end]Info{
	Baseline:            {"baseline", "A source was put on record for the first time."},
	BaselinePaced:       {"baseline-paced", "A first record waited for its turn, so that adoption is no burst."},
	ChangeDatedByServer: {"change-dated-by-server", "A change was dated by the API server's own note of the write."},
	ChangeDatedByKick:   {"change-dated-by-kick", "A change that the API server dates nowhere was dated by KICK's clock and the allowance."},
	SourceAppeared:      {"source-appeared", "A source that was on record as absent came to be."},
	AppearedAndChanged:  {"appeared-and-changed", "A source came to be and was written again before KICK saw it."},
	SourceVanished:      {"source-vanished", "A source on record was deleted."},
	ContentReturned:     {"content-returned", "A source was found to have been another in between, although it is as recorded."},
	HistoryEvicted:      {"history-evicted", "A record dropped its oldest content to make room."},
	RotationBegan:       {"rotation-began", "A pod of a SecretProviderClass got other versions, the first of its rotation."},
	RotationMissed:      {"rotation-missed", "A pod was first seen with versions that its status may have told of while nobody looked."},
	KeyMade:             {"key-made", "The installation key was made."},
	KeyRaceLost:         {"key-race-lost", "Somebody else made the installation key first."},
	Rekeyed:             {"rekeyed", "A record was sealed anew under another key without a change."},
	Rebaselined:         {"rebaselined", "A record under a lost key began anew, because the source may have changed meanwhile."},
	FutureWriteClamped:  {"future-write-clamped", "A write dated further in the future than clocks may differ was dated now."},
	StaleCacheDoubted:   {"stale-cache-doubted", "The cache looked older than what is on record, so the object was read live."},
	RecordConflict:      {"record-conflict", "The write of a record met another one and the pass was made again on live objects."},
	RecordForgotten:     {"record-forgotten", "A record was deleted because nothing refers to its source any more."},
	TakenOver:           {"taken-over", "A process began that knows when another one last led."},
	WatchInterrupted:    {"watch-interrupted", "A watch broke and was filled anew by a list."},

	FreshByRevision:         {"fresh-by-revision", "A workload was proved fresh by the age of its revision alone."},
	FreshByStamp:            {"fresh-by-stamp", "A pod was proved fresh by the stamp of KICK that its revision carries."},
	FreshByContainerRestart: {"fresh-by-container-restart", "A pod older than a change was proved fresh by a container that was started again in place."},
	FreshByAppearance:       {"fresh-by-appearance", "A pod was proved fresh because it could not have started before its source appeared."},
	FreshByEarlierContent:   {"fresh-by-earlier-content", "A pod was proved fresh by an earlier time at which the content was what it is now."},
	FreshByMount:            {"fresh-by-mount", "A pod was proved fresh by the versions that its status tells of a SecretProviderClass."},
	StaleByMount:            {"stale-by-mount", "A pod got other versions of a SecretProviderClass after it had started."},
	JudgedWithoutPods:       {"judged-without-pods", "A change was seen so recently that the workload was called stale without a look at its pods."},
	RecordsReadLive:         {"records-read-live", "The open request told of a newer change than the cached records, which were read live."},

	PhasePending:           {"phase-pending", "A request was opened or opened again."},
	PhaseWaitingForGate:    {"phase-waiting-for-gate", "A request waited for its policy, a source or time."},
	PhaseWaitingForRollout: {"phase-waiting-for-rollout", "A request waited for its workload."},
	PhaseExecuting:         {"phase-executing", "A request watched over the rollout of its own stamp."},
	PhaseSucceeded:         {"phase-succeeded", "A request ended because its rollout completed."},
	PhaseNoLongerRequired:  {"phase-no-longer-required", "A request ended without a restart of its own."},
	PhaseFailed:            {"phase-failed", "A request ended in failure."},
	PhaseDryRun:            {"phase-dry-run", "A request ended because its policy only wants to know."},

	ReasonOutsideSchedule:          {"reason-outside-schedule", "A request waited for a maintenance window."},
	ReasonConfigurationError:       {"reason-configuration-error", "A request waited because its policy cannot be read."},
	ReasonPolicySuspended:          {"reason-policy-suspended", "A request waited because its policy is suspended."},
	ReasonPolicyConflict:           {"reason-policy-conflict", "A request waited because several policies select its workload."},
	ReasonSettling:                 {"reason-settling", "A request waited for a source to be quiet."},
	ReasonSourceMissing:            {"reason-source-missing", "A request waited because new pods could not start."},
	ReasonNotYet:                   {"reason-not-yet", "A request waited for the time a person named."},
	ReasonRateLimited:              {"reason-rate-limited", "A request waited because the last restart is too recent."},
	ReasonConcurrencyLimited:       {"reason-concurrency-limited", "A request waited because as many restarts as allowed, or more, were under way."},
	ReasonClassFlapping:            {"reason-class-flapping", "A request waited because the versions of a SecretProviderClass do not come to rest."},
	ReasonMirrorPending:            {"reason-mirror-pending", "A request waited for the Secret that mirrors a SecretProviderClass."},
	WaitedForReserved:              {"waited-for-reserved", "A request waited because of a restart that was only about to be made."},
	RestartsReadLive:               {"restarts-read-live", "A process asked the API server once what restarts an earlier one had left."},
	ReasonRolloutInProgress:        {"reason-rollout-in-progress", "A request waited for somebody else's rollout."},
	ReasonPaused:                   {"reason-paused", "A request met a paused Deployment."},
	ReasonOnDelete:                 {"reason-on-delete", "A request met a workload whose pods only a person may delete."},
	ReasonPartitioned:              {"reason-partitioned", "A request met stale pods that a partition keeps from any rollout."},
	ReasonPodsNotStarted:           {"reason-pods-not-started", "A request waited for pods that have not started and may read either content."},
	ReasonFresh:                    {"reason-fresh", "A request ended because every pod carries the current content."},
	ReasonNotRunning:               {"reason-not-running", "A request ended because no pod runs."},
	ReasonNoLongerManaged:          {"reason-no-longer-managed", "A request ended because no policy selects its workload."},
	ReasonRolloutTimeout:           {"reason-rollout-timeout", "A rollout made no progress for the rollout timeout."},
	ReasonProgressDeadlineExceeded: {"reason-progress-deadline-exceeded", "A Deployment gave up on a rollout of KICK."},
	ReasonReverted:                 {"reason-reverted", "Somebody took KICK's stamp away and left stale pods."},
	ReasonTargetNotFound:           {"reason-target-not-found", "A request lost its workload."},
	ReasonPatchRejected:            {"reason-patch-rejected", "The API server refused a restart for good."},

	OpenedForStalePods:    {"opened-for-stale-pods", "A request was decided on because a running pod is stale."},
	OpenedForNews:         {"opened-for-news", "A request was decided on to put it on record that nothing had to be done."},
	ReopenedByChange:      {"reopened-by-change", "A finished request began again because of a newer change."},
	ReopenedByStalePods:   {"reopened-by-stale-pods", "A finished request began again because a pod turned out to be stale."},
	FailureNotRepeated:    {"failure-not-repeated", "A failed request was left alone although its pods are stale."},
	ChangeWhileExecuting:  {"change-while-executing", "A source changed while the rollout for an earlier change ran."},
	ChangesCoalesced:      {"changes-coalesced", "One request answered several changes."},
	SettleCapped:          {"settle-capped", "A source that never rests did not hold its consumers back any longer."},
	SteppedClockWaitOver:  {"stepped-clock-wait-over", "A wait that began in the future, as a stepped clock leaves behind, was called over."},
	StuckRolloutOverruled: {"stuck-rollout-overruled", "A rollout that hangs and is older than the change did not keep KICK from restarting."},
	RestartFoundLate:      {"restart-found-late", "A restart was found on its workload long after it was made, as a crash leaves it."},
	StampTaken:            {"stamp-taken", "Somebody replaced or removed KICK's stamp while its rollout ran."},
	OthersRolloutAccepted: {"others-rollout-accepted", "A rollout that replaced KICK's own left every pod fresh."},
	ManualRequestServed:   {"manual-request-served", "A restart that a person asked for was made."},
	FailureKept:           {"failure-kept", "A failed request outlived its retention because its workload is still stale."},

	GateClosedBetween:  {"gate-closed-between", "A policy read live just before a restart forbade it, unlike the cache."},
	RewordedLater:      {"reworded-later", "What a request waits for changed twice within a second and was written once."},
	StampConflict:      {"stamp-conflict", "A restart met a newer object and was judged again."},
	StampUnanswered:    {"stamp-unanswered", "A restart got no answer: it may have been made, or may be made later."},
	TargetReplaced:     {"target-replaced", "A restart met another object of the same name."},
	OpenTargetReplaced: {"open-target-replaced", "A request was not made because its workload is another one by now."},
	RequestExists:      {"request-exists", "A request was to be made and was there already."},
	RequestJudgedLive:  {"request-judged-live", "A pass over a workload was made again on live objects."},
	RequestNameTaken:   {"request-name-taken", "The name of KICK's own request was taken by one for another workload."},
	RequestExpired:     {"request-expired", "A finished request was deleted when its time had come."},
	CountsPaced:        {"counts-paced", "A policy's counts were written later, so that a rollout is no flood of writes."},

	BundleJudgedLive: {"bundle-judged-live", "A pass over a bundle was made again on live objects."},
	BundleHealed:     {"bundle-healed", "A bundle's ConfigMap was put right, or made again, after somebody else's doing."},
	BundlePruned:     {"bundle-pruned", "Keys that nobody declared were removed from a bundle's ConfigMap."},
	BundleReplaced:   {"bundle-replaced", "A bundle's ConfigMap was deleted because it could not be put right in place."},
	BundleRestored:   {"bundle-restored", "A change of an immutable bundle was taken back."},
	BundleRefused:    {"bundle-refused", "The API server refused a write for a bundle."},
	BundlePaced:      {"bundle-paced", "A bundle that somebody changes again and again was put right a moment later."},

	NotificationJudgedLive:    {"notification-judged-live", "A pass over a notification policy was made again on a live one."},
	NotificationRecordedLater: {"notification-recorded-later", "A notification was delivered, and put on record by a later pass."},
	NotificationGivenUp:       {"notification-given-up", "A notification was given up."},
	NotificationDropped:       {"notification-dropped", "Notifications made room because too many waited."},
}
