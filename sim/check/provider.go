package check

import "github.com/corewire/kick/kick/api/v1alpha1"

// asksTool reports that the one policy of a workload lets a GitOps tool say when.
func asksTool(policies []*v1alpha1.KickPolicy) bool {
	if len(policies) != 1 {
		return false
	}
	tool := policies[0].Spec.GitOps.Provider
	return tool != "" && tool != v1alpha1.GitOpsNone
}

// unasked: KICK cannot ask the tool, as a flag may say.
func (b blockCase) unasked() bool { return asksTool(b.policies) }

// toolBlocks takes KICK's word for what a tool says, unless the tool plainly lets everything through.
func (b blockCase) toolBlocks() bool {
	if !asksTool(b.policies) {
		return false
	}
	state, _ := b.toolSays(b.w)
	return state != toolOpen
}

// either is a block that holds where one of two does.
func either(one, other func(blockCase) bool) func(blockCase) bool {
	return func(b blockCase) bool { return one(b) || other(b) }
}
