package cli

import (
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/corewire/kick/sim/explore"
	"github.com/corewire/kick/sim/graph"
	"github.com/corewire/kick/sim/run"
	"github.com/corewire/kick/sim/scenario"
)

// Where no scenario is given, one story in each of so many generated worlds is run.
const (
	worlds   = 200
	perWorld = 64 // seeds
)

// drawings maps what graph can print to its printer.
var drawings = map[string]func(graph.Graph, io.Writer) error{
	"text": graph.Graph.Text, "json": graph.Graph.JSON, "dot": graph.Graph.DOT, "svg": graph.Graph.SVG,
}

func newGraph(p Program) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "graph [FILE|FOLDER...]",
		Short: "Draw which controller watches, reads and writes what",
		Long: "Draw how the operator hangs together: what wakes each controller, from the wiring list, and what it reads and\n" +
			"writes, as recorded while the scenarios given ran (default: generated worlds). With the hot spots: several\n" +
			"writers, feedback, and reads of what does not wake the reader. The JSON form is read by kamera's inspect, too.",
		Example: "  kick-sim graph\n  kick-sim graph scenarios/ -o svg > structure.svg\n  kick-sim graph -o json > graph.json && kamera inspect hotspots graph.json",
		RunE: func(_ *cobra.Command, args []string) error {
			draw := drawings[output]
			if draw == nil {
				return exitError{exitUnusable, fmt.Sprintf("kick-sim: unknown output %q: text, json, dot or svg", output)}
			}
			g, err := record(p, args)
			if err != nil {
				return err
			}
			return draw(g, p.Stdout)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text, json, dot or svg")
	return cmd
}

// record runs scenarios and returns who touched what.
func record(p Program, paths []string) (graph.Graph, error) {
	scenarios, err := touching(p, paths)
	if err != nil {
		return graph.Graph{}, err
	}
	var lock sync.Mutex
	seen := map[graph.Access]bool{}
	run.All(scenarios, run.Options{NewOperator: p.NewOperator, Touched: func(a graph.Access) {
		lock.Lock()
		defer lock.Unlock()
		seen[a] = true
	}}, func(run.Result) {})
	accesses := make([]graph.Access, 0, len(seen))
	for a := range seen {
		accesses = append(accesses, a)
	}
	return graph.New(accesses), nil
}

// touching are the scenarios of the files, or those of the first seeds.
func touching(p Program, paths []string) ([]scenario.Scenario, error) {
	if len(paths) > 0 {
		return load(p, runFlags{}, paths)
	}
	var runner explore.Runner
	scenarios := make([]scenario.Scenario, 0, worlds)
	for seed := range uint64(worlds) {
		scenarios = append(scenarios, runner.Scenario(explore.Schedule{Seed: seed * perWorld, Seeded: true}))
	}
	return scenarios, nil
}
