package crds_test

import "strings"

func requestRows() []row {
	longest := strings.Repeat("a", 253)
	return []row{
		{name: "a Deployment", object: request("{" + web + "}")},
		{name: "a StatefulSet", object: target("apiVersion: apps/v1, kind: StatefulSet, name: db")},
		{name: "a DaemonSet with dots in its name", object: target("kind: DaemonSet, name: node.agent-1")},
		{name: "a name of 253 characters", object: target("kind: Deployment, name: " + longest)},
		{name: "a name of 254 characters", object: target("kind: Deployment, name: " + longest + "a"), refused: "may not be more than 253"},
		{name: "no target", object: request("{}"), refused: "spec.targetRef: Required value"},
		{name: "no name", object: target("kind: Deployment"), refused: "spec.targetRef.name: Required value"},
		{name: "an empty name", object: target("kind: Deployment, name: \"\""), refused: "at least 1 chars long"},
		{name: "no kind", object: target("name: web"), refused: "spec.targetRef.kind: Required value"},
		{name: "a Job", object: target("kind: Job, name: web"), refused: `supported values: "Deployment", "StatefulSet", "DaemonSet"`},
		{name: "another group", object: target("apiVersion: argoproj.io/v1alpha1, kind: Deployment, name: web"), refused: `a Rollout is of apiVersion argoproj.io/v1alpha1, the other kinds are of apps/v1`},
		{name: "capitals in the name", object: target("kind: Deployment, name: Web"), refused: "name is that of the workload: lower-case letters"},
		{name: "a kind in the name", object: target("kind: Deployment, name: deployment/web"), refused: "name is that of the workload"},
		{name: "a name that ends with a dash", object: target("kind: Deployment, name: web-"), refused: "ending with a letter or digit"},

		{name: "an unknown trigger", object: asked("trigger: Cron"), refused: `supported values: "Dependency", "Manual"`},
		{name: "a reason", object: asked("reason: rotated the license on the file server")},
		{name: "a reason of 1025 characters", object: asked("reason: " + strings.Repeat("a", 1025)), refused: "may not be more than 1024"},
		{name: "a reason for what KICK saw", object: asked("trigger: Dependency, reason: because"), refused: "reason is for trigger Manual only: leave it out"},

		{name: "to change nothing", before: request("{" + web + "}"), object: request("{" + web + "}")},
		{name: "to change the reason", before: asked("reason: one"), object: asked("reason: two")},
		{name: "to set the defaults by hand", before: request("{" + web + "}"), object: request("{targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, trigger: Manual}")},
		{name: "to change the target's name", before: request("{" + web + "}"), object: target("kind: Deployment, name: api"), refused: "create another KickRequest for the other workload"},
		{name: "to change the target's kind", before: request("{" + web + "}"), object: target("kind: DaemonSet, name: web"), refused: "targetRef cannot be changed"},
		{name: "to change the trigger", before: asked("trigger: Dependency"), object: asked("trigger: Manual"), refused: "trigger cannot be changed: create another KickRequest with trigger Manual"},
		{name: "to leave the trigger out", before: asked("trigger: Dependency"), object: request("{" + web + "}"), refused: "trigger cannot be changed"},
	}
}

func requestTimeRows() []row {
	const fix = "exactly six decimals, for example 2026-03-01T12:00:00.000000Z"
	at := func(value string) string { return asked("changedAt: \"" + value + "\"") }
	return []row{
		{name: "a time of change", object: at("2026-03-01T12:00:00.000000Z")},
		{name: "a time of change in another zone", object: at("2026-03-01T14:00:00.123456+02:00")},
		{name: "a leap day", object: at("2028-02-29T00:00:00.000000Z")},
		{name: "whole seconds", object: at("2026-03-01T12:00:00Z"), refused: fix},
		{name: "milliseconds", object: at("2026-03-01T12:00:00.000Z"), refused: fix},
		{name: "nanoseconds", object: at("2026-03-01T12:00:00.000000000Z"), refused: fix},
		{name: "small letters", object: at("2026-03-01t12:00:00.000000z"), refused: fix},
		{name: "no zone", object: at("2026-03-01T12:00:00.000000"), refused: fix},
		{name: "a day that does not exist", object: at("2026-02-30T12:00:00.000000Z"), refused: fix},
		{name: "hour 24", object: at("2026-03-01T24:00:00.000000Z"), refused: fix},
		{name: "a leap second", object: at("2026-06-30T23:59:60.000000Z"), refused: fix},
		{name: "an offset that no zone has", object: at("2026-03-01T12:00:00.000000+25:00"), refused: fix},
		{name: "a word", object: at("now"), refused: fix},
		{name: "a time of change for what KICK saw", object: asked("trigger: Dependency, changedAt: " + anInstant), refused: "changedAt is for trigger Manual only"},
		{name: "an override", object: asked(`gateOverride: {until: "2026-03-01T14:00:00.123456+02:00", reason: the tool is stuck}`)},
		{name: "an override until whole seconds", object: asked(`gateOverride: {until: "2026-03-01T12:00:00Z", reason: x}`), refused: "until is a time in RFC 3339 with " + fix},
		{name: "an override without a reason", object: asked(`gateOverride: {until: "2026-03-01T12:00:00.000000Z"}`), refused: "spec.gateOverride.reason: Required value"},
		{name: "an override for no reason", object: asked(`gateOverride: {until: "2026-03-01T12:00:00.000000Z", reason: ""}`), refused: "spec.gateOverride.reason"},
		{name: "an override without an end", object: asked("gateOverride: {reason: x}"), refused: "spec.gateOverride.until: Required value"},
		{name: "to move the time of change", before: at("2026-03-01T12:00:00.000000Z"), object: at("2026-03-02T12:00:00.000000Z")},
	}
}

func requestStatusRows() []row {
	before := request("{" + web + "}")
	status := func(name, fields, refused string) row {
		return row{name: name, before: before, object: requestStatus(fields), status: true, refused: refused}
	}
	return []row{
		status("an empty phase", "phase: \"\"", ""),
		status("every part of a status", "observedGeneration: 1, phase: Executing, openedAt: "+anInstant+", completedAt: "+anInstant+
			", latestObservedDependencyChange: "+anInstant+", causes: [{kind: Secret, name: db, changedAt: "+anInstant+
			"}], gate: {reason: OutsideSchedule, message: opens at 02:00, requeueAt: "+anInstant+
			"}, currentRollout: {replicaSet: web-5d8f, startedAt: "+anInstant+", generation: 7}, conditions: [{type: Completed, status: Unknown,"+
			" reason: RolloutInProgress, message: 1 of 3 pods, observedGeneration: 1, lastTransitionTime: \"2026-03-01T12:00:00Z\"}]", ""),
		status("an unknown phase", "phase: Done", "Unsupported value"),
		status("16 causes", "causes: "+times(16, "{kind: ConfigMap, name: c%d, changedAt: "+anInstant+"}"), ""),
		status("17 causes", "causes: "+times(17, "{kind: ConfigMap, name: c%d, changedAt: "+anInstant+"}"), "must have at most 16 items"),
		status("a cause of another kind", "causes: [{kind: Pod, name: x, changedAt: "+anInstant+"}]", `supported values: "Secret", "ConfigMap"`),
		status("a time without decimals", "openedAt: \"2026-03-01T12:00:00Z\"", "should match"),
		status("a day that does not exist", "openedAt: \"2026-02-30T12:00:00.000000Z\"", "must be of type date-time"),
		status("20 transitions", "transitions: "+times(20, "{phase: WaitingForGate, at: "+anInstant+", reason: Settling, message: m%d}"), ""),
		status("21 transitions", "transitions: "+times(21, "{phase: WaitingForGate, at: "+anInstant+", reason: Settling}"), "must have at most 20 items"),
		status("a transition to nowhere", "transitions: [{phase: Done, at: "+anInstant+", reason: Settling}]", "Unsupported value"),
		status("a transition without reason", "transitions: [{phase: Failed, at: "+anInstant+"}]", "reason: Required value"),
		status("a gate without reason", "gate: {message: x}", "gate.reason: Required value"),
		status("a long message", "gate: {reason: Paused, message: "+strings.Repeat("a", 1025)+"}", "may not be more than 1024"),
		status("a rollout without stamp", "currentRollout: {replicaSet: web-5d8f}", "startedAt: Required value"),
	}
}
