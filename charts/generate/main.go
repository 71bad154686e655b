// Command generate writes what the chart has in common with the code and what its
// values imply, so that neither is kept by hand: the CRDs and rules of charts/kick,
// the schema of its values and their table in docs/install.md. It is part of
// make generate, and make verify fails when a file is not what it writes.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run writes all files below the root of the tree.
func run(root string) error {
	chart := filepath.Join(root, "charts", "kick")
	if err := writeCRDs(filepath.Join(chart, "templates", "crds")); err != nil {
		return err
	}
	rules, err := rules()
	if err != nil {
		return err
	}
	if err := write(filepath.Join(chart, "templates", "_rules.tpl"), rules); err != nil {
		return err
	}
	values, err := readValues(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return err
	}
	schema, err := schemaOf(values)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(chart, "values.schema.json"), schema); err != nil {
		return err
	}
	return writeTable(filepath.Join(root, "docs", "install.md"), values)
}

func write(path, content string) error { return os.WriteFile(path, []byte(content), 0o644) }
