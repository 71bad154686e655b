package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// TestColumnsStandBelowEachOther: colour takes no room, so a column begins at the same
// place in each row, its heading's too.
// TestPlain: what others have written does not steer a terminal.
func TestPlain(t *testing.T) {
	if got, want := plain("Größe ok\r\n\x1b[2Jgone\u202e\u009b1m"), "Größe ok  \ufffd[2Jgone\ufffd\ufffd1m"; got != want {
		t.Errorf("shown is %q, want %q", got, want)
	}
}

func TestColumnsStandBelowEachOther(t *testing.T) {
	var out bytes.Buffer
	a := &app{Program: Program{Stdout: &out, Color: true}}
	err := a.table([]string{"NAME", "PHASE", "NEXT"}, 0, [][]string{
		{"web", a.paint(request.Failed, "Failed"), "x"}, {"größer", "-", "x"}, {"", a.paint(request.WaitingForGate, "WaitingForGate"), "x"},
	})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(colours.ReplaceAllString(out.String(), "")), "\n")
	want := strings.Index(lines[0], "NEXT")
	for _, l := range lines[1:] {
		if got := len([]rune(l[:strings.LastIndex(l, "x")])); got != want {
			t.Errorf("the last column begins at %d, want %d:\n%s", got, want, strings.Join(lines, "\n"))
		}
	}
}

// TestWakesAreToldOnce: what two rules wait for is named once, in their order.
func TestWakesAreToldOnce(t *testing.T) {
	got := wakes([]model.WakeOn{model.WakeOnPolicy, model.WakeOnWorkload, model.WakeOnPolicy})
	if want := []string{string(model.WakeOnPolicy), string(model.WakeOnWorkload)}; !slices.Equal(got, want) {
		t.Errorf("wakes are %v, want %v", got, want)
	}
}
