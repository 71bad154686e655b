package check

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Operator is what laws ask of the simulated processes of KICK: their caches,
// queues and timers, never their code.
type Operator interface {
	// Wake is the true time at which a timer of the leading process looks at a
	// workload again; zero: by no timer.
	Wake(namespace, kind, name string) time.Time
	// Readers lists, as namespace/Kind/name in order, the workloads that the leading
	// process's cache finds for a source by index; false: nobody leads.
	Readers(Source) ([]string, bool)
	// Grants are the rights of KICK's service account.
	Grants() []Grant
}

// Grant is the right to some verbs on some resources.
type Grant struct {
	Own       bool // in KICK's own namespace only
	Groups    []string
	Resources []string // a subresource follows a slash
	Verbs     []string
}

// Known is how far the caches of a process had followed the server when it began to
// judge: the true time of the oldest commit they did not show, by kind, and just
// after the beginning if they showed all. Zero means that nothing is known of it: it may know all.
type Known struct {
	// Pass is the number of the pass that knows it, of all passes of a run; zero: none.
	Pass                                              int64
	Secrets, ConfigMaps, Records, Workloads, Requests time.Time
	// Classes are SecretProviderClasses and what tells of the pods that mount them.
	Classes time.Time
	// Began is when its caches were filled first.
	Began time.Time
	// Policies is when it read the policies live for the last time; zero: it did not.
	Policies time.Time
	// Pods is when it listed pods for the last time; zero: it did not.
	Pods time.Time
	// Read is up to when it knows of a source that it read live itself.
	Read map[Source]time.Time
}

// showed reports whether caches that had followed the server up to an instant showed what was
// committed at another one.
func showed(followed, committed time.Time) bool {
	return followed.IsZero() || followed.After(committed)
}

// of is how far the caches had followed a source, or up to when it was read live.
func (k Known) of(s Source) time.Time {
	if read, live := k.Read[s]; live {
		return read
	}
	if s.Kind == "Secret" {
		return k.Secrets
	}
	return k.ConfigMaps
}

// Told is an Event that KICK emitted.
type Told struct {
	Request types.NamespacedName // zero: it is about a bundle
	Bundle  types.NamespacedName
	Reason  string
	Note    string
}
