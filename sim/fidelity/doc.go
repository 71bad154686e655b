// Package fidelity makes random sequences of API operations, plays them on an API
// server and tells what it answered in words that do not depend on the server: no
// UIDs, revisions, generated names or clock readings, but which of them were equal.
// Played on the real kube-apiserver and on sim/cluster, the answers must be the same.
//
// Duty: the vocabulary (vocabulary.yaml), the generator, the player, the comparison
// and the shrinking of a sequence that differs. What a sequence is played on is the
// caller's affair: a Player needs a client, a namespace and a way to let time pass.
//
// It judges sim/cluster and must not import it: a rule shared with what is judged
// proves nothing.
//
//	sequence := fidelity.Generate(chooser, 30)
//	left, right := fidelity.Play(ctx, real, sequence), fidelity.Play(ctx, simulated, sequence)
//	if diff := fidelity.Compare(left, right); diff != nil { fmt.Print(fidelity.Script(sequence)) }
package fidelity
