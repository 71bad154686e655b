// Package operator puts KICK together: the lists of kinds, the controllers, the
// options, and the engine that runs them on controller-runtime. It is the only
// package that knows all the others.
package operator

import (
	"slices"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/argorollouts"
	"github.com/corewire/kick/kick/api/secretsstore"
	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/apply"
	"github.com/corewire/kick/kick/bundle"
	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/controllers/cleanup"
	"github.com/corewire/kick/kick/controllers/notification"
	"github.com/corewire/kick/kick/controllers/policy"
	"github.com/corewire/kick/kick/controllers/request"
	"github.com/corewire/kick/kick/controllers/source"
	"github.com/corewire/kick/kick/events"
	"github.com/corewire/kick/kick/gates"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/metrics"
	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/kick/sources"
	"github.com/corewire/kick/kick/sources/configmap"
	"github.com/corewire/kick/kick/sources/secret"
	"github.com/corewire/kick/kick/tracing"
	"github.com/corewire/kick/kick/workloads"
	"github.com/corewire/kick/kick/workloads/argorollout"
	"github.com/corewire/kick/kick/workloads/daemonset"
	"github.com/corewire/kick/kick/workloads/deployment"
	"github.com/corewire/kick/kick/workloads/statefulset"
)

// The kinds KICK knows everywhere. A new one is one folder and one line here; one that is
// installed by a tool has its line in Integrate.
var (
	workloadKinds = workloads.Registry{deployment.Kind{}, statefulset.Kind{}, daemonset.Kind{}}
	sourceKinds   = sources.Registry{secret.Kind{}, configmap.Kind{}}
)

// controllerNames label the error counter from the start.
var controllerNames = []string{"source", "request", "policy", "cleanup", notification.Name, bundle.Name}

// Deps is what an engine brings along.
type Deps struct {
	Clock   clock.Clock
	Cache   client.Reader // may lag; hands out shared objects
	Live    client.Reader // quorum reads
	Write   apply.Client
	Events  events.Recorder
	Metrics *metrics.Metrics
	Trace   *tracing.Tracer // nil: nothing is traced
	Options Options
	// Notifications are the calls that notifications make, and Deliver sends them.
	Notifications Calls
	Deliver       notification.Deliverer
	// Integrations are the GitOps tools there are.
	Integrations *Integrations
	Started      time.Time // when this process began, the API server's clock
	// ServerNow is the API server's clock, as its answers show it.
	ServerNow func() time.Time
	// Sightings is this process's memory of what its watches showed.
	Sightings *ledger.Sightings
	NewKey    func() []byte // draws an installation key
}

// NewScheme returns the scheme with every kind KICK touches.
func NewScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	utilruntime.Must(v1alpha1.AddToScheme(s))
	utilruntime.Must(argorollouts.AddToScheme(s))
	utilruntime.Must(secretsstore.AddToScheme(s))
	return s
}

// NewMetrics returns the operator's series, registered with r.
func NewMetrics(r prometheus.Registerer) *metrics.Metrics {
	known := metrics.Values{Controllers: controllerNames, Sources: []string{discover.KindSecret, discover.KindConfigMap, discover.KindSecretProviderClass}, Version: Version()}
	known.Providers = []string{gates.Auto, argoCDTool.provider, fluxTool.provider, kargoTool.provider}
	for _, k := range append(workloadKinds, argorollout.Kind{}) {
		known.Workloads = append(known.Workloads, k.Name())
	}
	return metrics.New(r, known)
}

// Wire returns everything an engine has to run. The production engine and the
// simulator run the same.
func Wire(d Deps) controllers.Wiring {
	g := &gather.Gatherer{
		Cache: d.Cache, Live: d.Live, Workloads: d.Integrations.Workloads(), Sources: d.Integrations.Sources(), Providers: d.Integrations.Registry, Lacking: d.Integrations.lacking,
		Sightings: d.Sightings, Keys: &ledger.Keyring{}, Own: d.Options.Namespace, Watched: d.Options.WatchNamespaces, Settings: d.Options.Settings(), ServerNow: d.ServerNow,
	}
	a := &apply.Applier{Client: d.Write, Workloads: d.Integrations.Workloads()}
	return controllers.Wiring{
		Controllers: counted(d.Metrics, append([]controllers.Controller{
			source.New(source.Deps{
				Clock: d.Clock, Gather: g, Apply: a, Events: d.Events, Metrics: d.Metrics,
				NewKey: d.NewKey, Started: gather.Now(fixed(d.Started)),
			}),
			request.New(request.Deps{Clock: d.Clock, Gather: g, Apply: a, Events: d.Events, Metrics: d.Metrics, Trace: d.Trace, Watches: d.Integrations.Watches(d.Cache, g)}),
			policy.New(policy.Deps{Clock: d.Clock, Gather: g, Apply: a}),
			cleanup.New(cleanup.Deps{Clock: d.Clock, Gather: g, Apply: a}),
		}, slices.Concat(notificationControllers(d, g, a), bundleControllers(d, g, a))...)),
		Indexes:    append(Indexes(), d.Integrations.Indexes()...),
		Transforms: Transforms(d.Options, d.Integrations),
	}
}

type fixed time.Time

func (f fixed) Now() time.Time { return time.Time(f) }

// Indexes are what gather looks things up by.
func Indexes() []controllers.Index {
	all := []controllers.Index{
		{
			Object: &v1alpha1.KickRequest{}, Name: gather.IndexTarget,
			Values: func(o client.Object) []string {
				t := gather.TargetOf(o.(*v1alpha1.KickRequest))
				return []string{t.Kind + "/" + t.Name}
			},
		},
		{
			Object: &v1alpha1.KickRequest{}, Name: gather.IndexHolds,
			Values: func(o client.Object) []string { return gather.HoldsValues(o.(*v1alpha1.KickRequest)) },
		},
	}
	for _, revision := range revisionKinds() {
		all = append(all, controllers.Index{Object: revision, Name: gather.IndexController, Values: gather.ControllerValues})
	}
	return append(all, workloadIndexes(workloadKinds)...)
}

// workloadIndexes are what workloads are found by: their sources, restarts under way, and
// the workload whose template they run.
func workloadIndexes(kinds workloads.Registry) []controllers.Index {
	var all []controllers.Index
	for _, k := range kinds {
		all = append(all,
			controllers.Index{Object: k.New(), Name: gather.IndexSources, Values: func(o client.Object) []string {
				var values []string
				for _, ref := range discover.Refs(&k.Template(o).Spec) {
					values = append(values, ref.Kind+"/"+ref.Name)
				}
				return values
			}},
			controllers.Index{Object: k.New(), Name: gather.IndexRestarting, Values: func(o client.Object) []string { return gather.RestartingValues(k, o) }},
		)
		if referrer, may := k.(workloads.Referrer); may {
			all = append(all, controllers.Index{Object: k.New(), Name: gather.IndexTemplate, Values: func(o client.Object) []string { return gather.TemplateValues(referrer, o) }})
		}
	}
	return all
}

// revisionKinds has one object of each kind that workloads keep their revisions in.
func revisionKinds() []client.Object {
	var all []client.Object
	known := map[string]bool{}
	for _, k := range workloadKinds {
		if name := k.RevisionKind(); !known[name] {
			known[name] = true
			all = append(all, k.Revision())
		}
	}
	return all
}

// Transforms say what each cached kind keeps. They are also the list of what is
// cached: no controller may read anything else through the cache.
func Transforms(o Options, i *Integrations) []controllers.Transform {
	dropOwners := func(o client.Object) { o.SetManagedFields(nil) }
	all := []controllers.Transform{
		{Object: &v1alpha1.KickPolicy{}, Apply: dropOwners},
		{Object: &v1alpha1.KickRequest{}, Apply: dropOwners},
		{Object: &v1alpha1.SourceObservation{}, Apply: dropOwners},
	}
	for _, k := range sourceKinds {
		t := emptied(k)
		if _, ok := t.Object.(*corev1.ConfigMap); ok {
			t.Beside = i.settings
		}
		all = append(all, t)
	}
	revisions := map[string]bool{}
	for _, k := range workloadKinds {
		all = append(all, stripped(k))
		if name := k.RevisionKind(); !revisions[name] {
			revisions[name] = true
			all = append(all, controllers.Transform{Object: k.Revision(), Apply: k.StripRevision})
		}
	}
	all = append(all, notificationTransforms(o)...)
	all = append(all, bundleTransforms(o)...)
	all = append(all, timelineTransforms(o)...)
	return append(all, i.Transforms()...)
}

// emptied is how sources of a kind, or what tells of them, are cached.
func emptied(k sources.Kind) controllers.Transform {
	return controllers.Transform{Object: k.New(), Apply: func(o client.Object) { sources.Strip(k, o) }}
}

// stripped is how workloads of a kind are cached.
func stripped(k workloads.Kind) controllers.Transform {
	return controllers.Transform{Object: k.New(), Apply: func(o client.Object) { workloads.Strip(o, k.StampPath()) }}
}
