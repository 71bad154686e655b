package confirm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/operator"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

const (
	// sourcesFirst is how much older given sources are than given pods, as in the
	// simulator.
	sourcesFirst = 2 * time.Second
	// silence is how long nothing is written where things have settled.
	silence = 2500 * time.Millisecond
	// slack is what a real cluster may be later than the simulated one.
	slack = 15 * time.Second
	// leadTime is how long before t=0 a scenario begins whose dates are bound to it.
	leadTime = 50 * time.Second
	// patience is how long a cluster may take to come to rest.
	patience = 3 * time.Minute
	// foretold is how long the outcome that the simulator foretells is waited for.
	foretold = 2 * time.Minute
)

// clients are the ways to the API server.
type clients struct {
	config *rest.Config
	plain  client.Client
	any    dynamic.Interface
	set    *kubernetes.Clientset
}

func newClients(config *rest.Config) (clients, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = 1000, 2000
	config.WarningHandler = rest.NoWarnings{} // scenarios try what is warned of
	c := clients{config: config}
	var err error
	if c.plain, err = client.New(config, client.Options{Scheme: operator.NewScheme()}); err != nil {
		return c, err
	}
	if c.any, err = dynamic.NewForConfig(config); err != nil {
		return c, err
	}
	c.set, err = kubernetes.NewForConfig(config)
	return c, err
}

// rig is one scenario on the real cluster.
type rig struct {
	clients
	plan    *plan
	options Options
	names   namespaces
	spoken  []string // the scenario's names of its namespaces
	record  *record
	node    *node
	crew    *crew
	trouble *trouble
	zero    time.Time // t=0 of the scenario, moved on where the cluster was late
	begun   chan struct{}
	beyond  []client.Object

	mu       sync.Mutex
	problems []string
}

// problem notes what went wrong beside the steps.
func (r *rig) problem(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, err.Error())
}

// play carries a planned scenario out and says how it ended.
func play(ctx context.Context, c clients, p *plan, suffix string, o Options) (Outcome, error) {
	r := &rig{clients: c, plan: p, options: o, trouble: newTrouble(), begun: make(chan struct{})}
	r.names = namespaces{suffix: suffix, own: "kick-" + suffix}
	r.spoken = namespacesOf(p.scenario)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	outcome, err := r.run(ctx)
	cancel()
	return outcome, errors.Join(err, r.leave())
}

func (r *rig) run(ctx context.Context) (Outcome, error) {
	if err := r.enter(ctx); err != nil {
		return Outcome{}, err
	}
	if r.plan.fixed {
		r.setZero(time.Now().Add(leadTime))
	}
	if err := r.given(ctx); err != nil {
		return Outcome{}, err
	}
	if err := r.begin(ctx); err != nil {
		return Outcome{}, err
	}
	failed := r.steps(ctx)
	if failed == nil {
		failed = r.finish(ctx)
	}
	if ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx)
	}
	if errors.Is(failed, errRestless) {
		return Outcome{}, failed
	}
	outcome := r.outcome()
	if failed != nil {
		outcome.Broken = append(outcome.Broken, failed.Error())
	}
	outcome.Broken = append(outcome.Broken, r.problems...)
	return outcome, nil
}

// enter makes the namespaces, the rights and the watches.
func (r *rig) enter(ctx context.Context) error {
	home := r.options.Logs
	if home != "" {
		home = filepath.Join(home, r.plan.scenario.Name)
	} else {
		home = filepath.Join(os.TempDir(), "kick-confirm-"+r.names.suffix)
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	var watched []string
	for _, name := range r.spoken {
		watched = append(watched, r.names.real(name))
	}
	for _, name := range append([]string{r.names.own}, watched...) {
		if err := createNamespace(ctx, r.plain, name); err != nil {
			return err
		}
	}
	if asked := r.plan.scenario.Operator.Flags[watchFlag]; asked != "" {
		watched = nil
		for name := range strings.SplitSeq(asked, ",") {
			watched = append(watched, r.names.real(name))
		}
	}
	var err error
	if r.beyond, err = grant(ctx, r.plain, r.config, r.names.own, watched); err != nil {
		return err
	}
	r.node = newNode(r)
	all := make([]string, 0, len(r.spoken))
	for _, name := range r.spoken {
		all = append(all, r.names.real(name))
	}
	if r.record, err = watch(ctx, r.any, all, func(k objectKey, v version) { r.node.see(ctx, k, v) }); err != nil {
		return err
	}
	as := rest.CopyConfig(r.config)
	as.Impersonate = user(r.names.own)
	r.crew = &crew{
		binary: r.options.Operator, config: as, home: home, trouble: r.trouble, problems: r.problem,
		replicas: make([]*process, max(1, r.plan.scenario.Operator.Replicas)), flags: r.flags(watched),
	}
	return nil
}

// flags are those of the scenario, and where this operator lives.
func (r *rig) flags(watched []string) []string {
	out := []string{"--namespace=" + r.names.own, "--" + watchFlag + "=" + strings.Join(watched, ",")}
	for name, value := range r.plan.scenario.Operator.Flags {
		if name != watchFlag {
			out = append(out, "--"+name+"="+value)
		}
	}
	return out
}

// given applies what exists before KICK starts: sources first, then what makes
// pods, and waits until it has rolled out.
func (r *rig) given(ctx context.Context) error {
	for _, pods := range []bool{false, true} {
		for _, object := range r.plan.scenario.Given {
			if makesPods(object) != pods {
				continue
			}
			if err := r.apply(ctx, object, scenario.DefaultManager); err != nil {
				return fmt.Errorf("given %s: %w", object, err)
			}
		}
		if !pods {
			if err := wait(ctx, sourcesFirst); err != nil {
				return err
			}
		}
	}
	return r.rest(ctx)
}

func makesPods(r scenario.Resource) bool {
	switch r.GVK.Kind {
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Pod", "Job", "CronJob":
		return true
	}
	return false
}

// errRestless says that the machine is too slow, or the cluster never at rest.
var errRestless = fmt.Errorf("the cluster did not come to rest within %s", patience)

// rest waits until nothing has been written for a while and no pod starts.
func (r *rig) rest(ctx context.Context) error {
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		left := silence - time.Since(r.record.quietSince())
		if left <= 0 && !r.node.busy() {
			return nil
		}
		if err := wait(ctx, max(left, 100*time.Millisecond)); err != nil {
			return err
		}
	}
	return errRestless
}

// begin starts KICK where it starts at once, and fixes t=0: at the same fraction of
// a second as in the scenario, for some scenarios are about fractions.
func (r *rig) begin(ctx context.Context) error {
	if r.plan.scenario.Operator.StartAt == 0 {
		if err := r.crew.launch(ctx); err != nil {
			return err
		}
	}
	if now := time.Now(); !r.plan.fixed {
		r.setZero(now)
	} else if now.After(r.zero) {
		return fmt.Errorf("the cluster took longer than %s to begin, and the dates of the scenario are bound to its beginning", leadTime)
	}
	if r.plan.scenario.Operator.StartAt == 0 {
		close(r.begun)
		return wait(ctx, time.Until(r.zero))
	}
	due := r.zero.Add(r.plan.scenario.Operator.StartAt)
	go func() {
		defer close(r.begun)
		if wait(ctx, time.Until(due)) == nil {
			r.problem(r.crew.launch(ctx))
		}
	}()
	return wait(ctx, time.Until(r.zero))
}

// setZero fixes t=0, not before an instant: at the second of the minute that it has
// in the scenario where dates matter, and at the same fraction of a second always.
func (r *rig) setZero(earliest time.Time) {
	unit := time.Second
	if r.plan.fixed {
		unit = time.Minute
	}
	start := r.plan.scenario.Start
	r.zero = earliest.Truncate(unit).Add(start.Sub(start.Truncate(unit)))
	for r.zero.Before(earliest) {
		r.zero = r.zero.Add(unit)
	}
}

// here is an object of the scenario where and when it is played.
func (r *rig) here(object scenario.Resource) scenario.Resource {
	start := r.plan.scenario.Start
	return r.names.moved(shifted(object, start, r.zero.Sub(start)))
}

// steps does the steps in their order, each when it is due. Where the simulated
// cluster was at rest before a step, the real one may come to rest first.
func (r *rig) steps(ctx context.Context) error {
	for i, step := range r.plan.scenario.Steps {
		if err := r.due(ctx, i, step); err != nil {
			return err
		}
		act := steps.ActOf(step)
		if err := r.act(ctx, act); err != nil {
			return fmt.Errorf("step %d (%s) at %s:%d: %w", i+1, act.Verb, filepath.Base(step.Where.File), step.Where.Line, err)
		}
	}
	return nil
}

func (r *rig) due(ctx context.Context, i int, step scenario.Step) error {
	if !step.AtSet {
		return wait(ctx, step.After)
	}
	if step.At >= r.plan.scenario.Operator.StartAt && r.plan.scenario.Operator.StartAt > 0 {
		select {
		case <-r.begun:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err := wait(ctx, time.Until(r.zero.Add(step.At))); err != nil {
		return err
	}
	if r.plan.quiet[i] {
		if err := r.rest(ctx); err != nil {
			return err
		}
	}
	// Late by whole seconds: what follows moves on, fractions stay.
	late := time.Since(r.zero.Add(step.At))
	if late < 100*time.Millisecond || r.plan.fixed {
		return nil
	}
	late = late.Truncate(time.Second) + time.Second
	r.zero = r.zero.Add(late)
	return wait(ctx, time.Until(r.zero.Add(step.At)))
}

// finish ends all faults, waits until everything has settled and looks at the end.
func (r *rig) finish(ctx context.Context) error {
	select {
	case <-r.begun:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := r.act(ctx, steps.Act{Verb: "heal"}); err != nil {
		return err
	}
	// What the simulator foretells is waited for; if it does not come, until nothing
	// happens any more.
	deadline := time.Now().Add(foretold)
	for time.Now().Before(deadline) {
		if err := r.rest(ctx); err != nil {
			return err
		}
		if r.reached() {
			return nil
		}
		if err := wait(ctx, time.Second); err != nil {
			return err
		}
	}
	return nil
}

// leave removes all that this scenario made.
func (r *rig) leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var errs []error
	if r.crew != nil {
		errs = append(errs, r.crew.end())
		if r.options.Logs == "" {
			errs = append(errs, os.RemoveAll(r.crew.home))
		}
	}
	for _, name := range append(r.spoken, operator.DefaultNamespace) {
		errs = append(errs, ignoreNotFound(r.set.CoreV1().Namespaces().Delete(ctx, r.names.real(name), metav1.DeleteOptions{})))
	}
	for _, o := range r.beyond {
		errs = append(errs, client.IgnoreNotFound(r.plain.Delete(ctx, o)))
	}
	return errors.Join(errs...)
}
