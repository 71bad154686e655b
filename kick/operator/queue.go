package operator

import (
	"context"

	"github.com/benbjohnson/clock"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/metrics"
	"github.com/corewire/kick/kick/model"
)

// watchQueue tells in the metrics what requests wait for, out of the cache, while this
// replica leads and until end is called: a process may have several lives.
func watchQueue(ctx context.Context, mgr manager.Manager) (end func(), err error) {
	q := metrics.Queue{Now: clock.New().Now, Requests: func() ([]model.RequestStatus, bool) {
		select {
		case <-mgr.Elected():
		default:
			return nil, false
		}
		var list v1alpha1.KickRequestList
		if err := mgr.GetCache().List(ctx, &list); err != nil { // not filled yet, or ending
			return nil, false
		}
		all := make([]model.RequestStatus, 0, len(list.Items))
		for i := range list.Items {
			all = append(all, gather.Request(&list.Items[i]).Status)
		}
		return all, true
	}}
	return register(ctrlmetrics.Registry, q)
}

func register(r prometheus.Registerer, c prometheus.Collector) (end func(), err error) {
	if err := r.Register(c); err != nil {
		return nil, err
	}
	return func() { r.Unregister(c) }, nil
}
