package model_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

func TestHistoryAsAConsumerSeesIt(t *testing.T) {
	seals := func(contents []model.Content) []string {
		var all []string
		for _, c := range contents {
			all = append(all, c.Seal)
		}
		return all
	}
	absent := func(at float64) model.Content { return build.Content("absent", at) }
	tests := map[string]struct {
		history  []model.Content
		required []string
	}{
		"never existed":              {[]model.Content{absent(0)}, nil},
		"appeared":                   {[]model.Content{absent(0), build.Content("A", 1)}, []string{"A"}},
		"gone":                       {[]model.Content{build.Content("A", 0), absent(1)}, []string{"A"}},
		"back with equal content":    {[]model.Content{build.Content("A", 0), absent(1), build.Content("A", 2)}, []string{"A"}},
		"back with other content":    {[]model.Content{build.Content("A", 0), absent(1), build.Content("B", 2)}, []string{"A", "B"}},
		"back with former content":   {[]model.Content{build.Content("A", 0), build.Content("B", 1), absent(2), build.Content("A", 3)}, []string{"A", "B", "A"}},
		"away unseen, no absence":    {[]model.Content{build.Content("A", 0), build.Content("A", 1)}, []string{"A", "A"}},
		"changed and back":           {[]model.Content{build.Content("A", 0), build.Content("B", 1), build.Content("A", 2)}, []string{"A", "B", "A"}},
		"gone twice, equal all over": {[]model.Content{build.Content("A", 0), absent(1), build.Content("A", 2), absent(3), build.Content("A", 4)}, []string{"A"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := &model.Record{History: tt.history}
			if diff := cmp.Diff(tt.required, seals(r.HistoryFor(true))); diff != "" {
				t.Errorf("required (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(seals(tt.history), seals(r.HistoryFor(false))); diff != "" {
				t.Errorf("optional (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMergedContentStoodUntilTheLaterOne(t *testing.T) {
	again := build.Content("A", 20)
	r := &model.Record{History: []model.Content{build.Content("A", 0), build.Content("absent", 10), again}}
	got := r.HistoryFor(true)[0]
	if !got.KnownUntil.Equal(again.KnownUntil) || !got.Observed.Equal(build.At(0.25)) {
		t.Errorf("content = %+v, want the begin of the first and the end of the second", got)
	}
	if r.History[0].KnownUntil.Equal(again.KnownUntil) {
		t.Error("the record was changed")
	}
}

func TestHasKeys(t *testing.T) {
	s := model.Source{KeyNames: []string{"a", "b"}}
	if missing, ok := s.HasKeys([]string{"a", "c"}); ok || missing != "c" {
		t.Errorf("HasKeys() = %q, %v, want c, false", missing, ok)
	}
	if _, ok := s.HasKeys(nil); !ok {
		t.Error("no key is required, yet one is missing")
	}
}

func TestStampByKick(t *testing.T) {
	tests := map[string]struct {
		stamp model.Stamp
		want  bool
	}{
		"ours":          {model.Stamp{Raw: "x", At: build.At(0), Manager: "kick"}, true},
		"another's":     {model.Stamp{Raw: "x", At: build.At(0), Manager: "kubectl-rollout"}, false},
		"not a time":    {model.Stamp{Raw: "x", Manager: "kick"}, false},
		"none":          {model.Stamp{}, false},
		"named like us": {model.Stamp{Raw: "x", At: build.At(0), Manager: "kickstart"}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.stamp.ByKick(); got != tt.want {
				t.Errorf("ByKick() = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestOpenedAt(t *testing.T) {
	r := &model.Request{Created: build.At(0)}
	if got, want := r.OpenedAt(5*time.Second), build.At(-5); !got.Equal(want) {
		t.Errorf("before the first status write: OpenedAt() = %v, want %v", got, want)
	}
	r.Status.OpenedAt = build.At(3)
	if got, want := r.OpenedAt(5*time.Second), build.At(3); !got.Equal(want) {
		t.Errorf("OpenedAt() = %v, want %v", got, want)
	}
}

// Every field of a status counts: one that Equal overlooked would never be written.
func TestStatusEqualSeesEveryField(t *testing.T) {
	full := func() model.RequestStatus {
		return model.RequestStatus{
			Phase: request.Executing, Reason: request.Restarting, Message: "m", OpenedAt: build.At(1), CompletedAt: build.At(2),
			LatestChange: build.At(3), Causes: []model.Cause{{Source: build.DB, ChangedAt: build.At(4)}}, RequeueAt: build.At(5),
			RolloutStart: build.At(6), RolloutRev: "web-2", RolloutGen: 7, Overridden: "o", OverriddenAt: build.At(8),
			Traceparent: "t", Transitions: []model.Transition{{Phase: request.Executing, At: build.At(9)}},
		}
	}
	if !full().Equal(full()) {
		t.Fatal("a status differs from itself")
	}
	elsewhere := full()
	elsewhere.OpenedAt = elsewhere.OpenedAt.In(time.FixedZone("x", 3600))
	if !full().Equal(elsewhere) {
		t.Error("the same instant in another zone counts as another")
	}
	v := reflect.TypeFor[model.RequestStatus]()
	for i := range v.NumField() {
		changed := full()
		reflect.ValueOf(&changed).Elem().Field(i).SetZero()
		if full().Equal(changed) {
			t.Errorf("Equal does not look at %s", v.Field(i).Name)
		}
	}
}
