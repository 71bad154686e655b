package check

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

func TestSeen(t *testing.T) {
	past := metav1.NewMicroTime(time.Unix(0, 0))
	write := func(change func(*v1alpha1.KickRequest)) func(*bench) {
		return func(b *bench) {
			r := request("deployment-web")
			r.Status.LatestObservedDependencyChange = new(microTime(5))
			change(r)
			b.create(Manager, r)
		}
	}
	observe := func(change func(*v1alpha1.ObservedContent)) func(*bench) {
		return func(b *bench) {
			r := record()
			change(&r.Spec.History[0])
			b.create(Manager, r)
		}
	}
	const ofRequest, ofRecord = "request shop/deployment-web tells of a time", "record shop/secret-db tells of a time"
	for name, tt := range map[string]struct {
		act   func(*bench)
		words string
	}{
		"a time of today": {write(func(*v1alpha1.KickRequest) {}), ""},
		"none":            {write(func(r *v1alpha1.KickRequest) { r.Status.LatestObservedDependencyChange = nil }), ""},
		"of the change":   {write(func(r *v1alpha1.KickRequest) { r.Status.LatestObservedDependencyChange = &past }), ofRequest},
		"of a cause":      {write(func(r *v1alpha1.KickRequest) { r.Status.Causes = []v1alpha1.Cause{{Name: "db", ChangedAt: past}} }), ofRequest},
		"in a sentence": {write(func(r *v1alpha1.KickRequest) {
			r.Status.Gate = &v1alpha1.GateStatus{Message: "changed 1970-01-01 00:00:00Z"}
		}), ofRequest},
		"a record": {observe(func(*v1alpha1.ObservedContent) {}), ""},
		"left out": {observe(func(c *v1alpha1.ObservedContent) {
			c.Observed, c.Written, c.LastWrite = metav1.MicroTime{}, metav1.MicroTime{}, metav1.Time{}
		}), ""},
		"seen in a record":  {observe(func(c *v1alpha1.ObservedContent) { c.Observed = past }), ofRecord},
		"dated in a record": {observe(func(c *v1alpha1.ObservedContent) { c.LastWrite = metav1.NewTime(past.Time) }), ofRecord},
		"in an event": {func(b *bench) {
			b.laws.OnTold(Told{Request: key("deployment-web"), Reason: "Opened", Note: "Secret shop/db changed 0001-01-01 00:00:00Z"})
		}, "KICK told Opened of a time"},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawSeen)
			if tt.act(b); tt.words == "" {
				b.holds()
				return
			}
			b.fires(tt.words)
		})
	}
}
