// Package sched is virtual time and the single source of choice.
//
// A Loop holds every thing that is to happen, ordered by due time. One call of
// Step runs one of them on the caller's goroutine; nothing else ever runs. Where
// several are due at the same instant the Chooser picks, so a seed, a recorded
// list, an exhaustive search or fuzz bytes can all drive the same world
// (DESIGN section 9).
package sched

import (
	"container/heap"
	"fmt"
	"time"
)

// Event is one thing that is due at an instant of true time.
type Event struct {
	due   time.Time
	seq   uint64
	label Label
	run   func()
	index int // position in the heap, -1 once run or stopped
}

// Label names an event: what happens, and to which object if any.
type Label struct{ What, Namespace, Name string }

// String is what, and the object as namespace/name.
func (l Label) String() string {
	if l.Name == "" {
		return l.What
	}
	return l.What + " " + l.Namespace + "/" + l.Name
}

// Loop is a single-threaded event loop over virtual time. The zero value is not
// usable; call New.
type Loop struct {
	now     time.Time
	chooser Chooser
	queue   eventHeap
	seq     uint64
	ran     uint64
	arrived uint64 // ran when now was reached
	halted  bool
}

// New returns a loop whose true time starts at start.
func New(start time.Time, chooser Chooser) *Loop {
	return &Loop{now: start.UTC(), chooser: chooser}
}

// Now is the true time, the one no clock in the world shows exactly.
func (l *Loop) Now() time.Time { return l.now }

// Choose asks the loop's chooser; see Chooser.
func (l *Loop) Choose(n int, class Class, site string) int {
	if n <= 1 {
		return 0
	}
	return l.chooser.Choose(n, class, site)
}

// Plain reports that every question is answered by 0, so that asking is a waste.
func (l *Loop) Plain() bool { _, plain := l.chooser.(FIFO); return plain }

// Ask makes another chooser answer all questions from now on.
func (l *Loop) Ask(chooser Chooser) { l.chooser = chooser }

// Fork returns a loop at the same instant in which nothing is scheduled: what l
// runs is bound to the world around l. See Adopt.
func (l *Loop) Fork() *Loop { return &Loop{now: l.now, chooser: l.chooser, seq: l.seq, ran: l.ran} }

// Adopt schedules what stands for an event of the loop that l was forked from: it
// is due at the same instant and in the same place among simultaneous ones.
func (l *Loop) Adopt(e *Event, run func()) *Event {
	own := &Event{due: e.due, seq: e.seq, label: e.label, run: run}
	heap.Push(&l.queue, own)
	return own
}

// Pending is the number of events that are scheduled.
func (l *Loop) Pending() int { return len(l.queue) }

// Ran is the number of events run so far.
func (l *Loop) Ran() uint64 { return l.ran }

// After schedules run at Now()+d (a negative d counts as 0). The label names it
// in logs and choices. The returned event can be stopped.
func (l *Loop) After(d time.Duration, label string, run func()) *Event {
	return l.AfterOf(d, Label{What: label}, run)
}

// AfterOf is After with a label that is put together only when somebody reads it.
func (l *Loop) AfterOf(d time.Duration, label Label, run func()) *Event {
	e := &Event{due: l.now.Add(max(d, 0)), seq: l.seq, label: label, run: run}
	l.seq++
	heap.Push(&l.queue, e)
	return e
}

// Stop removes an event that has not run yet. Stopping nil, a stopped or a
// finished event does nothing.
func (l *Loop) Stop(e *Event) {
	if e == nil || e.index < 0 {
		return
	}
	heap.Remove(&l.queue, e.index)
}

// Halt makes the loop stand still for good: nothing is due any more, and time does
// not pass.
func (l *Loop) Halt() { l.halted = true }

// Halted reports that the loop stands still.
func (l *Loop) Halted() bool { return l.halted }

// Next returns the due time of the earliest event; false when nothing is due.
func (l *Loop) Next() (time.Time, bool) {
	if len(l.queue) == 0 || l.halted {
		return time.Time{}, false
	}
	return l.queue[0].due, true
}

// Step runs one event among those due earliest and reports whether there was one.
func (l *Loop) Step() bool {
	if len(l.queue) == 0 {
		return false
	}
	e := l.pick()
	if e.due.After(l.now) {
		l.now, l.arrived = e.due, l.ran
	}
	if l.ran++; l.ran-l.arrived > mostAtOnce {
		panic(fmt.Sprintf("time stands still at %s: %d events there, the last one %q", l.now.Format(time.RFC3339Nano), mostAtOnce, e.label))
	}
	e.run()
	return true
}

// mostAtOnce is how many events may run at one instant. More come from something
// that asks again and again what only time can answer.
const mostAtOnce = 100_000

// RunUntil runs every event due at or before t and leaves the time at t.
func (l *Loop) RunUntil(t time.Time) {
	for {
		due, ok := l.Next()
		if !ok || due.After(t) {
			break
		}
		l.Step()
	}
	if t.After(l.now) && !l.halted {
		l.now = t
	}
}

// pick removes the next event: the first one in FIFO order, or whichever of the
// simultaneous ones the chooser names.
func (l *Loop) pick() *Event {
	first := heap.Pop(&l.queue).(*Event)
	if l.Plain() || len(l.queue) == 0 || !l.queue[0].due.Equal(first.due) {
		return first
	}
	ties := []*Event{first}
	for len(l.queue) > 0 && l.queue[0].due.Equal(first.due) {
		ties = append(ties, heap.Pop(&l.queue).(*Event))
	}
	chosen := l.Choose(len(ties), Order, first.label.String())
	for i, e := range ties {
		if i != chosen {
			heap.Push(&l.queue, e)
		}
	}
	return ties[chosen]
}

// eventHeap orders by due time, then by order of scheduling.
type eventHeap []*Event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	if !h[i].due.Equal(h[j].due) {
		return h[i].due.Before(h[j].due)
	}
	return h[i].seq < h[j].seq
}
func (h eventHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *eventHeap) Push(x any) {
	e := x.(*Event)
	e.index = len(*h)
	*h = append(*h, e)
}
func (h *eventHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	e.index = -1
	return e
}
