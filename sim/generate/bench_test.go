package generate_test

import (
	"testing"

	"github.com/corewire/kick/sim/generate"
	"github.com/corewire/kick/sim/sched"
)

// dice answers questions of class Make by a seed (splitmix64) and all others plainly.
type dice struct{ state uint64 }

func (d *dice) Choose(n int, class sched.Class, _ string) int {
	if class != sched.Make {
		return 0
	}
	d.state += 0x9e3779b97f4a7c15
	z := d.state
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return int((z ^ (z >> 31)) % uint64(n))
}

func BenchmarkWorld(b *testing.B) {
	seed := uint64(0)
	for b.Loop() {
		seed++
		generate.World(&dice{seed})
	}
}

func BenchmarkStory(b *testing.B) {
	world := generate.World(&dice{7})
	seed := uint64(0)
	for b.Loop() {
		seed++
		generate.Story(&dice{seed}, world)
	}
}
