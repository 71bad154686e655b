package crds_test

import "strings"

func notificationRows() []row {
	const key, aMark = "{name: hook, key: token}", "{uid: a, phase: Failed, at: " + anInstant + "}"
	return []row{
		{name: "an https url", object: webhook(hook)},
		{name: "an http url", object: webhook("url: \"http://sink.default.svc:8080/a?b=c\"")},
		{name: "all of it", object: notifier("{suspend: true, phases: [Failed], workloadSelector: {matchLabels: {a: b}}, webhook: {" + hook +
			", method: PUT, timeoutSeconds: 120, headers: [{name: X-Team, value: a}, {name: X-Key, valueFrom: " + key + "}], auth: {bearerToken: " + key +
			"}, tls: {caBundle: " + key + ", clientCertificate: {name: client}}}}")},
		{name: "no webhook", object: notifier("{}"), refused: "spec.webhook: Required value"},
		{name: "no url", object: webhook(""), refused: "spec.webhook.url: Required value"},
		{name: "a url without scheme", object: webhook("url: hooks.example.com"), refused: "begins with http:// or https://"},
		{name: "another scheme", object: webhook("url: \"ftp://hooks.example.com\""), refused: "begins with http:// or https://"},
		{name: "a url that is none", object: webhook("url: \"https://exa mple\""), refused: "url is an absolute address"},
		{name: "a password in the url", object: webhook("url: \"https://me:pass@hooks.example.com\""), refused: "put them into a Secret"},
		{name: "an at sign in the path", object: webhook("url: \"https://hooks.example.com/@me\"")},
		{name: "a url without host", object: webhook("url: \"https:///kick\""), refused: "url names a host"},
		{name: "a url without host but a port", object: webhook("url: \"https://:8443/kick\""), refused: "url names a host"},
		{name: "a url with a port that cannot be", object: webhook("url: \"https://hooks.example.com:99999/kick\""), refused: "url names a host"},
		{name: "a url with a line break", object: webhook("url: \"https://hooks.example.com/a\\nb\""), refused: "url is an absolute address"},
		{name: "a url with a user in escapes", object: webhook("url: \"https://me%3Apass@hooks.example.com\""), refused: "put them into a Secret"},
		{name: "a url with a backslash", object: webhook("url: 'https://hooks.example.com\\@other.example.com'"), refused: "url is an absolute address"},
		{name: "a url of IPv6", object: webhook("url: \"https://[2001:db8::1]:8443/kick\"")},
		{name: "a url with port 0", object: webhook("url: \"http://sink:0/kick\""), refused: "url names a host"},
		{name: "a url with the last port", object: webhook("url: \"http://sink:65535\"")},
		{name: "a url with a query and no path", object: webhook("url: \"http://sink?a=b\"")},
		{name: "a url of 2049 characters", object: webhook("url: \"https://a/" + strings.Repeat("a", 2039) + "\""), refused: "may not be more than 2048"},
		{name: "GET", object: webhook(hook + ", method: GET"), refused: `supported values: "POST", "PUT"`},
		{name: "CloudEvents", object: webhook(hook + ", format: CloudEvents")},
		{name: "another format", object: webhook(hook + ", format: XML"), refused: `supported values: "Plain", "CloudEvents"`},
		{name: "no time", object: webhook(hook + ", timeoutSeconds: 0"), refused: "greater than or equal to 1"},
		{name: "too much time", object: webhook(hook + ", timeoutSeconds: 121"), refused: "less than or equal to 120"},
		{name: "an unknown phase", object: notifier("{phases: [Done], webhook: {" + hook + "}}"), refused: "Unsupported value"},
		{name: "no phase", object: notifier("{phases: [], webhook: {" + hook + "}}"), refused: "at least 1 items"},
		{name: "a phase twice", object: notifier("{phases: [Failed, Failed], webhook: {" + hook + "}}"), refused: "Duplicate value"},
		{name: "a selector with an unknown operator", object: notifier("{workloadSelector: {matchExpressions: [{key: a, operator: is}]}, webhook: {" + hook + "}}"), refused: "operator is In or NotIn"},
		{name: "65 selector expressions", object: notifier("{workloadSelector: {matchExpressions: " + times(65, "{key: a, operator: Exists}") + "}, webhook: {" + hook + "}}"), refused: "at most 64 matchLabels"},

		{name: "basic auth", object: webhook(hook + ", auth: {basic: {username: " + key + ", password: " + key + "}}")},
		{name: "basic auth without password", object: webhook(hook + ", auth: {basic: {username: " + key + "}}"), refused: "password: Required value"},
		{name: "both kinds of auth", object: webhook(hook + ", auth: {bearerToken: " + key + ", basic: {username: " + key + ", password: " + key + "}}"), refused: "set exactly one of bearerToken and basic"},
		{name: "empty auth", object: webhook(hook + ", auth: {}"), refused: "set exactly one of bearerToken and basic"},
		{name: "a bad Secret name", object: webhook(hook + ", auth: {bearerToken: {name: Hook, key: a}}"), refused: "name is that of the Secret"},
		{name: "a bad Secret key", object: webhook(hook + ", auth: {bearerToken: {name: hook, key: a/b}}"), refused: "key is a key of the Secret"},
		{name: "tls without https", object: webhook("url: \"http://sink\", tls: {}"), refused: "tls is for an https url only"},
		{name: "a bad client certificate name", object: webhook(hook + ", tls: {clientCertificate: {name: A}}"), refused: "name is that of the Secret"},

		{name: "a status", before: webhook(hook), object: object("NotificationPolicy", "spec: {webhook: {"+hook+"}}, status: {delivered: 1, failed: 0, lastError: refused, lastDeliveryTime: \"2026-03-01T12:00:00Z\"}"), status: true},
		{name: "what is settled", before: webhook(hook), object: object("NotificationPolicy", "spec: {webhook: {"+hook+"}}, status: {delivered: 1, failed: 1, dropped: 2, since: "+anInstant+", lastFailureTime: \"2026-03-01T12:00:00Z\", settled: ["+aMark+"]}"), status: true},
		{name: "129 settled", before: webhook(hook), object: object("NotificationPolicy", "spec: {webhook: {"+hook+"}}, status: {settled: "+times(129, aMark)+"}"), status: true, refused: "must have at most 128 items"},
		{name: "a settled phase that is none", before: webhook(hook), object: object("NotificationPolicy", "spec: {webhook: {"+hook+"}}, status: {settled: [{uid: a, phase: Done, at: "+anInstant+"}]}"), status: true, refused: "Unsupported value"},
		{name: "a time since without decimals", before: webhook(hook), object: object("NotificationPolicy", "spec: {webhook: {"+hook+"}}, status: {since: \"2026-03-01T12:00:00Z\"}"), status: true, refused: "should match"},
		{name: "a delivery time that does not decode", before: webhook(hook), object: object("NotificationPolicy", "spec: {webhook: {"+hook+"}}, status: {lastDeliveryTime: \"2026-03-01t12:00:00z\"}"), status: true, refused: "should match"},
	}
}

func headerRows() []row {
	return []row{
		{name: "a header", object: header("name: X-Team, value: shop")},
		{name: "an empty header", object: header("name: X-Team, value: \"\"")},
		{name: "a header from a Secret", object: header("name: Authorization, valueFrom: {name: hook, key: token}")},
		{name: "a header without value", object: header("name: X-Team"), refused: "set exactly one of value and valueFrom"},
		{name: "a header with two values", object: header("name: X-Team, value: a, valueFrom: {name: hook, key: token}"), refused: "set exactly one of value and valueFrom"},
		{name: "a header name with a colon", object: header("name: \"X-Team:\", value: a"), refused: "without spaces or a colon"},
		{name: "a line break in a header", object: header("name: X-Team, value: \"a\\r\\nX-Other: b\""), refused: "value is one line"},
		{name: "a control character in a header", object: header("name: X-Team, value: \"a\\0b\""), refused: "value is one line"},
		{name: "a tab in a header", object: header("name: X-Team, value: \"a\\tb\"")},
		{name: "the header that says to whom", object: header("name: Host, value: other.example.com"), refused: "KICK sets this header itself"},
		{name: "the header that tells tries apart", object: header("name: idempotency-KEY, valueFrom: {name: h, key: k}"), refused: "KICK sets this header itself"},
		{name: "a header that changes the protocol", object: header("name: Upgrade, value: h2c"), refused: "KICK sets this header itself"},
		{name: "one header twice in other letters", object: webhook(hook + ", headers: [{name: X-Team, value: a}, {name: x-team, value: b}]"), refused: "write each once"},
		{name: "a credential in plain text", object: header("name: authorization, value: Bearer abc"), refused: "take it from a Secret with valueFrom"},
		{name: "auth beside its header", object: webhook(hook + ", auth: {bearerToken: {name: h, key: k}}, headers: [{name: authorization, valueFrom: {name: h, key: k}}]"), refused: "leave that header out of headers"},
		{name: "one header twice", object: webhook(hook + ", headers: [{name: A, value: a}, {name: A, value: b}]"), refused: "Duplicate value"},
		{name: "33 headers", object: webhook(hook + ", headers: " + times(33, "{name: A%d, value: a}")), refused: "must have at most 32 items"},
	}
}
