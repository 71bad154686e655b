package explore

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/corewire/kick/sim/sched"
)

// Seeds that share a world, and seeds in a row that run one scenario.
const (
	worldBits    = 4
	scenarioBits = 3
)

// Mode is how a seed answers what a world leaves open.
type Mode uint8

// The modes. A seed has one, so that it alone names a schedule.
const (
	Swarm Mode = iota // often, in the classes drawn for it
	PCT               // rarely, at a few points drawn for it
)

// modeOf: every fourth seed places few deviations.
func modeOf(seed uint64) Mode {
	if seed%4 == 3 {
		return PCT
	}
	return Swarm
}

// nth is the i-th seed from first on that has one of the modes.
func nth(first, i uint64, profile Profile) uint64 {
	switch profile {
	case ProfilePCT:
		return first + 3 - first%4 + 4*i
	case ProfileSwarm:
		at := first + i/3*4
		for left := i % 3; ; at++ {
			if modeOf(at) != Swarm {
				continue
			}
			if left == 0 {
				return at
			}
			left--
		}
	default:
		return first + i
	}
}

// SeedsFit reports whether so many seeds from the first on are all in their range.
func SeedsFit(first, count uint64, profile Profile) bool {
	i := count - 1
	over, ahead := uint64(0), i
	switch profile {
	case ProfilePCT:
		over, ahead = bits.Mul64(4, i)
	case ProfileSwarm:
		over, ahead = bits.Mul64(4, i/3)
	default:
	}
	_, carry := bits.Add64(first, ahead, 0)
	return over == 0 && carry == 0 && nth(first, i, profile) >= first
}

// worldOf is the seed of the world that a seed plays in.
func worldOf(seed uint64) uint64 { return seed >> worldBits }

// chooserOf answers everything by the seed.
func chooserOf(seed uint64) sched.Chooser {
	if modeOf(seed) == PCT {
		return sched.NewPCT(seed, 1+int(seed/4%3))
	}
	return sched.NewSeeded(seed)
}

// FormatSeed writes a seed with the build it is meant for: what a seed stands for
// changes whenever the code asks other questions.
func FormatSeed(seed uint64, build string) string { return fmt.Sprintf("0x%x@%s", seed, build) }

// ParseSeed reads what FormatSeed writes, or a bare number; the build is empty then.
// It reports false for anything else, such as the name of a file.
func ParseSeed(text string) (seed uint64, build string, ok bool) {
	number, build, _ := strings.Cut(text, "@")
	seed, err := strconv.ParseUint(number, 0, 64)
	return seed, build, err == nil
}
