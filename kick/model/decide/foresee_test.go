package decide_test

import (
	"testing"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
)

// TestForesee: of a request that is about to start again it is told what comes of that, and
// of any other what Decide says.
func TestForesee(t *testing.T) {
	finished := build.Request(request.Succeeded, func(r *model.Request) { r.Status.LatestChange = build.At(-100) })
	suspended := build.With(func(p *model.Policy) { p.Suspended = true })
	tests := map[string]struct {
		options []build.Option
		want    request.Reason
	}{
		"about to start, then restarted": {[]build.Option{build.Change("B", 0), finished}, request.Restarting},
		"about to start, then put off":   {[]build.Option{build.Change("B", 0), finished, suspended}, request.PolicySuspended},
		"waiting":                        {[]build.Option{build.Change("B", 0), build.Request(request.Pending), suspended}, request.PolicySuspended},
		"without a request":              {[]build.Option{build.Change("B", 0), suspended}, request.PolicySuspended},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := decide.Foresee(build.Snapshot(tt.options...), build.At(30))
			if v.Decisive == nil || v.Decisive.Reason != tt.want {
				t.Errorf("got %+v, want %s", v.Decisive, tt.want)
			}
		})
	}
}
