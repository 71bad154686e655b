package check

import (
	"strconv"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawFollows = "records follow their sources"

// follows holds what KICK wrote down of a source against the source.
type follows struct{}

// OnKick reports a record that went back to an older version of its source.
func (follows) OnKick(c *Context, ev cluster.Event) {
	r, ok := ev.Object.(*v1alpha1.SourceObservation)
	if !ok || ev.Type != cluster.Modified {
		return
	}
	was, before := versionOf(ev.Old.(*v1alpha1.SourceObservation))
	if is, after := versionOf(r); before && after && is < was {
		c.report(lawFollows, "record %s went back from version %d of its source to %d", ev.Key, was, is)
	}
}

// AtEnd reports a record whose content is not that of its source.
func (follows) AtEnd(c *Context) {
	for _, object := range c.API.List(recordKind, "") {
		r := object.(*v1alpha1.SourceObservation)
		source := Source{string(r.Spec.Source.Kind), r.Namespace, r.Spec.Source.Name}
		if !c.watched(r.Namespace) || len(c.API.List(policyKind, r.Namespace)) == 0 {
			continue
		}
		if source.isClass() {
			continue // its record tells of its pods
		}
		version, present := versionOf(r)
		if current := c.Truth.Current(source); current.Exists != present {
			c.report(lawFollows, "record %s/%s tells of %s, which is %s", r.Namespace, r.Name, presence[present], presence[current.Exists])
		} else if present && c.sources.of(source).atVersion(version) != current {
			c.report(lawFollows, "record %s/%s tells of version %d of %s, and its content is another since", r.Namespace, r.Name, version, source)
		}
	}
}

var presence = map[bool]string{true: "a source that exists", false: "one that does not exist"}

// versionOf is the resourceVersion of the source that a record tells of; false if it
// tells that there is none.
func versionOf(r *v1alpha1.SourceObservation) (int64, bool) {
	version, err := strconv.ParseInt(r.Spec.ResourceVersion, 10, 64)
	return version, err == nil
}

// atVersion is the content that a version of the source had.
func (h *history) atVersion(version int64) Content {
	var content Content
	for _, c := range h.changes {
		if c.order <= version {
			content = c.content
		}
	}
	return content
}
