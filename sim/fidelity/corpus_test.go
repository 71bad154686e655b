package fidelity_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/corewire/kick/kick/api/crds"
	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/fidelity"
	"github.com/corewire/kick/sim/sched"
)

var (
	sequences = flag.Int("fidelity.sequences", 100, "random sequences to play on both servers")
	firstSeed = flag.Uint64("fidelity.seed", 1, "seed of the first sequence")
	atOnce    = flag.Int("fidelity.parallel", 12, "sequences played at once")
	length    = flag.Int("fidelity.length", 30, "operations of a sequence")
	shrinking = flag.Int("fidelity.shrink", 3, "differing sequences to shrink, one of each class")
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(controlplane.Main(m, controlplane.Options{}))
}

// seeded is the chooser of one sequence: splitmix64.
type seeded struct{ state uint64 }

func (s *seeded) Choose(n int, _ sched.Class, _ string) int {
	s.state += 0x9e3779b97f4a7c15
	x := s.state
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return int((x ^ x>>31) % uint64(n))
}

// sequence makes the operations of a seed.
func sequence(seed uint64) []fidelity.Op {
	return fidelity.Generate(&seeded{seed * 1_000_003}, *length)
}

// scheme knows all kinds of the corpus.
func scheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// simulated is a fresh simulated cluster for each sequence.
type simulated struct{ options cluster.Options }

// fast is the same cluster with the short cuts that exploration takes.
func (s *simulated) fast() *simulated {
	out := *s
	out.options.Fast = true
	return &out
}

func newSimulated(t testing.TB) *simulated {
	t.Helper()
	declared, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	s := &simulated{cluster.Options{Scheme: scheme(t), CRDs: declared, DetectMutation: true}}
	for _, gvk := range fidelity.Kinds() {
		s.options.Tracked = append(s.options.Tracked, gvk.GroupKind())
	}
	return s
}

// play plays a sequence and returns its record.
func (s *simulated) play(ctx context.Context, ops []fidelity.Op) (fidelity.Record, error) {
	now := time.Date(2031, 5, 6, 7, 8, 9, 123456789, time.UTC)
	options := s.options
	options.Now = func() time.Time { return now }
	server := cluster.New(options)
	events := make([][]fidelity.Event, len(fidelity.Kinds()))
	server.Subscribe(func(e cluster.Event) {
		i := slices.IndexFunc(fidelity.Kinds(), func(gvk schema.GroupVersionKind) bool { return gvk.GroupKind() == e.Kind })
		if e.Key.String() != "/"+namespace {
			events[i] = append(events[i], fidelity.Event{Type: string(e.Type), Object: e.Object})
		}
	})
	p := &fidelity.Player{Client: server.Client("nobody"), Namespace: namespace,
		Now: options.Now, Sleep: func() { now = now.Add(time.Second + 50*time.Millisecond) }}
	if err := p.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return fidelity.Record{}, err
	}
	out := fidelity.Record{Answers: p.Play(ctx, ops), Left: p.All(ctx)}
	out.Events = p.Tell(events)
	return out, server.CheckMutation()
}

// namespace is the simulated sequences' own.
const namespace = "corpus"

// real is a kube-apiserver and its watches.
type real struct {
	client client.WithWatch
	mu     sync.Mutex
	played int
	events map[string][][]fidelity.Event // by namespace, by kind
	seen   []chan string                 // names of the marks that each watch has shown
}

func newReal(t testing.TB) *real {
	t.Helper()
	plane := controlplane.Shared(t)
	if err := plane.InstallCRDs(t.Context(), crds.FS); err != nil {
		t.Fatal(err)
	}
	config := rest.CopyConfig(plane.Config)
	config.WarningHandlerWithContext = rest.NoWarnings{} // not compared
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	r := &real{client: c, events: map[string][][]fidelity.Event{}}
	for i, gvk := range fidelity.Kinds() {
		r.watch(t, i, gvk)
	}
	return r
}

// watch collects the events of a kind in all namespaces.
func (r *real) watch(t testing.TB, i int, gvk schema.GroupVersionKind) {
	t.Helper()
	gvk.Kind += "List"
	list, err := r.client.Scheme().New(gvk)
	if err != nil {
		t.Fatal(err)
	}
	w, err := r.client.Watch(t.Context(), list.(client.ObjectList))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	r.seen = append(r.seen, make(chan string, 1000))
	go func() {
		for e := range w.ResultChan() {
			obj, ok := e.Object.(client.Object)
			if !ok {
				if t.Context().Err() == nil {
					t.Errorf("watch of %s: %v", gvk, e)
				}
				return
			}
			if _, number, ok := strings.Cut(obj.GetName(), "mark-"); ok {
				r.seen[i] <- number
				continue
			}
			r.collect(i, fidelity.Event{Type: string(e.Type), Object: obj})
		}
	}()
}

// collect keeps an event with the sequence whose namespace it is about.
func (r *real) collect(i int, e fidelity.Event) {
	home := cmp.Or(e.Object.GetNamespace(), e.Object.GetName())
	parts := strings.SplitN(home, "-", 3) // corpus-17, corpus-17-a
	if len(parts) < 2 || home == strings.Join(parts[:2], "-") && e.Object.GetNamespace() == "" {
		return
	}
	home = strings.Join(parts[:2], "-")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.events[home] == nil {
		r.events[home] = make([][]fidelity.Event, len(fidelity.Kinds()))
	}
	r.events[home][i] = append(r.events[home][i], e)
}

// play plays a sequence in a namespace of its own; tell completes the record, once
// the watches have caught up.
func (r *real) play(ctx context.Context, ops []fidelity.Op) (out fidelity.Record, tell func() []string, err error) {
	r.mu.Lock()
	r.played++
	home := fmt.Sprintf("corpus-%d", r.played)
	r.mu.Unlock()
	p := &fidelity.Player{Client: r.client, Namespace: home, Now: time.Now, Sleep: func() { time.Sleep(1050 * time.Millisecond) }}
	if err := r.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: home}}); err != nil {
		return out, nil, err
	}
	out = fidelity.Record{Answers: p.Play(ctx, ops), Left: p.All(ctx)}
	return out, func() []string {
		r.mu.Lock()
		defer r.mu.Unlock()
		events := r.events[home]
		if events == nil {
			events = make([][]fidelity.Event, len(fidelity.Kinds()))
		}
		return p.Tell(events)
	}, nil
}

// catchUp waits until every watch has shown all that was written before.
func (r *real) catchUp(ctx context.Context) error {
	r.mu.Lock()
	r.played++
	number := fmt.Sprint(r.played)
	r.mu.Unlock()
	marks := fidelity.One("mark-" + number)
	p := &fidelity.Player{Client: r.client, Namespace: "default"}
	for i, answer := range p.Play(ctx, marks) {
		if answer.Code != 200 {
			return fmt.Errorf("%s: %s", marks[i], answer.Text)
		}
	}
	for _, shown := range r.seen {
		for {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case got := <-shown:
				if got != number {
					continue
				}
			}
			break
		}
	}
	return nil
}

// found is a sequence that the two servers answered differently.
type found struct {
	seed uint64
	ops  []fidelity.Op
	diff *fidelity.Difference
}

// outcome is what the real server made of the sequence of a seed.
type outcome struct {
	ops    []fidelity.Op
	record fidelity.Record
	tell   func() []string
}

// playAll plays the sequences of many seeds on the real server.
func (r *real) playAll(t *testing.T, seeds []uint64) []outcome {
	t.Helper()
	out := make([]outcome, len(seeds))
	next := make(chan int)
	var group sync.WaitGroup
	for range *atOnce {
		group.Go(func() {
			for i := range next {
				ops := sequence(seeds[i])
				record, tell, err := r.play(t.Context(), ops)
				if err != nil {
					t.Error(err)
				}
				out[i] = outcome{ops, record, tell}
			}
		})
	}
	for i := range seeds {
		next <- i
	}
	close(next)
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
	if err := r.catchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out
}

// differs plays a sequence on both servers.
func differs(t *testing.T, r *real, s *simulated, ops []fidelity.Op) *fidelity.Difference {
	t.Helper()
	want, tell, err := r.play(t.Context(), ops)
	if err == nil {
		err = r.catchUp(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	want.Events = tell()
	got, err := s.play(t.Context(), ops)
	if err != nil {
		t.Fatal(err)
	}
	return fidelity.Compare(ops, want, got)
}

// TestCorpus plays random sequences on a kube-apiserver and on the simulated one.
func TestCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a kube-apiserver")
	}
	var seeds []uint64
	for i := range uint64(*sequences) {
		seeds = append(seeds, *firstSeed+i)
	}
	r, s := newReal(t), newSimulated(t)
	fast := s.fast()
	began := time.Now()
	outcomes := r.playAll(t, seeds)
	played := time.Since(began)
	byClass := map[string][]found{}
	operations, accepted := 0, 0
	for i, o := range outcomes {
		o.record.Events = o.tell()
		got, err := s.play(t.Context(), o.ops)
		if err != nil {
			t.Fatal(err)
		}
		operations += len(o.ops)
		for _, a := range o.record.Answers {
			if a.Code == 200 {
				accepted++
			}
		}
		diff := fidelity.Compare(o.ops, o.record, got)
		if diff != nil {
			byClass[diff.Class] = append(byClass[diff.Class], found{seeds[i], o.ops, diff})
		}
		quick, err := fast.play(t.Context(), o.ops)
		if err != nil {
			t.Fatal(err)
		}
		if diff := fidelity.Compare(o.ops, got, quick); diff != nil {
			t.Errorf("seed %d: with Options.Fast the simulated cluster answers differently: operation %d of\n%s%s",
				seeds[i], diff.At+1, fidelity.Script(o.ops), diff.What)
		}
	}
	t.Logf("%d operations in %d sequences in %.1fs, %d accepted, %d classes of difference", operations, len(seeds), played.Seconds(), accepted, len(byClass))
	report(t, r, s, byClass)
}

// report shows each class of difference once, the most frequent first.
func report(t *testing.T, r *real, s *simulated, byClass map[string][]found) {
	t.Helper()
	classes := slices.SortedFunc(maps.Keys(byClass), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(byClass[b]), len(byClass[a])), cmp.Compare(a, b))
	})
	for i, class := range classes {
		f := byClass[class][0]
		ops, diff := f.ops[:min(f.diff.At+1, len(f.ops))], f.diff
		if i < *shrinking {
			ops, diff = fidelity.Shrink(ops, diff, func(ops []fidelity.Op) *fidelity.Difference { return differs(t, r, s, ops) })
		} else {
			ops = ops[max(0, len(ops)-1):]
		}
		t.Errorf("%d sequences, the first of seed %d: %s\n%sreal (-), simulated (+), operation %d:\n%s",
			len(byClass[class]), f.seed, class, fidelity.Script(ops), diff.At+1, diff.What)
	}
}
