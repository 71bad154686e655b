package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/corewire/kick/kick/kicktest/controlplane"
)

// options are the flags.
type options struct {
	only      string
	budget    time.Duration
	schedules uint64
	seeds     int
	check     bool
	scenarios bool
	score     bool
	canary    int64
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	o := options{}
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.StringVar(&o.only, "only", "", "plants to try, or packages to score, separated by commas (default: all)")
	flags.DurationVar(&o.budget, "for", 2*time.Minute, "how long kick-sim may explore for each plant; 0 with --score: the unit tests judge alone")
	flags.Uint64Var(&o.schedules, "schedules", 0, "how many schedules kick-sim may explore for each plant at most (default: as many as --for allows)")
	flags.IntVar(&o.seeds, "seeds-of", 1, "how often each plant is hunted, each time from other seeds; the table shows the median")
	flags.BoolVar(&o.check, "check", false, "only check that every plant applies and compiles")
	flags.BoolVar(&o.scenarios, "scenarios", false, "run the scenarios instead of exploring")
	flags.BoolVar(&o.score, "score", false, "measure the mutation score of the decision packages instead")
	flags.Int64Var(&o.canary, "canary", -1, "hunt one plant only, drawn by this number")
	err := flags.Parse(args)
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if err == nil && o.seeds < 1 {
		err = fmt.Errorf("--seeds-of %d must be at least 1", o.seeds)
	}
	return o, err
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	root, err := controlplane.Root()
	if err != nil {
		return err
	}
	if o.score {
		return score(ctx, root, o, out)
	}
	plants, err := load(root)
	if err != nil {
		return err
	}
	switch {
	case o.only != "":
		plants, err = choose(plants, strings.Split(o.only, ","))
	case o.canary >= 0:
		plants = []Plant{canary(plants, o.canary)}
	}
	switch {
	case err != nil:
		return err
	case o.check:
		return checkAll(ctx, root, plants, out)
	default:
		return hunt(ctx, root, plants, o, out)
	}
}

func checkAll(ctx context.Context, root string, plants []Plant, out io.Writer) error {
	c, err := newCompiler(ctx, root)
	if err != nil {
		return err
	}
	var wrong []error
	for i := range plants {
		wrong = append(wrong, c.check(&plants[i]))
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d plants apply and compile\n", len(plants))
	return err
}

// canary draws a plant that a short campaign must find.
func canary(all []Plant, number int64) Plant {
	var fit []Plant
	for _, p := range all {
		if !p.Neutral() && p.Rare == "" {
			fit = append(fit, p)
		}
	}
	return fit[number%int64(len(fit))]
}

// hunt plants one bug after the other and searches for it.
func hunt(ctx context.Context, root string, plants []Plant, o options, out io.Writer) error {
	cache, err := controlplane.CacheDir()
	if err != nil {
		return err
	}
	f := &factory{dir: filepath.Join(cache, "mutants"), schemata: newSchemata(root)}
	h := hunter{options: o, root: root}
	if h.clean, err = f.open(ctx, plants); err != nil {
		return err
	}
	t := &table{out: out}
	t.head()
	// Where something is found without any plant, nothing is known of the plants.
	searched := hunter{options: o, root: root}
	t.row(&Plant{ID: clean, What: "nothing", Needs: "-"}, searched.try(ctx, h.clean))
	for i := range plants {
		if ctx.Err() != nil {
			break
		}
		p, err := f.program(ctx, &plants[i])
		if err != nil {
			t.broken(&plants[i], err)
			continue
		}
		t.row(&plants[i], h.try(ctx, p))
	}
	return errors.Join(t.end(), ctx.Err())
}

// search is one hunt. A planted bug can make the simulator run for ever.
func (h *hunter) search(ctx context.Context, p program, n int) (Hunt, error) {
	limit := h.budget + patience
	if h.options.scenarios {
		limit = scenariosPatience
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if h.options.scenarios {
		return h.scenarios(limited, p)
	}
	return h.explore(limited, p, n)
}

// try hunts as often as asked.
func (h *hunter) try(ctx context.Context, p program) Hunt {
	var hunts []Hunt
	for n := range h.seeds {
		began := time.Now()
		found, err := h.search(ctx, p, n)
		if err != nil && ctx.Err() == nil { // it died or it hangs
			found = Hunt{Law: "kick-sim ends", Message: err.Error(), Seconds: time.Since(began).Seconds()}
		}
		hunts = append(hunts, found)
	}
	return median(hunts)
}
