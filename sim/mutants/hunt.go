package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/corewire/kick/sim/explore"
)

// Hunt is what one run of kick-sim against one program found.
type Hunt struct {
	Law       string // that broke first; empty: none did
	Message   string
	Replay    string
	Schedules uint64
	Seconds   float64 // until then
}

// hunter searches programs with planted bugs.
type hunter struct {
	options
	root  string
	clean program // the one without a plant; none: it is the one searched
}

// stride keeps the seeds of repeated hunts apart.
const stride = 1 << 40

// explore searches from the n-th stretch of seeds on. What breaks a law without the
// plant, too, is not the plant's doing: the hunt goes on behind that seed.
func (h *hunter) explore(ctx context.Context, p program, n int) (Hunt, error) {
	from := uint64(n)*stride + 1
	sum := Hunt{}
	for first := from; ; {
		found, err := h.stretch(ctx, p, first, first-from, sum.Seconds)
		found.Schedules += sum.Schedules
		found.Seconds += sum.Seconds
		if err != nil || found.Law == "" || h.clean.binary == "" {
			return found, err
		}
		replay := strings.Fields(found.Replay)[1:]
		if alarm, err := fails(ctx, h.root, h.clean, replay...); err != nil || !alarm {
			return found, err
		}
		seed, _, ok := explore.ParseSeed(replay[1])
		if !ok {
			return found, fmt.Errorf("%q names no seed", found.Replay)
		}
		first, sum = seed+1, Hunt{Schedules: found.Schedules, Seconds: found.Seconds}
	}
}

// stretch searches from a seed on, with what is left of the limits.
func (h *hunter) stretch(ctx context.Context, p program, first, tried uint64, spent float64) (Hunt, error) {
	var said struct {
		Schedules uint64
		Seconds   float64
		Failures  []struct{ Law, Message, Replay string }
	}
	left := h.budget - time.Duration(spent*float64(time.Second))
	if left <= 0 || h.schedules > 0 && tried >= h.schedules {
		return Hunt{}, nil
	}
	args := []string{"explore", "-o", "json", "--quiet", "--seed", strconv.FormatUint(first, 10), "--for", left.String()}
	if h.schedules > 0 {
		args = append(args, "--seeds", strconv.FormatUint(h.schedules-tried, 10))
	}
	err := sim(ctx, h.root, p, &said, args...)
	found := Hunt{Schedules: said.Schedules, Seconds: said.Seconds}
	if err == nil && len(said.Failures) > 0 {
		f := said.Failures[0]
		found.Law, found.Message, found.Replay = f.Law, f.Message, f.Replay
	}
	return found, err
}

// fails reports whether kick-sim ends by saying that something is wrong.
func fails(ctx context.Context, root string, p program, args ...string) (bool, error) {
	cmd := p.command(ctx, root, args...)
	said, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	switch {
	case err == nil:
		return false, nil
	case errors.As(err, &ended) && ended.ExitCode() == 1:
		return true, nil
	default:
		return false, fmt.Errorf("kick-sim %s: %w: %s", args[0], err, lastLine(said))
	}
}

// scenarios runs all scenarios of the repository.
func (h *hunter) scenarios(ctx context.Context, p program) (Hunt, error) {
	var said struct {
		WallSeconds float64
		Scenarios   []struct {
			Name     string
			Failures []struct{ Law, Message string }
		}
	}
	err := sim(ctx, h.root, p, &said, "run", "-o", "json", "scenarios/")
	found := Hunt{Schedules: uint64(len(said.Scenarios)), Seconds: said.WallSeconds}
	for _, s := range said.Scenarios {
		if len(s.Failures) > 0 && found.Law == "" {
			found.Law, found.Message, found.Replay = s.Failures[0].Law, s.Failures[0].Message, "kick-sim run scenarios/ --filter '^"+s.Name+"$'"
		}
	}
	return found, err
}

// patience is how long a program may go on after its time: a planted bug can make
// it run for ever.
const patience = 30 * time.Second

// scenariosPatience is how long all scenarios may take. They take some seconds on a
// machine that has nothing else to do, and must not be found slow on another.
const scenariosPatience = 5 * time.Minute

// sim runs kick-sim and reads the one object it prints. That something was found is
// no error; a program that hangs or dies has been found out, too.
func sim(ctx context.Context, root string, p program, into any, args ...string) error {
	cmd := p.command(ctx, root, args...)
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
