package operator_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/corewire/kick/kick/operator"
)

// TestReservedFlags: flags of integrations to come are accepted, and named to who sets them.
//
// Proves: KICK-FEAT-026.
func TestReservedFlags(t *testing.T) {
	var o operator.Options
	flags := pflag.NewFlagSet("kick", pflag.ContinueOnError)
	o.AddFlags(flags)
	if err := flags.Parse([]string{"--enable-csi-integration=true"}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"enable-csi-integration"}; !slices.Equal(o.Reserved(), want) {
		t.Errorf("Reserved() = %v, want %v", o.Reserved(), want)
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
