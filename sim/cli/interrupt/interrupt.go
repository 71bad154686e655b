// Package interrupt listens to Ctrl-C from the first moment of a program on.
//
// A main function begins after the packages of Kubernetes have set themselves up, which
// takes a third of a second, and until somebody listens Ctrl-C ends a program without a
// word. Packages are initialised by their paths, but after what they import: so this one
// imports nothing but a few of the standard library, and stands early.
package interrupt

import (
	"context"
	"os"
	"os/signal"
)

var first, stop = signal.NotifyContext(context.Background(), os.Interrupt)

// Context ends with the first Ctrl-C. A second one ends the program at once.
func Context() context.Context {
	context.AfterFunc(first, stop)
	return first
}
