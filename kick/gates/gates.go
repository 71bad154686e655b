// Package gates is the port for the second stage of the gate: a GitOps tool that
// has to agree before a workload is restarted. Each tool is one folder below, the thin
// half that reads objects; what it judges by is its namesake in kick/model/gitops. The
// first stage, a policy's own windows, needs no port (package schedule).
package gates

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/request"
)

// Readers are the two ways to read. Objects that decide are read live: no precondition
// of the restart covers them. The cache only finds their names, by its indexes.
type Readers struct {
	Cache client.Reader // may lag; holds provider objects as the providers' Strip left them
	Live  client.Reader // quorum reads
}

// Question is what a provider is asked: may this workload be restarted now?
type Question struct {
	Workload    *model.Workload
	Annotations map[string]string // of the workload object
	Now         time.Time
	// Unreconciled is spec.gitOps.requireReconciled: false. The owner must still be
	// known, and windows still count; whether it is in sync is left out.
	Unreconciled bool
}

// Provider asks one GitOps tool. Its answer must name the object, the field and
// what has to happen, and a closed gate must say what will wake it. What an object
// holds never makes an error, only a closed gate; an error is a read that failed and may
// be tried again at once.
type Provider interface {
	// Name is the value of spec.gitOps.provider.
	Name() string
	// Ask returns the tool's answer for one workload.
	Ask(ctx context.Context, r Readers, q Question) (model.Gate, error)
}

// None is the provider of a policy without a GitOps tool: always open.
type None struct{}

var _ Provider = None{}

// Name is "None".
func (None) Name() string { return "None" }

// Ask returns an open gate.
func (None) Ask(context.Context, Readers, Question) (model.Gate, error) {
	return model.Gate{Open: true, Reason: request.Allowed}, nil
}

// Retry is how long a provider that cannot be asked is left alone: no event tells that
// a right was granted or a kind installed.
const Retry = time.Minute

// Shut is the error of a step that has the answer already: the gate is shut.
type Shut struct{ Gate model.Gate }

// Error is why the gate is shut.
func (s *Shut) Error() string { return s.Gate.Detail }

// Malformed is the answer where an object of a provider cannot be understood. The error
// names the object and the field, and quotes what is wrong.
func Malformed(err error, on ...model.WakeOn) error {
	return &Shut{gitops.Closed(request.ProviderUnavailable, err.Error(), on...)}
}

// Settle makes one answer of a gate and an error. Some errors are answers: a Shut, and
// the refusals that last, of a kind that is not installed or that KICK may not read. Any
// other is returned as it is.
func Settle(gate model.Gate, err error, now time.Time) (model.Gate, error) {
	var shut *Shut
	var detail string
	switch {
	case err == nil:
		return gate, nil
	case errors.As(err, &shut):
		return shut.Gate, nil
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		detail = "its kinds are not installed"
	case apierrors.IsForbidden(err):
		detail = "KICK's role does not let it read what it needs"
	default:
		return model.Gate{}, err
	}
	return gitops.ClosedUntil(request.ProviderUnavailable, fmt.Sprintf("%s: %v", detail, err), now.Add(Retry)), nil
}

// Get reads an object live; nil: there is none of that name, or can be none. A kind that is
// not installed is an error.
func Get(ctx context.Context, r client.Reader, kind schema.GroupVersionKind, namespace, name string) (map[string]any, error) {
	if !model.Nameable(namespace) || !model.Nameable(name) {
		return nil, nil
	}
	var o unstructured.Unstructured
	o.SetGroupVersionKind(kind)
	err := r.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &o)
	switch {
	case apierrors.IsNotFound(err) && !kindMissing(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s %s/%s: %w", kind.Kind, namespace, name, err)
	}
	return o.Object, nil
}

// kindMissing tells a path that the API server does not serve from a name that is not
// taken. Only the latter is answered by the kind itself.
func kindMissing(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	d := status.Status().Details
	return d == nil || d.Name == "" || slices.ContainsFunc(d.Causes, func(c metav1.StatusCause) bool {
		return c.Type == metav1.CauseTypeUnexpectedServerResponse
	})
}

// Owners lists from the cache what a listing index finds for a workload's namespace.
func Owners(ctx context.Context, r client.Reader, kind schema.GroupVersionKind, index, namespace string) ([]unstructured.Unstructured, error) {
	var all []unstructured.Unstructured
	for _, value := range []string{namespace, gitops.Everywhere} {
		var list unstructured.UnstructuredList
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := r.List(ctx, &list, client.MatchingFields{index: value}); err != nil {
			return nil, fmt.Errorf("list %s by %s: %w", kind.Kind, index, err)
		}
		all = append(all, list.Items...)
	}
	return all, nil
}
