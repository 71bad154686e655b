package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/corewire/kick/kick/api/secretsstore"
	"github.com/corewire/kick/kick/api/v1alpha1"
)

const lawMirrors = "a rotation waits for the Secret that mirrors the class"

// mirrors judges a restart when it is sent: each Secret that the driver makes of a class, and
// that the workload reads as well, has followed the newest rotation of the class that KICK
// had on record, or that was a poll ago.
func mirrors() Law {
	return &atRestart{law: lawMirrors, words: (*Context).mirrorBehind}
}

// mirrorBehind says which Secret that mirrors a class has not followed it, for one who knows
// this much.
func (c *Context) mirrorBehind(w workload, known Known) string {
	if !c.rotates(w) || c.policyEditedSince(w, known) || c.restartCase(w, known).manual() {
		return ""
	}
	reads := c.certainRefs(w, known)
	for _, class := range reads {
		rotated, ok := c.rotated(class.source, known)
		ago := c.Loop.Now().Sub(rotated)
		behind := slices.IndexFunc(reads, func(r ref) bool {
			return c.mirrorOf(class.source, r.source) && c.stood(r.source, rotated.Add(-c.Allowance))
		})
		if ok && ago < c.Rotation && behind >= 0 {
			return fmt.Sprintf("%s was rotated %s before, and %s, which mirrors it, has not followed", class.source, ago, reads[behind].source)
		}
	}
	return ""
}

// certainRefs are the references that count for one who knows this much, whatever else they
// have been told.
func (c *Context) certainRefs(w workload, known Known) []ref {
	policies := c.policiesOf(w)
	if len(policies) != 1 {
		return nil
	}
	return slices.DeleteFunc(refsOf(w.GetNamespace(), w.template), func(r ref) bool { return !c.scoped(policies[0], r.source, known) })
}

// scoped reports whether a source certainly counts under a policy, by labels that one knows of.
func (c *Context) scoped(p *v1alpha1.KickPolicy, s Source, known Known) bool {
	told := known.of(s)
	if s.isClass() {
		told = known.Classes
	}
	h := c.sources.of(s)
	return showed(told, h.labels) && c.inScope(p, s)
}

// rotated is the newest turn with which a round of a class certainly began.
func (c *Context) rotated(class Source, known Known) (time.Time, bool) {
	turns := c.sources.of(class).turnsSeen(known.Records)
	for i := range slices.Backward(turns) {
		if c.begins(turns, i) {
			return turns[i].at, true
		}
	}
	return time.Time{}, false
}

// mirrorOf reports whether a class is there whose driver makes a Secret of it.
func (c *Context) mirrorOf(class, secret Source) bool {
	o, there := c.source(class).(*secretsstore.SecretProviderClass)
	return there && secret.Kind == "Secret" && slices.ContainsFunc(o.Spec.SecretObjects, func(s secretsstore.SecretObject) bool { return s.SecretName == secret.Name })
}

// stood reports that a source is there, that it has not changed since an instant and that its
// record has not either, which was there by then.
func (c *Context) stood(s Source, since time.Time) bool {
	h := c.sources.of(s)
	last, ok := h.last()
	n := len(h.records)
	return ok && !last.gone && last.at.Before(since) && n > 0 && h.records[n-1].at.Before(since) && h.records[n-1].knew.After(last.at)
}
