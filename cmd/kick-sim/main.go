// Command kick-sim runs scenarios of KICK in a simulated cluster.
package main

import (
	"os"
	"runtime/debug"
	"time"

	"github.com/corewire/kick/sim/cli"
	"github.com/corewire/kick/sim/cli/interrupt"
)

// version is set by the linker; else the build tells.
var version = ""

func main() {
	// Each scenario builds a small cluster and throws it away within milliseconds:
	// a quarter of the time went into collecting garbage while there was hardly any.
	debug.SetGCPercent(1000)
	debug.SetMemoryLimit(1 << 30)
	os.Exit(cli.Main(os.Args[1:], cli.Program{
		Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now, Version: buildVersion(), Context: interrupt.Context(),
	}))
}

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return cli.Version(info)
	}
	return "(devel)"
}
