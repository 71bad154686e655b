package confirm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/steps"
)

// trouble is what is to go wrong with the calls of one scenario's operators.
type trouble struct {
	mu     sync.Mutex
	faults []steps.Fault
	crash  *crashPoint
	healed chan struct{} // closed when all faults end
}

type crashPoint struct {
	left   int
	landed bool
}

func newTrouble() *trouble { return &trouble{healed: make(chan struct{})} }

func (t *trouble) add(f steps.Fault) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults = append(t.faults, f)
}

func (t *trouble) crashAtWrite(n int, landed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.crash = &crashPoint{n, landed}
}

func (t *trouble) heal() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults, t.crash = nil, nil
	close(t.healed)
	t.healed = make(chan struct{})
}

// next counts a call: it is the write to die at, or meets a fault, or neither.
func (t *trouble) next(c call) (crash *crashPoint, fault *faults.Fault) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.crash != nil && !c.read() {
		if t.crash.left--; t.crash.left <= 0 {
			crash, t.crash = t.crash, nil
		}
	}
	for i := range t.faults {
		f := &t.faults[i]
		known := faults.ByName(f.Name)
		if known == nil || !known.Befalls(c.read(), c.conditional) || !c.meets(*f) {
			continue
		}
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				t.faults = append(t.faults[:i:i], t.faults[i+1:]...)
			}
		}
		return crash, known
	}
	return crash, nil
}

// held is closed when a watch of the kind may go on, or nil where it may now.
func (t *trouble) held(kind string) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.faults {
		if faults.ByName(f.Name) == faults.StaleCache && (f.Kind == "" || f.Kind == kind) {
			return t.healed
		}
	}
	return nil
}

// call is one request of the operator.
type call struct {
	verb, kind, namespace, name string
	group, resource             string
	conditional                 bool // it carries a resourceVersion or UID
}

func (c call) read() bool { return c.verb == "get" || c.verb == "list" }

func (c call) meets(f steps.Fault) bool {
	same := func(want, got string) bool { return want == "" || want == got }
	return same(f.Verb, c.verb) && same(f.Kind, c.kind) && same(f.Namespace, c.namespace) && same(f.ObjectName, c.name)
}

// counts reports that a call is one that the simulator counts, too: of what KICK
// works on, and no filling of caches. Leases, events and questions of rights are not.
func (c call) counts() bool { return c.verb != "" && c.kind != "" }

// verbs by method; a read is told apart by its path.
var verbs = map[string]string{http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}

// callOf reads a call out of its path: /api/v1 or /apis/GROUP/VERSION, then
// namespaces/NS where there is one, then RESOURCE/NAME/SUBRESOURCE.
func callOf(r *http.Request) call {
	c := call{verb: verbs[r.Method]}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		c.group, parts = parts[1], parts[3:]
	default:
		return c
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		c.namespace, parts = parts[1], parts[2:]
	}
	c.resource = parts[0]
	if len(parts) > 1 {
		c.name = parts[1]
	}
	c.kind = kindOf(c.group, c.resource)
	if r.Method == http.MethodGet {
		c.verb = verbOfRead(r.URL.Query(), c.name)
	}
	return c
}

// verbOfRead tells a live read, by its verb, from one that fills a cache: empty.
func verbOfRead(query url.Values, name string) string {
	switch {
	case query.Has("watch") || query.Has("resourceVersion"):
		return ""
	case name == "":
		return "list"
	}
	return "get"
}

// kindOf is the kind of a resource that scenarios hold or KICK touches, else empty.
func kindOf(group, resource string) string {
	for kind, r := range resources {
		if r.Group == group && r.Resource == resource {
			return kind
		}
	}
	return ""
}

// proxy stands between one operator process and the API server. It speaks plain
// HTTP on loopback to the operator, and acts as the operator's user.
type proxy struct {
	server   *http.Server
	listener net.Listener
	forward  *httputil.ReverseProxy
	trouble  *trouble
	kill     func()
	pause    func(time.Duration)

	mu        sync.Mutex
	lease     time.Time // when the process last wrote its lease
	leaseLost bool      // it cannot any more
}

// newProxy listens on a free port. kill ends the process around a write, pause lets
// it stand still for a time.
func newProxy(config *rest.Config, t *trouble, kill func(), pause func(time.Duration)) (*proxy, error) {
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	p := &proxy{trouble: t, kill: kill, pause: pause}
	p.forward = &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, ErrorHandler: gone,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: target.Scheme, Host: target.Host, Path: target.Path})
		},
		ModifyResponse: func(r *http.Response) error {
			if kind := callOf(r.Request).kind; kind != "" && r.Request.URL.Query().Get("watch") != "" {
				r.Body = &heldBody{
					ReadCloser: r.Body, held: func() <-chan struct{} { return t.held(kind) }, done: r.Request.Context().Done(),
					listing: r.Request.URL.Query().Get("sendInitialEvents") == "true",
				}
			}
			return nil
		},
	}
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(p.listener) }()
	return p, nil
}

// gone is the answer to a call whose own end was cut off.
func gone(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }

func (p *proxy) url() string { return "http://" + p.listener.Addr().String() }

func (p *proxy) close() { _ = p.server.Close() }

// ServeHTTP passes a call on, or does to it what the scenario says.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := callOf(r)
	if c.resource == "leases" && !c.read() && c.verb != "" && p.leaseFails() {
		answer(w, faults.ServerError.Err(schema.GroupResource{Group: c.group, Resource: c.resource}, c.name))
		return
	}
	if !c.counts() {
		p.forward.ServeHTTP(w, r)
		return
	}
	if err := c.readBody(r); err != nil {
		gone(w, r, err)
		return
	}
	crash, fault := p.trouble.next(c)
	switch {
	case crash != nil:
		p.crashAround(r, crash.landed)
	case fault != nil:
		p.befall(w, r, c, fault)
	default:
		p.forward.ServeHTTP(w, r)
	}
}

// crashAround kills the process at a write, which landed or did not.
func (p *proxy) crashAround(r *http.Request, landed bool) {
	if landed {
		p.forward.ServeHTTP(discard{http.Header{}}, r)
	}
	p.kill()
}

// befall lets a call go wrong.
func (p *proxy) befall(w http.ResponseWriter, r *http.Request, c call, fault *faults.Fault) {
	switch {
	case fault.Crash:
		p.crashAround(r, fault.Write == faults.Landed)
		return
	case fault == faults.PauseAtCall:
		p.pause(faults.Pause)
	case fault == faults.LeaseLost:
		p.mu.Lock()
		p.leaseLost = true
		p.mu.Unlock()
	}
	if fault.Err == nil {
		p.forward.ServeHTTP(w, r)
		return
	}
	switch fault.Write {
	case faults.Landed:
		p.forward.ServeHTTP(discard{http.Header{}}, r)
	case faults.Late:
		late := r.Clone(context.WithoutCancel(r.Context())) // the body was read, so it outlives the call
		time.AfterFunc(faults.LateWrite, func() { p.forward.ServeHTTP(discard{http.Header{}}, late) })
	case faults.Lost:
	}
	answer(w, fault.Err(schema.GroupResource{Group: c.group, Resource: c.resource}, c.name))
}

// leaseFails notes a write of the lease, and says whether it is to fail.
func (p *proxy) leaseFails() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.leaseLost {
		p.lease = time.Now()
	}
	return p.leaseLost
}

// leadsSince is when the process last renewed its lease.
func (p *proxy) leadsSince() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lease
}

// readBody reads the name and the preconditions of the object in a body and puts the
// body back. One in protobuf keeps them to itself.
func (c *call) readBody(r *http.Request) error {
	if r.Body == nil || c.read() {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var object struct {
		Metadata      struct{ Name, UID, ResourceVersion string }
		Preconditions struct{ UID, ResourceVersion string }
	}
	_ = json.Unmarshal(body, &object)
	if c.name == "" {
		c.name = object.Metadata.Name
	}
	c.conditional = object.Metadata.UID+object.Metadata.ResourceVersion+object.Preconditions.UID+object.Preconditions.ResourceVersion != ""
	return nil
}

// answer sends an error as the API server does.
func answer(w http.ResponseWriter, err error) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	body := status.Status()
	body.APIVersion, body.Kind = "v1", "Status"
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(body.Code))
	_ = json.NewEncoder(w).Encode(body)
}

// discard takes an answer that nobody gets.
type discard struct{ header http.Header }

// Header holds nothing.
func (d discard) Header() http.Header { return d.header }

// Write forgets.
func (d discard) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader forgets.
func (d discard) WriteHeader(int) {}

// heldBody is a watch whose events are held back while a fault says so. What a watch
// lists when it begins fills the cache of a new process and is never held.
type heldBody struct {
	io.ReadCloser
	held    func() <-chan struct{}
	done    <-chan struct{}
	listing bool
}

// Read waits for the end of the fault before it hands on what has come.
func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.listing {
		b.listing = !bytes.Contains(p[:n], []byte(metav1.InitialEventsAnnotationKey))
		return n, err
	}
	for {
		free := b.held()
		if free == nil {
			return n, err
		}
		select {
		case <-free:
		case <-b.done:
			return n, err
		}
	}
}
