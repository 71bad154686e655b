// Package gitops is what the judgements on GitOps tools have in common: how an object
// of a foreign tool is read, how a shut gate says what it waits for, and how a cache
// keeps what a tool says of its many resources. The judgements themselves are the
// packages below, one for each tool:
//
//   - syncwindow: the windows of an Argo CD project
//   - argocd: who owns a workload in Argo CD, and may it be restarted
//   - flux: the same for Flux
//   - kargo: what Kargo's promotions add to Argo CD's answer
//
// They are here and not in the gates' own folders because they are pure, and because
// two of those folders need one of them: Kargo's gate ends in Argo CD's, and the
// children of a port do not import each other. What reads the objects stays in
// kick/gates.
//
// Objects come as the plain maps that JSON is decoded into, so that no tool's Go types
// are needed. They belong to somebody else: nothing is taken for granted, and a value
// that is not what it should be is an error that names and quotes it, never a panic.
package gitops
