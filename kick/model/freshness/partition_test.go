package freshness_test

import (
	"testing"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/freshness"
	"github.com/corewire/kick/kick/model/request"
)

func TestPartition(t *testing.T) {
	set := build.Rollout(func(r *model.Rollout) { r.Replicas, r.Partition = 2, 1 })
	tests := map[string]struct {
		given []build.Option
		want  bool
	}{
		"stale pods on both sides": {
			given: []build.Option{set, build.Change("B", 0), build.Pod("web-1-a", build.Born, ordinal(0)), build.Pod("web-1-b", build.Born, ordinal(1))},
			want:  false,
		},
		"only the pod below is stale": {
			given: []build.Option{set, build.Change("B", 0), build.Pod("web-1-a", build.Born, ordinal(0)), build.Pod("web-1-b", 5, ordinal(1))},
			want:  true,
		},
		"only the pod above is stale": {
			given: []build.Option{set, build.Change("B", 0), build.Pod("web-1-a", 5, ordinal(0)), build.Pod("web-1-b", build.Born, ordinal(1))},
			want:  false,
		},
		"no ordinal": {given: []build.Option{build.Change("B", 0)}, want: false},
		"the pod above has not started, another one there is stale": {
			given: []build.Option{
				build.Rollout(func(r *model.Rollout) { r.Replicas, r.Partition = 3, 1 }), build.Change("B", 0), build.Pod("web-1-a", build.Born, ordinal(0)),
				build.Pod("web-1-b", 5, ordinal(1), pending), build.Pod("web-1-c", build.Born, ordinal(2)),
			},
			want: false,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := freshness.Judge(build.Snapshot(tt.given...), build.At(60))
			if got.State != freshness.Stale || got.Below != tt.want {
				t.Errorf("Judge() = %+v, want stale with Below = %v", got, tt.want)
			}
		})
	}
}

// What a restart may yet reach is judged when it has started: nothing is said of the
// partition before that.
func TestPartitionOfPodsToCome(t *testing.T) {
	set := build.Rollout(func(r *model.Rollout) { r.Replicas, r.Partition = 2, 1 })
	for name, options := range map[string][]build.Option{
		"not started":    {build.Pod("web-1-b", 5, ordinal(1), pending)},
		"not made yet":   {},
		"on its way out": {build.Pod("web-1-b", build.Born, ordinal(1), func(p *model.Pod) { p.Running = false })},
	} {
		t.Run(name, func(t *testing.T) {
			given := append([]build.Option{set, build.Change("B", 5.5), build.Pod("web-1-a", build.Born, ordinal(0))}, options...)
			got := freshness.Judge(build.Snapshot(given...), build.At(60))
			if got.State != freshness.Unknown || got.Reason != request.PodsNotStarted {
				t.Errorf("Judge() = %+v, want unknown, since pods have not started", got)
			}
		})
	}
}
