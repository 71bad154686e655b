package check

import (
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/clock"
)

// operator is what a test makes up of KICK's processes.
type operator struct {
	timers  map[string]time.Time
	readers map[Source][]string
	grants  []Grant
}

func (o *operator) Wake(namespace, kind, name string) time.Time {
	return o.timers[namespace+"/"+kind+"/"+name]
}
func (o *operator) Readers(s Source) ([]string, bool) { return o.readers[s], true }
func (o *operator) Grants() []Grant                   { return o.grants }

func patch(done bool, err error) Write {
	return Write{Verb: "patch", Kind: deploymentKind, Key: key("web"), Done: done, Err: err, Body: []byte(`{"metadata":{"uid":"u"}}`)}
}

func pace(b *bench, least time.Duration) {
	b.Helper()
	edit(b, "kubectl", policyKind, "web", func(p *v1alpha1.KickPolicy) {
		p.Spec.Restart.MinInterval = &metav1.Duration{Duration: least}
	})
	b.wait(2 * time.Second)
}

func TestInterval(t *testing.T) {
	paced := func() *bench {
		b := newBench(t, lawInterval)
		b.create("kubectl", secret(), policy("web"), deployment())
		pace(b, time.Minute)
		b.restart()
		return b
	}
	for name, tt := range map[string]struct {
		act   func(*bench)
		words string
	}{
		"too soon":  {func(b *bench) { b.wait(59 * time.Second) }, "KICK restarted it 59s before and its policy web wants 1m0s between restarts"},
		"in time":   {func(b *bench) { b.wait(time.Minute) }, ""},
		"no policy": {func(b *bench) { b.delete("kubectl", policyKind, "web") }, ""},
		"the stamp was taken away": {func(b *bench) {
			edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) { d.Spec.Template.Annotations = nil })
		}, ""},
		"a rollback brought it back": {func(b *bench) {
			var before map[string]string
			edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) {
				before, d.Spec.Template.Annotations = d.Spec.Template.Annotations, nil
			})
			edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) { d.Spec.Template.Annotations = before })
			b.wait(time.Second)
		}, ""},
		"somebody else's edit leaves it KICK's": {func(b *bench) {
			edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(3)) })
			b.wait(time.Second)
		}, "KICK restarted it 1s before"},
		"the policy was edited after it was read": {func(b *bench) {
			read := patch(false, nil)
			read.Known.Policies = b.loop.Now()
			b.wait(time.Minute)
			pace(b, time.Hour)
			b.laws.OnCall(read)
		}, ""},
		"the policy was edited before it was read": {func(b *bench) {
			b.wait(time.Minute)
			pace(b, time.Hour)
			read := patch(false, nil)
			read.Known.Policies = b.loop.Now()
			b.laws.OnCall(read)
		}, "KICK restarted it 1m2s before"},
		"its clock was set back far": {func(b *bench) { b.clocks[clock.Kick].Step(-time.Hour) }, ""},
		"it was in order when it was sent": {func(b *bench) {
			b.wait(time.Minute)
			b.laws.OnCall(patch(false, nil))
			edit(b, Manager, deploymentKind, "web", func(d *appsv1.Deployment) {
				d.Spec.Template.Annotations[Stamp] = b.loop.Now().Format(time.RFC3339Nano)
			})
			b.wait(time.Minute)
		}, ""},
		"a refused call excuses nothing": {func(b *bench) {
			b.clocks[clock.Kick].Step(2 * time.Minute)
			b.laws.OnCall(patch(false, nil))
			b.laws.OnCall(patch(true, apierrors.NewConflict(schema.GroupResource{Resource: "deployments"}, "web", errors.New("x"))))
			b.clocks[clock.Kick].Step(-2 * time.Minute)
			b.wait(time.Second)
		}, "between restarts"},
	} {
		t.Run(name, func(*testing.T) {
			b := paced()
			tt.act(b)
			b.restart()
			b.judged(tt.words)
		})
	}
}

func TestRetention(t *testing.T) {
	finished := func(phase v1alpha1.Phase) *bench {
		b := shop(t, lawRetention)
		b.laws.Retention = time.Hour
		b.create(Manager, request("deployment-web"))
		reach(b, phase, func(r *v1alpha1.KickRequest) { r.Status.CompletedAt = new(metav1.NewMicroTime(b.loop.Now())) })
		return b
	}
	b := finished(v1alpha1.PhaseWaitingForGate)
	b.delete(Manager, requestKind, "deployment-web")
	b.fires("KICK deleted request shop/deployment-web, but it is not finished: WaitingForGate")

	b = finished(v1alpha1.PhaseSucceeded)
	b.wait(50 * time.Minute)
	b.delete(Manager, requestKind, "deployment-web")
	b.fires("finished requests are kept for 1h0m0s and it had 10m0s left")

	b = finished(v1alpha1.PhaseSucceeded)
	b.wait(time.Hour)
	b.delete(Manager, requestKind, "deployment-web")
	b.holds()

	b = finished(v1alpha1.PhaseSucceeded)
	b.delete("kube-controller-manager", requestKind, "deployment-web") // its workload is gone
	b.holds()

	b = finished(v1alpha1.PhaseSucceeded)
	b.wait(time.Hour)
	b.laws.OnCall(Write{Verb: "delete", Kind: requestKind, Key: key("deployment-web")})
	b.clocks[clock.Kick].Step(-time.Minute) // while the call was on its way
	b.delete(Manager, requestKind, "deployment-web")
	b.holds()
}

func TestIdentity(t *testing.T) {
	for body, words := range map[string]string{
		`{"spec":{}}`:                           "the restart of shop/Deployment/web at 12:00:30.000Z carried neither UID nor resourceVersion",
		`{"metadata":{"uid":"u"}}`:              "",
		`{"metadata":{"resourceVersion":"12"}}`: "",
	} {
		b := shop(t, lawIdentity)
		w := patch(false, nil)
		w.Body = []byte(body)
		b.laws.OnCall(w)
		b.restart()
		b.judged(words)
	}
}

func TestRights(t *testing.T) {
	b := shop(t, lawRights)
	b.laws.Own = "kick-system"
	b.laws.Operator = &operator{grants: []Grant{
		{Groups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get", "patch"}},
		{Groups: []string{"kick.corewire.io"}, Resources: []string{"kickrequests/status"}, Verbs: []string{"update"}},
		{Own: true, Groups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}},
	}}
	for _, a := range []Access{
		{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "shop"},
		{Verb: "get", Group: "apps", Resource: "deployments"},
		{Verb: "update", Group: "kick.corewire.io", Resource: "kickrequests", Sub: "status", Namespace: "shop"},
		{Verb: "create", Resource: "secrets", Namespace: "kick-system"},
	} {
		b.laws.OnAccess(a)
	}
	b.holds()
	for _, tt := range []struct {
		Access
		words string
	}{
		{Access{Verb: "update", Group: "apps", Resource: "deployments", Namespace: "shop"}, `does not allow: update deployments (group "apps") in namespace shop`},
		{Access{Verb: "update", Group: "kick.corewire.io", Resource: "kickrequests", Namespace: "shop"}, "update kickrequests"},
		{Access{Verb: "create", Resource: "secrets", Namespace: "shop"}, `create secrets (group "") in namespace shop`},
		{Access{Verb: "list", Resource: "pods"}, "in all namespaces"},
	} {
		b.laws.violations = nil
		b.laws.OnAccess(tt.Access)
		b.laws.OnAccess(tt.Access) // told once
		b.fires(tt.words)
	}
}

func TestEvents(t *testing.T) {
	tell := func(b *bench) { b.laws.OnTold(Told{Request: key("deployment-web"), Reason: "WaitingForGate"}) }
	status := func(b *bench, phase v1alpha1.Phase, reason string) {
		b.Helper()
		object := b.server.Get(requestKind, key("deployment-web")).DeepCopyObject().(*v1alpha1.KickRequest)
		object.Status.Phase, object.Status.Gate = phase, &v1alpha1.GateStatus{Reason: reason}
		b.laws.OnWrite(event(b, object))
	}
	b := shop(t, lawEvents)
	b.create(Manager, request("deployment-web"))
	status(b, v1alpha1.PhaseWaitingForGate, "OutsideSchedule")
	tell(b)
	status(b, v1alpha1.PhaseExecuting, "Restarting") // a crash loses the event
	status(b, v1alpha1.PhaseSucceeded, "RestartCompleted")
	tell(b)
	b.holds()
	tell(b) // a process that was frozen tells late
	b.holds()
	tell(b)
	b.fires("KICK told WaitingForGate of request shop/deployment-web, but it made no transition since the last event")

	b = shop(t, lawEvents)
	b.create(Manager, request("deployment-web"))
	status(b, v1alpha1.PhaseWaitingForGate, "Settling")
	tell(b)
	b.fires("it made no transition")
}

func TestRest(t *testing.T) {
	pause := time.Second
	write := func(b *bench, times int) {
		b.Helper()
		for i := range times {
			reach(b, v1alpha1.PhaseWaitingForGate, func(r *v1alpha1.KickRequest) { r.Status.LatestObservedDependencyChange = new(microTime(b.seconds + i)) })
			b.wait(pause)
		}
		b.seconds += times
	}
	b := shop(t, lawRest)
	b.create(Manager, request("deployment-web"))
	write(b, restSize-1)
	b.rotate("second-password") // something happened
	write(b, restSize)
	b.holds()
	write(b, 1)
	b.fires("KickRequest shop/deployment-web was written 13 times by KICK while nobody else wrote anything")

	b = shop(t, lawRest)
	windowed("*/2 * * * *", time.Minute, "")(b)
	b.create(Manager, request("deployment-web"))
	pause = time.Minute
	write(b, 2*restSize)
	b.holds() // windows open and shut
	b.rotate("second-password")
	for i := range restSize + 1 {
		reach(b, v1alpha1.PhaseWaitingForGate, func(r *v1alpha1.KickRequest) { r.Status.LatestObservedDependencyChange = new(microTime(b.seconds + i)) })
	}
	b.fires("was written 13 times by KICK while nobody else wrote anything") // but not that fast

	b = shop(t, lawRest)
	b.create(Manager, request("deployment-web"))
	pause = time.Second
	for i := range 2 * restSize {
		b.laws.OnCall(Write{Kind: requestKind, Key: types.NamespacedName{Namespace: "shop", Name: "deployment-web"}, By: i % 2})
		write(b, 1)
	}
	b.holds() // two lead for some seconds
	for range 2 * (restSize + 1) {
		write(b, 1)
	}
	b.fires("while nobody else wrote anything") // one of them answers itself
}

func TestDeadline(t *testing.T) {
	ready := func() *bench {
		b := shop(t, lawDeadline)
		b.laws.Healed = b.loop.Now()
		b.rotate("second-password")
		return b
	}
	b := ready()
	b.wait(time.Minute)
	b.restart()
	b.holds()
	b.wait(10 * time.Minute)
	b.restart() // 30 s after the first one it could have come
	b.fires("restart of shop/Deployment/web at 12:11:30.000Z, but nothing stood against it since 12:02:00.000Z, and it has to come within 2m31s")

	for err, words := range map[error]string{
		apierrors.NewForbidden(schema.GroupResource{}, "web", nil): "",
		apierrors.NewConflict(schema.GroupResource{}, "web", nil):  "but nothing stood against it since 12:00:30.000Z",
	} {
		b = ready()
		b.wait(time.Minute)
		b.laws.OnCall(patch(true, err))
		b.wait(5 * time.Minute)
		b.restart()
		if words == "" {
			b.holds() // KICK leaves it alone for so long
			continue
		}
		b.fires(words)
	}

	b = ready()
	windowed("0 13 * * *", time.Hour, "")(b)
	b.wait(time.Hour)
	b.restart()
	b.holds()

	b = ready()
	b.wait(time.Hour)
	b.create("kube-controller-manager", &corev1.ConfigMap{ObjectMeta: meta("busy")})
	b.restart()
	b.holds()

	b = ready()
	b.clocks[clock.Kick].Step(time.Second)
	b.wait(time.Hour)
	b.restart()
	b.holds()
}

func TestBounds(t *testing.T) {
	b := shop(t, lawBounds)
	b.laws.Watched, b.laws.Own = []string{"shop"}, "kick-system"
	own := secret()
	own.Namespace = "kick-system"
	b.create(Manager, request("deployment-web"), own)
	b.laws.AtEnd()
	b.holds()
	other := request("deployment-web")
	other.Namespace = "bank"
	b.create(Manager, other)
	b.fires("KICK wrote KickRequest bank/deployment-web (create), but it watches only shop")

	b = shop(t, lawBounds)
	b.create(Manager, request("deployment-web"))
	b.delete("kubectl", policyKind, "web")
	b.laws.AtEnd()
	b.fires("request shop/deployment-web is Pending, but no policy selects shop/Deployment/web")
	reach(b, v1alpha1.PhaseNoLongerRequired)
	b.laws.violations = nil
	b.laws.AtEnd()
	b.holds()

	b = shop(t, lawBounds)
	b.create(Manager, request("deployment-web"))
	b.delete("kubectl", deploymentKind, "web")
	b.laws.AtEnd()
	b.fires("request shop/deployment-web is Pending, but its workload does not exist")
}

func event(b *bench, object *v1alpha1.KickRequest) (ev clusterEvent) {
	old := b.server.Get(requestKind, types.NamespacedName{Namespace: object.Namespace, Name: object.Name})
	b.requests++
	return statusEvent(old, object, b.requests)
}
