package fidelity

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Answer is what an API server answered, in words that do not depend on the server.
type Answer struct {
	Code   int32
	Reason metav1.StatusReason
	Fields []string // that the causes name, in order
	Object []string // lines of JSON
	Text   string   // the message; shown, not compared
}

// plain puts what a server makes up into words: the first UID it shows is u1, the
// first version of an object v1, and a time is the number of waits before it.
type plain struct {
	namespace string
	uids      map[string]string
	versions  map[string]map[string]int
	names     map[string]string // generated
	marks     []time.Time
}

func newPlain(namespace string) *plain {
	return &plain{namespace: namespace, uids: map[string]string{}, versions: map[string]map[string]int{}, names: map[string]string{}}
}

var uidPattern = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// mark begins the next instant; stamps are whole seconds.
func (p *plain) mark(now time.Time) { p.marks = append(p.marks, now.Truncate(time.Second)) }

// instant is the number of waits before a time.
func (p *plain) instant(at time.Time) string {
	if at.IsZero() {
		return "none"
	}
	n := 0
	for n < len(p.marks) && !at.Before(p.marks[n]) {
		n++
	}
	return fmt.Sprintf("t%d", n)
}

// uid is the number of a UID.
func (p *plain) uid(uid string) string {
	if _, ok := p.uids[uid]; !ok {
		p.uids[uid] = fmt.Sprintf("u%d", len(p.uids)+1)
	}
	return p.uids[uid]
}

// version is the number of a version of its object.
func (p *plain) version(obj client.Object) string {
	version := obj.GetResourceVersion()
	if version == "" {
		return ""
	}
	of := p.versions[string(obj.GetUID())]
	if of == nil {
		of = map[string]int{}
		p.versions[string(obj.GetUID())] = of
	}
	if _, ok := of[version]; !ok {
		of[version] = len(of) + 1
	}
	return fmt.Sprintf("v%d", of[version])
}

// name is the name of an object; of a generated one, its number.
func (p *plain) name(obj client.Object) string {
	name, base := obj.GetName(), obj.GetGenerateName()
	if base == "" || !strings.HasPrefix(name, base) || len(name) != len(base)+5 {
		return strings.ReplaceAll(name, p.namespace, "<ns>")
	}
	if _, ok := p.names[name]; !ok {
		p.names[name] = fmt.Sprintf("%s<%d>", strings.ReplaceAll(base, p.namespace, "<ns>"), len(p.names)+1)
	}
	return p.names[name]
}

// refusal is an error in words.
func (p *plain) refusal(err error) Answer {
	status, ok := apiStatus(err)
	if !ok {
		return Answer{Code: -1, Text: err.Error()}
	}
	out := Answer{Code: status.Code, Reason: status.Reason, Text: status.Message}
	if status.Details != nil && status.Reason == metav1.StatusReasonInvalid {
		for _, cause := range status.Details.Causes {
			out.Fields = append(out.Fields, cause.Field)
		}
		slices.Sort(out.Fields)
		out.Fields = slices.Compact(out.Fields)
	}
	return out
}

// object is an object in words.
func (p *plain) object(obj client.Object) Answer {
	p.uid(string(obj.GetUID()))
	raw, err := json.Marshal(obj)
	if err != nil {
		return Answer{Code: -1, Text: err.Error()}
	}
	p.name(obj)
	text := uidPattern.ReplaceAllStringFunc(string(raw), p.uid)
	for name, number := range p.names { // no name is part of another
		text = strings.ReplaceAll(text, name, number)
	}
	text = strings.ReplaceAll(text, p.namespace, "<ns>")
	content := map[string]any{}
	if err := json.Unmarshal([]byte(text), &content); err != nil {
		return Answer{Code: -1, Text: err.Error()}
	}
	delete(content, "apiVersion") // clients differ in whether they keep them
	delete(content, "kind")
	p.metadata(content["metadata"].(map[string]any), obj)
	if _, ok := obj.(*corev1.Pod); ok {
		for _, field := range admitted {
			delete(content["spec"].(map[string]any), field)
		}
	}
	shown, err := json.MarshalIndent(shorten(content), "", " ")
	if err != nil {
		return Answer{Code: -1, Text: err.Error()}
	}
	return Answer{Code: 200, Object: strings.Split(string(shown), "\n")}
}

// admitted are the fields of a pod that admission plugins fill; sim/cluster has none.
var admitted = []string{"tolerations", "priority", "preemptionPolicy"}

// metadata replaces what the server makes up.
func (p *plain) metadata(m map[string]any, obj client.Object) {
	m["name"] = p.name(obj)
	m["creationTimestamp"] = p.instant(obj.GetCreationTimestamp().Time)
	m["resourceVersion"] = p.version(obj)
	if at := obj.GetDeletionTimestamp(); at != nil {
		m["deletionTimestamp"] = "set"
		if grace := obj.GetDeletionGracePeriodSeconds(); grace == nil || *grace == 0 {
			m["deletionTimestamp"] = p.instant(at.Time)
		}
	}
	entries, _ := m["managedFields"].([]any)
	for i, e := range obj.GetManagedFields() {
		entry := entries[i].(map[string]any)
		delete(entry, "time")
		if e.Time != nil {
			entry["time"] = p.instant(e.Time.Time)
		}
	}
	// The server orders entries by whole seconds, then by manager: those of one
	// instant are in the order in which the clock happened to tick.
	slices.SortStableFunc(entries, func(a, b any) int { return strings.Compare(order(a), order(b)) })
}

// order is what entries of managedFields are sorted by here.
func order(entry any) string {
	e := entry.(map[string]any)
	return fmt.Sprint(e["operation"], e["time"], e["manager"], e["subresource"], e["apiVersion"])
}

// shorten cuts values that are long for their length's sake.
func shorten(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) > 2000 {
			return fmt.Sprintf("%s... (%d bytes)", v[:20], len(v))
		}
	case map[string]any:
		for key, value := range v {
			v[key] = shorten(value)
		}
	case []any:
		for i := range v {
			v[i] = shorten(v[i])
		}
	}
	return v
}

// list is what a list shows: which objects, at which version, in which order. Objects
// with generated names come last: chance orders them.
func (p *plain) list(list client.ObjectList) Answer {
	var named, generated []string
	err := meta.EachListItem(list, func(item runtime.Object) error {
		obj := item.(client.Object)
		if name := obj.GetName(); obj.GetNamespace() == "" && name != p.namespace && !strings.HasPrefix(name, p.namespace+"-") {
			return nil // a namespace of somebody else
		}
		line := fmt.Sprintf("%s %s", p.name(obj), p.version(obj))
		if strings.Contains(line, "<") && obj.GetGenerateName() != "" {
			generated = append(generated, line)
		} else {
			named = append(named, line)
		}
		return nil
	})
	if err != nil {
		return Answer{Code: -1, Text: err.Error()}
	}
	slices.Sort(generated)
	return Answer{Code: 200, Object: append(named, generated...)}
}
