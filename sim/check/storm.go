package check

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawStorm = "no storm of writes"

// More creations of one object than stormSize within stormTime are a loop: KICK
// makes again what somebody else takes away, and neither of them rests.
const (
	stormSize = 10
	stormTime = time.Minute
)

// storm counts how often KICK creates the same object.
type storm struct {
	created map[types.NamespacedName][]time.Time
}

// OnKick reports an object that is created over and over.
func (s *storm) OnKick(c *Context, ev cluster.Event) {
	if ev.Type != cluster.Added || ev.Kind.Group != v1alpha1.GroupVersion.Group {
		return
	}
	if s.created == nil {
		s.created = map[types.NamespacedName][]time.Time{}
	}
	now := c.Loop.Now()
	times := append(s.created[ev.Key], now)
	for now.Sub(times[0]) > stormTime {
		times = times[1:]
	}
	s.created[ev.Key] = times
	if len(times) == stormSize+1 { // once a storm
		c.report(lawStorm, "%s %s was created %d times within %s", ev.Kind.Kind, ev.Key, len(times), stormTime)
	}
}
