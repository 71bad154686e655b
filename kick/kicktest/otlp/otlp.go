// Package otlp receives traces in tests, and shows them to those that run elsewhere.
package otlp

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
)

// Receiver is an OTLP receiver in this process that keeps what it gets.
type Receiver struct {
	collector.UnimplementedTraceServiceServer

	mu  sync.Mutex
	got []*spans.Span
}

// Listen starts a receiver, which ends with the test, and returns how to reach it.
func Listen(t *testing.T, options ...grpc.ServerOption) (r *Receiver, address string) {
	t.Helper()
	r, address, stop, err := Start(t.Context(), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return r, address
}

// Start starts a receiver on a free port of this machine; stop ends it.
func Start(ctx context.Context, options ...grpc.ServerOption) (r *Receiver, address string, stop func(), err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", nil, fmt.Errorf("receive traces: %w", err)
	}
	r, s := &Receiver{}, grpc.NewServer(options...)
	collector.RegisterTraceServiceServer(s, r)
	var done sync.WaitGroup
	done.Go(func() { _ = s.Serve(l) }) // it ends with Stop
	return r, l.Addr().String(), func() { s.Stop(); done.Wait() }, nil
}

// Export takes spans.
func (r *Receiver) Export(_ context.Context, in *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range in.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			r.got = append(r.got, scope.GetSpans()...)
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// Received are the spans that have come so far, in that order.
func (r *Receiver) Received() []*spans.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// ServeHTTP answers with what has come so far, a line a span: its trace, its id, its
// parent (or -) and its name. Shell scripts read it.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	for _, s := range r.Received() {
		parent := hex.EncodeToString(s.GetParentSpanId())
		if parent == "" {
			parent = "-"
		}
		_, _ = fmt.Fprintf(w, "%x %x %s %s\n", s.GetTraceId(), s.GetSpanId(), parent, s.GetName())
	}
}
