// Command kick is the operator.
package main

import (
	"os"

	"github.com/corewire/kick/kick/operator"
)

func main() { os.Exit(operator.Main(os.Args[1:], os.Stdout, os.Stderr)) }
