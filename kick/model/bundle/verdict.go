package bundle

import (
	"github.com/corewire/kick/kick/model"
)

// Action is the one write that follows from a verdict.
type Action string

// The actions.
const (
	None    Action = "None"    // nothing to write
	Report  Action = "Report"  // write Verdict.Status to the bundle
	Keep    Action = "Keep"    // put Verdict.Spec on record
	Restore Action = "Restore" // write Verdict.Spec back to the bundle
	Create  Action = "Create"  // create the ConfigMap as Verdict.Desired, never overwriting one
	Apply   Action = "Apply"   // apply Verdict.Desired to the ConfigMap
	Prune   Action = "Prune"   // remove the keys Verdict.Difference.Extra from the ConfigMap
	Delete  Action = "Delete"  // delete the ConfigMap, to be created anew
)

// Reason is the reason of a condition: stable, people alert on them. Besides these
// there are the reasons of the API server (Forbidden, Invalid, ...).
type Reason string

// The reasons.
const (
	AsDeclared  Reason = "AsDeclared"  // the ConfigMap holds what is declared
	NameTaken   Reason = "NameTaken"   // somebody else's ConfigMap has the name
	Terminating Reason = "Terminating" // a ConfigMap of the name is being deleted, or about to be
	Differs     Reason = "Differs"     // the ConfigMap differs and could not be put right yet
)

// Verdict is the answer of a pass.
type Verdict struct {
	Action Action
	// Healing says that the write mends what somebody else did: the bundle has not
	// changed since its ConfigMap was as declared.
	Healing bool
	// Anew says of Create that there was a ConfigMap before.
	Anew       bool
	Difference Difference // of Apply, Prune and Delete
	Desired    Desired    // of Create, Apply and Prune
	Spec       Spec       // of Keep and Restore
	// Status is what the bundle's status has to say if there is nothing else to write;
	// the messages of its conditions are left to package explain.
	Status Status
	Holder model.Key // who controls the ConfigMap that has the name; zero: nobody
	// Final says that there is nothing to do until the bundle changes.
	Final bool
}
