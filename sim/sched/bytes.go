package sched

// Bytes lets bytes answer, as a fuzzer makes them. A question of class Make takes
// one byte. All others share pairs of bytes: the first is how many questions are
// answered plainly before the next deviation, the second is that deviation. When
// the bytes are used up every answer is plain.
type Bytes struct {
	data  []byte
	plain int // plain answers left before the deviation
	armed bool
}

// NewBytes returns a chooser that these bytes answer for.
func NewBytes(data []byte) *Bytes { return &Bytes{data: data} }

// Choose answers.
func (b *Bytes) Choose(n int, class Class, _ string) int {
	if class == Make {
		value, _ := b.take()
		return int(value) % n
	}
	if !b.armed {
		value, ok := b.take()
		if !ok {
			return 0
		}
		b.plain, b.armed = int(value), true
	}
	if b.plain > 0 {
		b.plain--
		return 0
	}
	b.armed = false
	value, _ := b.take()
	return int(value) % n
}

func (b *Bytes) take() (byte, bool) {
	if len(b.data) == 0 {
		return 0, false
	}
	value := b.data[0]
	b.data = b.data[1:]
	return value, true
}
