package run

import (
	"runtime"
	"sync"

	"github.com/corewire/kick/sim/scenario"
)

// All runs scenarios on all cores and hands out results in their own order, each
// as soon as it and those before it are done. Every scenario has a cluster of its
// own; they share nothing that changes.
func All(scenarios []scenario.Scenario, o Options, each func(Result)) {
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	results := make([]chan Result, len(scenarios))
	for i := range results {
		results[i] = make(chan Result, 1)
	}
	next := make(chan int)
	var running sync.WaitGroup
	for range min(workers, len(scenarios)) {
		running.Go(func() {
			for i := range next {
				results[i] <- One(scenarios[i], o)
			}
		})
	}
	go func() {
		for i := range scenarios {
			next <- i
		}
		close(next)
	}()
	for _, result := range results {
		each(<-result)
	}
	running.Wait()
}
