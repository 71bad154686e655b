package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestMatrixFits: however many faults there are, no line is wider than a screen, and each
// count stands behind its fault, below its call.
func TestMatrixFits(t *testing.T) {
	c := Campaign{Sites: map[string]map[string]uint64{"none": {"watch SourceObservation": 12345678, "get Deployment": 3}}}
	for i := range 25 {
		c.Sites[fmt.Sprintf("someFaultWithAName%02d", i)] = map[string]uint64{"watch SourceObservation": uint64(1000 + i)}
	}
	var out bytes.Buffer
	c.matrix(&out)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, line := range lines {
		if len(line) > 100 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if lines[0] != "faults met" || lines[1] != "get Deployment           none 3" || !strings.HasPrefix(lines[2], "watch SourceObservation  none 12,345,678  someFaultWithAName00 1,000") {
		t.Errorf("got\n%s", out.String())
	}
	if got := strings.Count(out.String(), "someFault"); got != 25 {
		t.Errorf("%d faults of 25 are shown", got)
	}
}
