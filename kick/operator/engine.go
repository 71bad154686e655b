package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/notify"
)

// Back-off of a key whose pass failed, and the longest a pass may take.
const (
	firstRetry  = 50 * time.Millisecond
	lastRetry   = time.Minute
	passTimeout = 30 * time.Second
)

// Run runs KICK until the context ends. It returns an error, before anything is
// watched or written, if the cluster lacks a CRD or a right it needs. Where kinds of a
// GitOps tool are installed or removed later it stops all it does and starts anew, as
// a restart of the process would.
func Run(ctx context.Context, config *rest.Config, o Options, log logr.Logger) error {
	t, end, err := startTracing(ctx, o, log)
	if err != nil {
		return err
	}
	defer end()
	told := instruments{NewMetrics(ctrlmetrics.Registry), t}
	for {
		again, err := live(ctx, config, o, told, log)
		if err != nil || !again {
			return err
		}
		log.Info("the installed kinds of GitOps tools have changed; starting anew to take them up")
	}
}

// live runs until the context ends or other kinds are installed; again: the latter.
func live(ctx context.Context, config *rest.Config, o Options, told instruments, log logr.Logger) (again bool, err error) {
	server := &serverClock{}
	config = rest.CopyConfig(config)
	config.Wrap(server.listen)
	config.QPS, config.Burst, config.UserAgent = o.KubeAPIQPS, o.KubeAPIBurst, "kick"
	installed, integrations, err := integrate(ctx, config, &o, log)
	if err != nil {
		return false, err
	}
	alive, err := lastAlive(ctx, config, o)
	if err != nil {
		return false, err
	}
	sightings, started := ledger.NewSightings(alive), server.Now()
	lock, end, err := newLock(config, o, sightings, server)
	if err != nil {
		return false, err
	}
	defer end()
	mgr, err := newManager(config, o, log, cacheOptions(o, sightings, server, integrations), lock)
	if err != nil {
		return false, err
	}
	calls, err := notificationCalls(config)
	if err != nil {
		return false, err
	}
	wiring := Wire(Deps{
		Clock: clock.New(), Cache: mgr.GetCache(), Live: mgr.GetAPIReader(), Write: mgr.GetClient(),
		Events: recorder{mgr.GetEventRecorder(reportingController)}, Metrics: told.metrics, Trace: told.trace, Options: o, Integrations: integrations,
		Notifications: calls, Deliver: &notify.Sender{Clock: clock.New(), Local: o.Notifications.Local, Agent: "kick/" + Version()},
		Started: started, ServerNow: server.Now, Sightings: sightings, NewKey: ledger.NewKeyBytes,
	})
	if err := errors.Join(connect(ctx, mgr, wiring), serveTimeline(ctx, mgr, config, o, integrations), probes(mgr, wiring, o)); err != nil {
		return false, err
	}
	life, stop := context.WithCancel(ctx)
	defer stop()
	watch := &kindWatch{config: config, kinds: Probed(&o), installed: installed, stop: stop}
	if err := mgr.Add(watch); err != nil {
		return false, fmt.Errorf("watch the installed kinds: %w", err)
	}
	unwatch, err := watchQueue(ctx, mgr)
	if err != nil {
		return false, fmt.Errorf("metrics: %w", err)
	}
	defer unwatch()
	err = mgr.Start(life)
	return watch.changed.Load() && ctx.Err() == nil, err
}

// integrate finds out which tools are installed, and whether KICK may do what it is for.
func integrate(ctx context.Context, config *rest.Config, o *Options, log logr.Logger) (kindSet, *Integrations, error) {
	installed, err := probe(config, Probed(o))
	if err != nil {
		return nil, nil, err
	}
	integrations := Integrate(o, installed.has)
	if err := preflight(ctx, config, *o, integrations); err != nil {
		return nil, nil, err
	}
	for _, what := range integrations.Skipped {
		log.Info("integration skipped", "missing", what)
	}
	return installed, integrations, nil
}

func newManager(config *rest.Config, o Options, log logr.Logger, c cache.Options, lock resourcelock.Interface) (manager.Manager, error) {
	return ctrl.NewManager(config, ctrl.Options{
		Scheme:                              NewScheme(),
		Logger:                              log,
		Cache:                               c,
		Metrics:                             metricsserver.Options{BindAddress: o.MetricsAddress},
		HealthProbeBindAddress:              o.HealthAddress,
		LeaderElection:                      o.LeaderElect,
		LeaderElectionID:                    LeaseName,
		LeaderElectionNamespace:             o.Namespace,
		LeaderElectionResourceLockInterface: lock,
		LeaderElectionReleaseOnCancel:       true,
		LeaseDuration:                       &o.LeaseDuration,
		RenewDeadline:                       &o.RenewDeadline,
		RetryPeriod:                         &o.RetryPeriod,
	})
}

// cacheOptions: objects enter the cache stripped and leave it without a copy,
// since nothing that reads them changes them. A read of a kind that is not cached
// is an error, not a new informer.
func cacheOptions(o Options, s *ledger.Sightings, server *serverClock, i *Integrations) cache.Options {
	shared := true
	c := cache.Options{
		DefaultUnsafeDisableDeepCopy: &shared, ReaderFailOnMissingInformer: true,
		ByObject:    map[client.Object]cache.ByObject{},
		NewInformer: followed(s, server, o.ClockAllowance),
	}
	for _, t := range Transforms(o, i) {
		c.ByObject[t.Object] = cache.ByObject{Namespaces: namespaces(&t, o.WatchNamespaces), Field: t.Only, Transform: func(in any) (any, error) {
			if obj, ok := in.(client.Object); ok {
				t.Apply(obj)
			}
			return in, nil
		}}
	}
	return c
}

// namespaces are those of which a kind is cached; nil: all of them.
func namespaces(t *controllers.Transform, watched []string) map[string]cache.Config {
	if t.Everywhere {
		watched = t.Within
	}
	if len(watched) == 0 {
		return nil
	}
	all := map[string]cache.Config{}
	if t.Beside.Name != "" {
		all[t.Beside.Namespace] = cache.Config{FieldSelector: fields.OneTermEqualSelector("metadata.name", t.Beside.Name)}
	}
	for _, n := range watched {
		all[n] = cache.Config{}
	}
	return all
}

// connect hands the wiring to the manager.
func connect(ctx context.Context, mgr manager.Manager, w controllers.Wiring) error {
	for _, i := range w.Indexes {
		if err := mgr.GetFieldIndexer().IndexField(ctx, i.Object, i.Name, i.Values); err != nil {
			return fmt.Errorf("index %s of %T: %w", i.Name, i.Object, err)
		}
	}
	for _, t := range w.Transforms { // kinds that are read but not watched need an informer too
		if _, err := mgr.GetCache().GetInformer(ctx, t.Object, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("cache %T: %w", t.Object, err)
		}
	}
	for i := range w.Controllers {
		if err := add(mgr, &w.Controllers[i]); err != nil {
			return fmt.Errorf("controller %s: %w", w.Controllers[i].Name, err)
		}
	}
	return nil
}

// add makes a controller of controller-runtime out of ours. Its sources start
// before it leads, so that a standby takes over with warm caches.
func add(mgr manager.Manager, c *controllers.Controller) error {
	warm, again := true, true
	made, err := controller.NewTyped(c.Name, mgr, controller.TypedOptions[model.Key]{
		Reconciler:              reconciler{c},
		MaxConcurrentReconciles: max(c.Workers, 1),
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[model.Key](firstRetry, lastRetry),
		EnableWarmup:            &warm,
		ReconciliationTimeout:   cmp.Or(c.Timeout, passTimeout),
		SkipNameValidation:      &again, // several operators in one process, in tests
		LogConstructor: func(k *model.Key) logr.Logger {
			l := mgr.GetLogger().WithValues("controller", c.Name)
			if k != nil {
				l = l.WithValues("key", k.String())
			}
			return l
		},
	})
	if err != nil {
		return err
	}
	for i := range c.Watches {
		w := &c.Watches[i]
		if err := made.Watch(source.TypedKind(mgr.GetCache(), w.Object, handlerOf(w))); err != nil {
			return err
		}
	}
	return nil
}

type reconciler struct{ c *controllers.Controller }

// Reconcile makes one pass.
func (r reconciler) Reconcile(ctx context.Context, k model.Key) (reconcile.Result, error) {
	result, err := r.c.Reconcile(ctx, k)
	return reconcile.Result{RequeueAfter: result.After}, err
}

type queue = workqueue.TypedRateLimitingInterface[model.Key]

// handlerOf turns cache events into keys. What the initial list brings waits
// behind real changes.
func handlerOf(w *controllers.Watch) handler.TypedFuncs[client.Object, model.Key] {
	low := handler.LowPriority
	return handler.TypedFuncs[client.Object, model.Key]{
		CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[client.Object], q queue) {
			keys := w.Keys(ctx, controllers.Event{New: e.Object, Listed: e.IsInInitialList})
			if pq, ok := q.(priorityqueue.PriorityQueue[model.Key]); ok && e.IsInInitialList {
				pq.AddWithOpts(priorityqueue.AddOpts{Priority: &low}, keys...)
				return
			}
			enqueue(q, keys)
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[client.Object], q queue) {
			enqueue(q, w.Keys(ctx, controllers.Event{Old: e.ObjectOld, New: e.ObjectNew}))
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[client.Object], q queue) {
			enqueue(q, w.Keys(ctx, controllers.Event{Old: e.Object}))
		},
	}
}

func enqueue(q queue, keys []model.Key) {
	for _, k := range keys {
		q.Add(k)
	}
}
