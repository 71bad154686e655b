package apply_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/apply"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/kicktest/build"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
	"github.com/corewire/kick/kick/workloads"
	"github.com/corewire/kick/kick/workloads/deployment"
)

// server takes writes down and answers each one with err.
type server struct {
	apply.Client
	err     error
	object  client.Object
	patch   []byte
	owner   string
	delete  client.DeleteOptions
	updated bool
}

func (s *server) Create(_ context.Context, o client.Object, options ...client.CreateOption) error {
	var co client.CreateOptions
	s.object, s.owner = o, co.ApplyOptions(options).FieldManager
	return s.err
}

func (s *server) Update(_ context.Context, o client.Object, options ...client.UpdateOption) error {
	var uo client.UpdateOptions
	s.object, s.owner, s.updated = o, uo.ApplyOptions(options).FieldManager, true
	return s.err
}

func (s *server) Delete(_ context.Context, o client.Object, options ...client.DeleteOption) error {
	s.object = o
	s.delete.ApplyOptions(options)
	return s.err
}

func (s *server) Patch(_ context.Context, o client.Object, p client.Patch, options ...client.PatchOption) error {
	var po client.PatchOptions
	po.ApplyOptions(options)
	s.object, s.owner = o, po.FieldManager
	s.patch, _ = p.Data(o)
	return s.err
}

func (s *server) Status() client.SubResourceWriter { return status{s: s} }

type status struct {
	client.SubResourceWriter
	s *server
}

func (w status) Update(_ context.Context, o client.Object, options ...client.SubResourceUpdateOption) error {
	var uo client.SubResourceUpdateOptions
	w.s.object, w.s.owner = o, uo.ApplyOptions(options).FieldManager
	return w.s.err
}

func applier(s *server) *apply.Applier {
	return &apply.Applier{Client: s, Workloads: workloads.Registry{deployment.Kind{}}}
}

// Proves: KICK-FEAT-005, I7.
func TestStampIsOneAnnotationWithPreconditions(t *testing.T) {
	s := &server{}
	w := build.Snapshot().Workload
	if err := applier(s).Stamp(t.Context(), w, build.At(0.000001).In(time.FixedZone("x", 3600))); err != nil {
		t.Fatal(err)
	}
	want := `{"metadata":{"resourceVersion":"100","uid":"uid-web"},"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-03-01T12:00:00.000001Z"}}}}}`
	if got := string(s.patch); got != want {
		t.Errorf("patch = %s, want %s", got, want)
	}
	if s.owner != "kick" || s.object.GetName() != "web" || s.object.GetNamespace() != "shop" {
		t.Errorf("patched %s/%s as %q", s.object.GetNamespace(), s.object.GetName(), s.owner)
	}
}

func TestStampValueKeepsMicroseconds(t *testing.T) {
	for _, at := range []time.Time{build.At(0), build.At(0.1), build.At(0.000001)} {
		back, err := time.Parse(time.RFC3339Nano, apply.StampValue(at))
		if err != nil || !back.Equal(at) || len(apply.StampValue(at)) != len("2026-03-01T12:00:00.000000Z") {
			t.Errorf("StampValue(%v) = %s, read back as %v, %v", at, apply.StampValue(at), back, err)
		}
	}
}

func TestOpenWritesASpecOnly(t *testing.T) {
	s := &server{}
	w := build.Snapshot().Workload
	if err := applier(s).Open(t.Context(), w, "deployment-web"); err != nil {
		t.Fatal(err)
	}
	got := s.object.(*v1alpha1.KickRequest)
	want := &v1alpha1.KickRequest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "deployment-web",
			Labels: map[string]string{
				"app.kubernetes.io/managed-by": "kick", "kick.corewire.io/target-kind": "Deployment", "kick.corewire.io/target-name": "web",
			},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "uid-web"}},
		},
		Spec: v1alpha1.KickRequestSpec{
			TargetRef: v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}, Trigger: v1alpha1.TriggerDependency,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func fullStatus() model.RequestStatus {
	return model.RequestStatus{
		Phase: request.Executing, Reason: request.Restarting, Message: "a sentence.", OpenedAt: build.At(1.5), LatestChange: build.At(3.000001),
		Causes: []model.Cause{{Source: build.DB, ChangedAt: build.At(3.000001)}}, RequeueAt: build.At(5), RolloutStart: build.At(6.25),
		RolloutRev: "web-2", RolloutGen: 7,
	}
}

// What is written must read back as the same status, or every pass writes again.
func TestAStatusReadsBackAsItWasWritten(t *testing.T) {
	ended, empty := fullStatus(), model.RequestStatus{Phase: request.WaitingForGate, Reason: request.PolicySuspended, OpenedAt: build.At(0)}
	ended.Phase, ended.CompletedAt, ended.RequeueAt = request.Succeeded, build.At(20.75), time.Time{}
	for name, want := range map[string]model.RequestStatus{"executing": fullStatus(), "ended": ended, "waiting": empty} {
		t.Run(name, func(t *testing.T) {
			s := &server{}
			r := build.Snapshot(build.Request(request.Pending)).Request
			if err := applier(s).Status(t.Context(), r, want); err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(s.object)
			if err != nil {
				t.Fatal(err)
			}
			var stored v1alpha1.KickRequest
			if err := json.Unmarshal(raw, &stored); err != nil {
				t.Fatal(err)
			}
			if stored.UID != "uid-request" || stored.ResourceVersion != "200" || s.owner != "kick" {
				t.Errorf("written without the preconditions of what was judged: %+v as %q", stored.ObjectMeta, s.owner)
			}
			if got := gather.Request(&stored).Status; !got.Equal(want) {
				t.Errorf("(-want +got):\n%s", cmp.Diff(want, got))
			}
		})
	}
}

func TestTheCompletedCondition(t *testing.T) {
	tests := map[string]struct {
		phase request.Phase
		want  metav1.ConditionStatus
		since float64
	}{
		"pending":       {request.Pending, metav1.ConditionUnknown, 1},
		"waiting":       {request.WaitingForRollout, metav1.ConditionUnknown, 1},
		"executing":     {request.Executing, metav1.ConditionUnknown, 1},
		"succeeded":     {request.Succeeded, metav1.ConditionTrue, 20},
		"nothing to do": {request.NoLongerRequired, metav1.ConditionTrue, 20},
		"dry run":       {request.DryRun, metav1.ConditionTrue, 20},
		"failed":        {request.Failed, metav1.ConditionFalse, 20},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &server{}
			st := fullStatus()
			st.Phase, st.CompletedAt = tt.phase, build.At(20.75)
			if err := applier(s).Status(t.Context(), build.Snapshot(build.Request(request.Pending)).Request, st); err != nil {
				t.Fatal(err)
			}
			got := s.object.(*v1alpha1.KickRequest).Status.Conditions[0]
			if got.Status != tt.want || !got.LastTransitionTime.Time.Equal(build.At(tt.since)) || got.Reason == "" || got.ObservedGeneration != 1 {
				t.Errorf("condition = %+v, want %s since %v", got, tt.want, build.At(tt.since))
			}
		})
	}
}

func TestRecord(t *testing.T) {
	r := build.Snapshot().Dependencies[0].Record
	t.Run("known: replaced if it is still the one", func(t *testing.T) {
		s := &server{}
		if err := applier(s).Record(t.Context(), r); err != nil || !s.updated {
			t.Fatalf("updated = %v, %v", s.updated, err)
		}
		if s.object.GetUID() != "uid-record" || s.object.GetResourceVersion() != "11" || s.owner != "kick" {
			t.Errorf("preconditions = %s, %s, as %q", s.object.GetUID(), s.object.GetResourceVersion(), s.owner)
		}
	})
	t.Run("unknown: created", func(t *testing.T) {
		s := &server{}
		made := *r
		made.Version, made.UID = "", ""
		if err := applier(s).Record(t.Context(), &made); err != nil || s.updated || s.object.GetResourceVersion() != "" {
			t.Errorf("updated = %v, %v", s.updated, err)
		}
	})
}

// Proves: KICK-FEAT-030.
func TestDeletesHavePreconditions(t *testing.T) {
	r := build.Snapshot(build.Request(request.Succeeded)).Request
	s := &server{}
	if err := applier(s).Delete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	p := s.delete.Preconditions
	if p == nil || p.UID == nil || *p.UID != types.UID("uid-request") || p.ResourceVersion == nil || *p.ResourceVersion != "200" {
		t.Errorf("preconditions = %+v, want UID and resourceVersion", p)
	}
	gone := &server{err: apierrors.NewNotFound(schema.GroupResource{}, "x")}
	if err := applier(gone).Delete(t.Context(), r); err != nil {
		t.Errorf("what is gone already is an error: %v", err)
	}
	if err := applier(gone).Forget(t.Context(), build.Snapshot().Dependencies[0].Record); err != nil {
		t.Errorf("what is gone already is an error: %v", err)
	}
}

func TestInstallationKeyOfSomebodyFaster(t *testing.T) {
	s := &server{err: apierrors.NewAlreadyExists(schema.GroupResource{Resource: "secrets"}, "x")}
	if err := applier(s).InstallationKey(t.Context(), "kick-system", make([]byte, 32)); err != nil {
		t.Errorf("the loser of a race fails: %v", err)
	}
}

func TestWhatAnErrorMeans(t *testing.T) {
	gr, gk := schema.GroupResource{Group: "apps", Resource: "deployments"}, schema.GroupKind{Group: "apps", Kind: "Deployment"}
	invalid := func(path string) error {
		return apierrors.NewInvalid(gk, "web", field.ErrorList{field.Invalid(field.NewPath(path), "x", "field is immutable")})
	}
	tests := map[string]struct {
		err               error
		outdated, refused bool
	}{
		"conflict":                 {err: apierrors.NewConflict(gr, "web", errors.New("changed")), outdated: true},
		"there already":            {err: apierrors.NewAlreadyExists(gr, "web"), outdated: true},
		"gone":                     {err: apierrors.NewNotFound(gr, "web"), outdated: true},
		"another incarnation":      {err: invalid("metadata.uid"), outdated: true},
		"refused by validation":    {err: invalid("spec"), refused: true},
		"refused by a webhook":     {err: apierrors.NewForbidden(gr, "web", errors.New("policy says no")), refused: true},
		"bad request":              {err: apierrors.NewBadRequest("x"), refused: true},
		"too many requests":        {err: apierrors.NewTooManyRequests("x", 1)},
		"timeout of the server":    {err: apierrors.NewTimeoutError("x", 1)},
		"timeout of the client":    {err: context.DeadlineExceeded},
		"something broke":          {err: apierrors.NewInternalError(errors.New("x"))},
		"no answer":                {err: errors.New("connection refused")},
		"nothing":                  {},
		"nothing that has details": {err: &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonInvalid}}, refused: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := tt.err
			if err != nil {
				err = fmt.Errorf("restart Deployment shop/web: %w", err)
			}
			if got := apply.Outdated(err); got != tt.outdated {
				t.Errorf("Outdated() = %v, want %v", got, tt.outdated)
			}
			if _, got := apply.Refused(err); got != tt.refused {
				t.Errorf("Refused() = %v, want %v", got, tt.refused)
			}
		})
	}
}

func TestErrorsSayWhatWasAttemptedOnWhat(t *testing.T) {
	s := &server{err: errors.New("no")}
	err := applier(s).Stamp(t.Context(), build.Snapshot().Workload, build.At(0))
	if err == nil || err.Error() != "restart Deployment shop/web: no" || !errors.Is(err, s.err) {
		t.Errorf("error = %v", err)
	}
}

func TestCut(t *testing.T) {
	tests := map[string]struct{ given string }{
		"short":              {"a sentence."},
		"exactly":            {strings.Repeat("a", 1024)},
		"long":               {strings.Repeat("a", 5000)},
		"long, wide letters": {strings.Repeat("ü€", 2000)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := apply.Cut(tt.given)
			if len(got) > 1024 || !utf8.ValidString(got) || (len(tt.given) <= 1024) != (got == tt.given) || apply.Cut(got) != got {
				t.Errorf("Cut() has %d bytes: %q", len(got), got)
			}
		})
	}
}

func TestEveryWriteHasADeadline(t *testing.T) {
	s := &deadlines{}
	a := &apply.Applier{Client: s, Workloads: workloads.Registry{deployment.Kind{}}}
	if err := a.Stamp(t.Context(), build.Snapshot().Workload, build.At(0)); err != nil || !s.bounded {
		t.Errorf("bounded = %v, %v, want a deadline", s.bounded, err)
	}
}

type deadlines struct {
	apply.Client
	bounded bool
}

func (s *deadlines) Patch(ctx context.Context, _ client.Object, _ client.Patch, _ ...client.PatchOption) error {
	_, s.bounded = ctx.Deadline()
	return nil
}
