package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/installation"
	"github.com/corewire/kick/kick/operator"
)

const (
	bundleSpace   = "bench-bundles"
	declared      = "as declared"
	editors       = 8               // connections that edit at a time
	calm          = 3 * time.Second // without a write, after which none comes
	healTimeout   = 5 * time.Minute
	floorManager  = "bench-floor"
	bundleMessage = "message"
)

// BundleReport is what a mass edit of ConfigMaps that bundles declare came to.
type BundleReport struct {
	Bundles     int
	Heals       []time.Duration // from an edit, as the watch shows it, to its heal; sorted
	Edit, Floor time.Duration   // to edit them all; to apply them all again by one client, which knows which ones
	All         time.Duration   // from the first edit to the last heal
	Writes      int             // of ConfigMaps after the edits: one each is the least
}

// String is the table people read.
func (r BundleReport) String() string {
	return fmt.Sprintf(`%d bundles, their ConfigMaps edited all at once
edited within                 %8.0f ms
floor: one client applies all %8.0f ms
first edit to last heal       %8.0f ms
an edit to its heal, median   %8.0f ms
                     p95      %8.0f ms
writes of ConfigMaps          %8.2f for each
`, r.Bundles, ms(r.Edit), ms(r.Floor), ms(r.All), ms(Quantile(r.Heals, 0.5)), ms(Quantile(r.Heals, 0.95)), float64(r.Writes)/float64(max(r.Bundles, 1)))
}

// MeasureBundles declares n bundles, edits their ConfigMaps and waits until they are
// healed by an operator that may make so many requests a second; 0: its own default.
func MeasureBundles(ctx context.Context, plane *controlplane.ControlPlane, n, qps int) (report BundleReport, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, healTimeout, errors.New("the bundles are not healed"))
	defer cancel()
	kick, err := installation.New(ctx, plane, "kick-system")
	if err != nil {
		return report, err
	}
	flags := []string{"--log-level=error", "--enable-config-bundles"}
	if qps > 0 {
		flags = append(flags, fmt.Sprintf("--kube-api-qps=%d", qps), fmt.Sprintf("--kube-api-burst=%d", 2*qps))
	}
	operating, err := kick.Start(flags...)
	if err != nil {
		return report, err
	}
	if err := operating.WaitReady(ctx); err != nil {
		return report, err
	}
	config := *plane.Config
	config.QPS = -1
	c, err := client.NewWithWatch(&config, client.Options{Scheme: operator.NewScheme()})
	if err != nil {
		return report, err
	}
	h := &healing{client: c, bundles: n, edited: map[string]time.Time{}}
	if err := h.declare(ctx); err != nil {
		return report, err
	}
	report, err = h.measure(ctx)
	if err != nil {
		return report, fmt.Errorf("%w\nthe operator's last lines:\n%s", err, operating.Tail())
	}
	return report, nil
}

type healing struct {
	client  client.WithWatch
	bundles int
	edited  map[string]time.Time // when the watch showed the edit
}

func (h *healing) name(i int) string { return fmt.Sprintf("bundle-%04d", i) }

// each does something for every bundle, several at a time.
func (h *healing) each(do func(name string) error) error {
	var all sync.WaitGroup
	failed := make([]error, editors)
	for e := range editors {
		all.Go(func() {
			for i := e; i < h.bundles && failed[e] == nil; i += editors {
				failed[e] = do(h.name(i))
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// declare makes the bundles and waits until their ConfigMaps are there.
func (h *healing) declare(ctx context.Context) error {
	if err := h.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: bundleSpace}}); err != nil {
		return err
	}
	text := declared
	err := h.each(func(name string) error {
		return h.client.Create(ctx, &v1alpha1.ConfigBundle{
			ObjectMeta: metav1.ObjectMeta{Namespace: bundleSpace, Name: name}, Spec: v1alpha1.ConfigBundleSpec{Message: &text},
		})
	})
	for err == nil {
		var all v1alpha1.ConfigBundleList
		if err = h.client.List(ctx, &all, client.InNamespace(bundleSpace)); err != nil {
			break
		}
		made := 0
		for i := range all.Items {
			if all.Items[i].Status.ConfigMap != nil {
				made++
			}
		}
		if made == h.bundles {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
	return err
}

// write is one write of a ConfigMap of the namespace, as its watch shows it.
type write struct {
	at         time.Time
	name, text string
}

func (h *healing) measure(ctx context.Context) (BundleReport, error) {
	r := BundleReport{Bundles: h.bundles}
	w, err := h.client.Watch(ctx, &corev1.ConfigMapList{}, client.InNamespace(bundleSpace), &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}})
	if err != nil {
		return r, err
	}
	defer w.Stop()
	writes := make(chan write, 16*h.bundles)
	go func() {
		defer close(writes)
		for e := range w.ResultChan() {
			if cm, ok := e.Object.(*corev1.ConfigMap); ok && e.Type == watch.Modified {
				writes <- write{time.Now(), cm.Name, cm.Data[bundleMessage]}
			}
		}
	}()
	began := time.Now()
	err = h.each(func(name string) error {
		return h.client.Patch(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: bundleSpace, Name: name}},
			client.RawPatch(types.MergePatchType, []byte(`{"data":{"message":"edited"}}`)))
	})
	if err != nil {
		return r, err
	}
	r.Edit = time.Since(began)
	if err := h.healed(ctx, &r, writes, began); err != nil {
		return r, err
	}
	r.Heals = sorted(r.Heals)
	return r, h.floor(ctx, &r)
}

// healed takes in writes until everything is healed and nothing moves any more.
func (h *healing) healed(ctx context.Context, r *BundleReport, writes <-chan write, began time.Time) error {
	for {
		var quiet <-chan time.Time
		if len(r.Heals) >= h.bundles {
			quiet = time.After(calm)
		}
		select {
		case <-quiet:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("%d of %d are: %w", len(r.Heals), h.bundles, context.Cause(ctx))
		case w, open := <-writes:
			if !open {
				return errors.New("the watch of ConfigMaps ended")
			}
			if w.text != declared {
				h.edited[w.name] = w.at
				continue
			}
			r.Writes++
			r.All = w.at.Sub(began)
			r.Heals = append(r.Heals, w.at.Sub(h.edited[w.name]))
		}
	}
}

// floor applies all ConfigMaps once more, as the operator does, by a client that need
// not find out which ones. It applies what is declared, so that nothing is to be healed.
func (h *healing) floor(ctx context.Context, r *BundleReport) error {
	began := time.Now()
	err := h.each(func(name string) error {
		patch := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":%q},"data":{%q:%q}}`, name, bundleSpace, bundleMessage, declared)
		return h.client.Patch(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: bundleSpace, Name: name}},
			client.RawPatch(types.ApplyPatchType, []byte(patch)), client.FieldOwner(floorManager), client.ForceOwnership)
	})
	r.Floor = time.Since(began)
	return err
}
