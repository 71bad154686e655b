// Package notify decides what a NotificationPolicy tells next: from what was read, one
// thing to do. Pure; see kick/model.
//
// What there is to tell is on record: each request lists the phases it reached, in the
// status write that moved it. What was told is on record, too: the policy's status holds
// the time before which everything is settled, and what was settled after that. So no
// queue has to be kept in memory: it is what the one record has and the other has not.
package notify
