package cli

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
)

// signals is a context that Ctrl-C ends.
func signals() context.Context { return ctrl.SetupSignalHandler() }
