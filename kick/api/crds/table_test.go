package crds_test

import (
	"fmt"
	"strings"
)

// row is one write and what an API server must say to it. The same rows run against the validators in this
// process and against a real kube-apiserver.
type row struct {
	// name says what is tried, as the end of the sentence "try ...".
	name string
	// before is the stored object that is updated. Empty: object is created.
	before string
	// object is what is written, as yaml.
	object string
	// status says that the write goes to the status subresource.
	status bool
	// refused is a part of the message a user must see. Empty: the write is admitted.
	refused string
}

// rows lists every write, for all kinds.
func rows() []row {
	var all []row
	for _, part := range [][]row{
		cronRows(), windowRows(), paceRows(), selectorRows(), policyStatusRows(),
		requestRows(), requestTimeRows(), requestStatusRows(),
		notificationRows(), headerRows(),
		observationRows(), contentRows(),
		bundleRows(), bundleStatusRows(),
	} {
		all = append(all, part...)
	}
	return all
}

// Building blocks. Each takes the interesting part as yaml in flow style.

func object(kind, rest string) string {
	return fmt.Sprintf("{apiVersion: kick.corewire.io/v1alpha1, kind: %s, metadata: {name: test, namespace: default}, %s}", kind, rest)
}

func policy(spec string) string      { return object("KickPolicy", "spec: "+spec) }
func request(spec string) string     { return object("KickRequest", "spec: "+spec) }
func notifier(spec string) string    { return object("NotificationPolicy", "spec: "+spec) }
func observation(spec string) string { return object("SourceObservation", "spec: "+spec) }

func window(fields string) string {
	return policy("{schedule: {windows: [{type: Allow, " + fields + "}]}}")
}
func cron(expression string) string {
	return window(fmt.Sprintf("cron: %q, duration: 1h", expression))
}
func duration(value string) string {
	return window(fmt.Sprintf("cron: 0 2 * * *, duration: %q", value))
}
func zone(name string) string {
	return window(fmt.Sprintf("cron: 0 2 * * *, duration: 1h, timeZone: %q", name))
}
func pace(fields string) string { return policy("{restart: {" + fields + "}}") }
func selector(fields string) string {
	return policy("{discovery: {workloadSelector: {" + fields + "}}}")
}
func policyStatus(fields string) string {
	return object("KickPolicy", "spec: {}, status: {matchedWorkloads: 0, blockedWorkloads: 0, "+fields+"}")
}

const web = "targetRef: {kind: Deployment, name: web}"

func target(fields string) string { return request("{targetRef: {" + fields + "}}") }
func asked(fields string) string  { return request("{" + web + ", " + fields + "}") }
func requestStatus(fields string) string {
	return object("KickRequest", "spec: {"+web+"}, status: {"+fields+"}")
}

const hook = "url: \"https://hooks.example.com/kick\""

func webhook(fields string) string { return notifier("{webhook: {" + fields + "}}") }
func header(fields string) string  { return webhook(hook + ", headers: [{" + fields + "}]") }

const (
	anInstant  = "\"2026-03-01T12:00:00.000000Z\""
	aContent   = "{fingerprint: k1-abc, observed: " + anInstant + ", written: " + anInstant + ", lastWrite: \"2026-03-01T12:00:00Z\"}"
	anOldOne   = "{fingerprint: k1-abc, observed: " + anInstant + ", written: " + anInstant + ", knownUntil: " + anInstant + "}"
	secretDB   = "source: {kind: Secret, name: db}, since: " + anInstant
	aHistory   = "history: [" + aContent + "]"
	conditionR = "{type: Ready, status: \"True\", reason: Accepted, message: \"\", lastTransitionTime: \"2026-03-01T12:00:00Z\"}"
)

func record(fields string) string  { return observation("{" + secretDB + ", " + fields + "}") }
func content(fields string) string { return record("history: [{" + fields + "}]") }

// times repeats an element of a yaml list, numbered where it holds %d.
func times(n int, element string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = strings.ReplaceAll(element, "%d", fmt.Sprint(i))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
