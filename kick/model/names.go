package model

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Limits of the API server for names of objects and values of labels.
const (
	maxNameLength  = 253
	maxLabelLength = 63
)

// ObjectName is the name of the one object that KICK keeps about another:
// "<kind in lower case>-<name>". A name that would be too long is cut and carries
// a hash of the whole, so that it stays valid, stable and distinct.
func ObjectName(k Key) string { return cut(strings.ToLower(k.Kind)+"-"+k.Name, maxNameLength) }

// OtherName is the name to fall back on where somebody else took ObjectName.
func OtherName(k Key) string { return cut(ObjectName(k)+"-"+hashOf(k.String()), maxNameLength) }

// LabelValue makes a name fit into a label, in the same way.
func LabelValue(name string) string { return cut(name, maxLabelLength) }

func cut(name string, limit int) string {
	if len(name) <= limit {
		return name
	}
	hash := hashOf(name)
	return strings.TrimRight(name[:limit-len(hash)-1], ".-_") + "-" + hash
}

func hashOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}

// Nameable reports whether an object can be called so: a DNS subdomain, as the API server
// wants of every kind that KICK looks for by a name that somebody else wrote. Such names
// stand in fields that nobody checks: a volume of a pod, an annotation of another tool. A
// client refuses to ask for some of those that cannot be, which is no answer, and KICK
// could keep no record of any.
func Nameable(name string) bool {
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || label[0] == '-' || label[len(label)-1] == '-' || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	return len(name) <= maxNameLength
}
