package observation_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/fingerprint"
	"github.com/corewire/kick/kick/model/observation"
)

const allowance = 5 * time.Second

var (
	start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	id    = model.Key{Kind: "Secret", Namespace: "shop", Name: "db"}
	key   = newKey(1)
)

func newKey(b byte) fingerprint.Key {
	k, err := fingerprint.NewKey(bytes.Repeat([]byte{b}, fingerprint.KeySize))
	if err != nil {
		panic(err)
	}
	return k
}

func at(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second))).Truncate(time.Microsecond)
}

func digest(content string) fingerprint.Digest {
	return fingerprint.Of("Secret", map[string]string{"k": content})
}

// source is Secret shop/db with some content, written at the given second.
func source(content, version string, lastWrite float64, keys ...string) model.Source {
	if keys == nil {
		keys = []string{"password", "user"}
	}
	return model.Source{
		ID: id, Present: true, ResourceVersion: version, Digest: digest(content), KeyNames: keys,
		LastWrite: at(lastWrite).Truncate(time.Second),
	}
}

var nothing = model.Source{ID: id}

// look observes at a second; each option changes one fact of the look.
func look(now float64, s model.Source, r *model.Record, options ...func(*observation.Input)) (observation.Kind, *model.Record) {
	in := observation.Input{Now: at(now), Allowance: allowance, Key: key, Source: s, Record: r, Since: at(-900)}
	for _, option := range options {
		option(&in)
	}
	return observation.Observe(in)
}

// recorded is the record after a baseline of content A at second 0, written at -100.
func recorded(t *testing.T) *model.Record {
	t.Helper()
	kind, r := look(0, source("A", "10", -100), nil)
	if kind != observation.Baseline || r == nil {
		t.Fatalf("first look: %s, %v, want a baseline", kind, r)
	}
	return r
}

func stamp(seconds float64) func(*observation.Input) {
	return func(in *observation.Input) { in.NewestStamp = at(seconds) }
}

func first(content string, lastWrite float64) func(*observation.Input) {
	return func(in *observation.Input) {
		in.Watched.First = &observation.Sighting{From: digest(content), LastWrite: at(lastWrite).Truncate(time.Second), Seen: at(10)}
	}
}

// Proves: KICK-FEAT-003, I1.
func TestBaseline(t *testing.T) {
	tests := map[string]struct {
		source model.Source
		want   model.Content
	}{
		"dated by its last write": {
			source: source("A", "10", -100),
			want:   model.Content{Seal: key.Seal(digest("A")), Observed: at(-100), Written: at(-100), LastWrite: at(-100), KnownUntil: at(-100), Baseline: true},
		},
		"a write in the future is clamped to what clocks allow": {
			source: source("A", "10", 3600),
			want:   model.Content{Seal: key.Seal(digest("A")), Observed: at(0.5), Written: at(5), LastWrite: at(3600), KnownUntil: at(-4.5), Baseline: true},
		},
		"absent is older than anything": {
			source: nothing,
			want:   model.Content{Seal: fingerprint.Absent, Observed: time.Unix(0, 0).UTC(), Written: time.Unix(0, 0).UTC(), LastWrite: time.Unix(0, 0).UTC(), KnownUntil: at(-4.5), Baseline: true},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			kind, r := look(0.5, tt.source, nil)
			if kind != observation.Baseline {
				t.Fatalf("Observe() = %s, want Baseline", kind)
			}
			if diff := cmp.Diff(tt.want, r.Current()); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
			if got, want := r.Since, at(-900); !got.Equal(want) {
				t.Errorf("since = %v, want %v", got, want)
			}
			if r.KeyID != key.ID() || r.SourceVersion != tt.source.ResourceVersion || len(r.KeyNames) != len(tt.source.KeyNames) {
				t.Errorf("record = %+v, want key, version and names of the source", r)
			}
		})
	}
}

// alive tells when a former process last led, firstLook how the source was when
// this one saw it first.
func alive(seconds float64) func(*observation.Input) {
	return func(in *observation.Input) { in.Watched.LastAlive = at(seconds) }
}

func firstLook(lastWrite float64) func(*observation.Input) {
	return func(in *observation.Input) { in.Watched.FirstLook = at(lastWrite).Truncate(time.Second) }
}

// Proves: KICK-FEAT-003.
func TestWhatIsAChange(t *testing.T) {
	absent := func(t *testing.T) *model.Record {
		_, r := look(5, nothing, recorded(t))
		return r
	}
	tests := map[string]struct {
		source model.Source
		record func(*testing.T) *model.Record
		key    fingerprint.Key
		want   observation.Kind
	}{
		"nothing":                         {source: source("A", "10", -100), want: observation.NoChange},
		"metadata":                        {source: source("A", "12", -100), want: observation.NoChange},
		"metadata by the content's owner": {source: source("A", "12", 8), want: observation.NoChange},
		"content":                         {source: source("B", "12", 8), want: observation.Relevant},
		"content, time not moved":         {source: source("B", "12", -100), want: observation.Relevant},
		"gone":                            {source: nothing, want: observation.Relevant},
		"still gone":                      {source: nothing, record: absent, want: observation.NoChange},
		"back":                            {source: source("A", "20", 8), record: absent, want: observation.Relevant},
		"other key, same version":         {source: source("A", "10", -100), key: newKey(2), want: observation.Rekeyed},
		"other key, other version":        {source: source("A", "12", -100), key: newKey(2), want: observation.Baseline},
		"other key, still gone":           {source: nothing, record: absent, key: newKey(2), want: observation.Rekeyed},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := recorded(t)
			if tt.record != nil {
				r = tt.record(t)
			}
			k := tt.key
			if k.IsZero() {
				k = key
			}
			got, next := look(10, tt.source, r, func(in *observation.Input) { in.Key = k })
			if got != tt.want {
				t.Errorf("Observe() = %s, want %s", got, tt.want)
			}
			if (next == nil) != (tt.want == observation.NoChange) {
				t.Errorf("record to write = %v, with %s", next, got)
			}
		})
	}
}

// A source that was never written since it was created came out of nothing: a
// container that requires it and started later cannot have read anything else.
func TestASourceAsItWasCreated(t *testing.T) {
	created := func(s model.Source, at time.Time) model.Source {
		s.Created = at
		return s
	}
	tests := map[string]struct {
		source model.Source
		want   []string
	}{
		"never written since": {created(source("A", "10", -100), at(-100)), []string{fingerprint.Absent, key.Seal(digest("A"))}},
		"written since":       {created(source("A", "10", -100), at(-200)), []string{key.Seal(digest("A"))}},
		"absent":              {nothing, []string{fingerprint.Absent}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			kind, r := look(0, tt.source, nil)
			var got []string
			for _, c := range r.History {
				got = append(got, c.Seal)
			}
			if diff := cmp.Diff(tt.want, got); kind != observation.Baseline || diff != "" {
				t.Errorf("Observe() = %s, history (-want +got):\n%s", kind, diff)
			}
			if tt.source.Present && (!r.Current().Baseline || !r.Current().Written.Equal(at(-100))) {
				t.Errorf("content = %+v, want a baseline of %v", r.Current(), at(-100))
			}
		})
	}
}

// Proves: KICK-FEAT-003.
func TestTheTwoTimesOfAChange(t *testing.T) {
	many := func(n int) []string {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("key-%04d", i))
		}
		return names
	}
	const now = 10.5
	tests := map[string]struct {
		before      model.Source // recorded first; zero: content A of second -100
		source      model.Source
		options     []func(*observation.Input)
		observed    time.Time
		written     time.Time
		lastWritten time.Time
	}{
		"lambda moved": {
			source: source("B", "12", 10), observed: at(now), written: at(10), lastWritten: at(10),
		},
		"a key was added": {
			source: source("B", "12", 10, "password", "port", "user"), observed: at(now), written: at(10), lastWritten: at(10),
		},
		"a key was removed and lambda moved": {
			source: source("B", "12", 10, "user"), observed: at(now), written: at(now + 5), lastWritten: at(10),
		},
		"a key was renamed": {
			source: source("B", "12", 10, "pass", "user"), observed: at(now), written: at(now + 5), lastWritten: at(10),
		},
		"lambda stood still: a pure removal": {
			source: source("B", "12", -100, "user"), observed: at(now), written: at(now + 5), lastWritten: at(-100),
		},
		"lambda went back: managedFields were wiped": {
			source: source("B", "12", -200), observed: at(now), written: at(now + 5), lastWritten: at(-100),
		},
		"lambda in the near future: the API server's clock is ahead": {
			source: source("B", "12", 14), observed: at(now), written: at(14), lastWritten: at(14),
		},
		"lambda in the far future dates nothing": {
			source: source("B", "12", 3600), observed: at(now), written: at(now + 5), lastWritten: at(3600),
		},
		"nor does it once it stands still": {
			before: source("A", "10", 3600), source: source("B", "12", 3600), observed: at(now).Add(time.Microsecond), written: at(now + 5), lastWritten: at(3600),
		},
		"whoever made it up is gone": {
			before: source("A", "10", 3600), source: source("B", "12", 10), observed: at(now).Add(time.Microsecond), written: at(10), lastWritten: at(10),
		},
		"whoever made it up is gone, and whoever wrote since": {
			before: source("A", "10", 3600), source: source("B", "12", 4), observed: at(now).Add(time.Microsecond), written: at(now + 5), lastWritten: at(5),
		},
		"gone": {
			source: nothing, observed: at(now), written: at(now + 5), lastWritten: at(-100),
		},
		"a newer stamp of kick on a consumer": {
			source: source("B", "12", 10), options: []func(*observation.Input){stamp(20)},
			observed: at(20).Add(time.Microsecond), written: at(10), lastWritten: at(10),
		},
		"an older stamp of kick": {
			source: source("B", "12", 10), options: []func(*observation.Input){stamp(5)},
			observed: at(now), written: at(10), lastWritten: at(10),
		},
		"kick's clock stepped back behind what is on record": {
			before: source("A", "10", 12), source: source("B", "12", 14),
			observed: at(12).Add(time.Microsecond), written: at(14), lastWritten: at(14),
		},
		"more keys than a record holds": {
			before: source("A", "10", -100, many(observation.MaxKeyNames+1)...), source: source("B", "12", 10, many(observation.MaxKeyNames+1)...),
			observed: at(now), written: at(now + 5), lastWritten: at(10),
		},
		"exactly as many keys as a record holds": {
			before: source("A", "10", -100, many(observation.MaxKeyNames)...), source: source("B", "12", 10, many(observation.MaxKeyNames)...),
			observed: at(now), written: at(10), lastWritten: at(10),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := recorded(t)
			if tt.before.Present {
				_, r = look(now, tt.before, nil)
			}
			kind, next := look(now, tt.source, r, tt.options...)
			if kind != observation.Relevant {
				t.Fatalf("Observe() = %s, want Relevant", kind)
			}
			got := next.Current()
			if !got.Observed.Equal(tt.observed) || !got.Written.Equal(tt.written) || !got.LastWrite.Equal(tt.lastWritten) {
				t.Errorf("observed %v, written %v, last write %v, want %v, %v, %v",
					got.Observed, got.Written, got.LastWrite, tt.observed, tt.written, tt.lastWritten)
			}
			if got.Baseline {
				t.Error("a change is marked as a baseline")
			}
		})
	}
}

func TestReappearance(t *testing.T) {
	_, gone := look(5, nothing, recorded(t))
	kind, back := look(10.5, source("B", "20", 10, "user"), gone)
	got := back.Current()
	if kind != observation.Relevant || !got.Written.Equal(at(10)) {
		t.Errorf("Observe() = %s written %v, want Relevant written %v: its creation dates it, whatever keys it had before", kind, got.Written, at(10))
	}
}

func TestKeyNamesAreSealedAndSorted(t *testing.T) {
	r := recorded(t)
	if !slices.IsSorted(r.KeyNames) || len(r.KeyNames) != 2 {
		t.Errorf("key names = %v, want two in order", r.KeyNames)
	}
	for _, name := range r.KeyNames {
		if name == "password" || name == "user" {
			t.Errorf("key name %q is on record in clear", name)
		}
	}
}

// TestServersClock: what is compared with dates of the API server comes from its
// clock, and what KICK alone dates from KICK's.
func TestServersClock(t *testing.T) {
	behind := func(in *observation.Input) { in.ServerNow = at(7200.5) }
	kind, r := look(0.5, source("B", "11", 7200), recorded(t), behind)
	if kind != observation.Relevant {
		t.Fatalf("Observe() = %s, want Relevant", kind)
	}
	want := model.Content{Seal: key.Seal(digest("B")), Observed: at(0.5), Written: at(7200), LastWrite: at(7200), KnownUntil: at(7200)}
	if diff := cmp.Diff(want, r.Current()); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
	_, r = look(0.5, source("B", "11", -100), recorded(t), behind)
	if got, want := r.Current().Written, at(7205.5); !got.Equal(want) {
		t.Errorf("a change that nothing dates counts as written %s, want %s", got, want)
	}
}

// TestSecondEditInOneSecond: a date that stands still dates the second edit, too, if
// it is a content owner's.
func TestSecondEditInOneSecond(t *testing.T) {
	for _, dated := range []bool{true, false} {
		_, r := look(10, source("B", "11", 10), recorded(t))
		again := source("C", "12", 10)
		again.Dated = dated
		_, r = look(12, again, r)
		want := at(10)
		if !dated {
			want = at(12 + 5)
		}
		if got := r.Current().Written; !got.Equal(want) {
			t.Errorf("dated by an owner: %v, written %s, want %s", dated, got, want)
		}
	}
}
