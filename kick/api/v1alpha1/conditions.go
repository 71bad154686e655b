package v1alpha1

// The condition types KICK writes. Each kind has one summary condition, set on the first visit and
// carrying the generation it was judged at; its reason is one of the constants documented in
// kick/model/request.
const (
	// ConditionReady is the summary of a KickPolicy or NotificationPolicy. True: the policy is in
	// force. False: it is not, and the message says what to change. Unknown: not judged yet. Of a
	// ConfigBundle, True: its ConfigMap holds what is declared.
	ConditionReady = "Ready"

	// ConditionCompleted is the summary of a KickRequest. True in the phases Succeeded,
	// NoLongerRequired and DryRun, False in Failed, Unknown while the request is in progress.
	ConditionCompleted = "Completed"

	// ConditionGateOverridden is True on a KickRequest whose restart passes, or passed, a GitOps
	// gate that was shut, because its spec.gateOverride says so. The message names the gate's
	// objection and the reason of the override. Absent otherwise.
	ConditionGateOverridden = "GateOverridden"

	// ConditionDrifted of a ConfigBundle is True while its ConfigMap differs from the declaration by
	// somebody else's doing and could not be put right yet.
	ConditionDrifted = "Drifted"
)
