// Command kubectl-kick is the kubectl plugin: kubectl kick why deployment/web.
package main

import (
	"os"

	"github.com/corewire/kick/kick/cli"
)

func main() { os.Exit(cli.Main(cli.Args(os.Args), cli.System())) }
