package v1alpha1_test

import (
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

func TestAddToScheme(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"KickPolicy", "KickRequest", "NotificationPolicy", "SourceObservation"} {
		for _, name := range []string{kind, kind + "List"} {
			if !scheme.Recognizes(v1alpha1.GroupVersion.WithKind(name)) {
				t.Errorf("%s is not registered", name)
			}
		}
	}
}

// What nobody set is not written: a zero time would be null, which the schema refuses, and an empty status would claim
// that KICK has been there.
func TestUnsetFieldsAreNotWritten(t *testing.T) {
	instant := metav1.NewMicroTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	tests := map[string]struct {
		object any
		want   string
	}{
		"policy":  {v1alpha1.KickPolicy{}, `{"metadata":{},"spec":{}}`},
		"request": {v1alpha1.KickRequest{}, `{"metadata":{},"spec":{"targetRef":{"kind":"","name":""}}}`},
		"seen policy": {
			v1alpha1.KickPolicyStatus{ObservedGeneration: 1},
			`{"observedGeneration":1,"matchedWorkloads":0,"blockedWorkloads":0}`,
		},
		"absent source": {
			v1alpha1.ObservedContent{Fingerprint: v1alpha1.FingerprintAbsent, Observed: instant, Written: instant},
			`{"fingerprint":"absent","observed":"2026-03-01T12:00:00.000000Z","written":"2026-03-01T12:00:00.000000Z"}`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(tt.object)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("marshalled to\n %s, want\n %s", got, tt.want)
			}
		})
	}
}

func TestCurrentIsTheNewestContent(t *testing.T) {
	observation := v1alpha1.SourceObservation{}
	if got := observation.Current(); got != (v1alpha1.ObservedContent{}) {
		t.Errorf("a record without history: got %v, want the zero value", got)
	}
	observation.Spec.History = []v1alpha1.ObservedContent{{Fingerprint: "old"}, {Fingerprint: "new"}}
	if got := observation.Current().Fingerprint; got != "new" {
		t.Errorf("got %q, want the last entry", got)
	}
}
