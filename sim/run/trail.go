package run

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/check"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/world"
)

// Actors of the trail.
const (
	actorUser  = "user"
	actorKick  = "kick"
	actorFault = "fault"
	actorKCM   = "kcm"
	actorWorld = "world"
)

// Trail is the event log of a run. Lines are put into words only when somebody
// reads them.
type Trail struct {
	rig     *rig
	zero    time.Time
	lines   []Line // given instead of entries, see TrailOf
	entries []entry
	mute    bool                             // nobody will read it
	letters map[check.Source][]check.Content // the contents each source had, in order: a, b, c
}

// entry is one thing that happened: a write, a pod start, or words.
type entry struct {
	at     time.Time
	actor  string
	text   string
	logged bool           // a line of KICK's log
	event  *cluster.Event // nil for words
	before string         // letters of a source's content around a write
	after  string
	loaded string // what a starting pod loaded
	cause  string // what of the cluster decides a restart or a wait
}

// Line is one thing that happened, in words.
type Line struct {
	At       time.Time
	Actor    string
	Text     string
	Says     string // KICK's own sentence about a request that moved; empty: it said nothing new
	Revision int64
	Verb     string
	Object   string // Kind namespace/name
	Manager  string
	Log      bool
	Causal   bool // it belongs into an explanation
	Deciding bool // it is left out of an explanation last of all
	pods     string
}

func newTrail(r *rig) *Trail {
	return &Trail{rig: r, zero: r.zero, letters: map[check.Source][]check.Content{}}
}

// fork is the trail of a run that has the same past.
func (t *Trail) fork(r *rig) *Trail {
	out := &Trail{rig: r, zero: t.zero, entries: slices.Clip(t.entries), letters: make(map[check.Source][]check.Content, len(t.letters))}
	for source, contents := range t.letters {
		out.letters[source] = slices.Clip(contents) // both sides append to copies
	}
	return out
}

// TrailOf is a trail of lines that are put into words already; zero is t=0.
func TrailOf(zero time.Time, lines []Line) *Trail { return &Trail{zero: zero, lines: lines} }

func (t *Trail) add(e entry) {
	if t.mute {
		return
	}
	e.at = t.rig.loop.Now()
	t.entries = append(t.entries, e)
}

// note takes what a step says it does.
func (t *Trail) note(actor, text string) { t.add(entry{actor: actor, text: text}) }

// fault takes a fault that met a call.
func (t *Trail) fault(name, site string) {
	if !t.mute {
		t.add(entry{actor: actorFault, text: name + " at " + site})
	}
}

// log takes a line of KICK's log.
func (t *Trail) log(line string) {
	t.add(entry{actor: actorKick, text: strings.TrimRight(line, "\n"), logged: true})
}

// notified takes a try to deliver a notification.
func (t *Trail) notified(n check.Notified) {
	if t.mute {
		return
	}
	answer := "no answer"
	if n.Code > 0 {
		answer = fmt.Sprintf("answer %d", n.Code)
	}
	t.add(entry{actor: actorKick, text: fmt.Sprintf("tells %s that request %s reached %s: %s", n.Policy, n.Request, n.Phase, answer)})
}

// call takes a failed call of KICK; calls that succeed show as writes.
func (t *Trail) call(w Write) {
	if w.Done && w.Err != nil && !t.mute {
		t.add(entry{actor: actorKick, text: fmt.Sprintf("%s %s %s failed: %v", w.Verb, w.Kind.Kind, w.Key, w.Err)})
	}
}

// write takes a committed write.
func (t *Trail) write(ev cluster.Event) {
	if t.mute {
		return
	}
	e := entry{actor: actorOf(ev.Manager), event: &ev}
	switch o := ev.Object.(type) {
	case *corev1.Secret, *corev1.ConfigMap:
		t.content(&e, check.Source{Kind: ev.Kind.Kind, Namespace: ev.Key.Namespace, Name: ev.Key.Name})
	case *corev1.Pod:
		if started(ev, o) {
			e.actor, e.loaded = actorWorld, t.loaded(o)
		}
	case *v1alpha1.KickRequest:
		if reason := waits(&ev, o); reason != "" {
			e.cause = t.rig.laws.Because(reason, o.Namespace, string(o.Spec.TargetRef.Kind), o.Spec.TargetRef.Name)
		}
	case *appsv1.Deployment, *appsv1.StatefulSet, *appsv1.DaemonSet:
		if e.actor == actorKick && restarts(&ev) {
			e.cause = t.rig.laws.Because("", ev.Key.Namespace, ev.Kind.Kind, ev.Key.Name)
		}
	}
	t.add(e)
}

// content notes the letters of a source before and after a write.
func (t *Trail) content(e *entry, source check.Source) {
	if known := t.letters[source]; len(known) > 0 && e.event.Old != nil {
		e.before = t.current(source)
	}
	if e.event.Type == cluster.Deleted {
		t.letters[source] = append(t.letters[source], check.Content{})
		return
	}
	now := truth{t.rig.world, t.rig.server}.Current(source)
	t.letters[source] = append(t.letters[source], now)
	e.after = t.letter(source, now)
}

// current is the letter of the newest content noted.
func (t *Trail) current(source check.Source) string {
	known := t.letters[source]
	return t.letter(source, known[len(known)-1])
}

// letter names a content of a source: a for the first one it had, b for the next.
func (t *Trail) letter(source check.Source, content check.Content) string {
	if !content.Exists {
		return "nothing"
	}
	var distinct []check.Content
	for _, known := range t.letters[source] {
		if known.Exists && !slices.Contains(distinct, known) {
			distinct = append(distinct, known)
		}
	}
	i := slices.Index(distinct, content)
	if i < 0 {
		return "?"
	}
	name := string(rune('a' + i%26))
	if i >= 26 {
		name += fmt.Sprint(i / 26)
	}
	return name
}

// started reports that the containers of a pod began to run with this write.
func started(ev cluster.Event, pod *corev1.Pod) bool {
	if ev.Type != cluster.Modified || pod.Status.Phase != corev1.PodRunning {
		return false
	}
	old := ev.Old.(*corev1.Pod)
	return old.Status.Phase != corev1.PodRunning || restartsOf(pod) != restartsOf(old)
}

func restartsOf(pod *corev1.Pod) int32 {
	var n int32
	for _, s := range pod.Status.ContainerStatuses {
		n += s.RestartCount
	}
	return n
}

// loaded says which contents a pod's containers carry.
func (t *Trail) loaded(pod *corev1.Pod) string {
	seen := map[string]bool{}
	var out []string
	for _, p := range t.rig.world.Pods(pod.Namespace, "Pod", pod.Name) {
		for _, load := range p.Loads {
			for ref, content := range load.Sources {
				out = append(out, t.loadedFrom(ref, content))
			}
		}
	}
	slices.Sort(out)
	return strings.Join(slices.DeleteFunc(out, func(s string) bool { again := seen[s]; seen[s] = true; return again }), ", ")
}

func (t *Trail) loadedFrom(ref world.SourceRef, content world.Content) string {
	return fmt.Sprintf("%s %s=%s", ref.Kind, ref.Name, t.letter(check.Source(ref), contentOf(content)))
}

// Lines puts the whole trail into words.
func (t *Trail) Lines() []Line {
	if t.rig == nil {
		return t.lines
	}
	out := make([]Line, 0, len(t.entries))
	for _, e := range t.entries {
		out = append(out, t.line(e))
	}
	return out
}

func (t *Trail) line(e entry) Line {
	l := Line{At: e.at, Actor: e.actor, Text: e.text, Log: e.logged, Causal: !e.logged}
	if e.event == nil {
		return l
	}
	ev := e.event
	l.Revision, l.Verb, l.Manager = ev.Revision, ev.Verb, ev.Manager
	l.Object = ev.Kind.Kind + " " + strings.TrimPrefix(ev.Key.String(), "/")
	if ev.Sub != "" {
		l.Verb += " " + ev.Sub
	}
	if _, isPod := ev.Object.(*corev1.Pod); isPod && e.actor == actorWorld && e.loaded != "" {
		l.Text, l.pods, l.Causal = "pod "+ev.Key.String()+" runs "+e.loaded, e.loaded, true
		return l
	}
	what, causal := words(e)
	l.Deciding, l.Says = decides(e), says(ev)
	l.Text, l.Causal = l.Object+": "+what, causal && (e.actor == actorUser || e.actor == actorKick)
	if e.actor == actorUser && ev.Manager != "kubectl" {
		l.Text += " (by " + ev.Manager + ")"
	}
	if _, isLease := ev.Object.(*coordinationv1.Lease); isLease {
		l.Causal = false
	}
	return l
}

func actorOf(manager string) string {
	switch manager {
	case check.Manager:
		return actorKick
	case "kube-controller-manager", "kube-scheduler":
		return actorKCM
	case "kubelet", "kube-apiserver", "":
		return actorWorld
	default:
		return actorUser
	}
}
