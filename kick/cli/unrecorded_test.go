package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// TestWhatIsNotOnRecord: while KICK does not run, nobody is told that all is well with a
// workload whose sources stand otherwise than they are on record.
//
// Proves: KICK-FEAT-038.
func TestWhatIsNotOnRecord(t *testing.T) {
	unrecorded := func(inScope bool) build.Option {
		return func(s *model.Snapshot) { s.Dependencies[0].Unrecorded, s.Dependencies[0].InScope = true, inScope }
	}
	done := build.Request(request.Succeeded, func(r *model.Request) {
		r.Status.Reason, r.Status.Message, r.Status.LatestChange = request.RestartCompleted, "Restarted.", build.At(0)
	})
	for name, tt := range map[string]struct {
		options []build.Option
		want    bool
	}{
		"as it is on record": {[]build.Option{done}, false},
		"otherwise":          {[]build.Option{done, unrecorded(true)}, true},
		"not in scope":       {[]build.Option{done, unrecorded(false)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := judged(60, tt.options...)
			var page bytes.Buffer
			a := &app{}
			a.Stdout = &page
			if err := (&session{app: a, now: build.At(60)}).printAnswer(got); err != nil {
				t.Fatal(err)
			}
			if says := strings.Contains(page.String(), "But Secret shop/db is not on record as it stands"); says != tt.want || got.outstanding() != tt.want {
				t.Errorf("outstanding: %v, want %v; it says\n%s", got.outstanding(), tt.want, page.String())
			}
		})
	}
}
