package main

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/corewire/kick/kick/kicktest/installation"
)

func TestMain(m *testing.M) {
	installation.Main()
	os.Exit(m.Run())
}

// BenchmarkRestartLatency makes its own rounds whatever b.N is: it needs a control
// plane, and enough of them for a 95th percentile.
func BenchmarkRestartLatency(b *testing.B) {
	var out bytes.Buffer
	report, err := run(b.Context(), &out, os.Stderr, defaultRounds)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("\n%s", out.String())
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(Quantile(report.Floor, 0.5)), "floor-p50-ms")
	b.ReportMetric(ms(Quantile(report.Floor, 0.95)), "floor-p95-ms")
	b.ReportMetric(ms(Quantile(report.Kick, 0.5)), "kick-p50-ms")
	b.ReportMetric(ms(Quantile(report.Kick, 0.95)), "kick-p95-ms")
	b.ReportMetric(report.Ratio(), "kick/floor")
	b.ReportMetric(float64(report.Resident)/1e6, "operator-MB")
}

func TestQuantile(t *testing.T) {
	tests := []struct {
		values []time.Duration
		q      float64
		want   time.Duration
	}{
		{nil, 0.5, 0},
		{[]time.Duration{7}, 0.95, 7},
		{[]time.Duration{1, 2}, 0.5, 1},
		{[]time.Duration{1, 2, 3}, 0.5, 2},
		{[]time.Duration{1, 2, 3}, 0, 1},
		{[]time.Duration{1, 2, 3}, 1, 3},
	}
	for _, tt := range tests {
		if got := Quantile(tt.values, tt.q); got != tt.want {
			t.Errorf("Quantile(%v, %v) = %v, want %v", tt.values, tt.q, got, tt.want)
		}
	}
}
