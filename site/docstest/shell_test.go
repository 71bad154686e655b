package docstest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// patience is how long one block of commands may take on a machine that has much else to do.
const patience = 10 * time.Minute

// shell runs blocks one after the other, as a reader who pastes them into one terminal.
type shell struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

// newShell starts a shell at the root of the tree.
func newShell(t *testing.T, env ...string) *shell {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &shell{t: t, in: in, out: bufio.NewReader(out)}
}

// run runs commands and returns what they printed, and the exit code of the last one.
func (s *shell) run(commands string) (printed string, code int) {
	s.t.Helper()
	const end = "end-of-block"
	if _, err := fmt.Fprintf(s.in, "%s\necho; echo %s $?\n", strings.TrimSpace(commands), end); err != nil {
		s.t.Fatal(err)
	}
	late := time.AfterFunc(patience, func() { panic(fmt.Sprintf("not over after %s: %s", patience, commands)) })
	defer late.Stop()
	var text strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			s.t.Fatalf("the shell ended: %v\n%s", err, text.String())
		}
		if rest, ok := strings.CutPrefix(line, end+" "); ok {
			code, err := strconv.Atoi(strings.TrimSpace(rest))
			if err != nil {
				s.t.Fatal(err)
			}
			return strings.TrimSuffix(text.String(), "\n"), code
		}
		text.WriteString(line)
	}
}

// follow runs a block of a page as it stands there, and compares what it prints with what
// the page says.
func (s *shell) follow(b *block) {
	s.t.Helper()
	got, code := s.run(b.text)
	if code != 0 && b.prints == nil {
		s.t.Fatalf("%s:%d: exit code %d\n%s\n%s", b.page, b.line, code, b.text, got)
	}
	if b.prints != nil && !printed(b.prints.text, got) {
		s.t.Errorf("%s:%d: the page says\n%s\nbut it prints\n%s", b.page, b.prints.line, b.prints.text, got)
	}
}
