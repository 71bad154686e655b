package engine

import "time"

// lease is the leader election of the cluster, seen from outside: who holds it and
// renews it, or until when the silence of a holder keeps it.
type lease struct {
	holder   *process // renews it; nil: nobody does
	owner    *process // whose name stands in it
	until    time.Time
	renewed  time.Time // newest renewal that is noted; zero: none ever
	recorded time.Time // what its label says since: all that the owner saw until then is on record, the API server's clock
}

// lastAlive is what the label of the lease says; zero: nobody ever held it.
func (e *Engine) lastAlive() time.Time {
	e.note(e.lease.holder)
	return e.lease.recorded
}

// note brings the lease up to the newest renewal of its holder, which renews every
// retry period since it began to lead. No event of the loop does it: what a renewal
// says changes with what the process saw, so it is noted before that changes and
// before anybody reads it.
func (e *Engine) note(p *process) {
	if p == nil || e.lease.holder != p {
		return
	}
	retry := e.options.RetryPeriod
	if renewed := p.leaseOwn.Add(e.loop.Now().Sub(p.leaseOwn) / retry * retry); renewed.After(e.lease.renewed) {
		e.label(p, renewed)
	}
}

// label is the write of a renewal.
func (e *Engine) label(p *process, at time.Time) {
	server := e.Server.Now().Add(at.Sub(e.loop.Now()))
	e.lease.renewed, e.lease.recorded = at, p.saw.RecordedUntil(server).Truncate(time.Second)
}

// compete gives a free lease to the replica that has been ready for it longest, or
// lets all look again when it expires.
func (e *Engine) compete() {
	if e.lease.holder != nil {
		return
	}
	if wait := e.lease.until.Sub(e.loop.Now()); wait > 0 {
		e.loop.After(wait, "lease expires", e.compete)
		return
	}
	var next *process
	for _, p := range e.replicas {
		if p == nil || !p.synced || !p.awake || p.leads {
			continue
		}
		if next == nil || p.since.Before(next.since) {
			next = p
		}
	}
	if next != nil {
		next.saw.Inherited(e.lastAlive())
		e.lease = lease{holder: next, owner: next}
		next.lead()
		e.note(next)
	}
}

// silence ends the renewals of the lease by its holder.
func (e *Engine) silence(p *process) {
	e.note(p)
	e.lease.holder, e.lease.until = nil, e.lease.renewed.Add(e.options.LeaseDuration)
	e.loop.After(e.lease.until.Sub(e.loop.Now()), "lease expires", e.compete)
}

// renew lets a leader that fell silent go on: with the lease if it is still its
// own, else until its renew deadline, as the other's lease is not its to renew.
func (e *Engine) renew(p *process) {
	switch {
	case !p.leads:
		e.compete() // the lease may have become free meanwhile
	case e.lease.holder == p || p.exit != nil:
	case e.lease.owner == p:
		e.lease.holder, p.leaseOwn = p, e.loop.Now()
		e.note(p)
	default:
		e.exitIn(p, e.options.RenewDeadline)
	}
}

// loseLease cuts a leader off from its lease; it tries until the renew deadline.
func (e *Engine) loseLease(p *process) {
	if e.lease.holder != p {
		return
	}
	e.silence(p)
	tries := e.lease.renewed.Add(e.options.RetryPeriod + e.options.RenewDeadline)
	e.exitIn(p, tries.Sub(e.loop.Now()))
}

// exitIn ends a process that leads without a lease, as controller-runtime does.
func (e *Engine) exitIn(p *process, d time.Duration) {
	p.exit = e.loop.After(d, "leader election lost", func() { e.exit(p) })
}

func (e *Engine) exit(p *process) {
	if !p.awake {
		p.wait(func() { e.exit(p) })
		return
	}
	p.log.Info("leader election lost", "replica", p.replica)
	e.kill(p)
}

// kill ends a process at once. Its lease stays until it expires, and another life
// starts a second later.
func (e *Engine) kill(p *process) {
	if e.lease.holder == p {
		e.silence(p)
	}
	p.die()
	e.replicas[p.replica] = nil
	e.reviving++
	e.loop.After(comeBack, "restart operator", func() {
		e.reviving--
		if e.replicas[p.replica] == nil {
			e.start(p.replica)
		}
	})
}

// freeze lets a process stand still. Nothing renews its lease meanwhile.
func (p *process) freeze(d time.Duration) {
	e := p.engine
	p.awake = false
	if e.lease.holder == p {
		e.silence(p)
	}
	e.loop.After(d, "thaw", p.thaw)
}

// thaw lets a process go on where it stood, with everything that came due.
func (p *process) thaw() {
	if !p.alive || p.awake {
		return
	}
	p.awake = true
	later := p.later
	p.later = nil
	for _, run := range later {
		p.engine.loop.After(0, "thaw", run)
	}
	p.engine.renew(p)
}

// wait keeps what came due while the process stands still; what comes due after
// its end is dropped.
func (p *process) wait(run func()) {
	if p.alive {
		p.later = append(p.later, run)
	}
}
