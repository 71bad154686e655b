package gather

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/sources"
)

// IndexMounts finds the status objects of a source by its name.
const IndexMounts = "kick.mounts"

// MountsValues are the values of IndexMounts.
func MountsValues(k sources.Mounted, obj client.Object) []string {
	name, _ := k.Of(obj)
	return []string{name}
}

// mounted fills in what status objects tell of a source, if it is one of which they do.
func (g *Gatherer) mounted(ctx context.Context, look *SourceLook) error {
	id := look.Source.ID
	kind, is := g.Sources.ByName(id.Kind).(sources.Mounted)
	if look.Told = is; !is {
		return nil
	}
	list := kind.NewStatuses()
	if err := g.Cache.List(ctx, list, client.InNamespace(id.Namespace), client.MatchingFields{IndexMounts: id.Name}); err != nil {
		return fmt.Errorf("list %ses of %s: %w", kind.Status().Name(), id, err)
	}
	for _, obj := range kind.Statuses(list) {
		if s := sources.Status(kind, obj); s.Pod != "" {
			look.Mounted = append(look.Mounted, s)
		}
	}
	return nil
}
