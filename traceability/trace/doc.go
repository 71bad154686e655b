// Package trace ties the features of KICK to their proofs. The features are declared in
// traceability/features.yaml; the proofs are found where they are: scenarios say what they
// prove, tests say so at the end of their doc comment, Chainsaw tests in a trace.yaml beside
// them. Nobody keeps a list of proofs by hand, so none can rot.
//
//	problems := trace.Load(os.DirFS("."), trace.KICK()).Check()
//
// It reads a tree of files and runs nothing.
package trace
