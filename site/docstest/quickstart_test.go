package docstest

import (
	"strings"
	"testing"
)

// TestQuickstart runs the commands of the quickstart in order. Where the chart has been
// installed, the operator is started: a fake node runs no container.
//
// Proves: KICK-FEAT-001.
func TestQuickstart(t *testing.T) {
	plane := cluster(t)
	s := reader(t, plane.Kubeconfig)
	ran := 0
	for _, b := range blocks(t, "docs/quickstart.md") {
		switch {
		case b.lang != "sh":
		case b.skip != "":
			t.Logf("%s:%d is not run: %s", b.page, b.line, b.skip)
		default:
			s.follow(b)
			ran++
		}
		if strings.HasPrefix(b.text, "helm install ") {
			startOperator(t, plane, "kick-system")
		}
		if t.Failed() {
			return
		}
	}
	if ran < 8 {
		t.Errorf("only %d blocks of commands were run", ran)
	}
}
