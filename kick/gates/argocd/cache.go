package argocd

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/gates"
	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/gitops/argocd"
)

// Index is the name of the cache's index of Applications by the namespaces of what they
// list; its values are IndexValues.
const Index = "kick.argocd.namespaces"

// IndexValues are the values of a stripped Application in Index.
func IndexValues(o client.Object) []string { return gitops.Namespaces(gates.Listing(o)) }

// Strip makes a cached Application small: it keeps what status.resources lists of the
// kinds KICK restarts, each "group/Kind", the Stages of Kargo it names, and nothing else
// of its spec and status.
func Strip(kinds ...string) func(client.Object) {
	return func(o client.Object) {
		gates.StripToListing(o, func(object map[string]any) []gitops.Object {
			var all []gitops.Object
			gitops.Read("Application", object).Each(func(f *gitops.Fields) {
				if r := argocd.ResourceOf(f); slices.Contains(kinds, r.Group+"/"+r.Kind) {
					all = append(all, r)
				}
			}, "status", "resources")
			return all
		}, argocd.StagesAnnotation)
	}
}

// Workloads are the workloads whose gate an event of a stripped Application concerns.
func Workloads(o client.Object) []gitops.Object { return gitops.Unpack(gates.Listing(o)) }

// WorkloadIndex is the name of the cache's index of workloads by the Application that
// their tracking-id names. An Application that does not list a workload yet, or no
// longer, wakes it all the same.
const WorkloadIndex = "kick.argocd.tracked"

// WorkloadIndexValues are the values of a workload in WorkloadIndex: "namespace/name" of
// an Application. Whether the annotation counts is not asked: a wake too many does no harm.
func (p *Provider) WorkloadIndexValues(o client.Object) []string {
	app, _, err := argocd.ParseTrackingID(o.GetAnnotations()[argocd.TrackingAnnotation], p.Config.Namespace)
	if err != nil {
		return nil
	}
	return []string{app.Namespace + "/" + app.Name}
}
