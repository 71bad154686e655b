// Package faults lists what can go wrong with a call of the operator, one entry a
// fault. A fault needs a licence: something real that permits it. Without one it
// would only raise false alarms (DESIGN section 9).
package faults

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Fault is one way for a call to go wrong.
type Fault struct {
	Name    string
	Doc     string
	Licence string // what in the real world permits it
	// Lands says whether the write reaches the store all the same.
	Lands bool
	// Watch marks a fault of the cache rather than of a call: deliveries of the
	// kind are held back until it is healed.
	Watch bool
	// Err is what the caller gets; nil for a fault of the cache.
	Err func(schema.GroupResource, string) error
}

// All are the faults, by name.
var All = []Fault{
	{
		Name: "conflict", Doc: "The write is answered 409 although nothing was written.",
		Licence: "Another writer moved the object's resourceVersion between read and write (etcd3 store, GuaranteedUpdate).",
		Err: func(r schema.GroupResource, name string) error {
			return apierrors.NewConflict(r, name, fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again"))
		},
	},
	{
		Name: "serverError", Doc: "The write is answered 500 and lost.",
		Licence: "etcd leader change, storage error.",
		Err: func(schema.GroupResource, string) error {
			return apierrors.NewInternalError(fmt.Errorf("etcdserver: leader changed"))
		},
	},
	{
		Name: "staleCache", Doc: "Watch events of the kind are held back until it is healed or the process ends.",
		Licence: "Informers deliver late, without bound (client-go shared_informer).",
		Watch:   true,
	},
	{
		Name: "throttled", Doc: "The write is answered 429 and lost.",
		Licence: "API priority and fairness.",
		Err: func(schema.GroupResource, string) error {
			return apierrors.NewTooManyRequests("too many requests, please try again later", 1)
		},
	},
	{
		Name: "timeoutLanded", Doc: "The write is answered with a timeout and was stored.",
		Licence: "The request's context ends while the storing goroutine runs on (apiserver finisher).", Lands: true,
		Err: func(r schema.GroupResource, _ string) error { return apierrors.NewServerTimeout(r, "write", 1) },
	},
	{
		Name: "timeoutLost", Doc: "The write is answered with a timeout and was not stored.",
		Licence: "The connection broke before the request arrived.",
		Err:     func(r schema.GroupResource, _ string) error { return apierrors.NewServerTimeout(r, "write", 1) },
	},
}

// ByName returns the fault of that name, or nil.
func ByName(name string) *Fault {
	for i := range All {
		if All[i].Name == name {
			return &All[i]
		}
	}
	return nil
}

// Names are the names of all faults, in order.
func Names() []string {
	names := make([]string, len(All))
	for i := range All {
		names[i] = All[i].Name
	}
	return names
}
