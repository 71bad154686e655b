package bundle_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/bundle"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 500000, time.UTC)

// settled is a bundle whose ConfigMap is as declared and whose status says so.
func settled(change ...func(*bundle.Snapshot)) *bundle.Snapshot {
	text := "hello"
	b := &bundle.Bundle{
		ID: model.Key{Kind: bundle.Kind, Namespace: "shop", Name: "web"}, UID: "b-1", Version: "7", Generation: 2,
		Spec: bundle.Spec{Message: &text, Data: map[string]string{"mode": "fast"}, Binary: map[string][]byte{"logo": {1}}},
		Meta: bundle.Handed(map[string]string{"team": "shop"}, map[string]string{"note": "a"}),
	}
	b.Status = bundle.Status{
		Generation: 2, Metadata: b.Meta.Fingerprint(), ConfigMap: "cm-1",
		Ready:   bundle.Condition{True: true, Reason: bundle.AsDeclared, Since: now.Add(-time.Hour).Truncate(time.Second)},
		Drifted: bundle.Condition{Reason: bundle.AsDeclared, Since: now.Add(-time.Hour).Truncate(time.Second)},
	}
	s := &bundle.Snapshot{Bundle: b, ConfigMap: &bundle.ConfigMap{
		UID: "cm-1", Version: "9",
		Content: bundle.Content{Data: map[string]string{"message": "hello", "mode": "fast"}, Binary: map[string][]byte{"logo": {1}}},
		Meta:    bundle.Meta{Labels: map[string]string{"team": "shop", "theirs": "1"}, Annotations: map[string]string{"note": "a"}},
		Owners:  []bundle.Owner{{APIVersion: bundle.APIVersion, Kind: bundle.Kind, Name: "web", UID: "b-1", Controller: true}},
		Owned: bundle.Owned{
			Labels: set("team"), Annotations: set("note"), Data: set("message", "mode"), Binary: set("logo"),
		},
	}}
	for _, c := range change {
		c(s)
	}
	return s
}

func set(keys ...string) map[string]bool {
	out := map[string]bool{}
	for _, k := range keys {
		out[k] = true
	}
	return out
}

func frozen(s *bundle.Snapshot) {
	s.Bundle.Spec.Immutable, s.ConfigMap.Content.Immutable, s.ConfigMap.Owned.Immutable = true, true, true
	s.Bundle.Status.Immutable = true
	s.Record = &bundle.Record{Spec: s.Bundle.Spec}
}

func gone(s *bundle.Snapshot)    { s.ConfigMap = nil }
func edited(s *bundle.Snapshot)  { s.Bundle.Generation++ }
func unmade(s *bundle.Snapshot)  { s.Bundle.Status = bundle.Status{} }
func strange(s *bundle.Snapshot) { s.ConfigMap.UID, s.ConfigMap.Owners = "cm-2", nil }

func refusedFor(reason bundle.Reason) func(*bundle.Snapshot) {
	return func(s *bundle.Snapshot) {
		s.Bundle.Status.ConfigMap = ""
		s.Bundle.Status.Ready = bundle.Condition{Reason: reason, Since: now}
	}
}

func owner(kind, name, uid string, controller bool) bundle.Owner {
	return bundle.Owner{APIVersion: bundle.APIVersion, Kind: kind, Name: name, UID: uid, Controller: controller}
}

// Proves: KICK-FEAT-031.
func TestDecide(t *testing.T) {
	type change = func(*bundle.Snapshot)
	data := func(k, v string) change { return func(s *bundle.Snapshot) { s.ConfigMap.Content.Data[k] = v } }
	tests := map[string]struct {
		given   []change
		action  bundle.Action
		healing bool
		reason  bundle.Reason // of Report
		differs string
	}{
		"no bundle":                     {given: []change{func(s *bundle.Snapshot) { s.Bundle = nil }}, action: bundle.None},
		"a bundle that goes":            {given: []change{gone, func(s *bundle.Snapshot) { s.Bundle.Deleting = true }}, action: bundle.None},
		"as declared":                   {action: bundle.Report, reason: bundle.AsDeclared},
		"new":                           {given: []change{gone, unmade}, action: bundle.Create},
		"made, and the answer was lost": {given: []change{unmade}, action: bundle.Report, reason: bundle.AsDeclared},
		"refused before":                {given: []change{gone, refusedFor("Invalid")}, action: bundle.None},
		"refused before, spec changed":  {given: []change{gone, refusedFor("Forbidden"), edited}, action: bundle.Create},
		"refused before, label changed": {given: []change{gone, refusedFor("Forbidden"), func(s *bundle.Snapshot) { s.Bundle.Meta.Labels["x"] = "y" }}, action: bundle.Create},
		"name was taken, is free":       {given: []change{gone, refusedFor(bundle.NameTaken)}, action: bundle.None},
		"predecessor has gone":          {given: []change{gone, refusedFor(bundle.Terminating)}, action: bundle.Create},
		"deleted":                       {given: []change{gone}, action: bundle.Create, healing: true},
		"deleted, status edited":        {given: []change{gone, func(s *bundle.Snapshot) { s.Bundle.Status.ConfigMap = "" }}, action: bundle.Create, healing: true},
		"deleted, spec changed":         {given: []change{gone, edited}, action: bundle.Create},
		"somebody else's":               {given: []change{strange, unmade}, action: bundle.Report, reason: bundle.NameTaken},
		"somebody else's now":           {given: []change{strange}, action: bundle.Report, reason: bundle.NameTaken},
		"another controller's":          {given: []change{strange, func(s *bundle.Snapshot) { s.ConfigMap.Owners = []bundle.Owner{owner("Deployment", "web", "d-1", true)} }}, action: bundle.Report, reason: bundle.NameTaken},
		"predecessor's":                 {given: []change{strange, unmade, func(s *bundle.Snapshot) { s.ConfigMap.Owners = []bundle.Owner{owner(bundle.Kind, "web", "b-0", true)} }}, action: bundle.Report, reason: bundle.Terminating},
		"another bundle's": {given: []change{strange, unmade, func(s *bundle.Snapshot) {
			s.ConfigMap.Owners = []bundle.Owner{owner(bundle.Kind, "other", "b-0", true)}
		}}, action: bundle.Report, reason: bundle.NameTaken},
		"being deleted":                       {given: []change{func(s *bundle.Snapshot) { s.ConfigMap.Deleting = true }}, action: bundle.Report, reason: bundle.Terminating},
		"edited":                              {given: []change{data("message", "x")}, action: bundle.Apply, healing: true, differs: "data key message"},
		"key removed":                         {given: []change{func(s *bundle.Snapshot) { delete(s.ConfigMap.Content.Data, "mode") }}, action: bundle.Apply, healing: true, differs: "data key mode"},
		"bytes edited":                        {given: []change{func(s *bundle.Snapshot) { s.ConfigMap.Content.Binary["logo"] = []byte{2} }}, action: bundle.Apply, healing: true, differs: "binaryData key logo"},
		"key added":                           {given: []change{data("extra", "1")}, action: bundle.Prune, healing: true, differs: "data key extra"},
		"key added and edited":                {given: []change{data("extra", "1"), data("mode", "x")}, action: bundle.Prune, healing: true, differs: "data key extra,data key mode"},
		"key no longer declared":              {given: []change{edited, func(s *bundle.Snapshot) { s.Bundle.Spec.Data = nil }}, action: bundle.Apply, differs: "data key mode"},
		"spec changed":                        {given: []change{edited, func(s *bundle.Snapshot) { s.Bundle.Spec.Message = nil }}, action: bundle.Apply, differs: "data key message"},
		"made immutable by somebody":          {given: []change{func(s *bundle.Snapshot) { s.ConfigMap.Content.Immutable = true }}, action: bundle.Delete, healing: true, differs: "immutable"},
		"to become immutable":                 {given: []change{edited, func(s *bundle.Snapshot) { s.Bundle.Spec.Immutable = true }}, action: bundle.Apply, differs: "immutable"},
		"to become immutable with a key":      {given: []change{edited, data("extra", "1"), func(s *bundle.Snapshot) { s.Bundle.Spec.Immutable = true }}, action: bundle.Prune, differs: "data key extra,immutable"},
		"label changed":                       {given: []change{func(s *bundle.Snapshot) { s.ConfigMap.Meta.Labels["team"] = "x" }}, action: bundle.Apply, healing: true, differs: "label team"},
		"label as declared by another's hand": {given: []change{func(s *bundle.Snapshot) { s.ConfigMap.Owned.Labels = nil }}, action: bundle.Report, reason: bundle.AsDeclared},
		"label of another's hand, dropped":    {given: []change{func(s *bundle.Snapshot) { s.ConfigMap.Owned.Labels = nil; delete(s.Bundle.Meta.Labels, "team") }}, action: bundle.Report, reason: bundle.AsDeclared},
		"annotation removed":                  {given: []change{func(s *bundle.Snapshot) { delete(s.ConfigMap.Meta.Annotations, "note") }}, action: bundle.Apply, healing: true, differs: "annotation note"},
		"label no longer declared":            {given: []change{func(s *bundle.Snapshot) { delete(s.Bundle.Meta.Labels, "team") }}, action: bundle.Apply, differs: "label team"},
		"owner removed":                       {given: []change{func(s *bundle.Snapshot) { s.ConfigMap.Owners = nil }}, action: bundle.Apply, healing: true, differs: "ownerReference"},
		"owner no controller":                 {given: []change{func(s *bundle.Snapshot) { s.ConfigMap.Owners[0].Controller = false }}, action: bundle.Apply, healing: true, differs: "ownerReference"},
		"owner beside": {given: []change{func(s *bundle.Snapshot) {
			s.ConfigMap.Owners = append(s.ConfigMap.Owners, owner("X", "x", "x-1", false))
		}}, action: bundle.Report, reason: bundle.AsDeclared},
		"another controller took it":          {given: []change{func(s *bundle.Snapshot) { s.ConfigMap.Owners = []bundle.Owner{owner("X", "x", "x-1", true)} }}, action: bundle.Delete, healing: true, differs: "ownerReference"},
		"immutable, as declared":              {given: []change{frozen}, action: bundle.Report, reason: bundle.AsDeclared},
		"immutable, not on record":            {given: []change{frozen, func(s *bundle.Snapshot) { s.Record = nil }}, action: bundle.Keep},
		"immutable, changed":                  {given: []change{frozen, edited, func(s *bundle.Snapshot) { s.Bundle.Spec.Data = nil }}, action: bundle.Restore},
		"immutable, taken off":                {given: []change{frozen, edited, func(s *bundle.Snapshot) { s.Bundle.Spec.Immutable = false }}, action: bundle.Restore},
		"immutable, written in another form":  {given: []change{frozen, edited, otherForm}, action: bundle.Report, reason: bundle.AsDeclared},
		"immutable, other content":            {given: []change{frozen, data("message", "x")}, action: bundle.Delete, healing: true, differs: "data key message"},
		"immutable, deleted":                  {given: []change{frozen, gone}, action: bundle.Create, healing: true},
		"immutable, label changed":            {given: []change{frozen, func(s *bundle.Snapshot) { s.ConfigMap.Meta.Labels["team"] = "x" }}, action: bundle.Apply, healing: true, differs: "label team"},
		"immutable by somebody, and declared": {given: []change{edited, func(s *bundle.Snapshot) { s.Bundle.Spec.Immutable, s.ConfigMap.Content.Immutable = true, true }}, action: bundle.Keep},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := bundle.Decide(settled(tt.given...), now)
			if v.Action != tt.action || v.Healing != tt.healing {
				t.Errorf("action = %s, healing %t, want %s, %t", v.Action, v.Healing, tt.action, tt.healing)
			}
			if got := strings.Join(v.Difference.Names, ","); got != tt.differs {
				t.Errorf("differs in %q, want %q", got, tt.differs)
			}
			if v.Action == bundle.Report && v.Status.Ready.Reason != tt.reason {
				t.Errorf("reason = %s, want %s", v.Status.Ready.Reason, tt.reason)
			}
		})
	}
}

// otherForm declares the same content in other words.
func otherForm(s *bundle.Snapshot) {
	s.Bundle.Spec = bundle.Spec{Immutable: true, Data: map[string]string{"message": "hello", "mode": "fast"}, Binary: s.Bundle.Spec.Binary}
}

// Between the ConfigMap and the record the bundle may be edited: what the ConfigMap
// holds by KICK's hand is what was accepted.
func TestTheConfigMapTellsWhatWasAccepted(t *testing.T) {
	s := settled(frozen, edited, func(s *bundle.Snapshot) {
		s.Record = nil
		other := "other"
		s.Bundle.Spec.Message = &other
	})
	v := bundle.Decide(s, now)
	if v.Action != bundle.Keep || !v.Spec.Content().Equal(s.ConfigMap.Content) || v.Spec.Message == nil || *v.Spec.Message != "hello" {
		t.Errorf("%s %+v, want the content of the ConfigMap on record", v.Action, v.Spec)
	}
	s.ConfigMap.Owned.Immutable = false // somebody else made it immutable: that proves nothing
	if v := bundle.Decide(s, now); v.Action != bundle.Delete {
		t.Errorf("action = %s, want it made anew", v.Action)
	}
}

// Proves: KICK-FEAT-032.
func TestHealsAreCountedOnce(t *testing.T) {
	edit := func(s *bundle.Snapshot) { s.ConfigMap.Content.Data["message"] = "x" }
	before := bundle.Heals{Count: 3, Last: now.Add(-time.Hour)}
	tests := map[string]struct {
		given []func(*bundle.Snapshot)
		want  int64
	}{
		"an edit":                              {[]func(*bundle.Snapshot){edit}, 4},
		"undeclared keys":                      {[]func(*bundle.Snapshot){func(s *bundle.Snapshot) { s.ConfigMap.Content.Data["extra"] = "1" }}, 4},
		"undeclared keys first, then the rest": {[]func(*bundle.Snapshot){edit, func(s *bundle.Snapshot) { s.ConfigMap.Content.Data["extra"] = "1" }}, 3},
		"a change of the bundle":               {[]func(*bundle.Snapshot){edit, edited}, 3},
		"deleted":                              {[]func(*bundle.Snapshot){gone}, 4},
		"to be deleted":                        {[]func(*bundle.Snapshot){func(s *bundle.Snapshot) { s.ConfigMap.Content.Immutable = true }}, 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, knows := range []string{"status", "ConfigMap"} {
				v := bundle.Decide(settled(append([]func(*bundle.Snapshot){func(s *bundle.Snapshot) {
					if knows == "status" || name == "deleted" {
						s.Bundle.Status.Heals = before
					} else {
						s.ConfigMap.Heals = before
					}
				}}, tt.given...)...), now)
				if v.Desired.Heals.Count != tt.want || tt.want == 4 && !v.Desired.Heals.Last.Equal(now) {
					t.Errorf("%s knows of 3: %+v, want %d", knows, v.Desired.Heals, tt.want)
				}
			}
		})
	}
	s := settled(func(s *bundle.Snapshot) { s.ConfigMap.Heals = before })
	if v := bundle.Decide(s, now); v.Status.Heals != before {
		t.Errorf("the status says %+v, want what the ConfigMap says", v.Status.Heals)
	}
}

// A status that says the same is the same, or every look would be a write.
func TestTheStatusRests(t *testing.T) {
	for name, change := range map[string][]func(*bundle.Snapshot){
		"as declared": nil, "taken": {strange}, "going": {func(s *bundle.Snapshot) { s.ConfigMap.Deleting = true }}, "immutable": {frozen},
	} {
		s := settled(change...)
		first := bundle.Decide(s, now)
		s.Bundle.Status = first.Status
		again := bundle.Decide(s, now.Add(time.Hour))
		if diff := cmp.Diff(first.Status, again.Status); diff != "" {
			t.Errorf("%s: an hour later (-first +again):\n%s", name, diff)
		}
	}
}

func TestUnmended(t *testing.T) {
	s := settled(func(s *bundle.Snapshot) { s.ConfigMap.Content.Data["message"] = "x" })
	v := bundle.Decide(s, now)
	st := bundle.Unmended(s, v, "Forbidden", now)
	if st.Ready.True || st.Ready.Reason != "Forbidden" || !st.Drifted.True || !st.Drifted.Since.Equal(now.Truncate(time.Second)) {
		t.Errorf("status = %+v, want it not ready and drifted", st)
	}
	s.Bundle.Status = st
	if again := bundle.Decide(s, now); !again.Healing {
		t.Error("what was refused is no heal any more when it is tried again")
	}
	s = settled(edited, func(s *bundle.Snapshot) { s.Bundle.Spec.Message = nil })
	s.Bundle.Status = bundle.Unmended(s, bundle.Decide(s, now), "Forbidden", now)
	if again := bundle.Decide(s, now); s.Bundle.Status.Drifted.True || again.Healing {
		t.Error("an update that was refused counts as drift")
	}
}

func TestWhatIsHandedOn(t *testing.T) {
	tests := map[string]bool{
		"team": true, "app.kubernetes.io/name": true, "example.com/instance": true, "toolkit.fluxcd.io/x": true, "argocd": true,
		"app.kubernetes.io/instance": false, "kubectl.kubernetes.io/last-applied-configuration": false, "argocd.argoproj.io/tracking-id": false,
		"kustomize.toolkit.fluxcd.io/name": false, "helm.toolkit.fluxcd.io/namespace": false, "meta.helm.sh/release-name": false,
		"kick.corewire.io/heals": false, "kapp.k14s.io/app": false, "applyset.kubernetes.io/part-of": false, "config.k8s.io/owning-inventory": false,
	}
	for key, want := range tests {
		if got := bundle.Copied(key); got != want {
			t.Errorf("Copied(%s) = %t, want %t", key, got, want)
		}
	}
}

func TestFingerprintOfMetadata(t *testing.T) {
	metas := []bundle.Meta{
		{}, {Labels: map[string]string{"a": "b"}}, {Annotations: map[string]string{"a": "b"}}, {Labels: map[string]string{"ab": ""}},
		{Labels: map[string]string{"a": "b", "c": "d"}}, {Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}},
	}
	var seen []string
	for _, m := range metas {
		f := m.Fingerprint()
		if slices.Contains(seen, f) || f != m.Fingerprint() || len(f) != 16 {
			t.Errorf("%+v: %s, after %v", m, f, seen)
		}
		seen = append(seen, f)
	}
}
