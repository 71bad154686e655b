package confirm

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/corewire/kick/sim/scenario"
)

// Options say against what, and how.
type Options struct {
	// Config is an administrator of the control plane.
	Config *rest.Config
	// Operator is the operator's binary.
	Operator string
	// RealPods says that pods are run by a real kubelet, which has Image: containers
	// then report what they loaded. Otherwise the nodes are fake (kwok, with pods that
	// take about a second to start), and what a container loaded follows from when it
	// started.
	RealPods bool
	// Image is the reporting image, kick/kicktest/probe. Default test.local/probe:1.
	Image string
	// Parallel is how many scenarios run at a time. Default 2.
	Parallel int
	// Cap is how long a scenario may take, in its own time. Default 90s.
	Cap time.Duration
	// Logs is a folder for the logs of the operators; empty: they are not kept.
	Logs string
}

// Defaults of options that are left out.
const (
	DefaultParallel = 2
	DefaultCap      = 90 * time.Second
	DefaultImage    = "test.local/probe:1"
)

// Result is one scenario in both worlds.
type Result struct {
	Scenario string `json:"scenario"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	// Shortened says what was taken away: "", "idle time cut", "x60, idle time cut".
	Shortened string   `json:"shortened,omitempty"`
	Sim       *Outcome `json:"sim,omitempty"`
	Real      *Outcome `json:"real,omitempty"`
	Equal     bool     `json:"equal"`
	// Reason is why there is no comparison, and Class what kind of reason that is.
	Reason  string  `json:"reason,omitempty"`
	Class   string  `json:"class,omitempty"`
	Seconds float64 `json:"seconds"`
}

// Confirmed reports that there is something to compare.
func (r Result) Confirmed() bool { return r.Real != nil }

// classHarness marks a scenario that could have been played, but the machine failed.
const classHarness = "could not be played"

// Run plays all scenarios and calls done for each as it ends. The results come in
// the order of the scenarios. An error means that nothing could be played at all.
func Run(ctx context.Context, scenarios []scenario.Scenario, o Options, done func(Result)) ([]Result, error) {
	o.Parallel, o.Cap = cmp.Or(o.Parallel, DefaultParallel), cmp.Or(o.Cap, DefaultCap)
	o.Image = cmp.Or(o.Image, DefaultImage)
	c, err := newClients(o.Config)
	if err != nil {
		return nil, err
	}
	if err := installCRDs(ctx, c.any); err != nil {
		return nil, err
	}
	session, err := session()
	if err != nil {
		return nil, err
	}
	results := make([]Result, len(scenarios))
	work := make(chan int)
	var all sync.WaitGroup
	var telling sync.Mutex
	for range o.Parallel {
		all.Go(func() {
			for i := range work {
				results[i] = one(ctx, c, scenarios[i], fmt.Sprintf("%s%03d", session, i), o)
				telling.Lock()
				done(results[i])
				telling.Unlock()
			}
		})
	}
	for i := range scenarios {
		if ctx.Err() != nil {
			break
		}
		work <- i
	}
	close(work)
	all.Wait()
	return results, context.Cause(ctx)
}

// session tells the namespaces of one run of this program from those of another.
func session() (string, error) {
	random := make([]byte, 2)
	if _, err := rand.Read(random); err != nil {
		return "", err
	}
	return hex.EncodeToString(random), nil
}

// one plans and plays a scenario.
func one(ctx context.Context, c clients, s scenario.Scenario, suffix string, o Options) Result {
	began := time.Now()
	result := Result{Scenario: s.Name, File: s.At.File, Line: s.At.Line}
	p, err := prepare(s, o)
	if reason, ok := errors.AsType[reasonError](err); ok {
		result.Reason, result.Class = reason.Reason, reason.Class
		return result
	}
	result.Shortened, result.Sim = p.note, &p.sim
	outcome, err := play(ctx, c, p, suffix, o)
	if err != nil && ctx.Err() == nil {
		outcome, err = play(ctx, c, p, suffix+"b", o) // a machine may be out of breath for a while
	}
	result.Seconds = time.Since(began).Seconds()
	if err != nil {
		result.Reason, result.Class = err.Error(), classHarness
		return result
	}
	result.Real, result.Equal = &outcome, outcome.equals(p.sim, s.Expect)
	return result
}
