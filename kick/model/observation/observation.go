// Package observation decides what a look at a source means for its record: the
// store transition of the formal model, with the two times of a change that
// DESIGN section 4 asks for. Pure; see kick/model.
package observation

import (
	"slices"
	"time"

	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/fingerprint"
)

// Kind classifies an observation.
type Kind string

// What an observation can be.
const (
	NoChange Kind = "NoChange" // same content; metadata may differ. Nothing is written
	Baseline Kind = "Baseline" // first sight, or first sight under a new installation key
	Relevant Kind = "Relevant" // the content changed
	Returned Kind = "Returned" // same content again, after it was another for a while
	Rekeyed  Kind = "Rekeyed"  // same content, sealed anew under the current key
	Mounted  Kind = "Mounted"  // of a SecretProviderClass: a pod came, or followed a rotation that is on record
)

// Limits of a record.
const (
	MaxHistory  = 32  // contents kept per source
	MaxKeyNames = 256 // sealed key names kept per source
)

// Sighting is the first change that this process saw of a source through its
// watch since the record was last written.
type Sighting struct {
	From      fingerprint.Digest // content before the change
	LastWrite time.Time          // lambda of the state after it
	Seen      time.Time          // when the watch showed it, API server's clock
	Gone      bool               // the source did not exist after it
}

// Watched is what is known of the time since the record was last written: this
// process watched, and before it another one did.
type Watched struct {
	First     *Sighting // nil: no change seen
	FirstLook time.Time // lambda when this process saw the source first; zero: not yet
	LastAlive time.Time // when a process before this one last led, API server's clock; zero: unknown
}

// Input is one look at a source.
type Input struct {
	Now         time.Time     // KICK's clock, microseconds
	ServerNow   time.Time     // API server's clock, as near as it is known; zero: not known, Now is taken for it
	Allowance   time.Duration // how far clocks may differ
	Key         fingerprint.Key
	Source      model.Source
	Record      *model.Record // nil: not on record
	Since       time.Time     // when KICK began to look, API server's clock: start of this leader or newest policy of the namespace
	NewestStamp time.Time     // newest stamp KICK left on any consumer
	Watched     Watched
}

// Observe classifies the look and returns the record as it has to be, or nil
// when nothing is to be written. The given record is not changed.
func Observe(in Input) (Kind, *model.Record) {
	if in.ServerNow.IsZero() {
		in.ServerNow = in.Now
	}
	seal := fingerprint.Absent
	if in.Source.Present {
		seal = in.Key.Seal(in.Source.Digest)
	}
	switch r := in.Record; {
	case r == nil:
		mark.Hit(mark.Baseline)
		return Baseline, in.first(seal)
	case r.KeyID != in.Key.ID():
		return in.rekey(seal)
	case r.Current().Seal == seal && in.wasAway():
		mark.Hit(mark.ContentReturned)
		return Returned, in.returned()
	case r.Current().Seal == seal:
		return NoChange, nil
	default:
		return Relevant, in.change(seal)
	}
}

// first begins a record. Content that was never written since the source was
// created came out of nothing, and that is worth knowing: a container that needs
// the source and started after its creation cannot have read anything else.
func (in *Input) first(seal string) *model.Record {
	r := &model.Record{ID: in.Source.ID, Since: in.Since}
	if in.Source.Present && in.Source.LastWrite.Equal(in.Source.Created) {
		r.History = append(r.History, model.Content{
			Seal: fingerprint.Absent, Observed: model.UnknownPast, Written: model.UnknownPast, LastWrite: model.UnknownPast,
			KnownUntil: in.Source.Created, Baseline: true,
		})
	}
	return in.fill(r, in.baseline(seal))
}

// baseline dates content that was found, not watched: by what the API server
// recorded of it.
func (in *Input) baseline(seal string) model.Content {
	c := model.Content{
		Seal: seal, Observed: model.UnknownPast, Written: model.UnknownPast, LastWrite: model.UnknownPast,
		KnownUntil: in.knownUntil(), Baseline: true,
	}
	if in.Source.Present {
		c.Observed, c.Written, c.LastWrite = in.lastWrite(), in.lastWrite(), in.Source.LastWrite
	}
	if in.ahead(c.LastWrite) { // it was written at some time up to now; whatever KICK does from now on answers it
		c.Observed = in.observed(in.Now)
	}
	return c
}

// rekey replaces a record that another key sealed. The same resourceVersion
// proves the same content; otherwise the content is dated like a first sight,
// but never earlier than it was already.
func (in *Input) rekey(seal string) (Kind, *model.Record) {
	old := in.Record.Current()
	next := *in.Record
	if in.Record.SourceVersion == in.Source.ResourceVersion {
		old.Seal = seal
		next.History = appearedOutOf(in.Record.History)
		mark.Hit(mark.Rekeyed)
		return Rekeyed, in.fill(&next, old)
	}
	c := in.baseline(seal)
	c.Observed = model.Later(c.Observed, old.Observed)
	c.Written = model.Later(c.Written, old.Written)
	c.LastWrite = model.Later(c.LastWrite, old.LastWrite)
	next.History = nil
	mark.Hit(mark.Rebaselined)
	return Baseline, in.fill(&next, c)
}

// wasAway reports whether content that stands as recorded was another in between:
// this process saw it change and change back, or its owner wrote it while no
// process was there to see what.
func (in *Input) wasAway() bool {
	last := in.Record.Current()
	if last.Absent() || !in.Source.LastWrite.After(last.LastWrite) { // the way back is a write, too
		return false
	}
	if first := in.Watched.First; first != nil && in.Key.Seal(first.From) == last.Seal {
		return true
	}
	look, alive := in.Watched.FirstLook, in.Watched.LastAlive
	return !alive.IsZero() && look.After(last.LastWrite) && !look.Before(alive.Add(-in.Allowance).Truncate(time.Second))
}

// returned notes that the content was away. It is no change to act on, so it is
// observed when it was before; but a pod that started in between may have read
// something else.
func (in *Input) returned() *model.Record {
	next := in.closed(false)
	last := next.Current()
	last.Written, last.LastWrite = in.lastWrite(), in.Source.LastWrite
	last.KnownUntil, last.Baseline = in.knownUntil(), false
	return in.fill(next, last)
}

// closed is the record with all that is known about how long its newest content
// stood. Where a key was removed nothing dates the end of it, and a process that stood still
// may have been told, and have said on its lease that it knows all, long after.
func (in *Input) closed(keyRemoved bool) *model.Record {
	next := *in.Record
	next.History = slices.Clone(in.Record.History)
	last := &next.History[len(next.History)-1]
	if alive := in.Watched.LastAlive; !alive.IsZero() && !keyRemoved {
		last.KnownUntil = model.Later(last.KnownUntil, alive.Add(-in.Allowance))
	}
	if first := in.Watched.First; first != nil && in.Key.Seal(first.From) == last.Seal && !in.ahead(first.LastWrite) {
		until := first.LastWrite
		if first.Gone { // no date tells since when
			until = first.Seen.Add(-in.Allowance)
		}
		last.KnownUntil = model.Later(last.KnownUntil, until)
	}
	return &next
}

// appearedOutOf is the absence before the newest content, if there was one. No key
// sealed it, so it outlives any.
func appearedOutOf(history []model.Content) []model.Content {
	if n := len(history); n > 1 && history[n-2].Absent() {
		return []model.Content{history[n-2]}
	}
	return nil
}

// change appends the new content with its two times.
func (in *Input) change(seal string) *model.Record {
	next := in.closed(in.Source.Present && !in.keptKeyNames())
	last := next.Current()
	in.noteChange(last)
	recorded := last.LastWrite
	if in.ahead(recorded) { // made up; the change came after the content was last known to stand
		recorded = last.KnownUntil.Truncate(time.Second)
	}
	lambda := model.Later(in.Source.LastWrite, recorded)
	written := in.ServerNow
	if !in.ahead(lambda) {
		written = model.Later(written, lambda)
	}
	written = written.Add(in.Allowance)
	if in.dates(lambda, recorded) && in.keptKeyNames() {
		written = lambda
		mark.Hit(mark.ChangeDatedByServer)
	} else {
		mark.Hit(mark.ChangeDatedByKick)
	}
	observed := in.observed(model.Later(in.Now, last.Observed.Add(time.Microsecond)))
	if last.Absent() && in.Source.Present && in.Source.LastWrite.After(in.Source.Created) {
		next.History = append(next.History, in.unseen(observed))
		observed = observed.Add(time.Microsecond)
	}
	return in.fill(next, model.Content{
		Seal: seal, Observed: observed, Written: written, LastWrite: lambda, KnownUntil: in.knownUntil(),
	})
}

// unseen is what a source was created with, before it was written to what it is now. A
// container that waited for the source may have read that, so its start proves nothing.
func (in *Input) unseen(observed time.Time) model.Content {
	mark.Hit(mark.AppearedAndChanged)
	created := in.Source.Created
	return model.Content{Seal: fingerprint.Unseen, Observed: observed, Written: created, LastWrite: created, KnownUntil: created}
}

// observed is a time of KICK's clock, raised above every stamp there is.
func (in *Input) observed(at time.Time) time.Time {
	if in.NewestStamp.IsZero() {
		return at
	}
	return model.Later(at, in.NewestStamp.Add(time.Microsecond))
}

// noteChange counts the two changes that are no edit.
func (in *Input) noteChange(last model.Content) {
	switch {
	case !in.Source.Present:
		mark.Hit(mark.SourceVanished)
	case last.Absent():
		mark.Hit(mark.SourceAppeared)
	}
}

// dates reports whether lambda is the date of the present content, if no key was
// removed. It moved past the recorded one, or it is the same second of a content
// owner: any write that sets a value moves the date of its owner, so this one fell
// into that second, too; unless it has given up since what it set. A creation time says
// nothing of that kind, nor does a date in the future, which somebody made up.
func (in *Input) dates(lambda, recorded time.Time) bool {
	return in.Source.Present && !in.ahead(lambda) && (lambda.After(recorded) || in.Source.Dated && in.Source.LastWrite.Equal(recorded))
}

// keptKeyNames reports whether every key name on record is still there. A pure
// removal of a key moves no time on the server, so lambda then proves nothing.
func (in *Input) keptKeyNames() bool {
	if in.Record.Current().Absent() {
		return true
	}
	if in.Record.KeyNamesPartial {
		return false
	}
	now := in.sealedNames()
	for _, name := range in.Record.KeyNames {
		if _, found := slices.BinarySearch(now, name); !found {
			return false
		}
	}
	return true
}

// fill completes a record around its newest content.
func (in *Input) fill(r *model.Record, c model.Content) *model.Record {
	if in.Source.Present {
		r.Labels = in.Source.Labels
	}
	r.SourceVersion = in.Source.ResourceVersion
	r.KeyID = in.Key.ID()
	r.KeyNames = in.sealedNames()
	r.KeyNamesPartial = len(r.KeyNames) > MaxKeyNames
	if r.KeyNamesPartial {
		r.KeyNames = nil
	}
	r.History = append(r.History, c)
	if over := len(r.History) - MaxHistory; over > 0 {
		mark.Hit(mark.HistoryEvicted)
		r.History = r.History[over:]
	}
	return r
}

func (in *Input) sealedNames() []string {
	id := in.Source.ID.String()
	names := make([]string, 0, len(in.Source.KeyNames))
	for _, name := range in.Source.KeyNames {
		names = append(names, in.Key.SealName(id, name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// lastWrite is lambda, with times that no clock of the cluster can have shown
// clamped: a far future must not make pods look older than they are for ever.
func (in *Input) lastWrite() time.Time {
	if in.ahead(in.Source.LastWrite) {
		mark.Hit(mark.FutureWriteClamped)
		return in.limit()
	}
	return in.Source.LastWrite
}

// ahead reports a time that no clock of the cluster can show yet.
func (in *Input) ahead(t time.Time) bool { return t.After(in.limit()) }

func (in *Input) limit() time.Time { return in.ServerNow.Add(in.Allowance).Truncate(time.Second) }

// knownUntil is when the content certainly stood: when it was written, since the look
// may be at a cache that is late. Where no date tells, it is now on the API server's
// clock, as early as that can be.
func (in *Input) knownUntil() time.Time {
	if in.Source.Present && !in.ahead(in.Source.LastWrite) {
		return in.Source.LastWrite
	}
	return in.ServerNow.Add(-in.Allowance)
}
