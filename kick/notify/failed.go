package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"

	"github.com/corewire/kick/kick/model/notify"
)

// failed says why there is no answer. The address is left out: some carry a secret. So is
// whatever the other side sent: it may be what it was shown, and whoever may write a
// policy must not read through it what services say that speak something else.
func failed(err error, t *notify.Target, answered bool) notify.Outcome {
	if refused, is := errors.AsType[*refusedError](err); is {
		return notify.Outcome{Final: true, Why: refused.Error()}
	}
	return notify.Outcome{Why: cause(err, t, answered)}
}

func cause(err error, t *notify.Target, answered bool) string {
	var certificate *tls.CertificateVerificationError
	var timeout net.Error
	var wrapped *url.Error
	var broken *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("no answer within spec.webhook.timeoutSeconds (%s)", t.Timeout)
	case errors.As(err, &certificate):
		return untrusted(certificate.Err)
	case errors.As(err, &broken):
		return broken.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the endpoint closed the connection before it had answered"
	case answered:
		return "the endpoint sent something that is no answer in HTTP"
	case errors.As(err, &wrapped):
		return wrapped.Err.Error()
	}
	return err.Error()
}

// untrusted says what is wrong with a certificate, and nothing that it says itself.
func untrusted(err error) string {
	var name x509.HostnameError
	var signer x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return "the endpoint's certificate is not for the host of spec.webhook.url"
	case errors.As(err, &signer):
		return "the endpoint's certificate is not signed by an authority of spec.webhook.tls.caBundle, or by one of the system's where that is not set"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the endpoint's certificate has expired, or is not valid yet"
	}
	return "the endpoint's certificate cannot be verified"
}

// unsendable is the field whose value cannot stand in a header; empty: none.
func unsendable(t *notify.Target) string {
	for i, h := range t.Headers {
		if strings.ContainsFunc(h.Value, control) {
			return fmt.Sprintf("spec.webhook.headers[%d]", i)
		}
	}
	if strings.ContainsFunc(t.Bearer, control) {
		return "spec.webhook.auth.bearerToken"
	}
	return ""
}

// control reports whether a header's value cannot hold a character, RFC 9110 section 5.5.
func control(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
