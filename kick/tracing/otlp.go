package tracing

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc/credentials"
)

// Options say where spans go.
type Options struct {
	Endpoint string // host:port of an OTLP receiver that speaks gRPC; empty: nothing is traced
	Insecure bool   // in plain text
	CAFile   string // PEM certificates that are trusted; empty: the system's
}

// Connect returns a tracer that sends its spans in the background; nil where no endpoint
// is set. What cannot be sent is dropped: nothing waits for it. That nobody listens is no
// error.
func Connect(ctx context.Context, o Options, version string) (*Tracer, error) {
	if o.Endpoint == "" {
		return nil, nil
	}
	security := otlptracegrpc.WithInsecure()
	if !o.Insecure {
		config := &tls.Config{MinVersion: tls.VersionTLS12}
		if o.CAFile != "" {
			pem, err := os.ReadFile(o.CAFile)
			if err != nil {
				return nil, fmt.Errorf("--otel-otlp-ca-file: %w", err)
			}
			config.RootCAs = x509.NewCertPool()
			if !config.RootCAs.AppendCertsFromPEM(pem) {
				return nil, fmt.Errorf("--otel-otlp-ca-file %s holds no certificate in PEM", o.CAFile)
			}
		}
		security = otlptracegrpc.WithTLSCredentials(credentials.NewTLS(config))
	}
	exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpoint(o.Endpoint), security)
	if err != nil {
		return nil, fmt.Errorf("--otel-otlp-endpoint %s: %w", o.Endpoint, err)
	}
	return New(version, sdktrace.NewBatchSpanProcessor(exporter)), nil
}
