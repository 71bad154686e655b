package operator_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// inbox is a real HTTPS endpoint that takes everything, or what its answer says.
type inbox struct {
	*httptest.Server
	mu     sync.Mutex
	answer int
	taken  []string // phase and bearer token of each message it accepted
	keys   map[string]int
}

func newInbox(t *testing.T) *inbox {
	t.Helper()
	in := &inbox{answer: http.StatusOK, keys: map[string]int{}}
	in.Server = httptest.NewTLSServer(http.HandlerFunc(in.take))
	t.Cleanup(in.Close)
	return in
}

func (in *inbox) take(w http.ResponseWriter, r *http.Request) {
	in.mu.Lock()
	defer in.mu.Unlock()
	var message struct{ Phase, TargetName string }
	if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.WriteHeader(in.answer)
	if in.answer == http.StatusOK {
		in.keys[r.Header.Get("Idempotency-Key")]++
		in.taken = append(in.taken, message.TargetName+" "+message.Phase+" "+r.Header.Get("Authorization"))
	}
}

func (in *inbox) says(code int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.answer = code
}

// has waits until these messages were accepted, each once and in this order.
func (in *inbox) has(w *world, want ...string) {
	w.t.Helper()
	w.eventually("messages", func(context.Context) string {
		in.mu.Lock()
		defer in.mu.Unlock()
		if got := strings.Join(in.taken, ", "); got != strings.Join(want, ", ") {
			return "got " + got + "; want " + strings.Join(want, ", ")
		}
		return ""
	})
}

// judged waits until a notification policy says of itself what it has to.
func (w *world) judged(status metav1.ConditionStatus, reason, message string) {
	w.t.Helper()
	w.eventually("notification policy", func(ctx context.Context) string {
		var p v1alpha1.NotificationPolicy
		if err := w.c.Get(ctx, client.ObjectKey{Namespace: w.ns, Name: "team"}, &p); err != nil {
			return err.Error()
		}
		for _, c := range p.Status.Conditions {
			if c.Type == "Ready" && c.Status == status && c.Reason == reason && strings.Contains(c.Message, message) {
				return ""
			}
		}
		return fmt.Sprintf("conditions %v, want %s %s %s", p.Status.Conditions, status, reason, message)
	})
}

// A rotation is told to a real HTTPS endpoint once for each transition, with the token
// of a Secret that comes late, and goes on where a killed operator ended.
//
// Proves: KICK-FEAT-035.
func TestNotifications(t *testing.T) {
	t.Parallel()
	w, in := newWorld(t, "notify"), newInbox(t)
	w.policy("")
	w.secret("web", "before")
	w.deployment("web", 1, byEnvFrom("web"))
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: in.Certificate().Raw})
	w.create(&corev1.Secret{ObjectMeta: w.meta("trust"), StringData: map[string]string{"ca.crt": string(ca)}})
	p := &v1alpha1.NotificationPolicy{ObjectMeta: w.meta("team")}
	p.Spec.Webhook = v1alpha1.Webhook{
		URL:  in.URL + "/kick",
		TLS:  &v1alpha1.TLS{CABundle: &v1alpha1.SecretKeyReference{Name: "trust", Key: "ca.crt"}},
		Auth: &v1alpha1.Auth{BearerToken: &v1alpha1.SecretKeyReference{Name: "token", Key: "TOKEN"}},
	}
	w.create(p)
	flags := []string{"--leader-elect=false", "--notification-allow-local-targets"}
	o := w.start(flags...)
	w.judged(metav1.ConditionFalse, "ValidationFailed", "there is no Secret token")
	w.reaches("Deployment", "web", v1alpha1.PhaseNoLongerRequired, "Fresh")
	w.secret("token", "token")
	w.judged(metav1.ConditionTrue, "Validated", "in force")
	bearer := " Bearer canary-token-of-" + w.ns + "/token"
	in.has(w, "web NoLongerRequired"+bearer)

	in.says(http.StatusInternalServerError)
	before := w.pods("web")
	w.secret("web", "after")
	w.restarted("Deployment", "web", 2, before) // whatever the endpoint says
	if err := o.Kill(); err != nil {
		t.Fatal(err)
	}
	in.says(http.StatusOK)
	w.start(flags...)
	in.has(w, "web NoLongerRequired"+bearer, "web Succeeded"+bearer)
	w.eventually("record", func(ctx context.Context) string {
		if err := w.c.Get(ctx, client.ObjectKeyFromObject(p), p); err != nil {
			return err.Error()
		}
		if p.Status.Delivered != 2 || p.Status.LastDeliveryTime == nil || p.Status.LastError != "" {
			return fmt.Sprintf("status %+v", p.Status)
		}
		return ""
	})
	for key, n := range in.keys {
		if n != 1 {
			t.Errorf("%s was accepted %d times", key, n)
		}
	}
}

// Without the flag nothing of the machine is reached, and the policy says why.
//
// Proves: KICK-FEAT-036.
func TestNotificationsStayOffTheMachine(t *testing.T) {
	t.Parallel()
	w, in := newWorld(t, "notify-local"), newInbox(t)
	w.policy("")
	w.secret("web", "before")
	w.deployment("web", 1, byEnvFrom("web"))
	p := &v1alpha1.NotificationPolicy{ObjectMeta: w.meta("team")}
	p.Spec.Webhook.URL = in.URL
	w.create(p)
	w.start()
	w.eventually("record", func(ctx context.Context) string {
		if err := w.c.Get(ctx, client.ObjectKeyFromObject(p), p); err != nil {
			return err.Error()
		}
		if p.Status.Failed != 1 || p.Status.LastFailureTime == nil || !strings.Contains(p.Status.LastError, "--notification-allow-local-targets") {
			return fmt.Sprintf("status %+v", p.Status)
		}
		return ""
	})
	in.has(w)
}
