package operator

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/corewire/kick/kick/ledger"
)

// follower listens to what passes between the API server and the reflector of one
// kind, and notes when a watch that ran has to be filled anew by a list. The reflector
// tells nobody: where a watch ends because its version has expired it lists again and
// its error handler is not called (client-go, Reflector.watch).
type follower struct {
	interrupted func(heard, over time.Time)
	now         func() time.Time // the API server's clock
	allowance   time.Duration

	mu      sync.Mutex
	watched bool      // a watch has run
	filling bool      // the watch that runs shows a list first
	heard   time.Time // when a watch brought something last
}

// newInformer is how package cache makes an informer.
type newInformer = func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer

// followed makes informers whose interruptions are noted.
func followed(s *ledger.Sightings, server *serverClock, allowance time.Duration) newInformer {
	scheme := NewScheme()
	return func(lw toolscache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		gvk, err := apiutil.GVKForObject(obj, scheme)
		if err != nil {
			panic(err) // the cache has looked up the same kind in the same scheme
		}
		f := &follower{now: server.Now, allowance: allowance, interrupted: func(heard, over time.Time) { s.Interrupted(gvk.Kind, heard, over) }}
		return toolscache.NewSharedIndexInformer(f.follow(lw), obj, resync, indexers)
	}
}

// follow is the list and the watch with the follower in between.
func (f *follower) follow(of toolscache.ListerWatcher) toolscache.ListerWatcher {
	lw := toolscache.ToListerWatcherWithContext(of)
	return toolscache.ToListWatcherWithWatchListSemantics(&toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list, err := lw.ListWithContext(ctx, o)
			if err == nil {
				f.filled(false)
			}
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			w, err := lw.WatchWithContext(ctx, o)
			if err != nil {
				return nil, err
			}
			f.began(o.SendInitialEvents != nil && *o.SendInitialEvents)
			return listen(w, f.hear), nil
		},
	}, of)
}

// began notes that a watch runs, which may show a list first.
func (f *follower) began(filling bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.filling, f.watched = filling, f.watched || !filling
}

// filled notes that a list has come, by itself or on the watch that goes on with it.
func (f *follower) filled(watching bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watched {
		f.interrupted(f.heard, f.now().Add(f.allowance))
	}
	f.filling, f.watched = false, f.watched || watching
}

// hear takes what a watch brings.
func (f *follower) hear(e watch.Event) {
	if e.Type == watch.Error {
		return
	}
	f.mu.Lock()
	filling := f.filling
	if !filling {
		f.heard = f.now()
	}
	f.mu.Unlock()
	if o, ok := e.Object.(metav1.Object); ok && filling && e.Type == watch.Bookmark && o.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
		f.filled(true)
	}
}

// listener is a watch of which somebody hears each event before it is delivered.
type listener struct {
	watch.Interface
	hear   func(watch.Event)
	events chan watch.Event
	done   chan struct{}
	once   sync.Once
}

func listen(w watch.Interface, hear func(watch.Event)) *listener {
	l := &listener{Interface: w, hear: hear, events: make(chan watch.Event), done: make(chan struct{})}
	go l.pass()
	return l
}

// ResultChan is closed when the watch ends.
func (l *listener) ResultChan() <-chan watch.Event { return l.events }

// Stop ends the watch; what it still brings is dropped.
func (l *listener) Stop() {
	l.once.Do(func() { close(l.done) })
	l.Interface.Stop()
}

func (l *listener) pass() {
	defer close(l.events)
	for e := range l.Interface.ResultChan() {
		l.hear(e)
		select {
		case l.events <- e:
		case <-l.done:
			return
		}
	}
}
