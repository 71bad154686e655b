package check

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawCanary = "no content leaks"

// canaries are the values of all sources, and the digests that stand for them in
// KICK's records, searched for in all KICK says.
type canaries struct {
	known map[string]bool
	list  []canary
	seals []string        // the begins of sealed digests
	words strings.Builder // names, labels and keys of the scenario: not secret
}

// canary is one value in the forms it could leak in.
type canary struct {
	source            Source
	plain             string
	base64, hexSHA256 string
}

// shortest is the least length of a value that is searched for; shorter ones
// stand in every text by chance.
const shortest = 4

// publicWords stand in logs and objects by right, whoever else uses them as a value.
const publicWords = "true false null none info debug warn warning error trace level message time kick secret configmap " +
	"deployment statefulset daemonset pending failed succeeded executing dependency manual shop default opaque"

// sealLength is how much of a sealed digest gives it away.
const sealLength = 16

// learnSeals takes in the digests of a record.
func (n *canaries) learnSeals(r *v1alpha1.SourceObservation) {
	for i := range r.Spec.History {
		seal := r.Spec.History[i].Fingerprint
		if len(seal) < sealLength || n.known[seal] {
			continue
		}
		if n.known == nil {
			n.known = map[string]bool{}
		}
		n.known[seal] = true
		n.seals = append(n.seals, seal[:sealLength])
	}
}

// OnWrite learns the values of sources, KICK's own key among them, the digests KICK
// records, and the words that are no secret.
func (n *canaries) OnWrite(_ *Context, ev cluster.Event) {
	if ev.Type == cluster.Deleted {
		return
	}
	if record, ok := ev.Object.(*v1alpha1.SourceObservation); ok {
		n.learnSeals(record)
	}
	if ev.Manager != Manager && (ev.Type == cluster.Added || !maps.Equal(ev.Old.GetAnnotations(), ev.Object.GetAnnotations())) {
		n.learnWords(ev.Object)
	}
	source, ok := sourceOf(ev.Object)
	if !ok {
		return
	}
	content := payload(ev.Object)
	for _, key := range slices.Sorted(maps.Keys(content)) {
		n.words.WriteString(" " + key)
		n.learn(source, string(content[key]))
	}
}

func (n *canaries) learnWords(object client.Object) {
	n.words.WriteString(" " + object.GetNamespace() + " " + object.GetName())
	for k, v := range object.GetLabels() {
		n.words.WriteString(" " + k + " " + v)
	}
	if id := object.GetAnnotations()["argocd.argoproj.io/installation-id"]; id != "" { // KICK quotes whose it is
		n.words.WriteString(" " + id)
	}
}

func (n *canaries) learn(source Source, value string) {
	if len(value) < shortest || n.known[value] || trivialNumber(value) {
		return
	}
	if n.known == nil {
		n.known = map[string]bool{}
	}
	n.known[value] = true
	sum := sha256.Sum256([]byte(value))
	n.list = append(n.list, canary{source, value, base64.StdEncoding.EncodeToString([]byte(value)), hex.EncodeToString(sum[:])})
}

// OnKick searches what KICK writes. Of a workload KICK writes the stamp only,
// which stampOnly guards; leases hold nothing but who leads, and its key is the one
// Secret it makes. What a bundle declares is openly its own, and is written to its
// ConfigMap and its record.
func (n *canaries) OnKick(c *Context, ev cluster.Event) {
	if ev.Type == cluster.Deleted {
		return
	}
	switch ev.Object.(type) {
	case *coordinationv1.Lease, *corev1.Secret, *corev1.ConfigMap, *appsv1.ControllerRevision:
		return
	}
	text := ""
	if bundle, ok := ev.Object.(*v1alpha1.ConfigBundle); ok {
		text = saidIn(bundle.Status.Conditions)
	} else if w, ok := workloadOf(ev.Object); ok {
		text = w.stamp()
	} else {
		text = saidIn(added(ev))
	}
	n.search(c, text, ev.Kind.Kind+" "+ev.Key.String())
}

// added is what a write says, without the transitions that were on record before it:
// these were searched when they were written, and what is a value now may have been
// anybody's word then.
func added(ev cluster.Event) client.Object {
	now, ok := ev.Object.(*v1alpha1.KickRequest)
	before, updated := ev.Old.(*v1alpha1.KickRequest)
	if !ok || !updated {
		return ev.Object
	}
	news := *now
	news.Status.Transitions = slices.DeleteFunc(slices.Clone(now.Status.Transitions), func(t v1alpha1.PhaseTransition) bool {
		return slices.Contains(before.Status.Transitions, t)
	})
	return &news
}

// OnTold searches an Event.
func (n *canaries) OnTold(c *Context, t Told) { n.search(c, t.Note, "an event") }

// OnNotified searches a notification.
func (n *canaries) OnNotified(c *Context, t Notified) { n.search(c, t.Text, "a notification") }

// OnLog searches a log line.
func (n *canaries) OnLog(c *Context, line string) { n.search(c, line, "a log line") }

func (n *canaries) search(c *Context, text, place string) {
	for _, seal := range n.seals {
		if strings.Contains(text, seal) && !strings.HasPrefix(place, recordKind.Kind) {
			c.report(lawCanary, "the sealed digest of a content stands in %s", place)
		}
	}
	for _, canary := range n.list {
		form := ""
		switch {
		case strings.Contains(text, canary.hexSHA256):
			form = "the SHA-256 of a value"
		case n.occurs(text, canary.plain):
			form = "a value"
		case len(canary.base64) >= 8 && strings.Contains(text, canary.base64):
			form = "the base64 form of a value"
		default:
			continue
		}
		// The message must not leak what it tells of.
		c.report(lawCanary, "%s of %s stands in %s", form, canary.source, place)
	}
}

// occurs looks for a value as a whole word, so that the value "alpha" is not
// found in v1alpha1. Words that the scenario uses openly do not count.
func (n *canaries) occurs(text, value string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], value)
		if i < 0 {
			return false
		}
		i += from
		from = i + 1
		if boundary(text, i-1) && boundary(text, i+len(value)) {
			break
		}
	}
	lower := strings.ToLower(value)
	return !strings.Contains(publicWords, lower) && !strings.Contains(strings.ToLower(n.words.String()), lower)
}

func boundary(text string, i int) bool {
	if i < 0 || i >= len(text) {
		return true
	}
	b := text[i]
	letter := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
	return !letter && (b < '0' || b > '9')
}

// trivialNumber: a port or a count stands in every time stamp.
func trivialNumber(value string) bool {
	if len(value) > 6 {
		return false
	}
	return strings.Trim(value, "0123456789.-") == ""
}

// saidIn is every text that a value holds.
func saidIn(object any) string {
	var b strings.Builder
	collect(&b, reflect.ValueOf(object))
	return b.String()
}

// collect gathers every text an object holds, managed fields left out.
func collect(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		b.WriteString(v.String())
		b.WriteByte('\n')
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			collect(b, v.Elem())
		}
	case reflect.Struct:
		collectFields(b, v)
	case reflect.Slice:
		collectItems(b, v)
	case reflect.Map:
		for _, key := range v.MapKeys() {
			collect(b, key)
			collect(b, v.MapIndex(key))
		}
	default: // numbers and flags hold no text
	}
}

func collectFields(b *strings.Builder, v reflect.Value) {
	for _, i := range textFields(v.Type()) {
		collect(b, v.Field(i))
	}
}

// knownTextFields remembers textFields: asking a type for its fields is slow.
var knownTextFields sync.Map

// textFields are the fields of a type to look into.
func textFields(t reflect.Type) []int {
	if known, ok := knownTextFields.Load(t); ok {
		return known.([]int)
	}
	var out []int
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && f.Name != "ManagedFields" {
			out = append(out, i)
		}
	}
	knownTextFields.Store(t, out)
	return out
}

func collectItems(b *strings.Builder, v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		b.Write(v.Bytes())
		b.WriteByte('\n')
		return
	}
	for i := range v.Len() {
		collect(b, v.Index(i))
	}
}
