package gather

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/notify"
)

// defaultTimeout of one try, for objects that were stored without the CRD's defaulting.
const defaultTimeout = 10

// secrets are those of one namespace, read live, each once.
type secrets struct {
	g         *Gatherer
	ctx       context.Context //nolint:containedctx // it lives for one reading only
	namespace string
	read      map[string]*corev1.Secret
	err       error
}

// get is the value of a key. After an error it is nil.
func (s *secrets) get(field string, r *v1alpha1.SecretKeyReference) []byte {
	if s.err != nil || r == nil {
		return nil
	}
	o, known := s.read[r.Name]
	if !known {
		o = &corev1.Secret{}
		found, err := get(s.ctx, s.g.Live, model.Key{Kind: "Secret", Namespace: s.namespace, Name: r.Name}, o)
		if err != nil {
			s.err = err
			return nil
		}
		if !found {
			o = nil
		}
		s.read[r.Name] = o
	}
	k := secretKey{"spec.webhook." + field, r.Name, r.Key}
	if o == nil {
		s.err = errors.New(missing(k, false))
		return nil
	}
	value, has := o.Data[r.Key]
	if !has {
		s.err = errors.New(missing(k, true))
	}
	return value
}

// line is a value that goes into a header: what a file ends with does not belong to it.
func (s *secrets) line(field string, r *v1alpha1.SecretKeyReference) string {
	return strings.TrimRight(string(s.get(field, r)), "\r\n")
}

// Target reads, live, what it takes to deliver where a policy says: the one place where
// values of Secrets are looked at, for the one try that needs them. It fails if a Secret
// or a key is not there.
func (g *Gatherer) Target(ctx context.Context, look *NotificationLook) (notify.Target, error) {
	w := &look.webhook
	s := &secrets{g: g, ctx: ctx, namespace: look.Policy.ID.Namespace, read: map[string]*corev1.Secret{}}
	t := notify.Target{
		URL: w.URL, Method: cmp.Or(w.Method, "POST"), CloudEvents: w.Format == v1alpha1.FormatCloudEvents,
		Timeout: time.Duration(cmp.Or(w.TimeoutSeconds, defaultTimeout)) * time.Second,
	}
	for i := range w.Headers {
		h := &w.Headers[i]
		value := s.line(fmt.Sprintf("headers[%d].valueFrom", i), h.ValueFrom)
		if h.Value != nil {
			value = *h.Value
		}
		t.Headers = append(t.Headers, notify.Header{Name: h.Name, Value: value})
	}
	if w.Auth != nil {
		t.Bearer = s.line("auth.bearerToken", w.Auth.BearerToken)
		if b := w.Auth.Basic; b != nil {
			t.Basic = &notify.Basic{Username: s.line("auth.basic.username", &b.Username), Password: s.line("auth.basic.password", &b.Password)}
		}
	}
	if w.TLS != nil {
		t.CA = s.get("tls.caBundle", w.TLS.CABundle)
		if c := w.TLS.ClientCertificate; c != nil {
			t.Certificate = s.get("tls.clientCertificate", &v1alpha1.SecretKeyReference{Name: c.Name, Key: corev1.TLSCertKey})
			t.CertificateKey = s.get("tls.clientCertificate", &v1alpha1.SecretKeyReference{Name: c.Name, Key: corev1.TLSPrivateKeyKey})
		}
	}
	return t, s.err
}
