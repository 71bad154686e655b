// Package otlp receives traces in tests.
package otlp

import (
	"context"
	"net"
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
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r, s := &Receiver{}, grpc.NewServer(options...)
	collector.RegisterTraceServiceServer(s, r)
	var done sync.WaitGroup
	done.Go(func() { _ = s.Serve(l) }) // it ends with Stop
	t.Cleanup(func() { s.Stop(); done.Wait() })
	return r, l.Addr().String()
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
