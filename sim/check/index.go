package check

import (
	"maps"
	"slices"
)

const lawIndex = "index finds every reader"

// index holds KICK's cache against a walk through all workloads.
type index struct{}

// AtEnd reports a source whose readers the cache does not find, or not only them.
// By then every watch has caught up.
func (index) AtEnd(c *Context) {
	if c.Operator == nil {
		return
	}
	readers := c.readers()
	for s := range c.sources.bySource { // sources nobody reads any more, too
		if _, known := readers[s]; !known && c.watched(s.Namespace) {
			readers[s] = nil
		}
	}
	for _, s := range slices.SortedFunc(maps.Keys(readers), compareSources) {
		want := readers[s]
		slices.Sort(want)
		got, leads := c.Operator.Readers(s)
		if leads && !slices.Equal(got, want) {
			c.report(lawIndex, "KICK's cache finds %s as readers of %s, but they are %s", orNobody(got), s, orNobody(want))
		}
	}
}

func orNobody(ids []string) string {
	if len(ids) == 0 {
		return "nobody"
	}
	return join(ids)
}

// readers are the workloads whose template reads each source, one by one.
func (c *Context) readers() map[Source][]string {
	all := map[Source][]string{}
	for _, w := range c.workloads() {
		through := w.rollout != nil && w.rollout.Spec.WorkloadRef != nil // found through the workload whose template it runs
		if through || !c.watched(w.GetNamespace()) {
			continue
		}
		for _, r := range refsOf(w.GetNamespace(), w.template) {
			all[r.source] = append(all[r.source], w.id())
		}
	}
	return all
}
