package check

import "github.com/corewire/kick/kick/api/v1alpha1"

// asksTool reports that the one policy of a workload lets a GitOps tool say when. What
// the tool says is not judged here: a scenario that has one states which restarts it
// wants, and when.
func asksTool(policies []*v1alpha1.KickPolicy) bool {
	if len(policies) != 1 {
		return false
	}
	tool := policies[0].Spec.GitOps.Provider
	return tool != "" && tool != v1alpha1.GitOpsNone
}

func (b blockCase) asksTool() bool { return asksTool(b.policies) }

// either is a block that holds where one of two does.
func either(one, other func(blockCase) bool) func(blockCase) bool {
	return func(b blockCase) bool { return one(b) || other(b) }
}
