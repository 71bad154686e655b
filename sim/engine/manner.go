package engine

import (
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/sched"
)

// manner is how a batch of events is shown: nil plainly, one by one.
func (f *feed) manner(batch []cluster.Event) *faults.Fault {
	e := f.process.engine
	if len(e.faults) > 0 {
		if fault := f.namedManner(batch); fault != nil {
			return fault
		}
	}
	if !e.asks() {
		return nil
	}
	manners := []*faults.Fault{nil, faults.Relist, faults.CacheAhead}
	if len(newest(batch, false)) < len(batch) {
		manners = append(manners, faults.SkippedStates)
	}
	if recreated(batch) {
		manners = append(manners, faults.RecreateAsUpdate)
	}
	fault := manners[e.loop.Choose(len(manners), sched.Lag, f.label)]
	if fault != nil {
		e.met(f.label, fault.Name)
	}
	return fault
}

// namedManner is the manner that the scenario asks for, once there is a batch that
// it makes a difference to.
func (f *feed) namedManner(batch []cluster.Event) *faults.Fault {
	switch {
	case f.hit(faults.Relist):
		return faults.Relist
	case f.hit(faults.CacheAhead):
		return faults.CacheAhead
	case recreated(batch) && f.hit(faults.RecreateAsUpdate):
		return faults.RecreateAsUpdate
	case len(newest(batch, false)) < len(batch) && f.hit(faults.SkippedStates):
		return faults.SkippedStates
	}
	return nil
}

// newest leaves out the states of an object that were followed by another one in
// the batch. A deletion stays, unless across says that it may be skipped too.
func newest(batch []cluster.Event, across bool) []cluster.Event {
	var out []cluster.Event
	for i := range batch {
		if !followed(batch, i) || batch[i].Type == cluster.Deleted && !across {
			out = append(out, batch[i])
		}
	}
	return out
}

// recreated reports that an object was deleted and made again within the batch.
func recreated(batch []cluster.Event) bool {
	for i := range batch {
		if batch[i].Type == cluster.Deleted && followed(batch, i) {
			return true
		}
	}
	return false
}

// followed reports whether a later event of the batch is about the same object.
func followed(batch []cluster.Event, i int) bool {
	for j := i + 1; j < len(batch); j++ {
		if batch[j].Key == batch[i].Key {
			return true
		}
	}
	return false
}
