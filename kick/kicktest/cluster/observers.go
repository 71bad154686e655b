package main

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/otlp"
)

// observers are what the operator tells of itself to, and where the suites read it.
type observers struct {
	metrics, timeline, traces string
	shown                     *httptest.Server
	end                       func()
}

// listen starts a receiver of traces and picks ports for what the operator serves.
func listen(ctx context.Context) (*observers, error) {
	var o observers
	for _, address := range []*string{&o.metrics, &o.timeline} {
		port, err := controlplane.FreePort()
		if err != nil {
			return nil, err
		}
		*address = fmt.Sprintf("127.0.0.1:%d", port)
	}
	receiver, address, end, err := otlp.Start(ctx)
	if err != nil {
		return nil, err
	}
	o.traces, o.end, o.shown = address, end, httptest.NewServer(receiver)
	return &o, nil
}

func (o *observers) stop() {
	o.shown.Close()
	o.end()
}

// flags have the operator serve and send.
func (o *observers) flags() []string {
	return []string{"--metrics-bind-address=" + o.metrics, "--timeline-bind-address=" + o.timeline, "--otel-otlp-endpoint=" + o.traces, "--otel-otlp-insecure"}
}

// env tells the suites where to look.
func (o *observers) env() []string {
	return []string{"KICK_METRICS=http://" + o.metrics, "KICK_TIMELINE=http://" + o.timeline, "KICK_TRACES=" + o.shown.URL}
}
