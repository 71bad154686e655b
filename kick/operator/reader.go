package operator

import (
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/ledger"
)

// Reader returns what reads for the controllers, for somebody who only wants to know
// what the operator would do. cache must filter by Indexes and strip by Transforms, of
// the operator and of the integrations.
func Reader(cache, live client.Reader, o Options, i *Integrations) *gather.Gatherer {
	return &gather.Gatherer{
		Cache: cache, Live: live, Workloads: i.Workloads(), Sources: i.Sources(), Providers: i.Registry,
		Sightings: ledger.NewSightings(time.Time{}), Keys: &ledger.Keyring{}, Own: o.Namespace, Watched: o.WatchNamespaces, Settings: o.Settings(),
	}
}

// Installed are the integrations that the options ask for and whose kinds the API server serves.
func Installed(config *rest.Config, o *Options) (*Integrations, error) {
	served, err := probe(config, Probed(o))
	if err != nil {
		return nil, err
	}
	return Integrate(o, served.has), nil
}
