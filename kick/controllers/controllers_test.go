package controllers_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/model"
)

func TestWithin(t *testing.T) {
	for after, want := range map[time.Duration]time.Duration{0: time.Minute, time.Second: time.Second, time.Hour: time.Minute} {
		if got := (controllers.Result{After: after}).Within(time.Minute).After; got != want {
			t.Errorf("a look after %s within a minute comes after %s, want %s", after, got, want)
		}
	}
}

// TestKeysOfAnEvent: what was made again under its name may have led elsewhere before.
func TestKeysOfAnEvent(t *testing.T) {
	about := func(target string) client.Object {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Labels: map[string]string{"about": target}}}
	}
	of := func(o client.Object) model.Key { return model.Key{Name: o.GetLabels()["about"]} }
	for name, tt := range map[string]struct {
		event controllers.Event
		want  []string
	}{
		"made":                   {controllers.Event{New: about("a")}, []string{"a"}},
		"gone":                   {controllers.Event{Old: about("a")}, []string{"a"}},
		"changed":                {controllers.Event{Old: about("a"), New: about("a")}, []string{"a"}},
		"made again for another": {controllers.Event{Old: about("a"), New: about("b")}, []string{"b", "a"}},
	} {
		var got []string
		for _, k := range tt.event.Keys(of) {
			got = append(got, k.Name)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: leads to %v, want %v", name, got, tt.want)
		}
	}
}
