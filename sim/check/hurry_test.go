package check

import (
	"testing"
	"time"
)

func TestHurry(t *testing.T) {
	passes := func(b *bench, n int, after time.Duration) {
		for range n {
			b.laws.OnPass(Pass{Controller: "request", Key: "Deployment shop/web", After: after})
		}
	}
	b := shop(t, lawHurry)
	passes(b, inARow-1, time.Millisecond)
	passes(b, 1, time.Second)
	passes(b, inARow-1, time.Millisecond)
	passes(b, 1, 0)
	passes(b, 2*inARow, 20*time.Millisecond)
	b.holds()

	b = shop(t, lawHurry)
	passes(b, inARow, time.Millisecond)
	b.fires("controller request asked 100 times in a row to look at Deployment shop/web again within 10ms")
}
