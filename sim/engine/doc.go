// Package engine runs KICK's controllers on virtual time: the same Wiring that the
// operator runs on controller-runtime, with caches, indexes, watches and queues of
// its own, on one thread.
//
// A replica is a process: everything it knows lies in its caches, queues and
// controllers and is gone when it is killed. The lease is the cluster's and stays
// until it expires. Each delivery of a watch event and each pass of a controller
// is one event of the loop, so that anything else may happen in between.
package engine
