// Package gitops holds tests that run the operator against a real API server which has
// the kinds of GitOps tools. The tools themselves do not run: the tests write their
// objects' status, as the tools do.
package gitops
