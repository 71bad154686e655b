package ledger_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/fingerprint"
)

func anyTime(t *rapid.T, what string) time.Time {
	return time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, what)).UTC()
}

func anyRecord(t *rapid.T) *model.Record {
	r := &model.Record{
		ID: model.Key{
			Kind: rapid.SampledFrom([]string{"Secret", "ConfigMap"}).Draw(t, "kind"), Namespace: "shop",
			Name: rapid.StringMatching(`[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?`).Draw(t, "name"),
		},
		Version: "7", Since: anyTime(t, "since"), SourceVersion: rapid.StringMatching(`[0-9]{0,5}`).Draw(t, "version"),
		KeyID:           rapid.StringMatching(`[a-z]{0,8}`).Draw(t, "key id"),
		KeyNames:        rapid.SliceOf(rapid.StringMatching(`[a-z]{8}`)).Draw(t, "key names"),
		KeyNamesPartial: rapid.Bool().Draw(t, "partial"),
	}
	for range rapid.IntRange(1, 5).Draw(t, "contents") {
		c := model.Content{
			Seal: rapid.SampledFrom([]string{"absent", "x", "y"}).Draw(t, "seal"), Observed: anyTime(t, "observed"), Written: anyTime(t, "written"),
			LastWrite: anyTime(t, "last write").Truncate(time.Second), Baseline: rapid.Bool().Draw(t, "baseline"),
		}
		if rapid.Bool().Draw(t, "known") {
			c.KnownUntil = anyTime(t, "known until")
		}
		r.History = append(r.History, c)
	}
	return r
}

// A record must come back from the API server as it went there: one microsecond
// lost in an observed time would make a stamp look like an answer to it.
func TestRecordsSurviveTheAPIServer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyRecord(t)
		raw, err := json.Marshal(ledger.Observation(want))
		if err != nil {
			t.Fatal(err)
		}
		var stored v1alpha1.SourceObservation
		if err := json.Unmarshal(raw, &stored); err != nil {
			t.Fatal(err)
		}
		got := ledger.Record(&stored)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(model.Record{}, "Created", "UID"), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if got.ID != want.ID || ledger.SourceOf(&stored) != want.ID {
			t.Fatalf("about %s, want %s", got.ID, want.ID)
		}
		if wrong := validation.IsDNS1123Subdomain(stored.Name); len(wrong) > 0 && len(validation.IsDNS1123Subdomain(want.ID.Name)) == 0 {
			t.Fatalf("name %q: %v", stored.Name, wrong)
		}
		for key, value := range stored.Labels {
			if wrong := validation.IsValidLabelValue(value); len(wrong) > 0 {
				t.Fatalf("label %s=%q: %v", key, value, wrong)
			}
		}
	})
}

func TestIdentityComesFromTheObject(t *testing.T) {
	o := &v1alpha1.SourceObservation{}
	o.UID, o.ResourceVersion, o.Namespace = "uid", "9", "shop"
	o.Spec.Source = v1alpha1.SourceReference{Kind: "Secret", Name: "db"}
	got := ledger.Record(o)
	if got.UID != "uid" || got.Version != "9" || got.ID != (model.Key{Kind: "Secret", Namespace: "shop", Name: "db"}) {
		t.Errorf("Record() = %+v", got)
	}
}

func TestTheInstallationKey(t *testing.T) {
	key := bytes.Repeat([]byte{7}, fingerprint.KeySize)
	o := ledger.KeyObject("kick-system", key)
	if o.Name != ledger.KeySecret || o.Namespace != "kick-system" || o.Immutable == nil || !*o.Immutable {
		t.Errorf("KeyObject() = %+v, want an immutable Secret of KICK's namespace", o)
	}
	got, err := ledger.KeyFrom(o)
	want, wantErr := fingerprint.NewKey(key)
	if err != nil || wantErr != nil || got.ID() != want.ID() {
		t.Errorf("KeyFrom() = %v, %v, want the key that was stored", got.ID(), err)
	}
	for name, broken := range map[string]*corev1.Secret{
		"empty":     {},
		"too short": {Data: map[string][]byte{"key": []byte("short")}},
	} {
		if _, err := ledger.KeyFrom(broken); err == nil {
			t.Errorf("%s: a broken key is accepted", name)
		}
	}
	if one, two := ledger.NewKeyBytes(), ledger.NewKeyBytes(); len(one) != fingerprint.KeySize || bytes.Equal(one, two) {
		t.Error("two keys that were drawn are equal or of a wrong size")
	}
}

func TestSightings(t *testing.T) {
	id := model.Key{Kind: "Secret", Namespace: "shop", Name: "db"}
	a, b := fingerprint.Of("Secret", map[string]string{"k": "A"}), fingerprint.Of("Secret", map[string]string{"k": "B"})
	at := func(second int64) time.Time { return time.Unix(second, 0).UTC() }
	s := ledger.NewSightings(at(1))
	saw := func(from, to fingerprint.Digest, second int64) {
		s.Saw(id, ledger.Change{From: from, To: to, Before: at(1), LastWrite: at(second), Now: at(100 + second), ServerNow: at(second + 1)})
	}
	if got := s.Watched(id); got.First != nil || !s.Live(id).IsZero() || !got.LastAlive.Equal(at(1)) || !got.FirstLook.IsZero() {
		t.Errorf("nothing was seen, yet Watched() = %+v", got)
	}
	s.Met(id, at(5), at(7), true)
	s.Met(id, at(6), at(7), false)
	saw(a, b, 10)
	saw(b, a, 20)
	got := s.Watched(id)
	if got.First == nil || got.First.From != a || !got.First.LastWrite.Equal(at(10)) {
		t.Errorf("First = %+v, want the change away from A", got.First)
	}
	if !got.FirstLook.Equal(at(5)) || !s.Live(id).Equal(at(119)) { // a second before KICK saw it
		t.Errorf("first look %v, live %v, want %v, %v", got.FirstLook, s.Live(id), at(5), at(119))
	}
	s.Recorded(id)
	if s.Watched(id).First != nil || s.Live(id).IsZero() {
		t.Error("after a record the next change is a new story, and the last one is still seen live")
	}
	saw(b, a, 30)
	s.Watched(id)
	saw(a, b, 40)
	saw(b, a, 50)
	if got := s.Watched(id).First; got == nil || got.From != b {
		t.Errorf("First = %+v, want the oldest change while nothing is recorded", got)
	}
	saw(a, b, 60)
	s.Recorded(id)
	if got := s.Watched(id).First; got == nil || got.From != a || !got.LastWrite.Equal(at(60)) {
		t.Errorf("First = %+v, want the change that came while the record was written", got)
	}
	s.Gone(id)
	if s.Watched(id).First != nil || !s.Live(id).IsZero() {
		t.Error("what nothing refers to is not forgotten")
	}
}

// TestInterruptedWatch: what a list shows after a watch broke proves nothing of the
// time since, and hides contents that came and went.
func TestInterruptedWatch(t *testing.T) {
	id, other := model.Key{Kind: "Secret", Namespace: "shop", Name: "db"}, model.Key{Kind: "ConfigMap", Namespace: "shop", Name: "db"}
	a, b := fingerprint.Of("Secret", map[string]string{"k": "A"}), fingerprint.Of("Secret", map[string]string{"k": "B"})
	at := func(second int64) time.Time { return time.Unix(second, 0).UTC() }
	for name, tt := range map[string]struct {
		of        model.Key
		to        fingerprint.Digest
		lastWrite time.Time
		worth     bool
		until     time.Time // of the sighting; zero: none
	}{
		"changed in between":              {id, b, at(25), true, at(20)},
		"changed before it was heard of":  {id, b, at(15), true, at(15)},
		"changed when the watch ran":      {id, b, at(31), true, at(31)},
		"written in between":              {id, a, at(25), true, at(20)},
		"written when the watch ran":      {id, a, at(31), false, time.Time{}},
		"changed, of a kind that went on": {other, b, at(25), true, at(25)},
		"written, of a kind that went on": {other, a, at(25), false, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := ledger.NewSightings(time.Time{})
			s.Interrupted(id.Kind, at(20), at(30))
			if worth := s.Saw(tt.of, ledger.Change{From: a, To: tt.to, LastWrite: tt.lastWrite, Now: at(40), ServerNow: at(40)}); worth != tt.worth {
				t.Errorf("worth a look: %v, want %v", worth, tt.worth)
			}
			first := s.Watched(tt.of).First
			if (first != nil) != tt.worth || first != nil && !first.LastWrite.Equal(tt.until) {
				t.Errorf("first sighting %+v, want one until %v", first, tt.until)
			}
			if seen := !s.Live(tt.of).IsZero(); seen != (tt.to == b) {
				t.Errorf("a change was seen live: %v", seen)
			}
			if s.Saw(tt.of, ledger.Change{From: tt.to, To: tt.to, LastWrite: at(26), Now: at(41), ServerNow: at(41)}) {
				t.Error("what is shown a second time was watched")
			}
		})
	}
}

// TestUnknownPast: what nobody saw begin has no date for people, and is older than any pod for KICK.
func TestUnknownPast(t *testing.T) {
	want := model.Content{Seal: "absent", Observed: model.UnknownPast, Written: model.UnknownPast, LastWrite: model.UnknownPast, Baseline: true}
	raw, err := json.Marshal(ledger.Observation(&model.Record{History: []model.Content{want}}))
	if err != nil || bytes.Contains(raw, []byte("1970")) {
		t.Fatalf("stored as %s, %v", raw, err)
	}
	var stored v1alpha1.SourceObservation
	if err := json.Unmarshal(raw, &stored); err != nil {
		t.Fatal(err)
	}
	if got := ledger.Record(&stored).Current(); got != want {
		t.Errorf("read back as %+v", got)
	}
	stored.Spec.History[0].Observed.Time = model.UnknownPast // as it was stored before
	if got := ledger.Record(&stored).Current(); got != want {
		t.Errorf("an older record is read as %+v", got)
	}
}
