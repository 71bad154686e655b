package operator

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/spf13/pflag"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/timeline"
)

// What KICK may do besides where --timeline-bind-address is set: read the events it sent.
// Only where that address is not a loopback one it asks whose a token is and what he may see.
//
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=list;watch,roleName=kick-timeline
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create,roleName=kick-timeline-exposed
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create,roleName=kick-timeline-exposed

// Names of those roles.
const (
	timelineRole = "kick-timeline"
	exposedRole  = "kick-timeline-exposed"
)

// TimelineOptions are the flags of the timeline.
type TimelineOptions struct {
	Address string
	CertDir string
}

func (o *TimelineOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Address, "timeline-bind-address", "", "address of the timeline's page and API, such as :8090; empty or 0 turns it off; without a host it is bound to loopback; anywhere else it speaks TLS, asks for tokens, and needs the role "+exposedRole)
	f.StringVar(&o.CertDir, "timeline-cert-dir", "", "folder of tls.crt and tls.key for a timeline that is not bound to loopback; empty: a certificate of its own making")
}

// Enabled reports whether there is a timeline.
func (o *TimelineOptions) Enabled() bool { return o.Address != "" && o.Address != "0" }

// bind is the address to listen on. One without a host means this machine alone: a page
// that tells so much is opened to others on purpose or not at all.
func (o *TimelineOptions) bind() (address string, exposed bool, err error) {
	host, port, err := net.SplitHostPort(o.Address)
	if err != nil {
		return "", false, fmt.Errorf("--timeline-bind-address %q: want host:port, such as 127.0.0.1:8090, or :8090 for loopback: %w", o.Address, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	ip := net.ParseIP(host)
	return net.JoinHostPort(host, port), host != "localhost" && (ip == nil || !ip.IsLoopback()), nil
}

// exposed reports whether others than this machine can reach it.
func (o *TimelineOptions) exposed() bool {
	if !o.Enabled() {
		return false
	}
	_, exposed, err := o.bind()
	return exposed || err != nil
}

func (o *TimelineOptions) validate() []error {
	if !o.Enabled() {
		return nil
	}
	_, exposed, err := o.bind()
	if err == nil && o.CertDir != "" && !exposed {
		err = errors.New("--timeline-cert-dir is for a timeline that is not bound to loopback: leave it out, or name another host in --timeline-bind-address")
	}
	if err == nil && o.CertDir != "" {
		_, err = tls.LoadX509KeyPair(filepath.Join(o.CertDir, "tls.crt"), filepath.Join(o.CertDir, "tls.key"))
		if err != nil {
			err = fmt.Errorf("--timeline-cert-dir %s: %w", o.CertDir, err)
		}
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// timelineTransforms are what is cached for the timeline, if there is one: the events that
// KICK sent.
func timelineTransforms(o Options) []controllers.Transform {
	if !o.Timeline.Enabled() {
		return nil
	}
	return []controllers.Transform{{
		Object: &eventsv1.Event{}, Apply: func(o client.Object) { o.SetManagedFields(nil) },
		Only: fields.OneTermEqualSelector("reportingController", reportingController),
	}}
}

// serveTimeline adds the timeline to the manager, if there is to be one.
func serveTimeline(ctx context.Context, mgr manager.Manager, config *rest.Config, o Options, i *Integrations) error {
	if !o.Timeline.Enabled() {
		return nil
	}
	address, exposed, err := o.Timeline.bind()
	if err != nil {
		return err
	}
	log := mgr.GetLogger().WithName("timeline")
	live, err := looking(config)
	if err != nil {
		return err
	}
	facts := Reader(mgr.GetCache(), live, o, i)
	s := &timeline.Server{Facts: facts, Guard: timeline.Local{}, Hub: timeline.NewHub(timeline.MaxStreams), Clock: clock.New(), Log: log}
	if exposed {
		if s.Guard, err = reviewer(config); err != nil {
			return err
		}
	}
	if err := timeline.Listen(ctx, s.Hub, facts, mgr.GetCache()); err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("--timeline-bind-address %s: %w", o.Timeline.Address, err)
	}
	if exposed {
		if listener, err = secure(mgr, listener, o.Timeline.CertDir); err != nil {
			return err
		}
	}
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16}
	server.RegisterOnShutdown(s.Hub.Close)
	log.Info("timeline", "address", listener.Addr().String(), "exposed", exposed)
	return mgr.Add(&manager.Server{Name: "timeline", Server: server, Listener: listener})
}

// looking reads what no cache holds, the pods of a workload that is looked at, with a
// budget of its own: whoever clicks fast waits himself.
func looking(config *rest.Config) (client.Reader, error) {
	own := rest.CopyConfig(config)
	own.QPS, own.Burst, own.RateLimiter = 5, 10, nil
	c, err := client.New(own, client.Options{Scheme: NewScheme()})
	if err != nil {
		return nil, fmt.Errorf("connect to the API server: %w", err)
	}
	return c, nil
}

// reviewer asks about tokens with a budget of its own, so that whoever sends many cannot
// keep the operator from its work.
func reviewer(config *rest.Config) (timeline.Guard, error) {
	own := rest.CopyConfig(config)
	own.QPS, own.Burst, own.RateLimiter = 20, 40, nil
	c, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("connect to the API server: %w", err)
	}
	return timeline.NewReviewed(c, clock.New()), nil
}

// secure wraps a listener in TLS: with the certificate of a folder, read again when it
// changes, or with one made now.
func secure(mgr manager.Manager, plain net.Listener, folder string) (net.Listener, error) {
	settings := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	if folder != "" {
		watcher, err := certwatcher.New(filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key"))
		if err != nil {
			return nil, fmt.Errorf("--timeline-cert-dir %s: %w", folder, err)
		}
		settings.GetCertificate = watcher.GetCertificate
		return tls.NewListener(plain, settings), mgr.Add(watcher)
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("a certificate for the timeline: %w", err)
	}
	crt, key, err := cert.GenerateSelfSignedCertKey(host, nil, []string{"localhost"})
	if err != nil {
		return nil, fmt.Errorf("a certificate for the timeline: %w", err)
	}
	pair, err := tls.X509KeyPair(crt, key)
	settings.Certificates = []tls.Certificate{pair}
	return tls.NewListener(plain, settings), err
}
