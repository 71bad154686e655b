package check

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// notifier is a bench with a notification policy in force and a request that has just
// succeeded.
func notifier(t *testing.T) *bench {
	b := shop(t, lawNotified)
	since := metav1.NewMicroTime(b.loop.Now())
	b.create("kubectl", &v1alpha1.NotificationPolicy{ObjectMeta: meta("team"), Spec: v1alpha1.NotificationPolicySpec{
		Phases: []v1alpha1.Phase{v1alpha1.PhaseSucceeded}, Webhook: v1alpha1.Webhook{URL: "https://hook.shop.sim"},
	}})
	b.says(func(p *v1alpha1.NotificationPolicy) {
		p.Status.Since = &since
		p.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Validated", LastTransitionTime: metav1.NewTime(noon)}}
	})
	b.create(Manager, request("deployment-web"))
	for i, phase := range []v1alpha1.Phase{v1alpha1.PhaseExecuting, v1alpha1.PhaseSucceeded} {
		reach(b, phase, func(r *v1alpha1.KickRequest) {
			r.Status.Transitions = append(r.Status.Transitions, v1alpha1.PhaseTransition{Phase: phase, At: microTime(60 + i), Reason: "x"})
		})
	}
	return b
}

// says writes the status of the policy. On a bench each write is a new generation.
func (b *bench) says(change func(*v1alpha1.NotificationPolicy)) {
	b.Helper()
	edit(b, Manager, notificationKind, "team", func(p *v1alpha1.NotificationPolicy) {
		p.Status.ObservedGeneration = p.Generation + 1
		change(p)
	})
}

// reaches lets the request succeed at another second after noon.
func (b *bench) reaches(second int) {
	b.Helper()
	reach(b, v1alpha1.PhaseSucceeded, func(r *v1alpha1.KickRequest) {
		r.Status.Transitions = append(r.Status.Transitions, v1alpha1.PhaseTransition{Phase: v1alpha1.PhaseSucceeded, At: microTime(second), Reason: "x"})
	})
}

// tells makes a try of a process to tell of that.
func (b *bench) tells(by string, taken bool, change ...func(*Notified)) {
	n := Notified{
		Policy: types.NamespacedName{Namespace: "shop", Name: "team"}, Request: types.NamespacedName{Namespace: "shop", Name: "deployment-web"},
		Phase: "Succeeded", At: noon.Add(61 * time.Second), Taken: taken, By: by, Looked: b.loop.Now(),
	}
	for _, c := range change {
		c(&n)
	}
	b.laws.OnNotified(n)
}

// records puts on record that it was told.
func (b *bench) records() {
	b.says(func(p *v1alpha1.NotificationPolicy) {
		uid := b.server.Get(requestKind, types.NamespacedName{Namespace: "shop", Name: "deployment-web"}).GetUID()
		p.Status.Settled = []v1alpha1.SettledNotification{{UID: string(uid), Phase: v1alpha1.PhaseSucceeded, At: microTime(61)}}
	})
	b.wait(time.Second)
}

func TestNotified(t *testing.T) {
	for name, tt := range map[string]struct {
		act   func(*bench)
		words string
	}{
		"never":              {func(*bench) {}, "was not told; 0 tries were made"},
		"once":               {func(b *bench) { b.tells("a", true) }, ""},
		"after failures":     {func(b *bench) { b.tells("a", false); b.tells("a", true) }, ""},
		"given up too early": {func(b *bench) { b.tells("a", false); b.tells("a", false); b.wait(time.Hour) }, "was not told; 2 tries were made"},
		"still at it":        {func(b *bench) { b.tells("a", false); b.wait(5 * time.Minute) }, ""},
		"still at what came before": {func(b *bench) {
			b.reaches(59)
			b.tells("a", false, func(n *Notified) { n.At = noon.Add(59 * time.Second) })
		}, ""},
		"passed over": {func(b *bench) {
			b.reaches(70)
			b.tells("a", false, func(n *Notified) { n.At = noon.Add(70 * time.Second) })
		}, "was not told; 0 tries were made"},
		"given up":                 {func(b *bench) { b.tells("a", false); b.tells("a", false); b.tells("a", false) }, ""},
		"refused for good":         {func(b *bench) { b.tells("a", false, func(n *Notified) { n.Final = true }) }, ""},
		"twice":                    {func(b *bench) { b.tells("a", true); b.tells("a", true) }, "told twice by one process"},
		"again after a crash":      {func(b *bench) { b.tells("a", true); b.tells("b", true) }, ""},
		"again although on record": {func(b *bench) { b.tells("a", true); b.records(); b.tells("b", true) }, "on record since"},
		"by one that looked earlier": {func(b *bench) {
			looked := b.loop.Now()
			b.tells("a", true)
			b.records()
			b.tells("b", true, func(n *Notified) { n.Looked = looked })
		}, ""},
		"of what nobody wants": {func(b *bench) {
			b.tells("a", true)
			b.tells("a", true, func(n *Notified) { n.Phase, n.At = "Executing", noon.Add(time.Minute) })
		}, "and it did not"},
		"of an earlier request of the name": {func(b *bench) {
			b.delete("kubectl", requestKind, "deployment-web")
			b.create(Manager, request("deployment-web"))
			b.tells("a", true)
		}, ""},
		"off the record": {func(b *bench) {
			reach(b, v1alpha1.PhasePending, func(r *v1alpha1.KickRequest) { r.Status.Transitions = r.Status.Transitions[:1] })
		}, ""},
		"late, of what is off the record": {func(b *bench) {
			reach(b, v1alpha1.PhasePending, func(r *v1alpha1.KickRequest) { r.Status.Transitions = r.Status.Transitions[:1] })
			b.tells("a", true)
		}, ""},
		"of what never happened":    {func(b *bench) { b.tells("a", true); b.tells("a", true, func(n *Notified) { n.At = noon }) }, "and it did not"},
		"a policy that was deleted": {func(b *bench) { b.delete("kubectl", notificationKind, "team") }, ""},
		"a policy that was edited": {func(b *bench) {
			edit(b, "kubectl", notificationKind, "team", func(p *v1alpha1.NotificationPolicy) { p.Spec.Suspend = true })
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := notifier(t)
			tt.act(b)
			b.laws.AtEnd()
			b.judged(tt.words)
		})
	}
}
