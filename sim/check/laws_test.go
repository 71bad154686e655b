package check

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/scenario"
)

func microTime(seconds int) metav1.MicroTime {
	return metav1.NewMicroTime(noon.Add(time.Duration(seconds) * time.Second))
}

func reach(b *bench, phase v1alpha1.Phase, change ...func(*v1alpha1.KickRequest)) {
	b.Helper()
	edit(b, Manager, requestKind, "deployment-web", func(r *v1alpha1.KickRequest) {
		r.Status.Phase = phase
		for _, c := range change {
			c(r)
		}
	})
}

func TestRestarts(t *testing.T) {
	b := shop(t, lawRestarts)
	b.restart()
	b.wait(time.Second)
	b.restart()
	b.laws.AtEnd()
	b.fires("shop/Deployment/web: 2 restarts by KICK, want 0")

	appears := func() {
		b.laws.OnWrite(cluster.Event{Type: cluster.Added, Kind: deploymentKind, Key: types.NamespacedName{Namespace: "shop", Name: "web"}, Object: b.server.Get(deploymentKind, types.NamespacedName{Namespace: "shop", Name: "web"})})
	}
	b = shop(t, lawRestarts)
	b.laws.Expect.Restarts["shop/Deployment/web"] = scenario.Range{Min: 1, Max: 1}
	appears()
	b.laws.AtEnd()
	b.fires("shop/Deployment/web: 0 restarts by KICK, want 1")

	b = shop(t, lawRestarts)
	b.laws.Expect.Restarts["shop/Deployment/web"] = scenario.Range{Min: 1, Max: 2}
	appears()
	b.restart()
	b.laws.AtEnd()
	b.holds()

	b = shop(t, lawRestarts)
	b.laws.Expect.Restarts["shop/Deployment/wbe"] = scenario.Range{}
	b.laws.AtEnd()
	b.fires("shop/Deployment/wbe: the scenario expects restarts of it, and it never existed")
}

func TestOneRequest(t *testing.T) {
	b := shop(t, lawOneRequest)
	b.create(Manager, request("deployment-web"))
	b.holds()
	b.create(Manager, request("deployment-web-2"))
	b.fires("requests deployment-web and deployment-web-2 in shop are both open for Deployment/web")

	b = shop(t, lawOneRequest)
	b.create(Manager, request("deployment-web"))
	reach(b, v1alpha1.PhaseNoLongerRequired)
	b.create(Manager, request("deployment-web-2"))
	b.holds()
	reach(b, v1alpha1.PhasePending)
	b.fires("are both open")
}

func TestGate(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*bench)
		words  string
	}{
		"suspended": {func(b *bench) {
			edit(b, "kubectl", policyKind, "web", func(p *v1alpha1.KickPolicy) { p.Spec.Suspend = true })
		}, "its policy web is suspended"},
		"two policies": {func(b *bench) { b.create("kubectl", policy("all")) }, "policies all and web both match it"},
		"no policy":    {func(b *bench) { b.delete("kubectl", policyKind, "web") }, "no policy manages it"},
		"closed":       {windowed("0 11 * * *", time.Hour, ""), "restart of shop/Deployment/web at 12:00:32.000000Z, but its window closed at 12:00:00Z"},
		"unreadable":   {windowed("0 25 * * *", time.Hour, ""), "cannot be read"},
		"unwatched":    {func(b *bench) { b.laws.Watched = []string{"other"} }, "no policy manages it"},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawGate)
			tt.change(b)
			b.wait(2 * time.Second)
			b.restart()
			b.fires(tt.words)
		})
	}
	b := shop(t, lawGate)
	windowed("0 12 * * *", time.Hour, "")(b)
	b.wait(2 * time.Second)
	b.restart()
	b.holds()
}

func windowed(cron string, duration time.Duration, zone string) func(*bench) {
	return func(b *bench) {
		edit(b, "kubectl", policyKind, "web", func(p *v1alpha1.KickPolicy) {
			p.Spec.Schedule.Windows = []v1alpha1.Window{{Type: v1alpha1.WindowAllow, Cron: cron, Duration: metav1.Duration{Duration: duration}, TimeZone: zone}}
		})
	}
}

// TestGateAtTheSend: a patch that was sent in time may land late.
func TestGateAtTheSend(t *testing.T) {
	b := shop(t, lawGate)
	windowed("0 12 * * *", time.Minute, "")(b)
	b.wait(2 * time.Second)
	b.laws.OnCall(Write{Verb: "patch", Kind: deploymentKind, Key: key("web")})
	b.wait(time.Hour)
	b.restart()
	b.holds()
	b.restart() // nothing was sent for this one
	b.laws.OnCall(Write{Verb: "patch", Kind: deploymentKind, Key: key("web")})
	b.wait(time.Second)
	b.restart()
	b.fires("but its window closed at 12:01:00Z")
}

func TestStampOnly(t *testing.T) {
	for name, change := range map[string]func(*appsv1.Deployment){
		"replicas": func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(4)) },
		"env": func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "b"}}
		},
		"annotation": func(d *appsv1.Deployment) { d.Spec.Template.Annotations = map[string]string{"kick": "x"} },
		"label":      func(d *appsv1.Deployment) { d.Labels["x"] = "y" },
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawStampOnly)
			edit(b, Manager, deploymentKind, "web", change)
			b.fires("KICK changed more of shop/Deployment/web")
		})
	}
	b := shop(t, lawStampOnly)
	b.restart()
	b.holds()
	b.create(Manager, &corev1.ConfigMap{ObjectMeta: meta("state")})
	b.fires("KICK wrote ConfigMap shop/state (create)")
}

func TestPhases(t *testing.T) {
	all := append([]v1alpha1.Phase{"", v1alpha1.PhaseExecuting, v1alpha1.PhaseSucceeded, v1alpha1.PhaseNoLongerRequired, v1alpha1.PhaseFailed, v1alpha1.PhaseDryRun}, unfinished...)
	forbidden := map[[2]v1alpha1.Phase]bool{
		{"Pending", "Succeeded"}: true, {"WaitingForGate", "Succeeded"}: true, {"WaitingForRollout", "Succeeded"}: true,
		{"WaitingForGate", "Pending"}: true, {"Executing", "NoLongerRequired"}: true, {"Executing", "DryRun"}: true,
		{"Executing", "Pending"}: true, {"Executing", "WaitingForGate"}: true, {"Succeeded", "Executing"}: true,
		{"Succeeded", "Failed"}: true, {"Failed", "Succeeded"}: true, {"DryRun", "WaitingForGate"}: true, {"", "Succeeded"}: true,
	}
	for edge := range forbidden {
		b := shop(t, lawPhases)
		b.create("kubectl", request("deployment-web"))
		if edge[0] != "" {
			edit(b, "kubectl", requestKind, "deployment-web", func(r *v1alpha1.KickRequest) { r.Status.Phase = edge[0] })
		}
		reach(b, edge[1], func(r *v1alpha1.KickRequest) { r.Labels = map[string]string{"a": "b"} })
		b.fires("request shop/deployment-web went from ")
	}
	for _, to := range all {
		if to == "" {
			continue
		}
		if ok := legal(v1alpha1.PhasePending, to); ok == (to == v1alpha1.PhaseSucceeded) {
			t.Errorf("Pending -> %s: %v", to, ok)
		}
		if ok := legal(v1alpha1.PhaseFailed, to); ok != (to == v1alpha1.PhasePending || to == v1alpha1.PhaseFailed) {
			t.Errorf("Failed -> %s: %v", to, ok)
		}
	}
}

func TestTimes(t *testing.T) {
	b := shop(t, lawTimes)
	b.create(Manager, request("deployment-web"))
	reach(b, v1alpha1.PhaseWaitingForGate, func(r *v1alpha1.KickRequest) { r.Status.LatestObservedDependencyChange = new(microTime(5)) })
	b.holds()
	reach(b, v1alpha1.PhaseWaitingForGate, func(r *v1alpha1.KickRequest) { r.Status.LatestObservedDependencyChange = new(microTime(4)) })
	b.fires("latestObservedDependencyChange went from 2026-03-01T12:00:05.000000Z to 2026-03-01T12:00:04.000000Z")

	add := func(seconds int, keyID string) func(*v1alpha1.SourceObservation) {
		return func(r *v1alpha1.SourceObservation) {
			r.Spec.KeyID = keyID
			r.Spec.History = []v1alpha1.ObservedContent{{Fingerprint: "g", Observed: microTime(seconds), Written: microTime(seconds)}}
		}
	}
	b = shop(t, lawTimes)
	b.create(Manager, record())
	edit(b, Manager, recordKind, "secret-db", add(-5, "other"))
	b.holds()
	edit(b, Manager, recordKind, "secret-db", add(-9, "other"))
	b.fires("record shop/secret-db: the newest change went from")
}

func TestNoop(t *testing.T) {
	b := shop(t, lawNoop)
	r := request("deployment-web")
	r.Status.Conditions = []metav1.Condition{{Type: "Completed", Status: "Unknown", Reason: "Opened", LastTransitionTime: metav1.NewTime(noon)}}
	b.create(Manager, r)
	reach(b, v1alpha1.PhaseWaitingForGate)
	b.holds()
	reach(b, v1alpha1.PhaseWaitingForGate, func(r *v1alpha1.KickRequest) {
		r.Status.Conditions[0].LastTransitionTime = metav1.NewTime(noon.Add(time.Minute))
	})
	b.fires("KickRequest shop/deployment-web was written (update) and says the same as before")
}

func TestNoopCall(t *testing.T) {
	write := Write{Verb: "update", Sub: "status", Kind: requestKind, Key: key("deployment-web"), Done: true, Before: 7, After: 7}
	for name, tt := range map[string]struct {
		change func(*Write)
		words  string
	}{
		"stored":           {func(w *Write) { w.After = 8 }, ""},
		"refused":          {func(w *Write) { w.Err = apierrors.NewTimeoutError("x", 1) }, ""},
		"not sent yet":     {func(w *Write) { w.Done = false }, ""},
		"a lease":          {func(w *Write) { w.Kind.Kind = "Lease" }, ""},
		"changing nothing": {func(*Write) {}, "update of KickRequest shop/deployment-web was sent and changed nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			b, w := shop(t, lawNoop), write
			tt.change(&w)
			b.laws.OnCall(w)
			b.judged(tt.words)
		})
	}
}

// TestSentAgain: a patch that is sent twice in one pass is no write without a change; in the
// next pass it is.
func TestSentAgain(t *testing.T) {
	for pass, words := range map[int64]string{1: "", 2: "patch of ConfigMap shop/settings was sent and changed nothing"} {
		b := shop(t, lawNoop)
		write := Write{Verb: "patch", Kind: configMapKind, Key: key("settings"), Done: true, Before: 6, After: 7, Known: Known{Pass: 1}}
		b.laws.OnCall(write)
		write.Before, write.Known.Pass = 7, pass
		b.laws.OnCall(write)
		b.judged(words)
	}
}

func TestTerminal(t *testing.T) {
	b := shop(t, lawTerminal)
	b.create(Manager, request("deployment-web"))
	reach(b, v1alpha1.PhaseSucceeded)
	reach(b, v1alpha1.PhasePending)
	reach(b, v1alpha1.PhaseFailed)
	b.holds()
	reach(b, v1alpha1.PhaseFailed, func(r *v1alpha1.KickRequest) { r.Status.LatestObservedDependencyChange = new(microTime(1)) })
	b.fires("request shop/deployment-web is Failed and was written without being reopened")
}

func TestSourceDriven(t *testing.T) {
	newer := func(b *bench) {
		b.create("kubectl", secret(), policy("web"))
		b.wait(time.Second)
		b.create(Manager, record())
		b.wait(time.Minute)
		b.create("kubectl", deployment())
		b.run(b.now())
	}
	b := newBench(t, lawNoRequest)
	newer(b)
	b.create(Manager, request("deployment-web"))
	b.fires("request shop/deployment-web was opened, but shop/Deployment/web was created at 12:01:01.000Z")

	b = newBench(t, lawNoRequest)
	newer(b)
	b.wait(time.Minute)
	b.rotate("second-password")
	b.create(Manager, request("deployment-web"))
	b.holds()

	b = shop(t, lawNoRequest) // adoption: the record comes after the workload
	b.create(Manager, record(), request("deployment-web"))
	b.holds()
}

func TestEpisode(t *testing.T) {
	b := shop(t, lawEpisode)
	b.rotate("second-password")
	b.restart()
	b.wait(time.Second)
	b.rotate("third-password")
	b.restart()
	b.holds()
	b.wait(time.Second)
	b.restart()
	b.fires("shop/Deployment/web was restarted again at 12:00:32.000Z although none of its sources changed since its last restart")
}

func TestDryRun(t *testing.T) {
	b := shop(t, lawDryRun)
	edit(b, "kubectl", policyKind, "web", func(p *v1alpha1.KickPolicy) { p.Spec.DryRun = true })
	b.wait(time.Minute)
	b.restart()
	b.fires("its policy web is a dry-run")
}

func TestCanary(t *testing.T) {
	sum := sha256.Sum256([]byte("first-password"))
	for name, tt := range map[string]struct{ line, form string }{
		"plain":           {`{"msg":"cannot decode first-password"}`, "a value of Secret shop/db stands in a log line"},
		"base64":          {"x " + base64.StdEncoding.EncodeToString([]byte("first-password")), "the base64 form"},
		"digest":          {hex.EncodeToString(sum[:]), "the SHA-256"},
		"part of another": {"my-first-passwords", ""},
		"nothing":         {"restarted web", ""},
		"the key":         {"password", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawCanary)
			b.laws.OnLog(tt.line)
			if tt.form == "" {
				b.holds()
			} else {
				b.fires(tt.form)
			}
		})
	}
	b := shop(t, lawCanary)
	r := request("deployment-web")
	r.Status.Conditions = []metav1.Condition{{Message: "content is first-password now"}}
	b.create(Manager, r)
	b.fires("stands in KickRequest shop/deployment-web")

	b = shop(t, lawCanary)
	r2 := record()
	r2.Spec.History[0].Fingerprint = "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF"
	b.create(Manager, r2)
	b.holds()
	b.laws.OnTold(Told{Note: "content Zm9vYmFyYmF6cXV4... stands"})
	b.fires("the sealed digest of a content stands in an event")

	b = shop(t, lawCanary)
	installation := &corev1.Secret{ObjectMeta: meta("kick-installation-key"), Data: map[string][]byte{"key": []byte("0123456789abcdef0123456789abcdef")}}
	b.create(Manager, installation)
	b.holds()
	b.laws.OnLog("sealed with 0123456789abcdef0123456789abcdef")
	b.fires("a value of Secret shop/kick-installation-key stands in a log line")

	b = shop(t, lawCanary)
	b.create("kubectl", &corev1.ConfigMap{ObjectMeta: meta("c"), Data: map[string]string{"LEVEL": "info", "PORT": "8080", "API": "alpha"}})
	b.laws.OnLog(`{"level":"info","port":"8080","apiVersion":"kick.corewire.io/v1alpha1"}`)
	b.holds()
}

func TestRequests(t *testing.T) {
	b := shop(t, lawRequests)
	b.laws.Expect.Requests["shop/deployment-web"] = "Succeeded"
	b.laws.AtEnd()
	b.fires("request shop/deployment-web does not exist, want Succeeded")

	b = shop(t, lawRequests)
	b.laws.Expect.Requests["shop/deployment-web"] = "Succeeded"
	b.create(Manager, request("deployment-web"))
	b.laws.AtEnd()
	b.fires("request shop/deployment-web is Pending, want Succeeded")
}

// TestEveryLawHasAName guards the list against a forgotten constructor.
func TestEveryLawHasAName(t *testing.T) {
	seen := map[string]bool{}
	for _, entry := range All() {
		if entry.Name == "" || entry.Doc == "" || seen[entry.Name] {
			t.Errorf("entry %+v", entry)
		}
		seen[entry.Name] = true
		l := &Laws{Context: &Context{}}
		l.add(entry.New())
		if len(l.writes)+len(l.kicks)+len(l.calls)+len(l.access)+len(l.told)+len(l.passes)+len(l.logs)+len(l.ends) == 0 {
			t.Errorf("%s has no hook", entry.Name)
		}
	}
}

func TestStorm(t *testing.T) {
	b := shop(t, lawStorm)
	for range stormSize {
		b.create(Manager, request("deployment-web"))
		b.delete("kube-controller-manager", requestKind, "deployment-web")
		b.wait(time.Second)
	}
	b.holds()
	b.create(Manager, request("deployment-web"))
	b.fires("KickRequest shop/deployment-web was created 11 times within 1m0s")
}
