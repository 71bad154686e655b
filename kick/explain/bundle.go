package explain

import (
	"fmt"
	"strings"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/bundle"
)

// maxNamed is how many differing parts a sentence names.
const maxNamed = 6

// BundleReady is the sentence of a bundle's Ready condition. why is what the API server
// said, empty where it was not asked.
func BundleReady(s *bundle.Snapshot, v *bundle.Verdict, reason bundle.Reason, why string) string {
	cm := ownConfigMap(s)
	switch reason {
	case bundle.AsDeclared:
		return fmt.Sprintf("%s holds what is declared.", cm)
	case bundle.NameTaken:
		return fmt.Sprintf("%s exists and %s, so it is left alone. Delete it and then change this bundle (an annotation will do), or give the bundle another name.", cm, holder(v.Holder))
	case bundle.Terminating:
		return fmt.Sprintf("%s is about to go; it is created anew when it is gone.", cm)
	case bundle.Differs:
		switch {
		case why != "":
			return sentence(fmt.Sprintf("%s differs from the declaration in %s. A correction does not help", cm, parts(&v.Difference)), why) + " It is tried again."
		case s.ConfigMap == nil:
			return fmt.Sprintf("%s is missing, again and again; it is created anew in a moment.", cm)
		}
		return fmt.Sprintf("%s differs from the declaration in %s, again and again; the next correction waits a moment.", cm, parts(&v.Difference))
	}
	next := "It is tried again."
	if v.Action == bundle.Create && !v.Anew {
		next = "It is tried again when this bundle changes."
	}
	return sentence("The API server refuses to "+attempt(v)+" "+cm.String(), why) + " " + next
}

// BundleDrifted is the sentence of a bundle's Drifted condition.
func BundleDrifted(s *bundle.Snapshot, drifted bool) string {
	if drifted {
		return fmt.Sprintf("%s is not as declared by somebody else's doing.", ownConfigMap(s))
	}
	return "Nothing that somebody else did is left to put right."
}

// BundleWrite is the sentence of a write that was made for a bundle.
func BundleWrite(s *bundle.Snapshot, v *bundle.Verdict) string {
	cm := ownConfigMap(s)
	switch v.Action { //nolint:exhaustive // the other writes are told apart by what they are for
	case bundle.Create:
		if v.Anew {
			return fmt.Sprintf("%s was missing and has been created anew.", cm)
		}
		return fmt.Sprintf("%s has been created.", cm)
	case bundle.Restore:
		return "spec.immutable is true, so the change of the spec has been taken back; make another bundle for other content."
	case bundle.Delete:
		return fmt.Sprintf("%s differed in %s, which cannot be changed in place; it has been deleted and is created anew.", cm, parts(&v.Difference))
	}
	if v.Healing {
		return fmt.Sprintf("%s differed in %s and has been put right.", cm, parts(&v.Difference))
	}
	return fmt.Sprintf("%s has been brought to what is declared: %s.", cm, parts(&v.Difference))
}

func ownConfigMap(s *bundle.Snapshot) model.Key {
	return model.Key{Kind: "ConfigMap", Namespace: s.Bundle.ID.Namespace, Name: s.Bundle.ID.Name}
}

func attempt(v *bundle.Verdict) string {
	switch v.Action {
	case bundle.Create:
		return "create"
	case bundle.Delete:
		return "delete"
	case bundle.Keep:
		return "record what is declared for"
	default:
		return "change"
	}
}

func holder(k model.Key) string {
	if k.Name == "" {
		return "is not this bundle's"
	}
	return "belongs to " + k.String()
}

// parts names what differs, the first few of it.
func parts(d *bundle.Difference) string {
	if more := len(d.Names) - maxNamed; more > 1 {
		return strings.Join(d.Names[:maxNamed], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(d.Names, ", ")
}
