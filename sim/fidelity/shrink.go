package fidelity

// Shrink drops operations from a sequence as long as play still finds a difference of
// the same class, and returns what is left and its difference.
func Shrink(sequence []Op, diff *Difference, play func([]Op) *Difference) ([]Op, *Difference) {
	for size := max(1, len(sequence)/2); size > 0; size /= 2 {
		for end := len(sequence); end > 0; end -= size {
			from := max(0, end-size)
			fewer := append(append([]Op{}, sequence[:from]...), sequence[min(end, len(sequence)):]...)
			if found := play(fewer); found != nil && found.Class == diff.Class {
				sequence, diff = fewer[:min(found.At+1, len(fewer))], found
			}
		}
	}
	return sequence, diff
}
