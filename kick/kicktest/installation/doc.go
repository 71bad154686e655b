// Package installation installs KICK on a control plane of kicktest, with exactly
// the rights that its generated roles give, and runs the operator as a process of
// its own: one that can be killed, and whose log, probes and metrics are those a
// user would see.
//
// The operator is the running binary itself, started again, so nothing has to be
// built for it. That needs one call, first thing in main or TestMain:
//
//	func TestMain(m *testing.M) {
//		installation.Main()
//		os.Exit(controlplane.Main(m, controlplane.Options{Node: controlplane.FakeNode}))
//	}
//
// and then
//
//	kick, err := installation.New(ctx, plane, "kick-system")
//	operator, err := kick.Start("--watch-namespaces=shop")
//	err = operator.WaitReady(ctx)
package installation
