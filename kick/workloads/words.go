package workloads

import "fmt"

// PodsAre says how many of the wanted pods are something.
func PodsAre(n, want int32, what string) string {
	if want == 1 {
		return fmt.Sprintf("%d of 1 pod is %s", n, what)
	}
	return fmt.Sprintf("%d of %d pods are %s", n, want, what)
}
