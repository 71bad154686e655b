package check

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

const lawRequests = "requests end as expected"

// requests compares final phases with the scenario.
type requests struct{}

// AtEnd reports every named request that ended elsewhere.
func (requests) AtEnd(c *Context) {
	for _, id := range slices.Sorted(maps.Keys(c.Expect.Requests)) {
		want := c.Expect.Requests[id]
		namespace, name, _ := strings.Cut(id, "/")
		object := c.API.Get(requestKind, types.NamespacedName{Namespace: namespace, Name: name})
		r, ok := object.(*v1alpha1.KickRequest)
		if !ok {
			c.report(lawRequests, "request %s does not exist, want %s", id, want)
			continue
		}
		got := string(r.Status.Phase)
		if got == "" {
			got = string(v1alpha1.PhasePending)
		}
		if got != want {
			c.report(lawRequests, "request %s is %s, want %s", id, got, want)
		}
	}
}
