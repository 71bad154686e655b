package scenario

import (
	"strconv"

	"gopkg.in/yaml.v3"
)

// What a simulated cluster holds at most. It is a small one: every pod starts, fails and
// is replaced event by event, and more of them show nothing that these do not.
const (
	MostReplicas  = 1000 // of a workload
	MostOperators = 10   // replicas of KICK
)

// Replicas notes a count of replicas of a workload that a simulated cluster cannot have;
// what is no number is left to the type of the field.
func (d *Decoder) Replicas(at *yaml.Node, text string) {
	count, err := strconv.ParseFloat(text, 64) // 1e6 is a whole number, too
	switch {
	case err != nil:
	case count < 0:
		d.Problemf(at, "replicas: %.0f is negative, the least is 0", count)
	case count > MostReplicas:
		d.Problemf(at, "replicas: %.0f is more than a simulated cluster holds: give at most %d for a workload", count, MostReplicas)
	}
}
