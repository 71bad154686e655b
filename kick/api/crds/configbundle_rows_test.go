package crds_test

import "strings"

func bundle(spec string) string { return object("ConfigBundle", "spec: "+spec) }

func bundleStatus(fields string) string {
	return object("ConfigBundle", "spec: {}, status: {heals: 0, "+fields+"}")
}

func bundleRows() []row {
	const badKey = "a key consists of at most 253 letters, digits, -, . and _"
	longest := strings.Repeat("k", 253)
	return []row{
		{name: "nothing", object: bundle("{}")},
		{name: "no spec", object: object("ConfigBundle", "status: {heals: 0}"), refused: "spec: Required value"},
		{name: "a message", object: bundle("{message: hello}")},
		{name: "an empty message", object: bundle(`{message: ""}`)},
		{name: "everything", object: bundle("{message: hello, data: {a.b_c-D: x}, binaryData: {logo: aGk=}, immutable: true}")},
		{name: "message in data", object: bundle("{data: {message: x}}")},
		{name: "message twice", object: bundle("{message: x, data: {message: x}}"), refused: "message is given twice, as spec.message and as spec.data.message"},
		{name: "message in binaryData too", object: bundle("{message: x, binaryData: {message: aGk=}}"), refused: "message is given twice, as spec.message and as spec.binaryData.message"},
		{name: "a key in both", object: bundle("{data: {a: x}, binaryData: {a: aGk=}}"), refused: "a key stands in spec.data and in spec.binaryData"},
		{name: "the longest key", object: bundle("{data: {" + longest + ": x}}")},
		{name: "a longer key", object: bundle("{data: {" + longest + "k: x}}"), refused: badKey},
		{name: "a key with a slash", object: bundle("{data: {a/b: x}}"), refused: badKey},
		{name: "an empty key", object: bundle(`{data: {"": x}}`), refused: badKey},
		{name: "the key .", object: bundle("{data: {.: x}}"), refused: badKey},
		{name: "a key that begins with two dots", object: bundle("{binaryData: {..a: aGk=}}"), refused: badKey},
		{name: "the key ...", object: bundle("{binaryData: {...: aGk=}}"), refused: badKey},
		{name: "a key that begins with a dot", object: bundle("{data: {.env: x}}")},
		{name: "bytes that are no base64", object: bundle("{binaryData: {a: 'a b'}}"), refused: "should match"},
		{name: "bytes without padding", object: bundle("{binaryData: {a: aGk}}"), refused: "should match"},
		{name: "no bytes", object: bundle(`{binaryData: {a: ""}}`)},
		{name: "a number for text", object: bundle("{data: {a: 1}}"), refused: "must be of type string"},
		{name: "to make it immutable", before: bundle("{message: a}"), object: bundle("{message: b, immutable: true}")},
		{name: "to change what is immutable: KICK takes it back", before: bundle("{message: a, immutable: true}"), object: bundle("{message: b}")},
	}
}

func bundleStatusRows() []row {
	before := bundle("{}")
	status := func(name, fields, refused string) row {
		return row{name: name, before: before, object: bundleStatus(fields), status: true, refused: refused}
	}
	return []row{
		status("every part of a status", "observedGeneration: 1, observedMetadata: 0a1b, immutable: true, lastHealTime: "+anInstant+
			", configMap: {name: test, namespace: default, uid: u-1}, conditions: ["+conditionR+"]", ""),
		status("heals below zero", "observedGeneration: -1", "should be greater than or equal to 0"),
		status("a ConfigMap without uid", "configMap: {name: test, namespace: default}", "uid: Required value"),
		status("a heal without decimals", `lastHealTime: "2026-03-01T12:00:00Z"`, "should match"),
	}
}
