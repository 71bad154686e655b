package bundle

import "time"

// facts are a snapshot and what follows from it.
type facts struct {
	*Snapshot
	now      time.Time
	declared Content // what is on record, else what the bundle says
	changed  bool    // the bundle is not the one that the status was judged at
}

// rules are asked in order; the first that has an answer decides.
var rules = []func(*facts) (Verdict, bool){
	putOnRecord, // what was made immutable is known for good
	takeBack,    // and a change of it undone
	missing,     // create, unless that was refused for good
	leaving,     // wait for a ConfigMap that goes
	taken,       // leave alone what is somebody else's
	mend,        // put right what differs
}

// Decide judges one bundle. now is KICK's clock in microseconds.
func Decide(s *Snapshot, now time.Time) Verdict {
	if s.Bundle == nil || s.Bundle.Deleting { // garbage collection does the rest
		return Verdict{Action: None, Final: true}
	}
	b := s.Bundle
	f := &facts{Snapshot: s, now: now, declared: b.Spec.Content()}
	f.changed = b.Status.Generation != b.Generation || b.Status.Metadata != b.Meta.Fingerprint()
	if s.Record != nil {
		f.declared = s.Record.Spec.Content()
	}
	for _, rule := range rules {
		if v, decided := rule(f); decided {
			return v
		}
	}
	return Verdict{Action: Report, Status: f.status(true, AsDeclared, false)}
}

// putOnRecord keeps what an immutable bundle declares, as soon as its ConfigMap is
// made: before that the API server may refuse it, and it must stay correctable. KICK
// having made the ConfigMap immutable proves that its content was declared so, even if
// the bundle says something else by now. An immutable ConfigMap that is as declared
// will do, too, whoever made it immutable.
func putOnRecord(f *facts) (Verdict, bool) {
	b, cm := f.Bundle, f.ConfigMap
	if f.Record != nil || cm == nil || !cm.Content.Immutable || !belongs(b, cm) {
		return Verdict{}, false
	}
	if cm.Content.Equal(f.declared) {
		return Verdict{Action: Keep, Spec: b.Spec}, true
	}
	if cm.Owned.Immutable {
		return Verdict{Action: Keep, Spec: specOf(cm.Content)}, true
	}
	return Verdict{}, false
}

// takeBack undoes a change of an immutable bundle.
func takeBack(f *facts) (Verdict, bool) {
	if f.Record == nil || f.Bundle.Spec.Content().Equal(f.declared) {
		return Verdict{}, false
	}
	return Verdict{Action: Restore, Spec: f.Record.Spec}, true
}

// missing creates the ConfigMap. A first creation that was refused is tried again only
// when the bundle is another; one that stood before is missed for as long as it takes.
func missing(f *facts) (Verdict, bool) {
	if f.ConfigMap != nil {
		return Verdict{}, false
	}
	st := &f.Bundle.Status
	anew := st.ConfigMap != "" || st.Ready.True // somebody may have edited the status
	if !anew && !f.changed && st.Ready.Reason != Terminating && !st.Ready.Since.IsZero() {
		return Verdict{Action: None, Final: true}, true
	}
	v := Verdict{Action: Create, Anew: anew, Healing: anew && !f.changed}
	v.Desired = f.desired(v.Healing)
	return v, true
}

// leaving waits for a ConfigMap that is being deleted, or will be: that of an earlier
// bundle of the same name.
func leaving(f *facts) (Verdict, bool) {
	cm := f.ConfigMap
	own := belongs(f.Bundle, cm)
	if !cm.Deleting && (own || !ofPredecessor(f.Bundle, cm)) {
		return Verdict{}, false
	}
	return Verdict{Action: Report, Status: f.status(false, Terminating, own && !f.changed)}, true
}

// taken leaves a ConfigMap alone that is not the bundle's.
func taken(f *facts) (Verdict, bool) {
	if belongs(f.Bundle, f.ConfigMap) {
		return Verdict{}, false
	}
	had := f.Bundle.Status.ConfigMap != ""
	v := Verdict{Action: Report, Holder: controllerOf(f.Bundle.ID, f.ConfigMap), Final: !had}
	v.Status = f.status(false, NameTaken, had && !f.changed)
	return v, true
}

// mend puts a ConfigMap of the bundle's own right. What nobody declared goes first:
// with it inside, the ConfigMap must not become immutable.
func mend(f *facts) (Verdict, bool) {
	d := compare(f.Bundle, f.declared, f.ConfigMap)
	if d.None() {
		return Verdict{}, false
	}
	st := &f.Bundle.Status
	healing := !f.changed && (st.Ready.True || st.Drifted.True)
	v := Verdict{Action: Apply, Difference: d, Healing: healing}
	switch {
	case d.barred:
		v.Action = Delete
	case !d.Extra.None():
		v.Action = Prune
	}
	v.Desired = f.desired(healing && v.Action == Apply || healing && v.Action == Prune && d.onlyExtra())
	return v, true
}

// onlyExtra reports whether nothing differs but undeclared keys.
func (d *Difference) onlyExtra() bool { return len(d.Names) == len(d.Extra.Data)+len(d.Extra.Binary) }

// desired is the ConfigMap to apply, with one more heal counted if this is one.
func (f *facts) desired(heals bool) Desired {
	d := Desired{Content: f.declared, Meta: f.Bundle.Meta, Heals: f.heals()}
	if heals {
		d.Heals = d.Heals.next(f.now)
	}
	return d
}

// heals are those of the status or of the ConfigMap, whichever knows more.
func (f *facts) heals() Heals {
	if f.ConfigMap == nil || !belongs(f.Bundle, f.ConfigMap) {
		return f.Bundle.Status.Heals
	}
	return f.Bundle.Status.Heals.later(f.ConfigMap.Heals)
}

// status is the bundle's status with these conditions.
func (f *facts) status(ready bool, reason Reason, drifted bool) Status {
	b := f.Bundle
	st := b.Status
	st.Generation, st.Metadata = b.Generation, b.Meta.Fingerprint()
	st.Immutable, st.Heals = f.Record != nil, f.heals()
	if f.ConfigMap != nil && belongs(b, f.ConfigMap) {
		st.ConfigMap = f.ConfigMap.UID
	}
	st.Ready = st.Ready.become(ready, reason, f.now)
	st.Drifted = st.Drifted.become(drifted, reason, f.now)
	return st
}

// become is the condition with a new value. Since moves with the value only.
func (c Condition) become(value bool, reason Reason, now time.Time) Condition {
	since := c.Since
	if c.True != value || since.IsZero() {
		since = now.Truncate(time.Second)
	}
	return Condition{True: value, Reason: reason, Since: since}
}

// Unmended is the status after a write that v asked for was not made: reason says why,
// Differs if it was put off.
func Unmended(s *Snapshot, v Verdict, reason Reason, now time.Time) Status {
	f := &facts{Snapshot: s, now: now}
	return f.status(false, reason, v.Healing)
}
