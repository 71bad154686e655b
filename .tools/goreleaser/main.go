// Command goreleaser reads a configuration with goreleaser's own reader, which refuses
// fields that it does not know and values of another type. It is the part of goreleaser
// check that can be built without the SDKs of all clouds.
package main

import (
	"fmt"
	"os"

	"github.com/goreleaser/goreleaser/v2/pkg/config"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: goreleaser FILE")
		os.Exit(2)
	}
	project, err := config.Load(os.Args[1])
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
	fmt.Printf("%s: read by goreleaser: %d builds, %d archives, %d images\n", os.Args[1], len(project.Builds), len(project.Archives), len(project.Kos))
}
