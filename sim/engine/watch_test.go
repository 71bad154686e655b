package engine_test

import (
	"strings"
	"testing"

	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/sched"
)

// edits change the Secret twice within the slow delivery of a watch fault.
const edits = "  - {at: 10s, " + rotate + "}\n" +
	"  - {at: 11s, apply: {resource: {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: shop}, stringData: {password: third-password}}}}\n"

// recreation deletes the Secret and makes it again with other content.
const recreation = "  - {at: 10s, delete: {ref: {apiVersion: v1, kind: Secret, namespace: shop, name: db}}}\n  - {at: 11s, " + rotate + "}\n"

// TestWatchFaults lets the watch of Secrets show things in every legal way: the
// change is acted on once.
func TestWatchFaults(t *testing.T) {
	for name, steps := range map[string]string{
		"lateWatch": edits, "skippedStates": edits, "relist": edits, "cacheAhead": edits, "recreateAsUpdate": recreation, "staleCache": edits,
	} {
		t.Run(name, func(t *testing.T) {
			r, met := play(shop(t, "  steps:\n  - fault: {name: "+name+", on: {kind: Secret}}\n"+steps+"  - {at: 60s, heal: {}}\n"+once), nil)
			mustPass(t, r)
			if met.count(name+" at watch Secret") == 0 {
				t.Errorf("hit %v", met)
			}
		})
	}
}

// TestARelistShowsADeletion that no event told of.
func TestARelistShowsADeletion(t *testing.T) {
	r, met := play(shop(t, "  steps:\n  - {at: 20s, fault: {name: relist, on: {kind: KickRequest}, times: 1}}\n"+
		"  - {at: 21s, "+rotate+"}\n  - {at: 21500ms, delete: {ref: {apiVersion: kick.corewire.io/v1alpha1, kind: KickRequest, namespace: shop, name: deployment-web}}}\n  - advance: 1m\n"+once), nil)
	mustPass(t, r)
	if met.count("relist at watch KickRequest") != 1 {
		t.Errorf("hit %v", met)
	}
}

// TestLateByChoice: deliveries can be late by every lag.
func TestLateByChoice(t *testing.T) {
	for pick := 1; pick <= 4; pick++ {
		r, met := play(shop(t, "  steps: [{at: 10s, "+rotate+"}, {advance: 1m}]\n"+once), scripted(sched.Answer{Class: sched.Lag, Site: "watch Secret", Nth: 1, Pick: pick}))
		mustPass(t, r)
		if met.count("lateWatch at watch Secret") != 1 {
			t.Errorf("pick %d: hit %v", pick, met)
		}
	}
}

// TestOldCache: KICK comes back to lists from before the change and its own writes.
func TestOldCache(t *testing.T) {
	r, met := play(shop(t, "  steps:\n  - fault: {name: oldCache, times: 1}\n  - {at: 10s, "+rotate+"}\n  - {at: 10500ms, operator: crash}\n  - advance: 1m\n"+once), nil)
	mustPass(t, r)
	if met.count("oldCache at start") != 1 {
		t.Errorf("hit %v", met)
	}
	for pick := 1; pick <= 5; pick++ {
		r, met := play(shop(t, "  steps:\n  - {at: 10s, "+rotate+"}\n  - {at: 10500ms, operator: crash}\n  - advance: 1m\n"+once), scripted(sched.Answer{Class: sched.Restart, Site: "start", Nth: 2, Pick: pick}))
		mustPass(t, r)
		if met.count("oldCache at start") != 1 {
			t.Errorf("pick %d: hit %v", pick, met)
		}
	}
}

// TestFaultsOfWatchesAreNoFaultsOfCalls and the other way round.
func TestFaultsOfWatchesAreNoFaultsOfCalls(t *testing.T) {
	for _, f := range faults.All {
		if f.Place != faults.Call && (f.Befalls(true, true) || f.Befalls(false, true)) {
			t.Errorf("%s befalls a call", f.Name)
		}
		if f.Place != faults.Call && strings.HasPrefix(f.Doc, "The write") {
			t.Errorf("%s: %s", f.Name, f.Doc)
		}
	}
}
