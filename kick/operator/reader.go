package operator

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/ledger"
)

// Reader returns what reads for the controllers, for somebody who only wants to know
// what the operator would do. cache must filter by Indexes and strip by Transforms.
func Reader(cache, live client.Reader, o Options) *gather.Gatherer {
	return &gather.Gatherer{
		Cache: cache, Live: live, Workloads: workloadKinds, Sources: sourceKinds, Providers: providers,
		Sightings: ledger.NewSightings(time.Time{}), Keys: &ledger.Keyring{}, Own: o.Namespace, Watched: o.WatchNamespaces, Settings: o.Settings(),
	}
}
