package flux

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/gates"
	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/gitops/flux"
)

// Index is the name of the cache's indexes of Kustomizations and of HelmReleases by the
// namespaces of what they list; their values are IndexValues.
const Index = "kick.flux.namespaces"

// IndexValues are the values of a stripped owner in Index.
func IndexValues(o client.Object) []string { return gitops.Namespaces(gates.Listing(o)) }

// Strip makes a cached Kustomization or HelmRelease small: it keeps what status.inventory
// lists of the kinds KICK restarts, each "group/Kind", and of HelmReleases. Entries that
// cannot be read are left out here; the owner is read live before it is judged, and then
// they count.
func Strip(kinds ...string) func(client.Object) {
	kinds = append(slices.Clone(kinds), HelmRelease.Group+"/"+HelmRelease.Kind)
	return func(o client.Object) {
		gates.StripToListing(o, func(object map[string]any) []gitops.Object {
			return slices.DeleteFunc(flux.Inventory(gitops.Read("", object)), func(o gitops.Object) bool {
				return !slices.Contains(kinds, o.Group+"/"+o.Kind)
			})
		})
	}
}

// Workloads are the workloads whose gate an event of a stripped owner concerns, and the
// HelmReleases it applies: their workloads are concerned as well.
func Workloads(o client.Object) []gitops.Object { return gitops.Unpack(gates.Listing(o)) }

// WorkloadIndex is the name of the cache's index of workloads by the owners that their
// labels name. An owner that does not list a workload yet, or no longer, wakes it all
// the same.
const WorkloadIndex = "kick.flux.labelled"

// WorkloadIndexValues are the values of a workload in WorkloadIndex, each
// "Kind/namespace/name" of an owner.
func WorkloadIndexValues(o client.Object) []string {
	var values []string
	for _, kind := range []string{flux.Kustomization, flux.HelmRelease} {
		if ref, named := flux.Labelled(kind, o.GetLabels()); named {
			values = append(values, ref.Kind+"/"+ref.Namespace+"/"+ref.Name)
		}
	}
	return values
}
