// Package cli is the command line of kick-sim: it reads flags, runs scenarios and
// prints what package report makes of them. It holds no rule of the simulator.
//
// Exit codes: 0 all passed, 1 something failed, 2 unusable input, 130
// Ctrl-C ended a search that had found nothing.
//
//	os.Exit(cli.Main(os.Args[1:], cli.Program{Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now}))
package cli
