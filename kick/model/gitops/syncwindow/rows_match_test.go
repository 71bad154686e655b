package syncwindow_test

import (
	"strings"

	"github.com/corewire/kick/kick/model/gitops/syncwindow"
)

// selectors: a deny that matches closes, one that does not leaves open.
var selectors = []row{
	{name: "none", windows: windows(map[string]any{"kind": "deny", "schedule": "0 11 * * *", "duration": "2h"}), want: "open"},
	{name: "empty lists", windows: windows(during("deny", apps(), clusters(), namespaces())), want: "open"},
	{name: "application", windows: windows(during("deny", apps("shop"))), want: "closed"},
	{name: "another application", windows: windows(during("deny", apps("shop2"))), want: "open"},
	{name: "one of many applications", windows: windows(during("deny", apps("a", "b", "shop"))), want: "closed"},
	{name: "the application's namespace is no part of its name", windows: windows(during("deny", apps("team/shop"))), want: "open"},
	{name: "namespace", windows: windows(during("deny", namespaces("sh*"))), want: "closed"},
	{name: "another namespace", windows: windows(during("deny", namespaces("other"))), want: "open"},
	{name: "no namespace, star", windows: windows(during("deny", namespaces("*"))), target: syncwindow.Target{Application: "shop"}, want: "closed"},
	{name: "no namespace, empty pattern", windows: windows(during("deny", namespaces(""))), target: syncwindow.Target{Application: "shop"}, want: "closed"},
	{name: "no namespace, two stars", windows: windows(during("deny", namespaces("**"))), target: syncwindow.Target{Application: "shop"}, want: "closed"},
	{name: "server as written", windows: windows(during("deny", clusters("https://kubernetes.default.svc"))), want: "closed"},
	{name: "server, star", windows: windows(during("deny", clusters("*"))), want: "closed"},
	{name: "server, star within", windows: windows(during("deny", clusters("https://*"))), want: "closed"},
	{name: "server, star over dots and colons", windows: windows(during("deny", clusters("*:6443"))), target: elsewhere, want: "closed"},
	{name: "the name is not looked up from the server", windows: windows(during("deny", clusters("in-cluster"))), want: "open"},
	{name: "cluster by name", windows: windows(during("deny", clusters("prod"))), target: elsewhere, want: "closed"},
	{name: "cluster by another name", windows: windows(during("deny", clusters("prod2"))), target: elsewhere, want: "open"},
	{name: "no cluster at all, star", windows: windows(during("deny", clusters("*"))), target: syncwindow.Target{Application: "shop"}, want: "open"},
	{name: "no cluster at all, empty pattern", windows: windows(during("deny", clusters(""))), target: syncwindow.Target{Application: "shop"}, want: "open"},
	{name: "a- and all namespaces, or (B45)", windows: windows(during("deny", apps("a-*"), namespaces("*"))), want: "closed"},
	{name: "a- and all namespaces, and (B45)", windows: windows(during("deny", apps("a-*"), namespaces("*"), and)), want: "open"},
	{name: "no applications and all namespaces, and (B45)", windows: windows(during("deny", apps(), namespaces("*"), and)), want: "closed"},
	{name: "a window that does not match does not close as an allow", windows: windows(aside("allow", apps("other"))), want: "open"},
	{name: "a window that does not match does not open", windows: windows(during("allow", apps("other")), aside("allow")), want: "closed"},
}

// conjunctions: application, cluster and namespace that match (x) or not (-).
var conjunctions = []row{
	{name: "or - - -", windows: windows(during("deny", apps("no"), clusters("no"), namespaces("no"))), want: "open"},
	{name: "or - - x", windows: windows(during("deny", apps("no"), clusters("no"), namespaces("shop"))), want: "closed"},
	{name: "or - x -", windows: windows(during("deny", apps("no"), clusters("https*"), namespaces("no"))), want: "closed"},
	{name: "or - x x", windows: windows(during("deny", apps("no"), clusters("https*"), namespaces("shop"))), want: "closed"},
	{name: "or x - -", windows: windows(during("deny", apps("shop"), clusters("no"), namespaces("no"))), want: "closed"},
	{name: "or x - x", windows: windows(during("deny", apps("shop"), clusters("no"), namespaces("shop"))), want: "closed"},
	{name: "or x x -", windows: windows(during("deny", apps("shop"), clusters("https*"), namespaces("no"))), want: "closed"},
	{name: "or x x x", windows: windows(during("deny", apps("shop"), clusters("https*"), namespaces("shop"))), want: "closed"},
	{name: "and - - -", windows: windows(during("deny", and, apps("no"), clusters("no"), namespaces("no"))), want: "open"},
	{name: "and - - x", windows: windows(during("deny", and, apps("no"), clusters("no"), namespaces("shop"))), want: "open"},
	{name: "and - x -", windows: windows(during("deny", and, apps("no"), clusters("https*"), namespaces("no"))), want: "open"},
	{name: "and - x x", windows: windows(during("deny", and, apps("no"), clusters("https*"), namespaces("shop"))), want: "open"},
	{name: "and x - -", windows: windows(during("deny", and, apps("shop"), clusters("no"), namespaces("no"))), want: "open"},
	{name: "and x - x", windows: windows(during("deny", and, apps("shop"), clusters("no"), namespaces("shop"))), want: "open"},
	{name: "and x x -", windows: windows(during("deny", and, apps("shop"), clusters("https*"), namespaces("no"))), want: "open"},
	{name: "and x x x", windows: windows(during("deny", and, apps("shop"), clusters("https*"), namespaces("shop"))), want: "closed"},
	{name: "and, applications only", windows: windows(during("deny", and, apps("shop"))), want: "closed"},
	{name: "and, applications and clusters", windows: windows(during("deny", and, apps("shop"), clusters("https*"))), want: "closed"},
	{name: "and, clusters only", windows: windows(during("deny", and, clusters("https*"))), want: "closed"},
	{name: "and, no selector", windows: windows(during("deny", and, apps())), want: "open"},
	{name: "useAndOperator is not the key", windows: windows(during("deny", set("useAndOperator", true), apps("no"), namespaces("shop"))), want: "closed"},
	{name: "andOperator false", windows: windows(during("deny", set("andOperator", false), apps("no"), namespaces("shop"))), want: "closed"},
}

// globs: what gobwas/glob says without separators.
var globs = []row{
	{name: "question mark", windows: windows(during("deny", apps("sho?"))), want: "closed"},
	{name: "question mark is one rune", windows: windows(during("deny", apps("shop?"))), want: "open"},
	{name: "class", windows: windows(during("deny", apps("sho[a-z]"))), want: "closed"},
	{name: "class that excludes", windows: windows(during("deny", apps("sho[!a-z]"))), want: "open"},
	{name: "alternatives", windows: windows(during("deny", apps("{web,shop}"))), want: "closed"},
	{name: "alternatives without the name", windows: windows(during("deny", apps("{web,api}"))), want: "open"},
	{name: "an exclamation mark does not negate", windows: windows(during("deny", apps("!web"))), want: "open"},
	{name: "case matters", windows: windows(during("deny", apps("Shop"))), want: "open"},
	{name: "the whole name", windows: windows(during("deny", apps("ho"))), want: "open"},
	{name: "a star may be empty", windows: windows(during("deny", apps("shop*"))), want: "closed"},
	{name: "a dot is a dot", windows: windows(during("deny", apps("sh.p"))), want: "open"},
	{name: "a backslash quotes", windows: windows(during("deny", apps(`\*`))), want: "open"},
	{name: "a pattern that cannot be read matches nothing", windows: windows(during("deny", apps("[a"))), want: "open"},
	{name: "a pattern that cannot be read beside one that matches", windows: windows(during("deny", apps("[a", "shop"))), want: "closed"},
	{name: "a pattern that cannot be read and must match", windows: windows(during("deny", and, apps("shop"), namespaces("[a"))), want: "open"},
	{name: "many stars in a row", windows: windows(during("deny", apps(strings.Repeat("*", 40)+"shop"))), want: "closed"},
	{name: "more stars than the library is given", windows: windows(during("deny", namespaces("sh*"), apps(strings.Repeat("*s", 40)))), want: "closed"},
	{name: "more stars than the library is given, and no match", windows: windows(during("deny", apps(strings.Repeat("*s", 40)))), want: "open"},
	{name: "more stars beside braces", windows: windows(during("deny", apps(strings.Repeat("*{a,b}", 11)))), want: "more than 10 stars beside brackets"},
	{name: "more stars beside braces, of a window of others", windows: windows(during("deny", and, apps("web"), clusters(strings.Repeat("*{a,b}", 11)))), want: "open"},
	{name: "an unclosed alternative", windows: windows(during("deny", apps("{a,b"))), want: "open"},
}
