package check

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

const lawLedger = "the ledger holds what is read"

// canBe reports whether an object may be called so. A volume of a pod may name what none
// can: nothing of it ever changes, and the API server takes no record of that name.
func canBe(s Source) bool { return len(validation.IsDNS1123Subdomain(s.Name)) == 0 }

// ledger looks at the records that are left at the end.
type ledger struct{}

// AtEnd reports a source without a record although a workload of a namespace with a
// policy reads it, and a record of one that nobody reads.
func (ledger) AtEnd(c *Context) {
	wanted := map[Source]string{}
	for _, w := range c.workloads() {
		if !c.watched(w.GetNamespace()) || len(c.API.List(policyKind, w.GetNamespace())) == 0 {
			continue
		}
		for _, r := range refsOf(w.GetNamespace(), w.template) {
			if _, known := wanted[r.source]; !known && c.attends(r.source) {
				wanted[r.source] = w.id()
			}
		}
	}
	for _, object := range c.API.List(recordKind, "") {
		record := object.(*v1alpha1.SourceObservation)
		source := Source{string(record.Spec.Source.Kind), record.Namespace, record.Spec.Source.Name}
		if _, known := wanted[source]; !known && c.watched(record.Namespace) {
			c.report(lawLedger, "record %s/%s is about %s, which no workload of a namespace with a policy reads", record.Namespace, record.Name, source)
		}
		delete(wanted, source)
	}
	for _, s := range slices.SortedFunc(maps.Keys(wanted), compareSources) {
		c.report(lawLedger, "%s is read by %s in a namespace with a policy and has no record", s, wanted[s])
	}
}
