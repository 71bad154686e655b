// Package controlplane runs a real Kubernetes control plane on this machine, from
// Go modules alone: etcd, kube-apiserver, kube-controller-manager, kube-scheduler
// and either kwok (fake nodes whose pods are ready at once) or a real kubelet with
// containerd in private namespaces. No container engine, no download but the Go
// module proxy.
//
// Build compiles the programs once, from the pinned modules below .tools, into a
// cache outside the tree; KUBEBUILDER_ASSETS is taken instead where it is set.
// Start runs them on loopback with free ports and data in a directory of their
// own. Stop ends them in the order in which they can end. Unless detached, they
// die with the process that started them, however that one dies.
//
// In a test:
//
//	func TestRollout(t *testing.T) {
//		plane := controlplane.ForTest(t, controlplane.Options{Node: controlplane.FakeNode})
//		if err := plane.InstallCRDs(t.Context(), crds.FS); err != nil { ... }
//		c, err := client.New(plane.Config, client.Options{})
//		...
//	}
//
// Or one for all tests of a binary, started by the first test that asks:
//
//	func TestMain(m *testing.M) { os.Exit(controlplane.Main(m, controlplane.Options{})) }
//	func TestRule(t *testing.T) { plane := controlplane.Shared(t); ... }
//
// What a fake node cannot show: its pods read no Secret, start although a required
// Secret is missing, and are ready within milliseconds unless PodReadyDelay says
// otherwise. Where a test must see what a container loaded, use RealNode.
//
// The package knows nothing of KICK: it must not import anything else of kick.
package controlplane
