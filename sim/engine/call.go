package engine

import (
	"bytes"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model/notify"
	"github.com/corewire/kick/sim/check"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/graph"
	"github.com/corewire/kick/sim/sched"
	"github.com/corewire/kick/sim/steps"
)

// errKilled is the outcome of a write that the process did not live to see.
var errKilled = errors.New("the process was killed before the write was sent")

// request is one write on its way.
type request struct {
	verb, sub string
	object    client.Object
	patch     client.Patch
	guarded   bool // it carries a resourceVersion or UID
	send      func(client.Object) error
}

// conditional reports whether the server refuses the write if the object is no
// longer the one that was read.
func (r *request) conditional() bool {
	switch {
	case r.guarded:
		return true
	case r.patch != nil:
		data, err := r.patch.Data(r.object)
		return err == nil && bytes.Contains(data, []byte(`"resourceVersion"`))
	default:
		return r.verb == "update" && r.object.GetResourceVersion() != ""
	}
}

// activeFault is a fault with the calls it still hits.
type activeFault struct {
	*faults.Fault
	on  steps.Fault
	met bool
}

// crashPoint kills the process around one of its next writes.
type crashPoint struct {
	left  int
	fault *faults.Fault
}

// read makes one live read, or lets it fail.
func (c *caller) read(verb string, object runtime.Object, key client.ObjectKey, send func() error) error {
	e, p := c.process.engine, c.process
	s, err := e.site(verb, "", object)
	if err != nil {
		return err
	}
	e.demand(s, key.Namespace)
	p.touched(s, graph.Looks)
	p.suspend(s.name)
	fault := e.fault(s, key, nil, p)
	if fault != nil && fault.Err != nil {
		err = fault.Err(s.resource, key.Name)
	} else {
		p.befall(fault)
		p.reads(s, key)
		if s.kind.Kind == notify.Kind {
			p.looked[key] = e.loop.Now()
		}
		err = send()
		p.answered()
	}
	p.suspend(s.name)
	return err
}

// write sends one write, or lets it fail, or kills the process around it.
func (c *caller) write(r request) error {
	e, p := c.process.engine, c.process
	s, err := e.site(r.verb, r.sub, r.object)
	if err != nil {
		return err
	}
	w := check.Write{
		Verb: r.verb, Sub: r.sub, Kind: s.kind.GroupKind(), Key: client.ObjectKeyFromObject(r.object),
		At: e.loop.Now(), Before: e.Server.Revision(), Known: p.knew, By: p,
	}
	if p.running != nil {
		w.Known = p.running.knew
	}
	if r.patch != nil {
		w.Body, _ = r.patch.Data(r.object) // checked when it is sent
	}
	e.demand(s, w.Key.Namespace)
	p.touched(s, graph.Writes)
	if e.Observe != nil {
		e.Observe(w)
	}
	fault := e.crashes()
	if fault == nil {
		p.suspend(s.name)
		fault = e.fault(s, w.Key, &r, p)
	} else {
		e.met(s.name, fault.Name)
	}
	err = c.outcome(s, &r, fault)
	e.report(w, err)
	if fault != nil && fault.Crash {
		c.die()
	}
	p.suspend(s.name)
	return err
}

// outcome carries the write out as far as the fault lets it.
func (c *caller) outcome(s *site, r *request, fault *faults.Fault) error {
	switch {
	case fault == nil:
		defer c.process.answered()
		return r.send(r.object)
	case fault.Crash && fault.Write == faults.Lost:
		return errKilled
	case fault.Crash:
		return r.send(r.object)
	case fault.Err == nil:
		c.process.befall(fault)
		return r.send(r.object)
	}
	switch fault.Write {
	case faults.Landed:
		_ = r.send(r.object.DeepCopyObject().(client.Object)) // the caller never sees the answer
	case faults.Late:
		c.sendLate(s, r)
	case faults.Lost:
	}
	return fault.Err(s.resource, r.object.GetName())
}

// sendLate lets the write arrive after its caller was answered, whatever becomes of
// the process by then. The server judges it when it arrives.
func (c *caller) sendLate(s *site, r *request) {
	e := c.process.engine
	delay := faults.LateWrite
	if e.asks() {
		delay = faults.LateWrites[e.loop.Choose(len(faults.LateWrites), sched.Fault, "late "+s.name)]
	}
	object, send := r.object.DeepCopyObject().(client.Object), r.send
	e.loop.After(delay, "late "+s.name, func() { _ = send(object) }) // nobody waits for the answer
}

// die kills the process in the middle of its pass.
func (c *caller) die() {
	c.process.engine.kill(c.process)
	panic(killed{})
}

// crashes counts a write towards the crash point.
func (e *Engine) crashes() *faults.Fault {
	if e.crash == nil {
		return nil
	}
	e.crash.left--
	if e.crash.left > 0 {
		return nil
	}
	fault := e.crash.fault
	e.crash = nil
	return fault
}

// asks reports that faults, lags and switches are to be chosen.
func (e *Engine) asks() bool { return !e.healed && !e.loop.Plain() }

// fault is what this call meets, if anything; r is nil for a read.
func (e *Engine) fault(s *site, key client.ObjectKey, r *request, p *process) *faults.Fault {
	var fault *faults.Fault
	if len(e.faults) > 0 {
		fault = e.named(s, key, r, p)
	}
	if fault == nil && e.asks() {
		alternatives := faults.OfRead(p.suspendable())
		if r != nil {
			alternatives = faults.OfWrite(r.conditional(), p.suspendable())
		}
		fault = alternatives[e.loop.Choose(len(alternatives), sched.Fault, s.name)]
	}
	if fault == nil {
		e.met(s.name, faults.None)
		return nil
	}
	e.met(s.name, fault.Name)
	return fault
}

// named is the fault of the scenario that hits a call.
func (e *Engine) named(s *site, key client.ObjectKey, r *request, p *process) *faults.Fault {
	for i := range e.faults {
		f := &e.faults[i]
		if !f.aims(s, key, r == nil) || f.Fault == faults.PauseAtCall && !p.suspendable() {
			continue
		}
		if f.Befalls(r == nil, r != nil && f.Conditional && r.conditional()) {
			return e.spend(i)
		}
	}
	return nil
}

// aims reports whether the scenario means a call. Without a verb it means writes only.
func (f *activeFault) aims(s *site, key client.ObjectKey, read bool) bool {
	if f.on.Verb == "" && read {
		return false
	}
	return matches(f.on.Verb, s.verb) && matches(f.on.Kind, s.kind.Kind) &&
		matches(f.on.Namespace, key.Namespace) && matches(f.on.ObjectName, key.Name)
}

func matches(want, got string) bool { return want == "" || want == got }

// happened tells the step of a fault that it met something.
func happened(f steps.Fault) {
	if f.Hit != nil {
		f.Hit()
	}
}

// spend takes one hit off a fault of the scenario.
func (e *Engine) spend(i int) *faults.Fault {
	f := &e.faults[i]
	fault := f.Fault
	happened(f.on)
	if f.on.Times > 0 {
		if f.on.Times--; f.on.Times == 0 {
			e.faults = slices.Delete(e.faults, i, i+1)
		}
	}
	return fault
}

func (e *Engine) report(w check.Write, err error) {
	if e.Observe == nil {
		return
	}
	w.Done, w.Err, w.After = true, err, e.Server.Revision()
	e.Observe(w)
}
