package operator

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// TestExpiredWatch runs client-go's own reflector on watches that break. The follower
// notes every list that fills a watch anew, although the reflector's error handler is
// told of none where the version expires within the stream.
func TestExpiredWatch(t *testing.T) {
	for name, streamed := range map[string]bool{"by lists": false, "by watches that show a list first": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { expireWatches(t, streamed) })
		})
	}
}

func expireWatches(t *testing.T, streamed bool) {
	ctx, cancel := context.WithCancel(t.Context())
	api := &fakeAPI{streamed: streamed, watches: make(chan *watch.FakeWatcher, 1)}
	start := time.Now()
	var breaks []time.Duration
	f := &follower{now: time.Now, allowance: 5 * time.Second, interrupted: func(heard, over time.Time) {
		breaks = append(breaks, heard.Sub(start), over.Sub(start))
	}}
	handled := 0
	informer := toolscache.NewSharedIndexInformer(f.follow(api), &corev1.Secret{}, 0, toolscache.Indexers{})
	if err := informer.SetWatchErrorHandlerWithContext(func(context.Context, *toolscache.Reflector, error) { handled++ }); err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() { informer.RunWithContext(ctx) })

	w := <-api.watches
	time.Sleep(10 * time.Second)
	w.Modify(secretAt("2"))
	time.Sleep(10 * time.Second)
	w.Stop() // it ends as watches do, and the next one goes on where it was
	w = <-api.watches
	synctest.Wait()
	if len(breaks) > 0 {
		t.Errorf("a watch that goes on where the last one ended is no interruption: %v", breaks)
	}
	time.Sleep(10 * time.Second)
	w.Error(&metav1.Status{Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired})
	<-api.watches
	synctest.Wait()
	if len(breaks) != 2 || breaks[0] != 10*time.Second || breaks[1] < 35*time.Second {
		t.Errorf("breaks %v, want one after 10s and over, with the allowance, by 35s or later", breaks)
	}
	if handled > 0 {
		t.Errorf("the reflector told its error handler %d times: is the follower needed still?", handled)
	}
	cancel()
	done.Wait()
	if verbs := []string{"list", "watch", "watch", "list", "watch"}; !streamed && !slices.Equal(api.calls, verbs) {
		t.Errorf("calls %v, want %v", api.calls, verbs)
	}
}

func secretAt(version string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db", ResourceVersion: version}}
}

// fakeAPI lists one Secret and hands out the watches on it.
type fakeAPI struct {
	streamed bool
	calls    []string
	watches  chan *watch.FakeWatcher
}

// IsWatchListSemanticsUnSupported is what client-go asks.
func (a *fakeAPI) IsWatchListSemanticsUnSupported() bool { return !a.streamed }

func (a *fakeAPI) List(metav1.ListOptions) (runtime.Object, error) {
	a.calls = append(a.calls, "list")
	return &corev1.SecretList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []corev1.Secret{*secretAt("1")}}, nil
}

func (a *fakeAPI) Watch(o metav1.ListOptions) (watch.Interface, error) {
	a.calls = append(a.calls, "watch")
	w := watch.NewFakeWithChanSize(3, false)
	if o.SendInitialEvents != nil {
		w.Add(secretAt("1"))
		end := secretAt("1")
		end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		w.Action(watch.Bookmark, end)
	}
	a.watches <- w
	return w, nil
}
