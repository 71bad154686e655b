package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/corewire/kick/kick/model/bundle"
)

// bundleWrites are the label values of what KICK writes for a ConfigBundle.
var bundleWrites = map[bundle.Action]string{
	bundle.Create: "create", bundle.Apply: "update", bundle.Prune: "update", bundle.Delete: "delete", bundle.Restore: "restore_spec",
}

// Label values of writes that do not follow from the action alone.
const (
	bundleHealed  = "heal"
	bundleRefused = "refused"
)

func newBundles() *prometheus.CounterVec {
	c := bundles.counter()
	for _, write := range bundleWrites {
		c.WithLabelValues(write)
	}
	c.WithLabelValues(bundleHealed)
	c.WithLabelValues(bundleRefused)
	return c
}

// BundleWrite counts a write that was made for a bundle.
func (m *Metrics) BundleWrite(v *bundle.Verdict) {
	write, counted := bundleWrites[v.Action]
	switch {
	case !counted:
		return
	case v.Healing && v.Action != bundle.Delete:
		write = bundleHealed
	}
	m.bundles.WithLabelValues(write).Inc()
}

// BundleRefused counts a write for a bundle that the API server refused.
func (m *Metrics) BundleRefused() { m.bundles.WithLabelValues(bundleRefused).Inc() }
