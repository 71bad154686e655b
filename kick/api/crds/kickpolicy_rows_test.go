package crds_test

import "strings"

func cronRows() []row {
	return []row{
		{name: "every minute", object: cron("* * * * *")},
		{name: "lists, ranges and steps", object: cron("0,30 8-17/2 1-7,15 */3 1-5")},
		{name: "names in any case", object: cron("0 2 * jan-MAR mon-Fri")},
		{name: "a question mark", object: cron("0 2 ? * 0")},
		{name: "a number with a step", object: cron("5/15 * * * *")},
		{name: "more than one space", object: cron(" 0  2 * *  * ")},
		{name: "a leading zero", object: cron("05 02 01 03 06")},
		{name: "a list of week days", object: cron("0 22 * * FRI,SAT,SUN")},
		{name: "a late range of hours", object: cron("0 20-23 * * *")},
		{name: "SAT-SUN split in two", object: cron("0 2 * * SAT,SUN")},
		{name: "an empty cron", object: cron(""), refused: "exactly five fields"},
		{name: "four fields", object: cron("0 2 * *"), refused: "exactly five fields"},
		{name: "six fields", object: cron("0 0 2 * * *"), refused: "leave out a field for seconds"},
		{name: "@daily", object: cron("@daily"), refused: "write the five fields, for example 0 0 * * *"},
		{name: "@every", object: cron("@every 1h"), refused: "write the five fields"},
		{name: "a TZ prefix", object: cron("TZ=Europe/Berlin 0 2 * * *"), refused: "put the name of the zone into timeZone"},
		{name: "a CRON_TZ prefix", object: cron("CRON_TZ=UTC 0 2 * * *"), refused: "put the name of the zone into timeZone"},
		{name: "minute 60", object: cron("60 2 * * *"), refused: "numbers from 0 to 59"},
		{name: "hour 24", object: cron("0 24 * * *"), refused: "numbers from 0 to 23"},
		{name: "day 0", object: cron("0 2 0 * *"), refused: "numbers from 1 to 31"},
		{name: "day 32", object: cron("0 2 32 * *"), refused: "numbers from 1 to 31"},
		{name: "the last day", object: cron("0 2 L * *"), refused: "L and W are not supported"},
		{name: "month 13", object: cron("0 2 * 13 *"), refused: "numbers from 1 to 12"},
		{name: "a month in full", object: cron("0 2 * March *"), refused: "names from JAN to DEC"},
		{name: "week day 7", object: cron("0 2 * * 7"), refused: "write 0 instead of 7"},
		{name: "the second Tuesday", object: cron("0 2 * * 2#2"), refused: "L and # are not supported"},
		{name: "a step of zero", object: cron("*/0 2 * * *"), refused: "steps (*/15)"},
		{name: "a trailing comma", object: cron("0, 2 * * *"), refused: "lists (0,30)"},
		{name: "a semicolon", object: cron("0 2;3 * * *"), refused: "the second field of cron is the hour"},
		{name: "a tab between fields", object: cron("0\t2 * * *"), refused: "separated by spaces"},
		{name: "MON-SUN", object: cron("0 2 * * MON-SUN"), refused: "write MON-SAT,SUN instead of MON-SUN"},
		{name: "FRI-MON behind another day", object: cron("0 2 * * WED,fri-mon"), refused: "FRI-SAT,SUN-MON instead of FRI-MON"},
		{name: "week days 5-1", object: cron("0 2 * * 5-1"), refused: "a range of week days runs from SUN (0) to SAT (6)"},
		{name: "hours past midnight", object: cron("0 22-5 * * *"), refused: "write 22-23,0-5 instead of 22-5"},
		{name: "a cron of 257 characters", object: cron(strings.Repeat("0", 249) + " * * * *"), refused: "may not be more than 256"},
	}
}

func windowRows() []row {
	return []row{
		{name: "a Deny window", object: policy("{schedule: {windows: [{type: Deny, cron: 0 0 * * *, duration: 30m}]}}")},
		{name: "no windows", object: policy("{schedule: {windows: []}}")},
		{name: "64 windows", object: policy("{schedule: {windows: " + times(64, "{type: Allow, cron: 0 2 * * *, duration: 1h, timeZone: Europe/Berlin}") + "}}")},
		{name: "65 windows", object: policy("{schedule: {windows: " + times(65, "{type: Allow, cron: 0 2 * * *, duration: 1h}") + "}}"), refused: "must have at most 64 items"},
		{name: "another type of window", object: policy("{schedule: {windows: [{type: Maybe, cron: 0 0 * * *, duration: 30m}]}}"), refused: `supported values: "Allow", "Deny"`},
		{name: "a window without type", object: policy("{schedule: {windows: [{cron: 0 0 * * *, duration: 30m}]}}"), refused: "windows[0].type: Required value"},
		{name: "a window without cron", object: window("duration: 1h"), refused: "windows[0].cron: Required value"},
		{name: "a window without duration", object: window("cron: 0 2 * * *"), refused: "windows[0].duration: Required value"},

		{name: "a duration of a second", object: duration("1s")},
		{name: "a mixed duration", object: duration("1h30m0s")},
		{name: "a duration with a fraction", object: duration("1.5h")},
		{name: "a duration of 366 days", object: duration("8784h")},
		{name: "a duration of more than 366 days", object: duration("8784h1s"), refused: "at most 8784h (366 days)"},
		{name: "a duration of nothing", object: duration("0s"), refused: "longer than 0s"},
		{name: "a negative duration", object: duration("-1h"), refused: "longer than 0s"},
		{name: "a duration in days", object: duration("2d"), refused: "write 48h instead of 2d"},
		{name: "a duration without unit", object: duration("60"), refused: "for example 1h30m"},
		{name: "an empty duration", object: duration(""), refused: "for example 1h30m"},
		{name: "a duration in words", object: duration("one hour"), refused: "for example 1h30m"},
		{name: "a duration that overflows", object: duration("9999999999999h"), refused: "at most 8784h (366 days)"},
		{name: "an ISO duration", object: duration("PT1H"), refused: "for example 1h30m"},
		{name: "a duration as a number", object: window("cron: 0 2 * * *, duration: 60"), refused: "must be of type string"},

		{name: "an empty zone", object: zone("")},
		{name: "UTC", object: zone("UTC")},
		{name: "a zone of two parts", object: zone("Europe/Berlin")},
		{name: "a zone of three parts", object: zone("America/Argentina/Buenos_Aires")},
		{name: "a zone with a sign", object: zone("Etc/GMT+5")},
		{name: "a misspelt zone", object: zone("Europe/Berln"), refused: "timeZone is a name of the IANA time zone database, for example Europe/Berlin"},
		{name: "an abbreviation", object: zone("PST"), refused: "abbreviations such as PST"},
		{name: "an offset", object: zone("+02:00"), refused: "offsets such as +02:00"},
		{name: "the zone of the machine", object: zone("Local"), refused: "Local are not zones"},
		{name: "a path as zone", object: zone("../../etc/passwd"), refused: "timeZone is a name"},
	}
}

func paceRows() []row {
	return []row{
		{name: "an empty policy", object: policy("{}")},
		{name: "a policy without spec", object: object("KickPolicy", "status: {}"), refused: "spec: Required value"},
		{name: "no settle delay and no interval", object: pace("settleDelay: 0s, minInterval: \"0\"")},
		{name: "the greatest settle delay and interval", object: pace("settleDelay: 1h, minInterval: 168h")},
		{name: "a settle delay in milliseconds", object: pace("settleDelay: 250ms")},
		{name: "a settle delay over an hour", object: pace("settleDelay: 61m"), refused: "settleDelay is from 0s (restart at once) to 1h"},
		{name: "a negative settle delay", object: pace("settleDelay: -1s"), refused: "settleDelay is from 0s (restart at once) to 1h"},
		{name: "a settle delay without unit", object: pace("settleDelay: \"5\""), refused: "for example 1s or 2m30s"},
		{name: "an interval over seven days", object: pace("minInterval: 169h"), refused: "minInterval is from 0s (no limit) to 168h (7 days)"},
		{name: "no limit of restarts at a time", object: pace("maxConcurrent: 0")},
		{name: "the greatest limit", object: pace("maxConcurrent: 10000, rolloutTimeout: 168h")},
		{name: "a negative limit", object: pace("maxConcurrent: -1"), refused: "should be greater than or equal to 0"},
		{name: "a limit over 10000", object: pace("maxConcurrent: 10001"), refused: "should be less than or equal to 10000"},
		{name: "a rollout timeout of nothing", object: pace("rolloutTimeout: 0s"), refused: "leave it out for the operator's --rollout-timeout"},
		{name: "a rollout timeout in days", object: pace("rolloutTimeout: 1d"), refused: "write 24h instead of 1d"},
		{name: "an interval in days", object: pace("minInterval: 1d"), refused: "write 24h instead of 1d"},
		{name: "provider None", object: policy("{gitOps: {provider: None}}")},
		{name: "provider Auto", object: policy("{gitOps: {provider: Auto}}")},
		{name: "provider ArgoCD", object: policy("{gitOps: {provider: ArgoCD, requireReconciled: false}}")},
		{name: "provider Flux", object: policy("{gitOps: {provider: Flux, requireReconciled: true}}")},
		{name: "provider Kargo", object: policy("{gitOps: {provider: Kargo}}")},
		{name: "a provider of tomorrow", object: policy("{gitOps: {provider: Spinnaker}}"), refused: `supported values: "None", "Auto", "ArgoCD", "Flux", "Kargo"`},
		{name: "requireReconciled as text", object: policy("{gitOps: {provider: Flux, requireReconciled: \"no\"}}"), refused: "must be of type boolean"},
		{name: "suspend and dryRun", object: policy("{suspend: true, dryRun: true}")},
		{name: "suspend as text", object: policy("{suspend: \"yes\"}"), refused: "must be of type boolean"},
	}
}

func selectorRows() []row {
	return []row{
		{name: "labels", object: selector("matchLabels: {app: web}")},
		{name: "every operator", object: selector("matchExpressions: [{key: a, operator: In, values: [x]}, {key: b, operator: NotIn, values: [x, z]}, {key: c, operator: Exists}, {key: d, operator: DoesNotExist, values: []}]")},
		{name: "an unknown operator", object: selector("matchExpressions: [{key: a, operator: Equals, values: [x]}]"), refused: "operator is In or NotIn with at least one of values"},
		{name: "In without values", object: selector("matchExpressions: [{key: a, operator: In}]"), refused: "In or NotIn with at least one of values"},
		{name: "Exists with values", object: selector("matchExpressions: [{key: a, operator: Exists, values: [x]}]"), refused: "Exists or DoesNotExist without values"},
		{name: "a dependency selector with an unknown operator", object: policy("{discovery: {dependencySelector: {matchExpressions: [{key: a, operator: exists}]}}}"), refused: "Exists or DoesNotExist without values"},
		{name: "65 expressions", object: selector("matchExpressions: " + times(65, "{key: a, operator: Exists}")), refused: "at most 64 matchLabels and 64 matchExpressions"},
	}
}

func policyStatusRows() []row {
	return []row{
		{name: "a status", before: policy("{}"), object: policyStatus("observedGeneration: 1, conditions: [" + conditionR + "]"), status: true},
		{name: "one condition twice", before: policy("{}"), object: policyStatus("conditions: [" + conditionR + ", " + conditionR + "]"), status: true, refused: "Duplicate value"},
		{name: "a negative count", before: policy("{}"), object: object("KickPolicy", "spec: {}, status: {matchedWorkloads: -1}"), status: true, refused: "greater than or equal to 0"},
		{name: "a count beyond 32 bits", before: policy("{}"), object: object("KickPolicy", "spec: {}, status: {blockedWorkloads: 4294967296}"), status: true, refused: "blockedWorkloads"},
	}
}
