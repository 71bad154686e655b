package run

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/corewire/kick/kick/api/crds"
	"github.com/corewire/kick/kick/kicktest/toolcrds"
	"github.com/corewire/kick/sim/foreign"
	"github.com/corewire/kick/sim/scenario"
)

// installed is what a cluster can store: KICK's own kinds and those of some tools. It is
// made once for each choice of tools, since nothing changes it and it takes a while.
type installed struct {
	scheme      *runtime.Scheme
	definitions []*apiextensionsv1.CustomResourceDefinition
}

var (
	installedLock sync.Mutex
	installations = map[string]installed{}
)

// installedFor is what a cluster with the kinds of some tools can store.
func installedFor(tools []string) (installed, error) {
	tools = slices.Compact(slices.Sorted(slices.Values(tools)))
	for _, t := range tools {
		if !slices.Contains(foreign.Tools(), t) {
			return installed{}, fmt.Errorf("world.crds: the simulator does not have the kinds of %s yet", t)
		}
	}
	installedLock.Lock()
	defer installedLock.Unlock()
	name := strings.Join(tools, ",")
	if i, known := installations[name]; known {
		return i, nil
	}
	own, err := crds.All()
	if err != nil {
		return installed{}, err
	}
	i := installed{scenario.NewScheme(tools...), append(own, toolcrds.Of(tools...)...)}
	installations[name] = i
	return i, nil
}
