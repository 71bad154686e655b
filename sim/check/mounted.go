package check

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/secretsstore"
	"github.com/corewire/kick/sim/cluster"
)

// Mounted is what the status object of a pod tells of a SecretProviderClass: the versions of
// its files, which are all that can be known of their content.
type Mounted struct {
	Content Content
	At      time.Time // true time at which it was written so
}

var (
	classKind  = schema.GroupKind{Group: secretsstore.GroupVersion.Group, Kind: "SecretProviderClass"}
	statusKind = secretsstore.StatusKind.GroupKind()
)

// isClass reports whether a source is mounted by the Secrets Store CSI driver.
func (s Source) isClass() bool { return s.Kind == classKind.Kind }

// recordMounted notes what happens to a class, and what status objects tell of it: a pod that
// gets other versions is a change.
func (l *sourceLog) recordMounted(now time.Time, ev cluster.Event) {
	change := change{at: now, order: ev.Revision, written: ev.At, dated: true}
	switch o := ev.Object.(type) {
	case *secretsstore.SecretProviderClass:
		h := l.entry(Source{classKind.Kind, o.Namespace, o.Name})
		if h.newest, h.labels = o, now; ev.Type == cluster.Modified {
			return
		}
		change.gone = ev.Type == cluster.Deleted
		change.content = Content{Exists: !change.gone}
		h.changes = append(h.changes, change)
	case *secretsstore.SecretProviderClassPodStatus:
		l.entry(Source{classKind.Kind, o.Namespace, o.Status.SecretProviderClassName}).tells(now, ev)
		old, ok := ev.Old.(*secretsstore.SecretProviderClassPodStatus)
		if !ok || ev.Type != cluster.Modified || slices.Equal(old.Status.Objects, o.Status.Objects) || old.Status.TargetPath != o.Status.TargetPath {
			return
		}
		h := l.entry(Source{classKind.Kind, o.Namespace, o.Status.SecretProviderClassName})
		change.content = Content{Exists: true, Key: o.Name + o.ResourceVersion}
		h.changes = append(h.changes, change)
	}
}

// attends reports whether KICK follows a source with its flags.
func (c *Context) attends(s Source) bool { return (c.CSI || !s.isClass()) && canBe(s) }

// carriesOld reports whether a container of a pod loaded other versions of a class than
// the pod's status tells, as far as KICK follows it.
func (c *Context) carriesOld(pod Pod, source Source, loaded Content) bool {
	told, known := pod.Mounted[source]
	return c.CSI && known && told.Content != loaded
}

// untellable excuses versions that KICK cannot know to be others than those a container
// read: they were told of before its first record of the class, or so soon after the
// container had started that clocks do not show which was first, or by a write that no date
// tells of, before it had the pod on record.
func (c *Context) untellable(s stalePod) bool {
	told, known := s.pod.Mounted[s.ref.source]
	if !known {
		return false
	}
	h := c.sources.of(s.ref.source)
	first, recorded := h.firstRecord()
	return !recorded || !told.At.After(first.at) || told.At.Sub(s.container.Started) <= c.Allowance+time.Second ||
		!c.datedStatus(s, told.At) && !h.recordedIn(s.container.Started, told.At)
}

// datedStatus reports whether the status object of a pod shows that it was written at an
// instant. A write that only takes objects out of it moves no date: whoever did not know the
// pod before takes what is left for what it began with.
func (c *Context) datedStatus(s stalePod, written time.Time) bool {
	source := s.ref.source
	key := types.NamespacedName{Namespace: source.Namespace, Name: s.pod.Name + "-" + source.Namespace + "-" + source.Name}
	status := c.API.Get(statusKind, key)
	return status != nil && slices.ContainsFunc(status.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool {
		return e.Time != nil && !e.Time.Add(c.Allowance+time.Second).Before(written)
	})
}

// mountedAgain: a container that mounts a class was restarted in place. It read the files as
// they were then, and what the status told later may have been told late.
func (r restartCase) mountedAgain() bool {
	return r.eachRef(func(_ Pod, c Container, ref ref) bool { return ref.source.isClass() && c.Again })
}

// backUntold: what a pod mounts is what a container read, but the status said so only after
// the newest record that KICK had seen when it judged. Statuses are not read live.
func (r restartCase) backUntold() bool {
	return r.eachRef(func(pod Pod, c Container, ref ref) bool {
		seen, recorded := r.sources.of(ref.source).told(r.known.Records)
		told, mounted := pod.Mounted[ref.source]
		return ref.source.isClass() && recorded && mounted && told.Content == c.Loaded[ref.source] && told.At.After(seen)
	})
}

// flaps: what is stale is stale by a class alone, and that has changed thrice at least.
func (b blockCase) flaps() bool {
	return !slices.ContainsFunc(b.stale, func(s stalePod) bool {
		return !s.ref.source.isClass() || len(b.sources.of(s.ref.source).changes) < 4 // its creation is one
	})
}

// classesQuiet is when nothing that the classes of a workload did holds a restart back any more:
// one poll after a rotation, for the Secret that mirrors it, and five of them after the last of
// three within as many, which is a class that flaps (docs/csi.md). Each pod that tells of other
// versions counts. Both times are counted from when KICK saw it: one that it sees when it comes
// back it cannot tell from one of just now, since clocks differ.
func (r restartCase) classesQuiet() (quiet time.Time) {
	for _, ref := range r.refs() {
		h := r.sources.of(ref.source)
		changes := h.changes
		if !ref.source.isClass() || len(changes) == 0 {
			continue
		}
		last := changes[len(changes)-1].at
		wait := r.Rotation
		if n := len(changes); n > 3 && last.Sub(changes[n-3].at) <= 5*r.Rotation { // its creation is one
			wait = 5 * r.Rotation
		}
		for _, t := range h.turns {
			last = latest(last, t.noted)
		}
		quiet = latest(quiet, last.Add(wait))
	}
	return quiet
}

// mirrored: a class was rotated so recently that the Secret which mirrors it is waited for.
func (b blockCase) mirrored() bool {
	return slices.ContainsFunc(b.stale, func(s stalePod) bool {
		last, ok := b.sources.of(s.ref.source).last()
		return ok && b.Loop.Now().Sub(last.at) <= time.Hour
	})
}
