package rotation_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/fingerprint"
	"github.com/corewire/kick/kick/model/observation"
	"github.com/corewire/kick/kick/model/rotation"
)

const (
	allowance = 5 * time.Second
	interval  = 2 * time.Minute
)

var (
	class = model.Key{Kind: "SecretProviderClass", Namespace: "shop", Name: "db"}
	key   = newKey(1)
)

func newKey(b byte) fingerprint.Key {
	k, err := fingerprint.NewKey([]byte(fmt.Sprintf("%032d", b)))
	if err != nil {
		panic(err)
	}
	return k
}

func at(seconds float64) time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
}

// tells is what the status of a pod, made at the beginning, tells since some second.
func tells(pod, version string, since int) model.Mounted {
	return model.Mounted{
		Pod: pod, Version: strconv.Itoa(100 + since), Created: at(0), LastWrite: at(float64(since)),
		Digest: fingerprint.Of(class.Kind, map[string]string{"password": version}),
	}
}

// look is a look at a second, under a key.
func look(second float64, k fingerprint.Key, r *model.Record, mounted ...model.Mounted) (observation.Kind, *model.Record) {
	return rotation.Observe(rotation.Input{
		Now: at(second), Allowance: allowance, Interval: interval, Key: k,
		Source: model.Source{ID: class, Present: true, ResourceVersion: "7"}, Record: r, Since: at(-10), Mounted: mounted,
	})
}

// adopted is a record of pods a and b, which mounted v1.
func adopted(t *testing.T) *model.Record {
	t.Helper()
	kind, r := look(10, key, nil, tells("b", "v1", 0), tells("a", "v1", 0))
	if kind != observation.Baseline || len(r.Mounts) != 2 || r.Mounts[0].Pod != "a" || !r.Current().Baseline {
		t.Fatalf("first look: %s, %+v, want a baseline of a and b", kind, r)
	}
	return r
}

// TestWhatIsARotation: another set of versions in the same pod is one; a new pod is not.
//
// Proves: KICK-FEAT-026.
func TestWhatIsARotation(t *testing.T) {
	a, b := tells("a", "v1", 0), tells("b", "v1", 0)
	tests := map[string]struct {
		key     fingerprint.Key
		mounted []model.Mounted
		want    observation.Kind
		rounds  int // besides the baseline
	}{
		"nothing new":                           {key, []model.Mounted{a, b}, observation.NoChange, 0},
		"metadata was written":                  {key, []model.Mounted{tells("a", "v1", 90), b}, observation.NoChange, 0},
		"other versions":                        {key, []model.Mounted{tells("a", "v2", 90), b}, observation.Relevant, 1},
		"other versions in both":                {key, []model.Mounted{tells("a", "v2", 90), tells("b", "v2", 95)}, observation.Relevant, 1},
		"each pod has its own":                  {key, []model.Mounted{tells("a", "v2", 90), tells("b", "v3", 95)}, observation.Relevant, 1},
		"a new pod with other versions":         {key, []model.Mounted{a, b, {Pod: "c", Version: "191", Created: at(91), LastWrite: at(91), Digest: tells("c", "v2", 0).Digest}}, observation.Mounted, 0},
		"a new pod, rotated while nobody saw":   {key, []model.Mounted{a, b, tells("c", "v2", 90)}, observation.Relevant, 1},
		"a cache older than the record":         {key, []model.Mounted{{Pod: "a", Version: "99", Created: at(0), LastWrite: at(0), Digest: tells("a", "v0", 0).Digest}, b}, observation.NoChange, 0},
		"a pod is gone":                         {key, []model.Mounted{a}, observation.NoChange, 0},
		"another key":                           {newKey(2), []model.Mounted{a, b}, observation.Rekeyed, 0},
		"another key, and written since":        {newKey(2), []model.Mounted{tells("a", "v1", 90), b}, observation.Relevant, 1},
		"no status of any pod, by another key":  {newKey(2), nil, observation.Rekeyed, 0},
		"the class itself is what nobody reads": {key, []model.Mounted{b, a}, observation.NoChange, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			kind, r := look(100, tt.key, adopted(t), tt.mounted...)
			if kind != tt.want || (r == nil) != (kind == observation.NoChange) {
				t.Fatalf("Observe() = %s, %+v, want %s", kind, r, tt.want)
			}
			if r == nil {
				return
			}
			if got := len(r.History) - 1; got != tt.rounds {
				t.Errorf("%d rounds, want %d", got, tt.rounds)
			}
			if len(r.Mounts) != len(tt.mounted) || r.KeyID != tt.key.ID() {
				t.Errorf("mounts %+v under key %s, want those of %d pods, sealed by the present key", r.Mounts, r.KeyID, len(tt.mounted))
			}
		})
	}
}

// TestRounds: the pods of a rotation change one after the other, and are one round; a pod
// that changes again, one that came since, and one that is much too late begin another.
//
// Proves: KICK-FEAT-026.
func TestRounds(t *testing.T) {
	tests := map[string]struct {
		then func(r *model.Record) (observation.Kind, *model.Record)
		want observation.Kind
	}{
		"the other pod, later": {
			func(r *model.Record) (observation.Kind, *model.Record) {
				return look(220, key, r, tells("a", "v2", 90), tells("b", "v2", 215))
			}, observation.Mounted,
		},
		"the same pod again": {
			func(r *model.Record) (observation.Kind, *model.Record) {
				return look(220, key, r, tells("a", "v3", 215), tells("b", "v1", 0))
			}, observation.Relevant,
		},
		"the other pod, much too late": {
			func(r *model.Record) (observation.Kind, *model.Record) {
				return look(100+601, key, r, tells("a", "v2", 90), tells("b", "v2", 700))
			}, observation.Relevant,
		},
		"a pod that came since": {
			func(r *model.Record) (observation.Kind, *model.Record) {
				c := model.Mounted{Pod: "c", Version: "210", Created: at(110), LastWrite: at(110), Digest: tells("c", "v2", 0).Digest}
				_, r = look(111, key, r, tells("a", "v2", 90), tells("b", "v1", 0), c)
				c.Version, c.LastWrite, c.Digest = "320", at(220), tells("c", "v3", 0).Digest
				return look(221, key, r, tells("a", "v2", 90), tells("b", "v1", 0), c)
			}, observation.Relevant,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, first := look(100, key, adopted(t), tells("a", "v2", 90), tells("b", "v1", 0))
			before := len(first.History)
			kind, r := tt.then(first)
			if kind != tt.want {
				t.Fatalf("Observe() = %s, want %s", kind, tt.want)
			}
			if grew := len(r.History) > before; grew != (tt.want == observation.Relevant) {
				t.Errorf("history grew: %t, with %s", grew, kind)
			}
			if last := r.Current(); !last.Observed.After(first.History[0].Observed) || last.Written.Before(at(90)) {
				t.Errorf("round = %+v, want it observed and written after the baseline", last)
			}
		})
	}
}

// TestWhatAPodCarries: the first set stays, whatever comes after.
func TestWhatAPodCarries(t *testing.T) {
	r := adopted(t)
	for i := range 10 {
		second := 100 + 10*i
		if _, next := look(float64(second), key, r, tells("a", fmt.Sprint("w", i), second), tells("b", "v1", 0)); next != nil {
			r = next
		}
	}
	m := r.Mount("a")
	if len(m.History) != rotation.MaxContents || m.History[0].Seal != key.Seal(tells("a", "v1", 0).Digest) || m.Current().Seal != key.Seal(tells("a", "w9", 0).Digest) {
		t.Errorf("mount = %+v, want the first and the newest of eleven contents", m)
	}
	if len(r.History) > observation.MaxHistory || r.Mount("c") != nil {
		t.Errorf("%d rounds, and pod c %v", len(r.History), r.Mount("c"))
	}
}

// TestFlapping: three rounds as fast as the driver looks, and quiet for as long.
//
// Proves: KICK-FEAT-026.
func TestFlapping(t *testing.T) {
	rounds := func(seconds ...float64) *model.Record {
		r := &model.Record{History: []model.Content{{Baseline: true, Observed: time.Unix(0, 0)}}}
		for _, s := range seconds {
			r.History = append(r.History, model.Content{Observed: at(s)})
		}
		return r
	}
	tests := map[string]struct {
		record *model.Record
		now    float64
		want   time.Time
	}{
		"no record":        {nil, 0, time.Time{}},
		"two rounds":       {rounds(0, 120), 121, time.Time{}},
		"three rounds":     {rounds(0, 120, 240), 241, at(240 + 600)},
		"three slow ones":  {rounds(0, 400, 800), 801, time.Time{}},
		"quiet since":      {rounds(0, 120, 240), 240 + 600, time.Time{}},
		"a stepped clock":  {rounds(0, 120, 240), -3600, time.Time{}},
		"flapped long ago": {rounds(0, 120, 240, 9000), 9001, time.Time{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := rotation.FlapsUntil(tt.record, interval, at(tt.now)); !got.Equal(tt.want) {
				t.Errorf("FlapsUntil() = %v, want %v", got, tt.want)
			}
		})
	}
	if !rotation.BeganToFlap(rounds(0, 120), rounds(0, 120, 240), interval) || rotation.BeganToFlap(rounds(0, 120, 240), rounds(0, 120, 240, 360), interval) {
		t.Error("a class begins to flap once")
	}
}
