package pages

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/pflag"

	"github.com/corewire/kick/kick/operator"
)

// flags lists the operator's flags, hidden ones too: they are accepted.
func flags(fs.FS) (string, error) {
	options, set := operator.Options{}, pflag.NewFlagSet("kick", pflag.ContinueOnError)
	options.AddFlags(set)
	var b strings.Builder
	b.WriteString(note("Flags of the operator", "What `kick --help` prints. The Helm chart sets most of them from [its values](../install.md#all-values)."))
	b.WriteString("\n| flag | type | default | what it is |\n|---|---|---|---|\n")
	set.VisitAll(func(f *pflag.Flag) {
		standard := f.DefValue
		if f.Name == "namespace" { // which the environment sets
			standard = operator.DefaultNamespace
		}
		if standard == "[]" {
			standard = ""
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", code("--"+f.Name), f.Value.Type(), code(standard), cell(f.Usage))
	})
	b.WriteString("\n`kick check` takes the same flags and looks whether CRDs, rights, leader and metrics are as they should be; it changes nothing.\n")
	return b.String(), nil
}
