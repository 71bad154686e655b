package operator

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/metrics"
	"github.com/corewire/kick/kick/model"
)

// counted counts the failed passes of every controller, in one place.
func counted(m *metrics.Metrics, all []controllers.Controller) []controllers.Controller {
	for i := range all {
		name, reconcile := all[i].Name, all[i].Reconcile
		all[i].Reconcile = func(ctx context.Context, k model.Key) (controllers.Result, error) {
			result, err := reconcile(ctx, k)
			if err != nil {
				m.Error(name, string(apierrors.ReasonForError(err)))
			}
			return result, err
		}
	}
	return all
}
