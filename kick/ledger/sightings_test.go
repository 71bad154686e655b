package ledger_test

import (
	"testing"
	"time"

	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/fingerprint"
)

// TestRecordedUntil: what a leader says of itself when it renews the lease covers all
// that it saw and has not written down, and nothing that it has.
func TestRecordedUntil(t *testing.T) {
	id, other := model.Key{Kind: "Secret", Namespace: "shop", Name: "db"}, model.Key{Kind: "ConfigMap", Namespace: "shop", Name: "db"}
	a, b := fingerprint.Of("Secret", map[string]string{"k": "A"}), fingerprint.Of("Secret", map[string]string{"k": "B"})
	at := func(second int64) time.Time { return time.Unix(second, 0).UTC() }
	const alive, now = 100, 1000
	edit := func(before, lastWrite, seen int64) ledger.Change {
		return ledger.Change{From: a, To: b, Before: at(before), LastWrite: at(lastWrite), Now: at(7), ServerNow: at(seen)}
	}
	for name, tt := range map[string]struct {
		happens func(*ledger.Sightings)
		want    int64
	}{
		"nothing": {func(*ledger.Sightings) {}, now},
		"the first list shows a source": {func(s *ledger.Sightings) {
			s.Met(id, at(50), at(500), true)
		}, alive},
		"a pass has looked at one source of the first list": {func(s *ledger.Sightings) {
			s.Met(id, at(50), at(500), true)
			s.Met(other, at(50), at(500), true)
			s.Watched(id)
			s.Recorded(id)
		}, alive},
		"a pass has looked at every source of the first list": {func(s *ledger.Sightings) {
			s.Met(id, at(50), at(500), true)
			s.Met(other, at(50), at(500), true)
			s.Watched(id)
			s.Recorded(id)
			s.Watched(other)
			s.Gone(other)
		}, now},
		"a pass has looked at a source and could not write": {func(s *ledger.Sightings) {
			s.Met(id, at(50), at(500), true)
			s.Watched(id)
		}, alive},
		"a source is made": {func(s *ledger.Sightings) {
			s.Met(id, at(700), at(705), false)
		}, 700},
		"a source is made with a date in the future": {func(s *ledger.Sightings) {
			s.Met(id, at(9000), at(705), false)
		}, 705},
		"a change is seen late": {func(s *ledger.Sightings) {
			s.Saw(id, edit(50, 700, 730))
		}, 700},
		"a change is seen that no date tells of": {func(s *ledger.Sightings) {
			s.Saw(id, edit(50, 50, 730))
		}, 730},
		"a change is seen whose date lies in the future": {func(s *ledger.Sightings) {
			s.Saw(id, edit(50, 9000, 730))
		}, 730},
		"a second change is seen before the first is on record": {func(s *ledger.Sightings) {
			s.Saw(id, edit(50, 700, 701))
			s.Saw(id, edit(700, 800, 801))
		}, 700},
		"a change is seen after the first look": {func(s *ledger.Sightings) {
			s.Met(id, at(50), at(500), true)
			s.Saw(id, edit(50, 700, 701))
		}, alive},
		"a change is on record": {func(s *ledger.Sightings) {
			s.Saw(id, edit(50, 700, 701))
			s.Watched(id)
			s.Recorded(id)
		}, now},
		"a change is seen while an older one is written down": {func(s *ledger.Sightings) {
			s.Saw(id, edit(50, 700, 701))
			s.Watched(id)
			s.Saw(id, edit(700, 702, 703))
			s.Recorded(id)
		}, 702},
		"a list hides what was in between": {func(s *ledger.Sightings) {
			s.Interrupted(id.Kind, at(600), at(705))
			s.Saw(id, ledger.Change{From: a, To: a, Before: at(50), LastWrite: at(700), ServerNow: at(705)})
		}, 600},
		"metadata changes": {func(s *ledger.Sightings) {
			s.Saw(id, ledger.Change{From: a, To: a, Before: at(50), LastWrite: at(700), ServerNow: at(705)})
		}, now},
		"the leader before had more on record than a standby knows": {func(s *ledger.Sightings) {
			s.Met(id, at(50), at(500), true)
			s.Inherited(at(900))
		}, 900},
		"the leader before had less on record": {func(s *ledger.Sightings) {
			s.Inherited(at(900))
			s.Inherited(at(600))
			s.Saw(id, edit(50, 700, 701))
		}, 700},
	} {
		t.Run(name, func(t *testing.T) {
			s := ledger.NewSightings(at(alive))
			tt.happens(s)
			if got := s.RecordedUntil(at(now)); !got.Equal(at(tt.want)) {
				t.Errorf("recorded until %d, want %d", got.Unix(), tt.want)
			}
		})
	}
}

// TestRecordedUntilOfAFirstLeader: where no lease tells of the time before, no gap is
// assumed, and what this leader has yet to write down begins with its first look.
func TestRecordedUntilOfAFirstLeader(t *testing.T) {
	id := model.Key{Kind: "Secret", Namespace: "shop", Name: "db"}
	at := func(second int64) time.Time { return time.Unix(second, 0).UTC() }
	s := ledger.NewSightings(time.Time{})
	s.Met(id, at(50), at(500), true)
	if got := s.RecordedUntil(at(600)); !got.Equal(at(500)) {
		t.Errorf("recorded until %d, want the first look, 500", got.Unix())
	}
}
