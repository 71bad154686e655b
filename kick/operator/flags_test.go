package operator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/corewire/kick/kick/operator"
)

// TestRotationInterval: the integration is off by default, and its interval is one that
// the driver can have.
//
// Proves: KICK-FEAT-026.
func TestRotationInterval(t *testing.T) {
	o := operator.NewOptions()
	if o.EnableCSI || o.Settings().RotationInterval != 2*time.Minute {
		t.Errorf("on is %t, interval %s, want false and the driver's default of 2m", o.EnableCSI, o.Settings().RotationInterval)
	}
	for _, wrong := range []time.Duration{0, time.Millisecond, 2 * time.Hour} {
		o.RotationInterval = wrong
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "--csi-rotation-poll-interval") {
			t.Errorf("%s: Validate() says %v, want it to name the flag", wrong, err)
		}
	}
}

// TestTimelineFlags: the timeline is off by default, and refuses what cannot be bound.
//
// Proves: KICK-FEAT-043.
func TestTimelineFlags(t *testing.T) {
	for address, c := range map[string]struct {
		enabled   bool
		complaint string // part of what Validate says; empty: nothing
	}{
		"": {}, "0": {}, ":8090": {enabled: true}, "8090": {enabled: true, complaint: `--timeline-bind-address "8090": want host:port`},
	} {
		o := operator.NewOptions()
		o.Timeline.Address = address
		err := o.Validate()
		if o.Timeline.Enabled() != c.enabled || (err == nil) != (c.complaint == "") || err != nil && !strings.Contains(err.Error(), c.complaint) {
			t.Errorf("%q: on is %t, Validate() says %v", address, o.Timeline.Enabled(), err)
		}
	}
}
