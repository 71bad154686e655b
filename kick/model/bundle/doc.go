// Package bundle decides what to do about a ConfigBundle: from what was read, one
// thing to do next. Pure; see kick/model.
//
// The order is that of decide.go: what was accepted as immutable is put on record and
// held against the bundle, then the name is looked at, then what stands under it. Each
// verdict asks for one write at most, so that a crash between two of them leaves a
// state that the next pass knows: nothing depends on what an earlier pass remembers.
//
// Four things are durable and enough. The owner reference of the ConfigMap says whose
// it is; its managed fields say which labels and annotations KICK brought there, and
// whether KICK made it immutable; a record (a ControllerRevision) keeps what an
// immutable bundle declared; and the status says which declaration was judged last.
package bundle
