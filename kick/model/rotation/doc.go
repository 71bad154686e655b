// Package rotation decides what a look at the pods that mount a SecretProviderClass
// means for its record. Pure; see kick/model.
//
// The class itself says nothing of its content: the driver mounts it into each pod by
// itself, rotates each pod by itself and late, and tells in a status object of each pod
// which versions that pod's files have. So what is kept is, for each pod by its UID, what
// it was seen with first and what came since. A new pod is a baseline; another set of
// versions in the same pod is a rotation. Pods need not agree, and never do where each
// has credentials of its own (docs/decisions/0017).
//
// A round is what one rotation of the class looks like: each pod of it changes once, one
// after the other. The history of a record has one entry for each round, so that the
// readers of the class are looked at once for each, and not once for each pod.
package rotation
