package operator

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/corewire/kick/kick/controllers"
)

// probes: alive as long as the process answers; ready once every cache is filled
// and somebody leads. A replica that nobody would work through is not ready, so a
// lease that cannot be had does not hide behind a green light.
func probes(mgr manager.Manager, w controllers.Wiring, o Options) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("health probe: %w", err)
	}
	for name, check := range map[string]healthz.Checker{
		"caches": func(r *http.Request) error { return synced(r.Context(), mgr, w) },
		"leader": func(r *http.Request) error { return led(r.Context(), mgr, o) },
	} {
		if err := mgr.AddReadyzCheck(name, logged(mgr.GetLogger().WithValues("check", name), check)); err != nil {
			return fmt.Errorf("readiness probe: %w", err)
		}
	}
	return nil
}

// logged says in the log why a check fails, once for each reason: the answer to
// the probe withholds it.
func logged(log logr.Logger, check healthz.Checker) healthz.Checker {
	var mu sync.Mutex
	last := ""
	return func(r *http.Request) error {
		err := check(r)
		why := ""
		if err != nil {
			why = err.Error()
		}
		mu.Lock()
		defer mu.Unlock()
		if why != "" && why != last {
			log.Info("not ready", "why", why)
		}
		last = why
		return err
	}
}

func synced(ctx context.Context, mgr manager.Manager, w controllers.Wiring) error {
	for _, t := range w.Transforms {
		informer, err := mgr.GetCache().GetInformer(ctx, t.Object, cache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("cache of %T: %w", t.Object, err)
		}
		if !informer.HasSynced() {
			return fmt.Errorf("the cache of %T is not filled yet", t.Object)
		}
	}
	return nil
}

func led(ctx context.Context, mgr manager.Manager, o Options) error {
	select {
	case <-mgr.Elected():
		return nil
	default:
	}
	_, err := leader(ctx, mgr.GetAPIReader(), o)
	return err
}
