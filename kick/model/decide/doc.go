// Package decide turns a Snapshot and the time into a Verdict: what phase the
// request of a workload is in, the one thing to do about it, and when or on what
// to look again. Pure; see kick/model.
//
// A pass goes through one ordered list of rules (rules.go). Each rule looks at
// the facts and lets the restart pass, blocks it with a reason, or settles the
// request. All of them are asked in every pass, so the Trail always tells the
// whole story; the first one that does not pass names the phase.
//
//	target -> policy -> asked -> windows -> provider -> rollout -> freshness ->
//	strategy -> settling -> flapping -> mirrors -> sources -> dry run -> interval ->
//	concurrency -> act
//
// Before the rules stand two looks that need no intention stored anywhere
// (DESIGN section 6): is there a restart of ours already (executing.go), and does
// the workload need a request at all (opening.go)?
//
// What a caller must do, in order: apply at most one write, the Action, with the
// preconditions of the Snapshot; then look again when the write's own event
// arrives, at WakeAt, or when anything in WakeOn happens.
package decide
