package decide

import (
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// Foresee is Decide for those who want to know what becomes of a workload and do not act:
// where a finished request is about to start again, it is what is judged of it then.
func Foresee(s *model.Snapshot, now time.Time) Verdict {
	v := Decide(s, now)
	if s.Request == nil || v.Decisive == nil || v.Decisive.Reason != request.Opened {
		return v
	}
	opened, r := *s, *s.Request
	r.Status, opened.Request = v.Status, &r
	return Decide(&opened, now)
}
