package faults

import (
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Faults of one call.
var (
	Conflict = &Fault{
		Name: "conflict", Doc: "The write is answered 409 although nothing was written. It must carry a resourceVersion or UID.",
		Licence:     "Another writer moved the object's resourceVersion between read and write (etcd3 store, GuaranteedUpdate).",
		Conditional: true,
		Err: func(r schema.GroupResource, name string) error {
			return apierrors.NewConflict(r, name, errors.New("the object has been modified; please apply your changes to the latest version and try again"))
		},
	}
	CrashLanded = &Fault{
		Name: "crashLanded", Doc: "The process is killed at the write, which was stored.",
		Licence: "A process can end at any instant; its lease stays until it expires.", Write: Landed, Crash: true,
	}
	CrashLost = &Fault{
		Name: "crashLost", Doc: "The process is killed at the write, which was not stored.",
		Licence: "A process can end at any instant; its lease stays until it expires.", Crash: true,
	}
	Forbidden = &Fault{
		Name: "forbidden", Doc: "The write is answered 403 and lost.",
		Licence: "An admission webhook or a quota refuses it for the time being, or its rights were taken away.",
		Err: func(r schema.GroupResource, name string) error {
			return apierrors.NewForbidden(r, name, errors.New("denied by an admission webhook"))
		},
	}
	LeaseLost = &Fault{
		Name: "leaseLost", Doc: "From the call on the leader cannot renew its lease; it goes on until its renew deadline, then it exits.",
		Licence: "Requests for the lease fail while others go through (client-go leaderelection, renew).",
	}
	PauseAtCall = &Fault{
		Name: "pause", Doc: "The process stands still for 20s before the call is sent, longer than its lease, then goes on.",
		Licence: "Garbage collection, a frozen node; a lease is no fencing token (client-go leaderelection).", Reads: true,
	}
	ServerError = &Fault{
		Name: "serverError", Doc: "The call is answered 500; a write is lost.",
		Licence: "etcd leader change, storage error.", Reads: true,
		Err: func(schema.GroupResource, string) error {
			return apierrors.NewInternalError(errors.New("etcdserver: leader changed"))
		},
	}
	Throttled = &Fault{
		Name: "throttled", Doc: "The call is answered 429; a write is lost.",
		Licence: "API priority and fairness.", Reads: true,
		Err: func(schema.GroupResource, string) error {
			return apierrors.NewTooManyRequests("too many requests, please try again later", 1)
		},
	}
	TimeoutLanded = &Fault{
		Name: "timeoutLanded", Doc: "The write is answered with a timeout and was stored.",
		Licence: "The request's context ends while the storing goroutine runs on (apiserver finisher).", Write: Landed,
		Err: timeout,
	}
	TimeoutLate = &Fault{
		Name: "timeoutLate", Doc: "The write is answered with a timeout and lands 2s later, if its preconditions hold then.",
		Licence: "The request's context ends while the storing goroutine runs on (apiserver finisher).", Write: Late,
		Err: timeout,
	}
	TimeoutLost = &Fault{
		Name: "timeoutLost", Doc: "The call is answered with a timeout; a write was not stored.",
		Licence: "The connection broke before the request arrived.", Reads: true,
		Err: timeout,
	}
)

func timeout(r schema.GroupResource, _ string) error { return apierrors.NewServerTimeout(r, "call", 1) }

// What can happen to a call, the plain case (nil) first. A schedule chooses among
// these, so their order is part of what a recorded schedule means.
var (
	writes = []*Fault{
		nil, CrashLost, CrashLanded, TimeoutLost, TimeoutLanded, TimeoutLate, ServerError, Throttled, Forbidden, LeaseLost,
	}
	conditional = append(slices.Clip(writes), Conflict)
	reads       = []*Fault{nil, ServerError, TimeoutLost}

	writesPaused      = append(slices.Clip(writes), PauseAtCall)
	conditionalPaused = append(slices.Clip(conditional), PauseAtCall)
	readsPaused       = append(slices.Clip(reads), PauseAtCall)
)

// OfWrite are the outcomes of a write: with preconditions or without, of a pass
// that can be suspended (only then its process can pause in the middle of it) or not.
func OfWrite(preconditions, suspendable bool) []*Fault {
	switch {
	case preconditions && suspendable:
		return conditionalPaused
	case preconditions:
		return conditional
	case suspendable:
		return writesPaused
	default:
		return writes
	}
}

// OfRead are the outcomes of a live read.
func OfRead(suspendable bool) []*Fault {
	if suspendable {
		return readsPaused
	}
	return reads
}

// Befalls reports whether a call can meet the fault.
func (f *Fault) Befalls(read, preconditions bool) bool {
	return f.Place == Call && (!read || f.Reads) && (!f.Conditional || preconditions)
}
