package request

import (
	"sync"
	"time"

	"github.com/corewire/kick/kick/mark"
	"github.com/corewire/kick/kick/model"
)

// rewordEvery is how often a process may say anew what a request waits for.
const rewordEvery = time.Second

// pace keeps what waiting requests wait for from being said anew time and again. For some
// seconds after a leader froze two processes lead, and where a change has reached only one
// of them, each would put back what the other wrote, as fast as the watch shows it. A crash
// may lose the memory: it holds back words, and never a restart.
type pace struct {
	mu    sync.Mutex
	since time.Time // of the interval that runs
	said  map[model.Key]bool
}

// hold is how long a status has to wait. 0 allows it: what does more than say anew what the
// request waits for, always; the rest once an interval.
func (p *pace) hold(s *model.Snapshot, next model.RequestStatus, now time.Time) time.Duration {
	if !rewords(s.Request.Status, next) {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if past := now.Sub(p.since); past < 0 || past >= rewordEvery {
		p.since, p.said = now, map[model.Key]bool{}
	}
	if p.said[s.Target] {
		mark.Hit(mark.RewordedLater)
		return p.since.Add(rewordEvery).Sub(now)
	}
	p.said[s.Target] = true
	return 0
}

// rewords reports whether a status says anew what a request waits for, and nothing else.
func rewords(before, next model.RequestStatus) bool {
	return !before.Equal(next) && before.Phase.Waiting() && next.Phase.Waiting() && before.OpenedAt.Equal(next.OpenedAt) &&
		before.LatestChange.Equal(next.LatestChange) && before.Overridden == next.Overridden
}
