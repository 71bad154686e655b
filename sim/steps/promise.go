package steps

import "github.com/corewire/kick/sim/scenario"

// Promise is a step that takes effect only when the operator does something later.
// One that never did is a step that tests nothing.
type Promise struct {
	Step  scenario.Step
	Empty string // what to say if it is not kept
	kept  bool
	crash bool
}

func (p *Promise) keep() { p.kept = true }

// promise notes that the step under way is still to take effect.
func (e *Env) promise(empty string) *Promise {
	p := &Promise{Step: e.step, Empty: empty}
	e.promises = append(e.promises, p)
	return p
}

// Crashed tells that the operator was killed at a write.
func (e *Env) Crashed() {
	for _, p := range e.promises {
		if p.crash && !p.kept {
			p.keep()
			return
		}
	}
}

// Broken are the steps that never took effect, in order.
func (e *Env) Broken() []Promise {
	var out []Promise
	for _, p := range e.promises {
		if !p.kept {
			out = append(out, *p)
		}
	}
	return out
}
