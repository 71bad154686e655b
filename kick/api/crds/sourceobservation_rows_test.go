package crds_test

import "strings"

func observationRows() []row {
	return []row{
		{name: "a record", object: record("resourceVersion: \"42\", keyID: k1, keyNames: [a, b], " + aHistory)},
		{name: "a record of an absent ConfigMap", object: observation("{source: {kind: ConfigMap, name: db}, since: " + anInstant + ", history: [{fingerprint: absent, observed: " + anInstant + ", written: " + anInstant + "}]}")},
		{name: "no source", object: observation("{since: " + anInstant + ", " + aHistory + "}"), refused: "spec.source: Required value"},
		{name: "no beginning", object: observation("{source: {kind: Secret, name: db}, " + aHistory + "}"), refused: "spec.since: Required value"},
		{name: "another kind of source", object: observation("{source: {kind: Pod, name: db}, since: " + anInstant + ", " + aHistory + "}"), refused: `supported values: "Secret", "ConfigMap"`},
		{name: "a bad source name", object: observation("{source: {kind: Secret, name: DB}, since: " + anInstant + ", " + aHistory + "}"), refused: "name is that of the source"},
		{name: "to change the source", before: record(aHistory), object: observation("{source: {kind: ConfigMap, name: db}, since: " + anInstant + ", " + aHistory + "}"), refused: "source cannot be changed"},
		{name: "to add a content", before: record(aHistory), object: record("history: [" + anOldOne + ", " + aContent + "]")},
		{name: "256 key names", object: record("keyNames: " + times(256, "k%d") + ", " + aHistory)},
		{name: "257 key names", object: record("keyNames: " + times(257, "k%d") + ", " + aHistory), refused: "must have at most 256 items"},
		{name: "a long key name", object: record("keyNames: [" + strings.Repeat("a", 129) + "], " + aHistory), refused: "may not be more than 128"},
		{name: "truncated key names", object: record("keyNamesTruncated: true, " + aHistory)},
		{name: "truncated key names that are there", object: record("keyNamesTruncated: true, keyNames: [a], " + aHistory), refused: "keyNames is left empty"},
	}
}

func contentRows() []row {
	const ok = "observed: " + anInstant + ", written: " + anInstant
	return []row{
		{name: "no history", object: record("keyID: k1"), refused: "spec.history: Required value"},
		{name: "an empty history", object: record("history: []"), refused: "at least 1 items"},
		{name: "32 contents", object: record("history: [" + strings.Repeat(anOldOne+", ", 31) + aContent + "]")},
		{name: "33 contents", object: record("history: [" + strings.Repeat(anOldOne+", ", 32) + aContent + "]"), refused: "must have at most 32 items"},
		{name: "a found content that is known to stand", object: content("baseline: true, knownUntil: " + anInstant + ", fingerprint: a, " + ok)},
		{name: "no fingerprint", object: content(ok), refused: "fingerprint: Required value"},
		{name: "an empty fingerprint", object: content("fingerprint: \"\", " + ok), refused: "at least 1 chars long"},
		{name: "a long fingerprint", object: content("fingerprint: " + strings.Repeat("a", 129) + ", " + ok), refused: "may not be more than 128"},
		{name: "a content that nobody saw come", object: content("fingerprint: a")},
		{name: "no observed time", object: content("fingerprint: a, written: " + anInstant)},
		{name: "no written time", object: content("fingerprint: a, observed: " + anInstant)},
		{name: "an observed time without decimals", object: content("fingerprint: a, observed: \"2026-03-01T12:00:00Z\", written: " + anInstant), refused: "should match"},
	}
}
