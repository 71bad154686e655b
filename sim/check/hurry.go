package check

import "time"

const lawHurry = "no pass asks for the next one at once, over and over"

// Pass is one pass of a controller over one object, once it has ended without an error.
type Pass struct {
	Controller, Key string
	After           time.Duration // when it asked for the next one; zero: not by time
	Began           time.Time
	Again           bool // the next one is due already
	Shown           bool // the process's cache shows the object
}

// hurry counts the passes that followed one another by a timer of almost nothing.
type hurry struct{ row map[string]int }

const (
	almostNothing = 10 * time.Millisecond
	// inARow is how often that may happen: a wait that ends within a millisecond of the
	// pass looks like this once or twice, and a loop goes on for ever.
	inARow = 100
)

// OnPass reports a loop.
func (h *hurry) OnPass(c *Context, p Pass) {
	if h.row == nil {
		h.row = map[string]int{}
	}
	key := p.Controller + " " + p.Key
	if p.After <= 0 || p.After > almostNothing {
		delete(h.row, key)
		return
	}
	if h.row[key]++; h.row[key] == inARow {
		c.report(lawHurry, "controller %s asked %d times in a row to look at %s again within %s", p.Controller, inARow, p.Key, almostNothing)
	}
}
