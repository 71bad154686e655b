// Package request is the life of a KickRequest: its phases, the reasons it can
// give, which phase may follow which, and when a finished one may be deleted.
// Pure; see kick/model.
package request
