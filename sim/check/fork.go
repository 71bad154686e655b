package check

import (
	"maps"
	"slices"
	"time"
)

// judge is a law at work.
type judge struct {
	Entry
	law Law
}

func (l *Laws) appoint(j judge) {
	l.judges = append(l.judges, j)
	l.add(j.law)
}

// forker is a law that remembers what it saw before KICK began to work: every law
// with a writeHook and a memory. The others have seen nothing by then.
type forker interface{ fork() Law }

// Fork returns the judges of another run that begins where l stands, in a copy of
// the cluster around l. KICK must not have done anything yet.
func (l *Laws) Fork(c Context) *Laws {
	c.sources = l.sources.fork()
	c.Restarts, c.stamps, c.stampedAt = map[string]int{}, map[string]string{}, map[string]time.Time{}
	c.redone = map[string]string{}
	c.policyEdit, c.busy, c.leaving = maps.Clone(l.policyEdit), maps.Clone(l.busy), maps.Clone(l.leaving)
	c.toolEdit = l.toolEdit
	out := &Laws{Context: &c}
	for _, j := range l.judges {
		law := j.New()
		if f, ok := j.law.(forker); ok {
			law = f.fork()
		}
		out.appoint(judge{j.Entry, law})
	}
	return out
}

func (l *sourceLog) fork() *sourceLog {
	out := &sourceLog{bySource: make(map[Source]*history, len(l.bySource))}
	for source, h := range l.bySource {
		// Clipped, so that both sides append to copies.
		out.bySource[source] = &history{
			changes: slices.Clip(h.changes), touches: slices.Clip(h.touches), records: slices.Clone(h.records), keyID: h.keyID, labels: h.labels, newest: h.newest,
			turns: slices.Clone(h.turns), tellers: maps.Clone(h.tellers),
		}
	}
	return out
}

func (n *canaries) fork() Law {
	out := &canaries{known: maps.Clone(n.known), list: slices.Clip(n.list), seals: slices.Clip(n.seals)}
	out.words.WriteString(n.words.String())
	return out
}

func (r *rest) fork() Law { return &rest{foreign: r.foreign} }

func (s *sourceDriven) fork() Law { return &sourceDriven{created: maps.Clone(s.created)} }
