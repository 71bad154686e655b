package explore

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/corewire/kick/sim/engine"
	"github.com/corewire/kick/sim/run"
)

// digests are the digests of the event logs of a range of seeds, in rows of one
// world each, on as many threads as allowed.
func digests(seeds int, threads int) [][sha256.Size]byte {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	const row = 1 << worldBits
	out := make([][sha256.Size]byte, seeds)
	rows := make(chan int)
	var running sync.WaitGroup
	for range threads {
		running.Go(func() {
			for from := range rows {
				runner := newLogged()
				for seed := from; seed < min(from+row, seeds); seed++ {
					out[seed] = digest(runner, uint64(seed))
				}
			}
		})
	}
	for from := 0; from < seeds; from += row {
		rows <- from
	}
	close(rows)
	running.Wait()
	return out
}

func newLogged() *Runner {
	return &Runner{Options: run.Options{NewOperator: engine.New, Fast: true, KeepTrail: true}}
}

// digest is over everything that a run says of itself.
func digest(runner *Runner, seed uint64) (sum [sha256.Size]byte) {
	r := runner.Run(Schedule{Seed: seed, Seeded: true}, nil)
	hash := sha256.New()
	if r.Trail != nil {
		for _, l := range r.Trail.Lines() {
			_, _ = fmt.Fprintf(hash, "%d %s %s %d %s %s %s\n", l.At.UnixNano(), l.Actor, l.Text, l.Revision, l.Verb, l.Object, l.Manager)
		}
	}
	_, _ = io.WriteString(hash, fmt.Sprint(r.Problem, r.Failures, r.Restarts, r.Virtual, r.Events))
	copy(sum[:], hash.Sum(nil))
	return sum
}

// seedCount is how many seeds are compared: 1,000, or what KICK_SEEDS says.
func seedCount(t *testing.T) int {
	text := os.Getenv("KICK_SEEDS")
	if text == "" {
		if testing.Short() {
			return 100
		}
		return 1000
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 1 {
		t.Fatalf("KICK_SEEDS=%q is no number of seeds", text)
	}
	return count
}

// TestSeedsAreDeterministic: the event log of a seed is the same to the byte on one
// thread, two and sixteen, and whether its world was rolled out for it alone or for
// a row of seeds.
func TestSeedsAreDeterministic(t *testing.T) {
	seeds := seedCount(t)
	want := digests(seeds, 1)
	distinct := map[[sha256.Size]byte]bool{}
	for _, sum := range want {
		distinct[sum] = true
	}
	if len(distinct) < seeds*9/10 {
		t.Errorf("%d seeds make %d different logs", seeds, len(distinct))
	}
	for _, threads := range []int{2, 16} {
		for seed, got := range digests(seeds, threads) {
			if got != want[seed] {
				t.Errorf("seed %d: on %d threads the log is another one", seed, threads)
			}
		}
	}
	for seed := 1; seed < seeds; seed += 97 {
		if digest(newLogged(), uint64(seed)) != want[seed] {
			t.Errorf("seed %d: alone in its world the log is another one", seed)
		}
	}
}
