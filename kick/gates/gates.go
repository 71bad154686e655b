// Package gates is the port for the second stage of the gate: a GitOps tool that
// has to agree before a workload is restarted. Each tool is one folder below; the
// first stage, a policy's own windows, needs no port (package schedule).
package gates

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// Provider asks one GitOps tool. Its answer must name the object, the field and
// what has to happen, and a closed gate must say what will wake it. Provider
// objects are read through live: no precondition of the restart covers them.
type Provider interface {
	// Name is the value of spec.gitOps.provider.
	Name() string
	// Ask returns the tool's answer for one workload at now.
	Ask(ctx context.Context, live client.Reader, w *model.Workload, now time.Time) (model.Gate, error)
}

// None is the provider of a policy without a GitOps tool: always open.
type None struct{}

var _ Provider = None{}

// Name is "None".
func (None) Name() string { return "None" }

// Ask returns an open gate.
func (None) Ask(context.Context, client.Reader, *model.Workload, time.Time) (model.Gate, error) {
	return model.Gate{Open: true, Reason: request.Allowed}, nil
}
