package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/corewire/kick/sim/graph"
)

var update = flag.Bool("update", false, "write the drawing to docs/structure.svg")

const drawing = "../../docs/structure.svg"

// unwatched are the reads of what does not wake the reader, and why each is meant.
// A new one fails the test: either the kind is to be watched, or the reason belongs
// here.
var unwatched = map[string]string{
	"request reads Pod":                "pods are listed live for one workload at the moment of a judgement; what they do shows in the workload's status, which wakes it",
	"request reads ReplicaSet":         "a new ReplicaSet always shows in the Deployment's status, which wakes it",
	"request reads ControllerRevision": "a new revision always shows in the workload's status, which wakes it",

	"bundle reads ControllerRevision": "the record of an immutable bundle is read live, and never changes; one that is deleted is made anew by the periodic check",

	"notification reads KickPolicy":  "a message names the GitOps tool that is asked; nothing waits for it",
	"notification reads Deployment":  "as above, to find the policy that selects it",
	"notification reads StatefulSet": "as above",
	"notification reads DaemonSet":   "as above",

	"cleanup reads ControllerRevision": "a failed request is kept while its workload is stale; it is looked at again by time, a retention later",
	"cleanup reads DaemonSet":          "as above",
	"cleanup reads Deployment":         "as above",
	"cleanup reads StatefulSet":        "as above",
	"cleanup reads Rollout":            "as above",
	"cleanup reads ReplicaSet":         "as above",
	"cleanup reads Pod":                "as above",
	"cleanup reads ConfigMap":          "as above",
	"cleanup reads Secret":             "as above",
	"cleanup reads KickPolicy":         "as above",
	"cleanup reads SourceObservation":  "as above",
}

// TestStructure runs all scenarios and looks at who touches what.
func TestStructure(t *testing.T) {
	g, err := record(Program{NewOperator: newOperator, Faults: faults()}, []string{"../../scenarios"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range g.Controllers {
		for _, k := range g.Unwatched(c) {
			if read := fmt.Sprintf("%s reads %s", c, k.Kind); unwatched[read] == "" {
				t.Errorf("%s, and no change of it wakes %s: watch it, or say here why that is meant", read, c)
			}
		}
	}
	if len(g.Controllers) == 0 {
		t.Fatal("nothing was recorded")
	}
	drawn(t, g)
}

func drawn(t *testing.T, g graph.Graph) {
	t.Helper()
	var now bytes.Buffer
	if err := g.SVG(&now); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(drawing, now.Bytes(), 0o644); err != nil { //nolint:gosec // a page of the documentation
			t.Fatal(err)
		}
	}
	was, err := os.ReadFile(drawing)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(was), now.String()); diff != "" {
		t.Errorf("docs/structure.svg is out of date; draw it with go test ./sim/cli -run TestStructure -update (-drawn +now):\n%s", diff)
	}
}
