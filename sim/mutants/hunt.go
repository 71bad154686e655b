package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"time"
)

// Hunt is what one run of kick-sim against one program found.
type Hunt struct {
	Law       string // that broke first; empty: none did
	Message   string
	Replay    string
	Schedules uint64
	Seconds   float64 // until then
}

// stride keeps the seeds of repeated hunts apart.
const stride = 1 << 40

// explore searches from the n-th stretch of seeds on.
func explore(ctx context.Context, root, binary string, o options, n int) (Hunt, error) {
	var said struct {
		Schedules uint64
		Seconds   float64
		Failures  []struct{ Law, Message, Replay string }
	}
	args := []string{"explore", "-o", "json", "--quiet", "--seed", strconv.Itoa(n*stride + 1)}
	if o.schedules > 0 {
		args = append(args, "--seeds", strconv.FormatUint(o.schedules, 10))
	} else {
		args = append(args, "--for", o.budget.String())
	}
	err := sim(ctx, root, binary, &said, args...)
	h := Hunt{Schedules: said.Schedules, Seconds: said.Seconds}
	if err == nil && len(said.Failures) > 0 {
		f := said.Failures[0]
		h.Law, h.Message, h.Replay = f.Law, f.Message, f.Replay
	}
	return h, err
}

// scenarios runs all scenarios of the repository.
func scenarios(ctx context.Context, root, binary string) (Hunt, error) {
	var said struct {
		WallSeconds float64
		Scenarios   []struct {
			Name     string
			Failures []struct{ Law, Message string }
		}
	}
	err := sim(ctx, root, binary, &said, "run", "-o", "json", "scenarios/")
	h := Hunt{Schedules: uint64(len(said.Scenarios)), Seconds: said.WallSeconds}
	for _, s := range said.Scenarios {
		if len(s.Failures) > 0 && h.Law == "" {
			h.Law, h.Message, h.Replay = s.Failures[0].Law, s.Failures[0].Message, "kick-sim run scenarios/ --filter '^"+s.Name+"$'"
		}
	}
	return h, err
}

// patience is how long a program may go on after its time: a planted bug can make
// it run for ever.
const patience = 30 * time.Second

// sim runs kick-sim and reads the one object it prints. That something was found is
// no error; a program that hangs or dies has been found out, too.
func sim(ctx context.Context, root, binary string, into any, args ...string) error {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = root
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if decoded := json.Unmarshal(out.Bytes(), into); decoded != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("kick-sim %s: %w: %s", args[0], err, lastLine(errs.Bytes()))
	}
	return nil
}

func lastLine(text []byte) []byte {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return lines[len(lines)-1]
}

// median is the hunt in the middle when sorted by time, those that found nothing last.
func median(hunts []Hunt) Hunt {
	slices.SortFunc(hunts, func(a, b Hunt) int {
		switch {
		case (a.Law == "") != (b.Law == ""):
			if a.Law == "" {
				return 1
			}
			return -1
		case a.Seconds < b.Seconds:
			return -1
		default:
			return 1
		}
	})
	return hunts[len(hunts)/2]
}
