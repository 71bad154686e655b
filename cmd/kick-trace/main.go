// Command kick-trace ties the features of KICK to their proofs.
package main

import (
	"os"

	"github.com/corewire/kick/traceability/trace"
)

func main() { os.Exit(trace.Main(os.Args[1:], os.Stdout, os.Stderr)) }
