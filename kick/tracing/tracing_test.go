package tracing_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/corewire/kick/kick/kicktest/otlp"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
	"github.com/corewire/kick/kick/tracing"
)

// certificate is one for this machine that signs itself, and the file with it.
func certificate(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

var target = model.Key{Kind: "Deployment", Namespace: "shop", Name: "web"}

// restart tells of a restart from change to end, as two processes do of which one ends
// after the stamp.
func restart(t *testing.T, o tracing.Options, last request.Phase) (parent string) {
	t.Helper()
	r := &model.Request{ID: model.Key{Kind: "KickRequest", Namespace: "shop", Name: "deployment-web"}, UID: "u-1"}
	waits := model.RequestStatus{Phase: request.WaitingForGate, OpenedAt: at(1), LatestChange: at(0), Causes: []model.Cause{{Source: model.Key{Kind: "Secret", Namespace: "shop", Name: "db"}, ChangedAt: at(0)}}}
	executes := waits
	executes.Phase, executes.RolloutStart = request.Executing, at(10)
	ends := executes
	ends.Phase, ends.CompletedAt, ends.Reason = last, at(30), request.RolloutTimeout
	for _, step := range [][2]model.RequestStatus{{waits, executes}, {executes, ends}} {
		tracer, err := tracing.Connect(t.Context(), o, "v1")
		if err != nil {
			t.Fatal(err)
		}
		r.Status = step[0]
		tracer.Moved(r, target, step[1])
		parent = tracer.Parent(r.UID, step[1].OpenedAt)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if err := tracer.Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	return parent
}

// Proves: KICK-FEAT-044.
func TestTwoSpansInOneTrace(t *testing.T) {
	pair, ca := certificate(t)
	r, address := otlp.Listen(t, grpc.Creds(credentials.NewServerTLSFromCert(&pair)))
	parent := restart(t, tracing.Options{Endpoint: address, CAFile: ca}, request.Succeeded)
	got := r.Received()
	if len(got) != 2 {
		t.Fatalf("%d spans arrived, want 2", len(got))
	}
	first, second := got[0], got[1]
	if want := "00-" + hex.EncodeToString(first.GetTraceId()) + "-" + hex.EncodeToString(first.GetSpanId()) + "-01"; parent != want {
		t.Errorf("the request shows %s, the first span is %s", parent, want)
	}
	if string(second.GetTraceId()) != string(first.GetTraceId()) || string(second.GetParentSpanId()) != string(first.GetSpanId()) || len(first.GetParentSpanId()) > 0 {
		t.Errorf("the second span is of trace %x below %x, want %x below %x", second.GetTraceId(), second.GetParentSpanId(), first.GetTraceId(), first.GetSpanId())
	}
	for i, want := range []struct {
		name, event string
		from, to    int
	}{{"dependency.changed", "source.changed", 0, 10}, {"restart.executed", "workload.restarted", 10, 30}} {
		s := got[i]
		if s.GetName() != want.name || s.GetStartTimeUnixNano() != uint64(at(want.from).UnixNano()) || s.GetEndTimeUnixNano() != uint64(at(want.to).UnixNano()) || len(s.GetEvents()) != 1 || s.GetEvents()[0].GetName() != want.event {
			t.Errorf("span %d is %v", i, s)
		}
		if s.GetStatus().GetCode() != spans.Status_STATUS_CODE_UNSET {
			t.Errorf("span %d has status %v", i, s.GetStatus())
		}
	}
}

func TestFailure(t *testing.T) {
	r, address := otlp.Listen(t)
	restart(t, tracing.Options{Endpoint: address, Insecure: true}, request.Failed)
	if got := r.Received(); len(got) != 2 || got[1].GetStatus().GetCode() != spans.Status_STATUS_CODE_ERROR || got[1].GetStatus().GetMessage() != "RolloutTimeout" {
		t.Errorf("got %v", got)
	}
}

// Spans go to nobody whose certificate is not trusted, nor in plain text unless asked.
func TestSecureByDefault(t *testing.T) {
	pair, _ := certificate(t)
	stranger, address := otlp.Listen(t, grpc.Creds(credentials.NewServerTLSFromCert(&pair)))
	plain, open := otlp.Listen(t)
	for _, endpoint := range []string{address, open} {
		tracer, err := tracing.Connect(t.Context(), tracing.Options{Endpoint: endpoint}, "v1")
		if err != nil {
			t.Fatal(err)
		}
		tracer.Moved(&model.Request{UID: "u"}, target, model.RequestStatus{Phase: request.Executing, OpenedAt: at(1), RolloutStart: at(2)})
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		_ = tracer.Shutdown(ctx) // it cannot send, and says so
		cancel()
	}
	if n, m := len(stranger.Received()), len(plain.Received()); n+m > 0 {
		t.Errorf("%d and %d spans arrived", n, m)
	}
}

func TestNothingIsTraced(t *testing.T) {
	tracer, err := tracing.Connect(t.Context(), tracing.Options{}, "v1")
	if tracer != nil || err != nil {
		t.Fatalf("Connect() = %v, %v", tracer, err)
	}
	tracer.Moved(&model.Request{}, target, model.RequestStatus{Phase: request.Executing})
	if p := tracer.Parent("u", noon); p != "" || tracer.Shutdown(t.Context()) != nil {
		t.Errorf("Parent() = %q", p)
	}
}

func TestBadFile(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{empty: "holds no certificate", empty + "-not": "--otel-otlp-ca-file"} {
		if _, err := tracing.Connect(t.Context(), tracing.Options{Endpoint: "a:1", CAFile: file}, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Connect() = %v, want %q", err, want)
		}
	}
}
