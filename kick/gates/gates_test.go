package gates_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/gates"
	"github.com/corewire/kick/kick/gates/argocd"
	"github.com/corewire/kick/kick/gates/flux"
	"github.com/corewire/kick/kick/gates/gatestest"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/gitops"
	core "github.com/corewire/kick/kick/model/gitops/argocd"
	"github.com/corewire/kick/kick/model/request"
)

// plain is a provider that is not detectable and gives a fixed answer.
type plain struct {
	name string
	gate model.Gate
	err  error
}

func (p plain) Name() string { return p.name }

func (p plain) Ask(context.Context, gates.Readers, gates.Question) (model.Gate, error) {
	return p.gate, p.err
}

// tool is one that Auto may choose.
type tool struct{ plain }

func (tool) Detectable() {}

func answers(name string, g model.Gate) tool { return tool{plain{name, g, nil}} }

var (
	now     = gatestest.Now
	open    = gitops.Open("fine")
	unknown = gitops.Closed(request.OwnerUnknown, "not mine", model.WakeOnWorkload)
	outside = gitops.ClosedUntil(request.OutsideSchedule, "shut", now.Add(time.Hour), gitops.WakeOnProject)
	several = gitops.Closed(request.AmbiguousOwner, "two of mine", gitops.WakeOnOwner)
	absent  = gitops.ClosedUntil(request.ProviderUnavailable, "cannot be read", now.Add(gates.Retry))
)

// Proves: KICK-FEAT-008.
func TestRegistry(t *testing.T) {
	kargo := plain{"Kargo", open, nil}
	missing := map[string]string{"Flux": "--enable-flux is off", "Kargo": "no CRD of kargo.akuity.io"}
	tests := map[string]struct {
		registry gates.Registry
		name     string
		want     request.Reason
		says     []string
		on       []model.WakeOn
	}{
		"by name":                 {gates.Registry{Providers: []gates.Provider{answers("A", outside), answers("B", open)}}, "B", request.Allowed, nil, nil},
		"None":                    {gates.Registry{Providers: []gates.Provider{gates.None{}}}, "None", request.Allowed, nil, nil},
		"missing":                 {gates.Registry{Missing: missing}, "Flux", request.ProviderUnavailable, []string{`spec.gitOps.provider "Flux"`, "--enable-flux is off"}, []model.WakeOn{model.WakeOnPolicy}},
		"unheard of":              {gates.Registry{Missing: missing}, "Spinnaker", request.ProviderUnavailable, []string{`"Spinnaker"`, "knows no such provider"}, nil},
		"Auto: nothing installed": {gates.Registry{Missing: missing}, gates.Auto, request.ProviderUnavailable, []string{"Flux: --enable-flux is off; Kargo: no CRD", "Kargo is never detected"}, nil},
		"Auto: Kargo not missed":  {gates.Registry{Missing: map[string]string{"Kargo": "no CRD of kargo.akuity.io"}, Named: map[string]bool{"Kargo": true}}, gates.Auto, request.ProviderUnavailable, []string{"Auto: no GitOps tool is there to be asked; Kargo is never detected"}, nil},
		"Auto: Kargo only":        {gates.Registry{Providers: []gates.Provider{gates.None{}, kargo}}, gates.Auto, request.ProviderUnavailable, []string{"Kargo is never detected"}, nil},
		"Auto: one, its own":      {gates.Registry{Providers: []gates.Provider{gates.None{}, answers("A", open), kargo}}, gates.Auto, request.Allowed, []string{"A: fine"}, nil},
		"Auto: one, not its own":  {gates.Registry{Providers: []gates.Provider{answers("A", unknown), kargo}}, gates.Auto, request.OwnerUnknown, []string{"no GitOps tool owns it", "A: not mine"}, []model.WakeOn{model.WakeOnWorkload, gitops.WakeOnOwner}},
		"Auto: the second's":      {gates.Registry{Providers: []gates.Provider{answers("A", unknown), answers("B", outside)}}, gates.Auto, request.OutsideSchedule, []string{"B: shut"}, []model.WakeOn{gitops.WakeOnProject}},
		"Auto: nobody's":          {gates.Registry{Providers: []gates.Provider{answers("A", unknown), answers("B", unknown)}}, gates.Auto, request.OwnerUnknown, []string{"A: not mine", "B: not mine"}, nil},
		"Auto: both, one open":    {gates.Registry{Providers: []gates.Provider{answers("A", open), answers("B", outside)}}, gates.Auto, request.AmbiguousOwner, []string{"A: fine", "B: shut"}, []model.WakeOn{gitops.WakeOnOwner, gitops.WakeOnProject}},
		"Auto: both open":         {gates.Registry{Providers: []gates.Provider{answers("A", open), answers("B", open)}}, gates.Auto, request.AmbiguousOwner, []string{"several GitOps tools own it"}, []model.WakeOn{gitops.WakeOnOwner}},
		"Auto: one has several":   {gates.Registry{Providers: []gates.Provider{answers("A", several), answers("B", unknown)}}, gates.Auto, request.AmbiguousOwner, []string{"A: two of mine"}, nil},
		"Auto: one is mute":       {gates.Registry{Providers: []gates.Provider{answers("A", open), answers("B", absent)}}, gates.Auto, request.ProviderUnavailable, []string{"B: cannot be read"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			gate, err := tt.registry.Ask(t.Context(), gates.Readers{}, tt.name, gates.Question{Now: now})
			if err != nil || gate.Reason != tt.want {
				t.Fatalf("%s %s (%v), want %s", gate.Reason, gate.Detail, err, tt.want)
			}
			for _, problem := range gatestest.Problems(gate, now) {
				t.Errorf("%s, in %+v", problem, gate)
			}
			for _, part := range tt.says {
				if !strings.Contains(gate.Detail, part) {
					t.Errorf("%q does not say %q", gate.Detail, part)
				}
			}
			for _, on := range tt.on {
				if !slices.Contains(gate.WakeOn, on) {
					t.Errorf("wakes on %v, want %s among them", gate.WakeOn, on)
				}
			}
		})
	}
}

func TestAutoWakesAtTheEarliest(t *testing.T) {
	early, late := outside, outside
	early.WakeAt = now.Add(time.Minute)
	g := gates.Registry{Providers: []gates.Provider{answers("A", late), answers("B", early)}}
	gate, err := g.Ask(t.Context(), gates.Readers{}, gates.Auto, gates.Question{Now: now})
	if err != nil || !gate.WakeAt.Equal(early.WakeAt) {
		t.Errorf("wakes at %v (%v), want %v", gate.WakeAt, err, early.WakeAt)
	}
}

func TestAutoReturnsErrors(t *testing.T) {
	want := errors.New("no answer")
	g := gates.Registry{Providers: []gates.Provider{answers("A", open), tool{plain{"B", model.Gate{}, want}}}}
	if gate, err := g.Ask(t.Context(), gates.Readers{}, gates.Auto, gates.Question{Now: now}); !errors.Is(err, want) || gate.Open {
		t.Errorf("%+v (%v)", gate, err)
	}
}

var things = schema.GroupResource{Group: "x.io", Resource: "things"}

func TestSettle(t *testing.T) {
	tests := map[string]struct {
		err  error
		says string // empty: the error stays one
	}{
		"no such kind":       {&meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "x.io", Kind: "Thing"}}, "not installed"},
		"no such resource":   {&meta.NoResourceMatchError{}, "not installed"},
		"a path that is not": {apierrors.NewGenericServerResponse(404, "list", things, "", "404 page not found", 0, true), "not installed"},
		"forbidden":          {apierrors.NewForbidden(things, "a", errors.New("no role")), "role"},
		"too many":           {apierrors.NewTooManyRequests("slow down", 1), ""},
		"broken":             {apierrors.NewInternalError(errors.New("x")), ""},
		"a timeout":          {context.DeadlineExceeded, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			gate, err := gates.Settle(open, fmt.Errorf("read Thing a/b: %w", tt.err), now)
			if tt.says == "" {
				if !errors.Is(err, tt.err) || gate.Reason != "" {
					t.Errorf("%+v (%v)", gate, err)
				}
				return
			}
			if err != nil || gate.Reason != request.ProviderUnavailable || !strings.Contains(gate.Detail, tt.says) || !strings.Contains(gate.Detail, "read Thing a/b") || !gate.WakeAt.Equal(now.Add(gates.Retry).Truncate(time.Microsecond)) {
				t.Errorf("%+v (%v)", gate, err)
			}
		})
	}
}

func TestSettleOfAnswers(t *testing.T) {
	if gate, err := gates.Settle(open, nil, now); err != nil || !gate.Open {
		t.Errorf("%+v (%v)", gate, err)
	}
	shut := fmt.Errorf("above: %w", &gates.Shut{Gate: outside})
	if gate, err := gates.Settle(open, shut, now); err != nil || gate.Reason != request.OutsideSchedule {
		t.Errorf("%+v (%v)", gate, err)
	}
	if !strings.Contains(shut.Error(), outside.Detail) {
		t.Errorf("the error does not say why: %v", shut)
	}
}

// refusing answers every read with one error.
type refusing struct{ err error }

func (r refusing) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return r.err
}

func (r refusing) List(context.Context, client.ObjectList, ...client.ListOption) error { return r.err }

func TestGetTellsAMissingObjectFromAMissingKind(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "x.io", Version: "v1", Kind: "Thing"}
	none := apierrors.NewNotFound(things, "b")
	served := apierrors.NewGenericServerResponse(404, "get", things, "b", "404 page not found", 0, true)
	bare := &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonNotFound}}
	for _, test := range []struct {
		err  error
		gone bool
	}{{none, true}, {served, false}, {bare, false}, {errors.New("x"), false}} {
		object, err := gates.Get(t.Context(), refusing{test.err}, kind, "a", "b")
		if object != nil || (err == nil) != test.gone {
			t.Errorf("%v: error %v, want it gone: %v", test.err, err, test.gone)
		}
		if err != nil && (!errors.Is(err, test.err) || !strings.Contains(err.Error(), "read Thing a/b")) {
			t.Errorf("the error does not name the object: %v", err)
		}
	}
}

// TestAutoOfTheRealOnes: a workload of Flux, with Argo CD beside it.
//
// Proves: KICK-FEAT-015.
func TestAutoOfTheRealOnes(t *testing.T) {
	strip := func(s func(...string) func(client.Object)) func(client.Object) { return s("apps/Deployment") }
	w := &gatestest.World{
		Strips:  map[string]func(client.Object){"Application": strip(argocd.Strip), "Kustomization": strip(flux.Strip)},
		Indexes: map[string]func(client.Object) []string{argocd.Index: argocd.IndexValues, flux.Index: flux.IndexValues},
	}
	w.Add(`
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shop, namespace: flux-system}
spec: {suspend: true}
status: {inventory: {entries: [{id: shop_web_apps_Deployment, v: v1}]}}
`)
	g := gates.Registry{Providers: []gates.Provider{gates.None{}, argocd.New(core.Config{}), flux.New(flux.Kustomization)}}
	gate, err := g.Ask(t.Context(), w.Readers(), gates.Auto, gatestest.Deployment())
	if err != nil || gate.Reason != request.OwnerOutOfSync || !strings.HasPrefix(gate.Detail, "Flux: Kustomization flux-system/shop") {
		t.Errorf("%+v (%v)", gate, err)
	}
	w.Add(`
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: argocd}
data: {globalProjects: "nonsense"}
`)
	gate, err = g.Ask(t.Context(), w.Readers(), gates.Auto, gatestest.Deployment())
	if err != nil || !strings.HasPrefix(gate.Detail, "Flux: Kustomization flux-system/shop") {
		t.Errorf("what Argo CD cannot read of its own is no claim: %+v (%v)", gate, err)
	}
	w.Remove("Kustomization flux-system/shop")
	gate, err = g.Ask(t.Context(), w.Readers(), gates.Auto, gatestest.Deployment())
	if err != nil || gate.Reason != request.OwnerUnknown || !strings.Contains(gate.Detail, "ArgoCD: ") || !strings.Contains(gate.Detail, "Flux: ") {
		t.Errorf("%+v (%v)", gate, err)
	}
}
