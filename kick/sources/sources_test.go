package sources_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model/fingerprint"
	"github.com/corewire/kick/kick/sources"
	"github.com/corewire/kick/kick/sources/configmap"
	"github.com/corewire/kick/kick/sources/secret"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

// entry is a managedFields entry; second 0 means that it has no time.
func entry(manager string, second int, subresource, raw string) metav1.ManagedFieldsEntry {
	e := metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource}
	if raw != "" {
		e.FieldsV1 = metav1.NewFieldsV1(raw)
	}
	if second != 0 {
		t := metav1.NewTime(at(second))
		e.Time = &t
	}
	return e
}

const (
	data   = `{"f:data":{".":{},"f:password":{}},"f:type":{}}`
	labels = `{"f:metadata":{"f:labels":{".":{},"f:team":{}}}}`
)

// B52: managedFields times must not be trusted blindly.
func TestLastWrite(t *testing.T) {
	tests := map[string]struct {
		given []metav1.ManagedFieldsEntry
		want  int
	}{
		"no entries: the creation":                      {want: 5},
		"the data's owner":                              {[]metav1.ManagedFieldsEntry{entry("helm", 10, "", data)}, 10},
		"the newest of several owners":                  {[]metav1.ManagedFieldsEntry{entry("eso", 20, "", data), entry("helm", 10, "", data)}, 20},
		"a newer owner of labels only":                  {[]metav1.ManagedFieldsEntry{entry("helm", 10, "", data), entry("kyverno", 50, "", labels)}, 10},
		"an entry without a time":                       {[]metav1.ManagedFieldsEntry{entry("helm", 10, "", data), entry("apply", 0, "", data)}, 10},
		"only an entry without a time":                  {[]metav1.ManagedFieldsEntry{entry("apply", 0, "", data)}, 5},
		"a subresource":                                 {[]metav1.ManagedFieldsEntry{entry("helm", 10, "", data), entry("x", 50, "status", data)}, 10},
		"older than the creation":                       {[]metav1.ManagedFieldsEntry{entry("restore", 1, "", data)}, 5},
		"in the future: for the ledger to clamp":        {[]metav1.ManagedFieldsEntry{entry("helm", 90000, "", data)}, 90000},
		"binaryData":                                    {[]metav1.ManagedFieldsEntry{entry("x", 20, "", `{"f:binaryData":{}}`)}, 20},
		"stringData":                                    {[]metav1.ManagedFieldsEntry{entry("x", 20, "", `{"f:stringData":{}}`)}, 20},
		"immutable":                                     {[]metav1.ManagedFieldsEntry{entry("x", 20, "", `{"f:immutable":{}}`)}, 20},
		"type":                                          {[]metav1.ManagedFieldsEntry{entry("x", 20, "", `{"f:type":{}}`)}, 20},
		"fields that cannot be read: the cautious side": {[]metav1.ManagedFieldsEntry{entry("x", 20, "", `{`)}, 20},
		"no fields":                                     {[]metav1.ManagedFieldsEntry{entry("x", 20, "", "")}, 5},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(at(5)), ManagedFields: tt.given}}
			got := sources.Model(secret.Kind{}, s)
			if !got.LastWrite.Equal(at(tt.want)) {
				t.Errorf("LastWrite = %v, want %v", got.LastWrite, at(tt.want))
			}
			if byOwner := tt.want != 5; got.Dated != byOwner {
				t.Errorf("Dated = %v, want %v", got.Dated, byOwner)
			}
		})
	}
}

const canary = "CANARY-5b0c7d"

func withCanary() map[string]struct {
	kind sources.Kind
	obj  client.Object
} {
	meta := metav1.ObjectMeta{
		Namespace: "shop", Name: "db", UID: "uid", ResourceVersion: "7", CreationTimestamp: metav1.NewTime(at(5)),
		Labels:        map[string]string{"team": "shop"},
		Annotations:   map[string]string{"kubectl.kubernetes.io/last-applied-configuration": `{"stringData":{"password":"` + canary + `"}}`},
		ManagedFields: []metav1.ManagedFieldsEntry{entry("helm", 10, "", data)},
	}
	return map[string]struct {
		kind sources.Kind
		obj  client.Object
	}{
		"Secret": {secret.Kind{}, &corev1.Secret{
			ObjectMeta: *meta.DeepCopy(), Type: corev1.SecretTypeOpaque,
			Data: map[string][]byte{"password": []byte(canary)}, StringData: map[string]string{"token": canary},
		}},
		"ConfigMap": {configmap.Kind{}, &corev1.ConfigMap{
			ObjectMeta: *meta.DeepCopy(),
			Data:       map[string]string{"password": canary}, BinaryData: map[string][]byte{"token": []byte(canary)},
		}},
	}
}

// traces are the ways in which a value could show in what is kept.
func traces() []string {
	return []string{canary, base64.StdEncoding.EncodeToString([]byte(canary)), base64.RawURLEncoding.EncodeToString([]byte(canary))}
}

// Proves: KICK-FEAT-029.
func TestNothingOfAValueIsKept(t *testing.T) {
	for name, tt := range withCanary() {
		t.Run(name, func(t *testing.T) {
			sources.Strip(tt.kind, tt.obj)
			raw, err := json.Marshal(tt.obj)
			if err != nil {
				t.Fatal(err)
			}
			for _, kept := range []string{string(raw), fmt.Sprintf("%#v", tt.obj), fmt.Sprintf("%+v", sources.Model(tt.kind, tt.obj))} {
				for _, trace := range traces() {
					if strings.Contains(kept, trace) {
						t.Errorf("%q is kept: %s", trace, kept)
					}
				}
			}
		})
	}
}

func TestStripKeepsWhatTheLedgerNeeds(t *testing.T) {
	for name, tt := range withCanary() {
		t.Run(name, func(t *testing.T) {
			before := tt.kind.Digest(tt.obj)
			sources.Strip(tt.kind, tt.obj)
			got := sources.Model(tt.kind, tt.obj)
			if got.Digest != before || sources.Digest(tt.obj) != before {
				t.Error("the digest is not that of the payload")
			}
			if !got.LastWrite.Equal(at(10)) || !sources.LastWrite(tt.obj).Equal(at(10)) {
				t.Errorf("LastWrite = %v, want %v", got.LastWrite, at(10))
			}
			if !got.Present || got.UID != "uid" || got.ResourceVersion != "7" || got.Labels["team"] != "shop" || got.ID.Kind != name {
				t.Errorf("Model() = %+v", got)
			}
		})
	}
}

func TestKeyNamesSurvive(t *testing.T) {
	s := &corev1.Secret{Data: map[string][]byte{"b": []byte("x"), "a": nil}}
	c := &corev1.ConfigMap{Data: map[string]string{"b": "x"}, BinaryData: map[string][]byte{"a": nil}}
	for name, got := range map[string][]string{
		"Secret": sources.Model(secret.Kind{}, s).KeyNames, "ConfigMap": sources.Model(configmap.Kind{}, c).KeyNames,
	} {
		if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
			t.Errorf("%s: key names (-want +got):\n%s", name, diff)
		}
	}
}

func TestStripTwice(t *testing.T) {
	for name, tt := range withCanary() {
		t.Run(name, func(t *testing.T) {
			sources.Strip(tt.kind, tt.obj)
			once := tt.obj.DeepCopyObject()
			sources.Strip(tt.kind, tt.obj)
			if diff := cmp.Diff(once, tt.obj); diff != "" {
				t.Errorf("a second time (-once +twice):\n%s", diff)
			}
		})
	}
}

func TestStripLeavesSharedPartsAlone(t *testing.T) {
	shared := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"a": "b"}},
		Data:       map[string][]byte{"password": []byte(canary)},
	}
	before := shared.DeepCopy()
	mine := *shared
	sources.Strip(secret.Kind{}, &mine)
	if diff := cmp.Diff(before, shared); diff != "" {
		t.Errorf("the shared Secret is changed (-before +after):\n%s", diff)
	}
	cm := &corev1.ConfigMap{Data: map[string]string{"a": canary}, BinaryData: map[string][]byte{"b": []byte(canary)}}
	was := cm.DeepCopy()
	own := *cm
	sources.Strip(configmap.Kind{}, &own)
	if diff := cmp.Diff(was, cm); diff != "" {
		t.Errorf("the shared ConfigMap is changed (-before +after):\n%s", diff)
	}
}

// Somebody who copies the notes onto a source and wipes its field owners must not
// get its values into the cache, nor hide a change of them.
func TestForgedNotes(t *testing.T) {
	other := fingerprint.Of("Secret", map[string]string{"x": "y"})
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			"cached.kick.corewire.io/digest": other.Note(), "cached.kick.corewire.io/last-write": "2026-01-01T00:00:00Z",
		}},
		Data: map[string][]byte{"password": []byte(canary)},
	}
	want := secret.Kind{}.Digest(s)
	sources.Strip(secret.Kind{}, s)
	if string(s.Data["password"]) != "" {
		t.Error("the value is kept")
	}
	if sources.Digest(s) != want {
		t.Error("the forged digest is believed")
	}
}

func TestAnEmptySourceIsStripped(t *testing.T) {
	s := &corev1.Secret{}
	sources.Strip(secret.Kind{}, s)
	if got := sources.Model(secret.Kind{}, s); got.Digest.IsZero() || len(got.KeyNames) != 0 {
		t.Errorf("Model() = %+v, want a digest of nothing and no keys", got)
	}
}

// TestOrphaned: a server-side apply of stringData that is given up leaves a key that
// nobody owns, and the date of its write is gone.
func TestOrphaned(t *testing.T) {
	both := []string{"password", "token"}
	for name, tt := range map[string]struct {
		keys  []string
		given []metav1.ManagedFieldsEntry
		want  bool
	}{
		"owned":                        {[]string{"password"}, []metav1.ManagedFieldsEntry{entry("helm", 10, "", data)}, false},
		"one key is nobody's":          {both, []metav1.ManagedFieldsEntry{entry("helm", 10, "", data)}, true},
		"owned as stringData":          {both, []metav1.ManagedFieldsEntry{entry("helm", 10, "", data), entry("ssa", 20, "", `{"f:stringData":{"f:token":{}}}`)}, false},
		"owned by one without a date":  {both, []metav1.ManagedFieldsEntry{entry("helm", 10, "", data), entry("ssa", 0, "", `{"f:data":{"f:token":{}}}`)}, true},
		"no owners at all":             {[]string{"password"}, nil, true},
		"no keys":                      {nil, []metav1.ManagedFieldsEntry{entry("helm", 10, "", data)}, false},
		"fields that cannot be read":   {both, []metav1.ManagedFieldsEntry{entry("x", 20, "", "{")}, true},
		"keys that cannot be read":     {both, []metav1.ManagedFieldsEntry{entry("x", 20, "", `{"f:data":7}`)}, true},
		"a label of the name of a key": {both, []metav1.ManagedFieldsEntry{entry("helm", 10, "", data), entry("x", 20, "", `{"f:metadata":{"f:labels":{"f:token":{}}}}`)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{ManagedFields: tt.given}, Data: map[string][]byte{}}
			for _, key := range tt.keys {
				s.Data[key] = nil
			}
			if got := !sources.Model(secret.Kind{}, s).Dated; got != tt.want {
				t.Errorf("undated = %v, want %v", got, tt.want)
			}
		})
	}
}
