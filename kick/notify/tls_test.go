package notify_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/corewire/kick/kick/model/notify"
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return authority{template, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue is a certificate, for a server or a client, and its key.
func (a authority) issue(t *testing.T, name string) (certificate, key []byte) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	own := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &own.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
}

func TestClientCertificate(t *testing.T) {
	clients := newAuthority(t)
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(clients.pem) {
		t.Fatal("no certificate")
	}
	mutual := func(s *httptest.Server) { s.TLS.ClientAuth, s.TLS.ClientCAs = tls.RequireAndVerifyClientCert, pool }
	e := serve(t, answers(200), mutual)
	certificate, key := clients.issue(t, "kick")
	shown := func(target *notify.Target) { target.Certificate, target.CertificateKey = certificate, key }
	if got := deliver(t, e.to(shown)); !got.Delivered || e.seen[0].TLS.PeerCertificates[0].Subject.CommonName != "kick" {
		t.Errorf("with the certificate: %+v", got)
	}
	if got := deliver(t, e.to()); got.Delivered || got.Final || len(e.seen) != 1 {
		t.Errorf("without one: %+v", got)
	}
}

func TestOldTLS(t *testing.T) {
	e := serve(t, answers(200), func(s *httptest.Server) {
		s.TLS.MinVersion, s.TLS.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 //nolint:gosec // what must be refused
	})
	if got := deliver(t, e.to()); got.Delivered || len(e.seen) > 0 {
		t.Errorf("Deliver() = %+v", got)
	}
}
