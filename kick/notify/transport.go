package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"

	"github.com/corewire/kick/kick/model/notify"
)

// transport is for one try: HTTP/1.1, no proxy, no connection kept.
func (s *Sender) transport(t *notify.Target) (*http.Transport, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA != nil {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(t.CA) {
			return nil, errors.New("spec.webhook.tls.caBundle: the key holds no certificate in PEM")
		}
	}
	if t.Certificate != nil {
		pair, err := tls.X509KeyPair(t.Certificate, t.CertificateKey)
		if err != nil { // what is wrong with it may quote it
			return nil, errors.New("spec.webhook.tls.clientCertificate: tls.crt and tls.key are not a certificate in PEM and its key")
		}
		config.Certificates = []tls.Certificate{pair}
	}
	dialer := &net.Dialer{Timeout: t.Timeout, ControlContext: s.control}
	return &http.Transport{
		DialContext: dialer.DialContext, TLSClientConfig: config, TLSHandshakeTimeout: t.Timeout,
		DisableKeepAlives: true, MaxResponseHeaderBytes: maxHeaders, ResponseHeaderTimeout: t.Timeout,
	}, nil
}

// refusedError says that an address is none to connect to.
type refusedError struct{ address netip.Addr }

func (e *refusedError) Error() string {
	return fmt.Sprintf("spec.webhook.url leads to %s, which is an address of KICK's own machine, its link or a cloud's metadata; use another one, or start KICK with --notification-allow-local-targets", e.address)
}

// control judges each address when it is about to be connected to: whatever a name
// resolved to when somebody looked before does not matter.
func (s *Sender) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("connect to an address that is none: %w", err)
	}
	if !s.Local && local(to.Addr()) {
		return &refusedError{to.Addr()}
	}
	return nil
}

// Addresses that are not local by their kind, but lead to what is.
var (
	// metadata are the services of clouds that hand out a machine's credentials, where
	// they are not link-local.
	metadata = []netip.Addr{
		netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"), netip.MustParseAddr("fd00:42::42"),
		netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("192.0.0.192"), netip.MustParseAddr("168.63.129.16"),
	}
	thisHost = netip.MustParsePrefix("0.0.0.0/8") // RFC 791: this network
	// clothes are the IPv6 addresses that carry an IPv4 address, and from which byte on.
	clothes = []struct {
		prefix netip.Prefix
		at     int
	}{
		{netip.MustParsePrefix("64:ff9b::/96"), 12},    // behind a NAT64, RFC 6052
		{netip.MustParsePrefix("64:ff9b:1::/48"), 12},  // behind one of the place, RFC 8215
		{netip.MustParsePrefix("2002::/16"), 2},        // 6to4, RFC 3056
		{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // translated, RFC 7915
		{netip.MustParsePrefix("::/96"), 12},           // compatible, RFC 4291
	}
)

// local reports whether an address belongs to the machine, the link or a cloud's
// metadata: also where it is an IPv4 address in the clothes of an IPv6 one.
func local(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return ownKind(a) || a.Is6() && ownKind(undressed(a))
}

func ownKind(a netip.Addr) bool {
	return a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() || thisHost.Contains(a) || slices.Contains(metadata, a)
}

// undressed is the IPv4 address that an IPv6 address carries, or the address itself.
func undressed(a netip.Addr) netip.Addr {
	b := a.As16()
	for _, c := range clothes {
		if c.prefix.Contains(a) {
			return netip.AddrFrom4([4]byte(b[c.at : c.at+4]))
		}
	}
	return a
}
