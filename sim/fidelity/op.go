package fidelity

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Verb is what an operation does.
type Verb string

// The verbs.
const (
	Create   Verb = "create"
	Update   Verb = "update" // reads the object, edits it by Body, a merge patch, and puts it
	Patch    Verb = "patch"
	Apply    Verb = "apply" // server-side
	Delete   Verb = "delete"
	List     Verb = "list"
	Finalize Verb = "finalize" // a Namespace
	Wait     Verb = "wait"     // for the next whole second but one
)

// Op is one operation, told without anything that a server makes up. Its Body may
// hold $uid{Kind/name}, $version{Kind/name} and $stale{Kind/name}, with self for the
// object at hand, and $big{N} for N bytes.
type Op struct {
	Verb      Verb
	Kind      string
	Name      string // "" with generateName in Body
	Elsewhere bool   // in the sequence's second namespace, which may not exist
	Status    bool   // through the status subresource
	Manager   string
	Type      types.PatchType // of a Patch
	Body      string
	Version   string // Update and Delete: "", right, stale or none
	UID       string // Delete: "", right or wrong
	Spread    string // Delete: "", Foreground, Background or Orphan
	Grace     *int64 // Delete: seconds
	Labels    string // List: a label selector
	Fields    string // List: a field selector
	Force     bool   // Apply
	DryRun    bool
}

// String is the operation as a line of a script.
func (o Op) String() string {
	if o.Verb == Wait {
		return string(Wait)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s %s", o.Verb, o.Kind)
	if o.Status {
		b.WriteString("/status")
	}
	if o.Name != "" {
		b.WriteString(" " + o.Name)
	}
	say := func(when bool, format string, args ...any) {
		if when {
			fmt.Fprintf(&b, " "+format, args...)
		}
	}
	say(o.Elsewhere, "elsewhere")
	say(o.Manager != "", "as=%s", o.Manager)
	say(o.Type != "", "type=%s", strings.TrimSuffix(strings.TrimPrefix(string(o.Type), "application/"), "+json"))
	say(o.Version != "", "version=%s", o.Version)
	say(o.UID != "", "uid=%s", o.UID)
	say(o.Spread != "", "propagation=%s", o.Spread)
	say(o.Grace != nil, "grace=%d", deref(o.Grace))
	say(o.Labels != "", "labels=%q", o.Labels)
	say(o.Fields != "", "fields=%q", o.Fields)
	say(o.Force, "force")
	say(o.DryRun, "dry-run")
	say(o.Body != "", "%s", o.Body)
	return b.String()
}

func deref(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// Script is a sequence as a text that a person can read, one operation a line.
func Script(sequence []Op) string {
	var b strings.Builder
	for i, op := range sequence {
		fmt.Fprintf(&b, "%3d  %s\n", i+1, op)
	}
	return b.String()
}
