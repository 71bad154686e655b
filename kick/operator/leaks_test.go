package operator_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/model/fingerprint"
)

// searchForLeaks looks for the value of any Secret, in any form it may have taken,
// in everything KICK wrote or said.
func (w *world) searchForLeaks() {
	w.t.Helper()
	for _, leak := range w.leaks() {
		w.t.Error(leak)
	}
}

func (w *world) leaks() []string {
	w.t.Helper()
	var found []string
	needles := w.needles()
	for where, text := range w.everythingSaid() {
		for form, needle := range needles {
			if strings.Contains(text, needle) {
				found = append(found, where+" holds "+form)
			}
		}
	}
	return found
}

// A search that finds nothing must be one that can find something.
func TestLeaksAreFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "leaks")
	w.secret("web", "before")
	value := w.contents[0]["TOKEN"]
	sum := sha256.Sum256([]byte(value))
	for form, text := range map[string]string{
		"plain": value, "base64": base64.StdEncoding.EncodeToString([]byte(value)), "SHA-256": hex.EncodeToString(sum[:]),
	} {
		r := &v1alpha1.KickRequest{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "leak"},
			Spec:       v1alpha1.KickRequestSpec{TargetRef: v1alpha1.TargetReference{Kind: "Deployment", Name: "web"}, Reason: "for " + text},
		}
		w.create(r)
		if len(w.leaks()) == 0 {
			t.Errorf("%s in a request was not found", form)
		}
		if err := w.c.Delete(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

// everythingSaid is what KICK wrote to the API server, logged and serves.
func (w *world) everythingSaid() map[string]string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // the test's own has ended
	defer cancel()
	said := map[string]string{}
	for what, list := range map[string]client.ObjectList{
		"policies": &v1alpha1.KickPolicyList{}, "requests": &v1alpha1.KickRequestList{},
		"observations": &v1alpha1.SourceObservationList{},
		"events":       &eventsv1.EventList{}, "core events": &corev1.EventList{},
	} {
		if err := w.c.List(ctx, list, client.InNamespace(w.ns)); err != nil {
			w.t.Errorf("search %s: %v", what, err)
			continue
		}
		text, err := json.Marshal(list)
		if err != nil {
			w.t.Error(err)
		}
		said["the list of "+what] = string(text)
	}
	for _, o := range w.operators {
		output, err := o.Output()
		if err != nil {
			w.t.Error(err)
		}
		said["the output of "+o.Name] = output
		if !o.Alive() {
			continue
		}
		for _, page := range []struct{ address, path string }{{o.Metrics, "/metrics"}, {o.Probes, "/readyz?verbose"}} {
			if _, text, err := o.Get(ctx, page.address, page.path); err == nil {
				said[page.path+" of "+o.Name] = text
			}
		}
	}
	return said
}

// needles are the forms a value, or the plain hash of a whole content, could take.
func (w *world) needles() map[string]string {
	forms := map[string]string{}
	var key corev1.Secret
	if err := w.c.Get(context.Background(), client.ObjectKey{Namespace: w.kick.Namespace, Name: ledger.KeySecret}, &key); err == nil {
		for _, v := range key.Data {
			forms["the installation key in base64"] = base64.RawStdEncoding.EncodeToString(v)
			forms["the installation key in hex"] = hex.EncodeToString(v)
		}
	}
	for _, content := range w.contents {
		data := map[string][]byte{}
		for k, v := range content {
			data[k] = []byte(v)
			sum := sha256.Sum256([]byte(v))
			forms["the value "+v] = v
			forms["the value in base64, "+v] = strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(v)), "=")
			forms["the SHA-256 in hex of "+v] = hex.EncodeToString(sum[:])
			forms["the SHA-256 in base64 of "+v] = base64.RawStdEncoding.EncodeToString(sum[:])
			forms["the SHA-256 in URL base64 of "+v] = base64.RawURLEncoding.EncodeToString(sum[:])
		}
		digest := fingerprint.Secret(&corev1.Secret{Data: data, Type: corev1.SecretTypeOpaque})
		forms["the unsealed fingerprint of "+content["TOKEN"]] = digest.Note()
	}
	return forms
}
