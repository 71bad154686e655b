package run

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/check"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/world"
)

// truth shows the kubelet's knowledge to the laws.
type truth struct {
	world  *world.World
	server *cluster.Server
}

var podKind = schema.GroupKind{Kind: "Pod"}

// Pods lists the running pods of a workload.
func (t truth) Pods(namespace, kind, name string) []check.Pod {
	found := t.world.Pods(namespace, kind, name)
	out := make([]check.Pod, 0, len(found))
	for _, pod := range found {
		p := check.Pod{Name: pod.Name, Created: pod.Created, Ordinal: ordinal(kind, pod.Name)}
		if stored := t.server.Get(podKind, types.NamespacedName{Namespace: namespace, Name: pod.Name}); stored != nil {
			p.Created = stored.GetCreationTimestamp().Time
			p.Down = down(stored, pod)
		}
		for _, load := range pod.Loads {
			c := check.Container{Name: load.Container, Started: load.StartedAt, Again: load.Restart, Loaded: make(map[check.Source]check.Content, len(load.Sources))}
			for source, content := range load.Sources {
				c.Loaded[check.Source(source)] = contentOf(content)
			}
			if len(load.Cached) > 0 {
				c.Cached = make(map[check.Source]bool, len(load.Cached))
			}
			for _, source := range load.Cached {
				c.Cached[check.Source(source)] = true
			}
			p.Containers = append(p.Containers, c)
		}
		if len(pod.Told) > 0 {
			p.Mounted = make(map[check.Source]check.Mounted, len(pod.Told))
		}
		for source, told := range pod.Told {
			p.Mounted[check.Source(source)] = check.Mounted{Content: contentOf(told.Content), At: told.At}
		}
		out = append(out, p)
	}
	return out
}

// down reports whether some container of a pod does not run at the moment.
func down(stored client.Object, pod world.PodTruth) bool {
	running := 0
	for _, load := range pod.Loads {
		if !load.Init && load.Container != "" {
			running++
		}
	}
	return running < len(stored.(*corev1.Pod).Spec.Containers)
}

// Current is the content of a source now.
func (t truth) Current(s check.Source) check.Content {
	return contentOf(t.world.Current(world.SourceRef(s)))
}

func contentOf(c world.Content) check.Content {
	return check.Content{Exists: !c.Absent, Key: c.Bytes}
}
