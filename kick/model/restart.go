package model

import "time"

// Restart is a restart of another workload that is, or may be, under way. Each counts
// against the limits on how many may be.
type Restart struct {
	Target    Key
	At        time.Time // KICK's stamp; KICK's clock, in place the API server's. Zero: not known
	InPlace   bool      // no new revision comes of it
	Reserved  bool      // this process is about to write the stamp, or wrote it and has not seen it yet
	Executing bool      // a request of the workload watches a restart
	Told      bool      // a request has told of this stamp, be it that it is over
	Mine      bool      // the policy of the workload that is judged selects this one, too
}
