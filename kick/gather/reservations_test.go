package gather

import (
	"testing"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
)

// Of two passes that reserve at the same time the later one sees the earlier, and not
// the other way round: one of them goes on.
func TestAnEarlierReservationCounts(t *testing.T) {
	var r reservations
	web, api := build.Snapshot().Workload, build.Snapshot().Workload
	api.ID.Name = "api"
	first, second := r.make(web), r.make(api)
	if got := r.before(first); len(got) != 0 {
		t.Errorf("before the first one: %v, want none", got)
	}
	if _, seen := r.before(second)[web.ID]; !seen || len(r.before(second)) != 1 {
		t.Errorf("before the second one: %v, want the first", r.before(second))
	}
	if got := r.before(0); len(got) != 2 {
		t.Errorf("now: %v, want both", got)
	}
	r.make(web)
	if got := r.before(second); len(got) != 0 {
		t.Errorf("before the second one, once the first is made anew: %v, want none", got)
	}
}

// A pass whose cache does not show its restart yet tries it once more and is refused: the
// restart that was made still counts, also while it is tried.
func TestARestartThatWasMadeStaysReserved(t *testing.T) {
	web, api := build.Snapshot().Workload, build.Snapshot().Workload
	api.ID.Name = "api"
	tests := map[string]func(*Gatherer){
		"made":          func(g *Gatherer) { g.Stamped(web.ID) },
		"may have been": func(g *Gatherer) { g.Unstamped(web.ID, build.At(2), false) },
	}
	for name, sent := range tests {
		t.Run(name, func(t *testing.T) {
			g := &Gatherer{}
			g.reserved.make(web)
			sent(g)
			other := g.reserved.make(api)
			g.reserved.make(web)
			if _, counts := g.reserved.before(other)[web.ID]; !counts {
				t.Error("while it is tried once more it does not count against a restart that was reserved after it")
			}
			g.Unstamped(web.ID, build.At(3), true)
			if got, held := g.reserved.before(0)[web.ID]; !held || got.turn != 1 {
				t.Errorf("refused once more: %+v (held: %v), want the first", got, held)
			}
		})
	}
	g := &Gatherer{}
	g.reserved.make(web)
	g.reserved.seed(map[model.Key]reservation{web.ID: {generation: web.Generation + 1, uid: web.UID, made: true}})
	g.Unstamped(web.ID, build.At(3), true)
	if _, held := g.reserved.before(0)[web.ID]; !held {
		t.Error("one that an earlier process made does not count, because this one tried it, too")
	}
	g = &Gatherer{}
	g.reserved.make(web)
	g.reserved.make(web)
	g.Release(web.ID)
	if len(g.reserved.before(0)) != 0 {
		t.Error("one that was never sent is left")
	}
}

// The first try of a restart is over as soon as the cache shows its stamp. What the same
// workload has reserved since then, or an earlier process left, is another restart.
func TestAnOldTryGivesNoOtherPlaceAway(t *testing.T) {
	web := build.Snapshot().Workload
	g := &Gatherer{}
	g.reserved.make(web)
	g.Unstamped(web.ID, build.At(2), false)
	old := g.reserved.all[web.ID]
	newer := g.reserved.make(web)
	g.reserved.end(web.ID, old)
	if got, held := g.reserved.before(0)[web.ID]; !held || got.turn != newer || got.before != nil {
		t.Errorf("%+v (held: %v), want the newer one alone", got, held)
	}
	g.reserved.end(web.ID, old)
	if _, held := g.reserved.before(0)[web.ID]; !held {
		t.Error("one that is gone already took another with it")
	}
	g.reserved.end(web.ID, g.reserved.all[web.ID])
	if len(g.reserved.before(0)) != 0 {
		t.Error("one that is over still counts")
	}
}

func TestWhenAReservationIsOver(t *testing.T) {
	shown := func(change func(*model.Workload)) *model.Workload {
		w := build.Snapshot().Workload
		change(w)
		return w
	}
	held := reservation{generation: 2, uid: "uid-web"}
	tests := map[string]struct {
		held reservation
		w    *model.Workload
		want bool
	}{
		"the cache is as before":         {held, shown(func(*model.Workload) {}), false},
		"the cache shows the stamp":      {held, shown(func(w *model.Workload) { w.Generation = 2 }), true},
		"the cache shows what came then": {held, shown(func(w *model.Workload) { w.Generation = 3 }), true},
		"the workload was made anew":     {held, shown(func(w *model.Workload) { w.UID = "another" }), true},
		"the workload is gone":           {held, nil, true},
		"unanswered, it may still land":  {reservation{generation: 2, uid: "uid-web", until: build.At(61)}, shown(func(*model.Workload) {}), false},
		"unanswered, long ago":           {reservation{generation: 2, uid: "uid-web", until: build.At(60)}, shown(func(*model.Workload) {}), true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.held.over(tt.w, build.At(60)); got != tt.want {
				t.Errorf("over() = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestWhatBecomesOfAReservation(t *testing.T) {
	w := build.Snapshot().Workload
	tests := map[string]struct {
		act  func(*Gatherer)
		want *reservation
	}{
		"made":           {func(*Gatherer) {}, &reservation{turn: 1, generation: 2, uid: "uid-web"}},
		"not made":       {func(g *Gatherer) { g.Unstamped(w.ID, build.At(2), true) }, nil},
		"nobody answers": {func(g *Gatherer) { g.Unstamped(w.ID, build.At(2), false) }, &reservation{turn: 1, generation: 2, uid: "uid-web", until: build.At(2 + lateLanding.Seconds())}},
		"the gate shut":  {func(g *Gatherer) { g.Release(w.ID) }, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			g := &Gatherer{}
			g.reserved.make(w)
			tt.act(g)
			got, held := g.reserved.before(0)[w.ID]
			if held != (tt.want != nil) || held && got != *tt.want {
				t.Errorf("reservation = %+v (held: %v), want %+v", got, held, tt.want)
			}
		})
	}
	g := &Gatherer{}
	g.Unstamped(w.ID, build.At(1), false)
	if len(g.reserved.before(0)) != 0 {
		t.Error("a restart that needed no reservation has made one")
	}
}
