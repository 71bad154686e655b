// Package tracing tells of each restart as one trace of two spans: from the change to
// the restart, and from there to the end of its rollout. A span is made when it is over,
// from the times that are on record, so that it is right across every wait, crash and
// change of leader.
//
// The ids follow from the request and its episode. The traceparent that the request's
// status shows is therefore known before the first span is sent, and whoever writes the
// status again, after a crash, writes the same.
package tracing

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// Names of spans and their events, stable.
const (
	SpanChanged    = "dependency.changed"
	SpanRestarted  = "restart.executed"
	EventChanged   = "source.changed"
	EventRestarted = "workload.restarted"
)

// Tracer makes the spans. A nil Tracer makes none.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// New returns a tracer that hands its spans to a processor.
func New(version string, to sdktrace.SpanProcessor) *Tracer {
	p := sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(to), sdktrace.WithIDGenerator(planned{}), sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "kick"), attribute.String("service.version", version))),
	)
	return &Tracer{provider: p, tracer: p.Tracer("github.com/corewire/kick")}
}

// Shutdown sends what is left, for as long as the context lets it.
func (t *Tracer) Shutdown(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// Parent is the traceparent of a request's episode, as W3C Trace Context writes it; empty
// where nothing is traced.
func (t *Tracer) Parent(uid string, opened time.Time) string {
	if t == nil {
		return ""
	}
	root := rootOf(uid, opened)
	return fmt.Sprintf("00-%s-%s-01", root.TraceID(), root.SpanID())
}

// Moved tells of a status write that moved a request.
func (t *Tracer) Moved(r *model.Request, target model.Key, after model.RequestStatus) {
	if t == nil || r.Status.Phase == after.Phase {
		return
	}
	root := rootOf(r.UID, after.OpenedAt)
	switch {
	case after.Phase == request.Executing && r.Status.RolloutStart.Before(after.OpenedAt):
		t.changed(root, r, target, after)
	case r.Status.Phase == request.Executing && after.Phase.Terminal():
		t.restarted(root, r, target, after)
	}
}

func (t *Tracer) changed(root trace.SpanContext, r *model.Request, target model.Key, st model.RequestStatus) {
	ctx := context.WithValue(context.Background(), planKey{}, root)
	began := st.LatestChange
	if began.IsZero() { // nobody saw when what it answers came
		began = st.OpenedAt
	}
	_, span := t.tracer.Start(ctx, SpanChanged, trace.WithTimestamp(began), trace.WithAttributes(about(r, target)...))
	for _, c := range st.Causes {
		span.AddEvent(EventChanged, trace.WithTimestamp(c.ChangedAt), trace.WithAttributes(
			attribute.String("kick.source.kind", c.Source.Kind), attribute.String("kick.source.name", c.Source.Name)))
	}
	span.End(trace.WithTimestamp(later(st.RolloutStart, began)))
}

func (t *Tracer) restarted(root trace.SpanContext, r *model.Request, target model.Key, st model.RequestStatus) {
	sum := digest(r.UID, st.RolloutStart)
	plan := trace.NewSpanContext(trace.SpanContextConfig{TraceID: root.TraceID(), SpanID: trace.SpanID(sum[24:32])})
	ctx := context.WithValue(trace.ContextWithRemoteSpanContext(context.Background(), root), planKey{}, plan)
	attributes := append(about(r, target), attribute.String("kick.phase", string(st.Phase)), attribute.String("kick.reason", string(st.Reason)))
	_, span := t.tracer.Start(ctx, SpanRestarted, trace.WithTimestamp(st.RolloutStart), trace.WithAttributes(attributes...))
	span.AddEvent(EventRestarted, trace.WithTimestamp(st.RolloutStart))
	if st.Phase == request.Failed {
		span.SetStatus(codes.Error, string(st.Reason))
	}
	span.End(trace.WithTimestamp(later(st.CompletedAt, st.RolloutStart)))
}

func about(r *model.Request, target model.Key) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("k8s.namespace.name", target.Namespace),
		attribute.String("kick.target.kind", target.Kind), attribute.String("kick.target.name", target.Name),
		attribute.String("kick.request.name", r.ID.Name), attribute.String("kick.request.uid", r.UID),
	}
}

// later keeps a span from ending before it begins where a clock was set back.
func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// rootOf is the first span of an episode of a request.
func rootOf(uid string, opened time.Time) trace.SpanContext {
	sum := digest(uid, opened)
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(sum[:16]), SpanID: trace.SpanID(sum[16:24]), TraceFlags: trace.FlagsSampled, Remote: true,
	})
}

func digest(uid string, at time.Time) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join([]string{"kick", uid, at.UTC().Format(time.RFC3339Nano)}, "/")))
}

// planned gives spans the ids that their context plans for them.
type planned struct{}

type planKey struct{}

// NewIDs are those of a first span.
func (planned) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	plan, _ := ctx.Value(planKey{}).(trace.SpanContext)
	return plan.TraceID(), plan.SpanID()
}

// NewSpanID is that of a span with a parent.
func (planned) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	plan, _ := ctx.Value(planKey{}).(trace.SpanContext)
	return plan.SpanID()
}
