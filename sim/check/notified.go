package check

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
)

const lawNotified = "what a policy wants is told, and told once"

var notificationKind = schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: "NotificationPolicy"}

// enoughTries is after how many a notification may be given up.
const enoughTries = 3

// Notified is a try of KICK to deliver a notification.
type Notified struct {
	Policy, Request types.NamespacedName
	Phase           string
	At              time.Time // when the phase was reached, as the message says
	Key             string    // the same for every try
	Text            string
	Code            int       // answer of the endpoint; 0: none
	Taken           bool      // it accepts the message
	Final           bool      // it says that another try is of no use
	By              any       // the process that tries
	Looked          time.Time // when that process read the policy last
}

// notice is a transition that a policy tells, or has to.
type notice struct {
	policy types.NamespacedName
	uid    types.UID // of the request
	phase  v1alpha1.Phase
	at     int64 // microseconds
}

// story is what became of a notice.
type story struct {
	owed    bool
	tries   int
	final   bool
	takenBy []any
	settled time.Time // when KICK put on record that it is; zero: it did not
}

// longestPause is how long a policy that has something to tell makes no try at most: what
// Retry-After can ask for (5 minutes, docs/notifications.md), and slow answers.
const longestPause = 8 * time.Minute

// notified follows each transition from the write that made it to the endpoint.
type notified struct {
	order   []notice
	stories map[notice]*story
	tries   map[types.NamespacedName]try // the last of each policy
	reaches map[arrival]types.UID        // of all requests, the deleted ones too
}

// arrival is a transition of the request of a name.
type arrival struct {
	request types.NamespacedName
	phase   v1alpha1.Phase
	at      int64 // microseconds
}

// try is when a policy tried to tell something, and of when that was.
type try struct {
	made time.Time
	of   int64
}

func (n *notified) of(what notice) *story {
	if n.stories == nil {
		n.stories = map[notice]*story{}
	}
	s := n.stories[what]
	if s == nil {
		s = &story{}
		n.stories[what] = s
		n.order = append(n.order, what)
	}
	return s
}

// OnKick notes what is to be told, and what is on record as settled.
func (n *notified) OnKick(c *Context, ev cluster.Event) {
	switch o := ev.Object.(type) {
	case *v1alpha1.KickRequest:
		before, _ := ev.Old.(*v1alpha1.KickRequest)
		n.reached(c, before, o)
	case *v1alpha1.NotificationPolicy:
		for _, m := range o.Status.Settled {
			s := n.of(notice{ev.Key, types.UID(m.UID), m.Phase, m.At.UnixMicro()})
			if s.settled.IsZero() {
				s.settled = c.Loop.Now()
			}
		}
	}
}

// reached notes the new transitions of a request for each policy that wants them.
func (n *notified) reached(c *Context, before, now *v1alpha1.KickRequest) {
	if before == nil || len(now.Status.Transitions) == 0 {
		return
	}
	newest := now.Status.Transitions[len(now.Status.Transitions)-1]
	if slices.Contains(before.Status.Transitions, newest) {
		return
	}
	if n.reaches == nil {
		n.reaches = map[arrival]types.UID{}
	}
	n.reaches[arrival{types.NamespacedName{Namespace: now.Namespace, Name: now.Name}, newest.Phase, newest.At.UnixMicro()}] = now.UID
	for _, o := range c.API.List(notificationKind, now.Namespace) {
		p := o.(*v1alpha1.NotificationPolicy)
		if inForce(p) && tells(p, now, newest.Phase) {
			n.of(notice{types.NamespacedName{Namespace: p.Namespace, Name: p.Name}, now.UID, newest.Phase, newest.At.UnixMicro()}).owed = true
		}
	}
}

// inForce reports whether KICK has said that it acts on the policy as it stands.
func inForce(p *v1alpha1.NotificationPolicy) bool {
	return !p.Spec.Suspend && p.Status.ObservedGeneration == p.Generation && p.Status.Since != nil &&
		slices.ContainsFunc(p.Status.Conditions, func(x metav1.Condition) bool {
			return x.Type == v1alpha1.ConditionReady && x.Status == metav1.ConditionTrue
		})
}

// tells reports whether a policy tells of a phase of a request.
func tells(p *v1alpha1.NotificationPolicy, r *v1alpha1.KickRequest, phase v1alpha1.Phase) bool {
	wanted := p.Spec.Phases
	if len(wanted) == 0 {
		wanted = []v1alpha1.Phase{v1alpha1.PhaseSucceeded, v1alpha1.PhaseFailed, v1alpha1.PhaseNoLongerRequired, v1alpha1.PhaseDryRun}
	}
	selector, err := metav1.LabelSelectorAsSelector(p.Spec.WorkloadSelector)
	if p.Spec.WorkloadSelector == nil {
		selector, err = labels.Everything(), nil
	}
	return err == nil && slices.Contains(wanted, phase) && selector.Matches(labels.Set(r.Labels))
}

// OnWrite lets go of what a policy had to tell when somebody edits or deletes it: from
// then on it is another one.
func (n *notified) OnWrite(_ *Context, ev cluster.Event) {
	if ev.Kind != notificationKind || ev.Sub == "status" || ev.Manager == Manager {
		return
	}
	for what, s := range n.stories {
		if what.policy == ev.Key {
			s.owed = false
		}
	}
}

// fork begins anew: a policy has nothing to tell before KICK judged it.
func (*notified) fork() Law { return &notified{} }

// OnNotified judges a try.
func (n *notified) OnNotified(c *Context, t Notified) {
	what, real := n.noticeOf(c, t)
	if !real {
		c.report(lawNotified, "%s was told that request %s reached %s at %s, and it did not", t.Policy, t.Request, t.Phase, clockTime(t.At))
		return
	}
	if n.tries == nil {
		n.tries = map[types.NamespacedName]try{}
	}
	n.tries[t.Policy] = try{c.Loop.Now(), what.at}
	s := n.of(what)
	s.tries++
	s.final = s.final || t.Final
	if !t.Taken {
		return
	}
	if slices.Contains(s.takenBy, t.By) {
		c.report(lawNotified, "%s was told twice by one process that request %s reached %s", t.Policy, t.Request, t.Phase)
	}
	if !s.settled.IsZero() && s.settled.Before(t.Looked) {
		c.report(lawNotified, "%s was told that request %s reached %s although it is on record since %s that it knows", t.Policy, t.Request, t.Phase, clockTime(s.settled))
	}
	s.takenBy = append(s.takenBy, t.By)
}

// noticeOf finds the transition that a message tells of; false: there is none, or the
// policy does not want it told.
func (n *notified) noticeOf(c *Context, t Notified) (notice, bool) {
	r, _ := c.API.Get(requestKind, t.Request).(*v1alpha1.KickRequest)
	p, _ := c.API.Get(notificationKind, t.Policy).(*v1alpha1.NotificationPolicy)
	what := notice{policy: t.Policy, phase: v1alpha1.Phase(t.Phase), at: t.At.UnixMicro()}
	what.uid = n.reaches[arrival{t.Request, what.phase, what.at}]
	if r == nil || p == nil || what.uid != "" && what.uid != r.UID { // gone meanwhile
		return what, true
	}
	seen := what.uid != "" // although a request that flaps has it on record no more
	what.uid = r.UID
	there := seen || slices.ContainsFunc(r.Status.Transitions, func(x v1alpha1.PhaseTransition) bool {
		return x.Phase == what.phase && x.At.UnixMicro() == what.at
	})
	return what, there && (p.Status.ObservedGeneration != p.Generation || tells(p, r, what.phase))
}

// AtEnd reports what nobody was told.
func (n *notified) AtEnd(c *Context) {
	for _, what := range n.order {
		s := n.stories[what]
		p, _ := c.API.Get(notificationKind, what.policy).(*v1alpha1.NotificationPolicy)
		excused := len(s.takenBy) > 0 || s.final || s.tries >= enoughTries || n.comesTo(c, what)
		request, there := c.stillSays(what)
		if !s.owed || excused || p == nil || !inForce(p) || p.Status.Dropped > 0 || !there { // with its request goes what there was to tell
			continue
		}
		c.report(lawNotified, "policy %s wants to know that request %s reached %s at %s, and was not told; %d tries were made",
			what.policy, request, what.phase, clockTime(time.UnixMicro(what.at)), s.tries)
	}
}

// comesTo reports whether a policy is still at work on what came before a notice: they
// are told one after the other, and an endpoint may hold up each.
func (n *notified) comesTo(c *Context, what notice) bool {
	last, tried := n.tries[what.policy]
	return tried && last.of <= what.at && c.Loop.Now().Sub(last.made) <= longestPause
}

// stillSays is the name of a notice's request; false: it is gone, or has gone through so
// many phases since that this one is not on record any more.
func (c *Context) stillSays(what notice) (string, bool) {
	for _, o := range c.API.List(requestKind, what.policy.Namespace) {
		if o.GetUID() == what.uid {
			return o.GetName(), slices.ContainsFunc(o.(*v1alpha1.KickRequest).Status.Transitions, func(x v1alpha1.PhaseTransition) bool {
				return x.Phase == what.phase && x.At.UnixMicro() == what.at
			})
		}
	}
	return "", false
}
