package operator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel"

	"github.com/corewire/kick/kick/metrics"
	"github.com/corewire/kick/kick/tracing"
)

// lastSpans is how long the end of the process waits for the spans that are left.
const lastSpans = 3 * time.Second

func addTracingFlags(o *tracing.Options, f *pflag.FlagSet) {
	f.StringVar(&o.Endpoint, "otel-otlp-endpoint", "", "host:port of an OpenTelemetry receiver (OTLP over gRPC) that is told of each restart; empty: none")
	f.BoolVar(&o.Insecure, "otel-otlp-insecure", false, "speak to the receiver in plain text instead of TLS")
	f.StringVar(&o.CAFile, "otel-otlp-ca-file", "", "file with the PEM certificates that are trusted to sign the receiver's; empty: the system's")
}

func validateTracing(o *tracing.Options) (wrong []error) {
	if _, _, err := net.SplitHostPort(o.Endpoint); o.Endpoint != "" && err != nil {
		wrong = append(wrong, fmt.Errorf("--otel-otlp-endpoint %q: use host:port, for example tempo.monitoring.svc:4317", o.Endpoint))
	}
	if o.Endpoint == "" && (o.Insecure || o.CAFile != "") {
		wrong = append(wrong, errors.New("--otel-otlp-insecure and --otel-otlp-ca-file need --otel-otlp-endpoint"))
	}
	if o.Insecure && o.CAFile != "" {
		wrong = append(wrong, errors.New("--otel-otlp-ca-file has no meaning with --otel-otlp-insecure: leave one of them out"))
	}
	return wrong
}

// instruments are what an operator tells of itself with, across its lives.
type instruments struct {
	metrics *metrics.Metrics
	trace   *tracing.Tracer
}

// startTracing connects to the receiver; end sends what is left.
func startTracing(ctx context.Context, o Options, log logr.Logger) (t *tracing.Tracer, end func(), err error) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Info("spans could not be sent", "error", err.Error()) }))
	if t, err = tracing.Connect(ctx, o.Tracing, Version()); err != nil {
		return nil, nil, err
	}
	return t, func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSpans)
		defer cancel()
		if err := t.Shutdown(last); err != nil {
			log.Info("spans could not be sent", "error", err.Error())
		}
	}, nil
}
