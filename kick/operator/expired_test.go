package operator_test

import (
	"net/http"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// The API server accepts a watch from a version it does not remember and says so in
// the stream, where client-go's reflector tells no error handler of it.
func TestExpiredVersionIsToldInTheStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "expired")
	events, err := w.c.Watch(t.Context(), &v1alpha1.KickPolicyList{}, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "1"}})
	if err != nil {
		t.Fatalf("the watch is refused: %v", err)
	}
	defer events.Stop()
	select {
	case e := <-events.ResultChan():
		if e.Type != watch.Error {
			t.Fatalf("%s %+v, want an error", e.Type, e.Object)
		}
		status := apierrors.FromObject(e.Object)
		if !apierrors.IsResourceExpired(status) && !apierrors.IsGone(status) {
			t.Errorf("%v, want that the version has expired (%d)", status, http.StatusGone)
		}
	case <-time.After(patience):
		t.Errorf("nothing came within %s", patience)
	}
}
