package check

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

func TestLostFires(t *testing.T) {
	b := shop(t, lawLost)
	b.rotate("second-password")
	b.wait(time.Hour)
	b.laws.AtEnd()
	b.fires("shop/Deployment/web: pod pod-0 container app still runs old content of Secret shop/db (read 12:00:20.000Z, changed 12:00:30.000Z); no request exists")
}

// A copy that was right when it was served excuses nothing.
func TestLostFiresForANodeCopyFromBefore(t *testing.T) {
	b := shop(t, lawLost)
	b.run(b.now()).Cached = map[Source]bool{{"Secret", "shop", "db"}: true}
	b.wait(time.Second)
	b.rotate("second-password")
	b.wait(time.Hour)
	b.laws.AtEnd()
	b.fires("still runs old content of Secret shop/db")
}

func TestLostHolds(t *testing.T) {
	tests := map[string]func(*bench){
		"nothing changed": func(*bench) {},
		"the pod was replaced": func(b *bench) {
			b.rotate("second-password")
			b.run(b.now())
		},
		"nobody manages it": func(b *bench) {
			b.rotate("second-password")
			edit(b, "kubectl", policyKind, "web", func(p *v1alpha1.KickPolicy) {
				p.Spec.Discovery.WorkloadSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}}
			})
		},
		"the source is out of scope": func(b *bench) {
			b.rotate("second-password")
			edit(b, "kubectl", policyKind, "web", func(p *v1alpha1.KickPolicy) {
				p.Spec.Discovery.DependencySelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "shop"}}
			})
		},
		"a required source is gone": func(b *bench) { b.delete("kubectl", secretKind, "db") },
		"the kubelet had the old object": func(b *bench) {
			old := b.now()
			b.rotate("second-password")
			b.laws.World.KubeletCacheLag = 2 * time.Second
			b.wait(time.Second)
			b.run(old)
		},
		"the node served its copy of an immutable source": func(b *bench) {
			old := b.now()
			b.rotate("second-password")
			b.wait(time.Second)
			b.run(old).Cached = map[Source]bool{{"Secret", "shop", "db"}: true}
		},
		"the scenario allows it": func(b *bench) {
			b.rotate("second-password")
			b.laws.Expect.Allow.Lost = 1
		},
	}
	for name, act := range tests {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawLost)
			act(b)
			b.wait(time.Hour)
			b.laws.AtEnd()
			b.holds()
		})
	}
}

// TestBlocks tries every block twice: named and true, and named but not true.
func TestBlocks(t *testing.T) {
	phase := func(p v1alpha1.Phase) func(*v1alpha1.KickRequest) {
		return func(r *v1alpha1.KickRequest) { r.Status.Phase = p }
	}
	gate := func(reason string) func(*v1alpha1.KickRequest) {
		return func(r *v1alpha1.KickRequest) {
			r.Status.Phase, r.Status.Gate = v1alpha1.PhaseWaitingForGate, &v1alpha1.GateStatus{Reason: reason}
		}
	}
	workload := func(change func(*appsv1.Deployment)) func(*bench) {
		return func(b *bench) { edit(b, "kubectl", deploymentKind, "web", change) }
	}
	rules := func(change func(*v1alpha1.KickPolicySpec)) func(*bench) {
		return func(b *bench) {
			edit(b, "kubectl", policyKind, "web", func(p *v1alpha1.KickPolicy) { change(&p.Spec) })
		}
	}
	window := func(cron string) func(*bench) {
		return rules(func(s *v1alpha1.KickPolicySpec) {
			s.Schedule.Windows = []v1alpha1.Window{{Type: v1alpha1.WindowAllow, Cron: cron, Duration: metav1.Duration{Duration: time.Hour}}}
		})
	}
	tests := map[string]struct {
		says  func(*v1alpha1.KickRequest)
		truth func(*bench)
	}{
		"Paused":             {gate("Paused"), workload(func(d *appsv1.Deployment) { d.Spec.Paused = true })},
		"PolicySuspended":    {gate("PolicySuspended"), rules(func(s *v1alpha1.KickPolicySpec) { s.Suspend = true })},
		"PolicyConflict":     {gate("PolicyConflict"), func(b *bench) { b.create("kubectl", policy("second")) }},
		"DryRun":             {phase(v1alpha1.PhaseDryRun), rules(func(s *v1alpha1.KickPolicySpec) { s.DryRun = true })},
		"OutsideSchedule":    {gate("OutsideSchedule"), window("0 3 * * *")},
		"ConfigurationError": {gate("ConfigurationError"), window("0 25 * * *")},
		"SourceMissing": {gate("SourceMissing"), workload(func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].EnvFrom = append(d.Spec.Template.Spec.Containers[0].EnvFrom, corev1.EnvFromSource{
				ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "gone"}}})
		})},
		"SourceMissing for a key": {gate("SourceMissing"), workload(func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "db"}, Key: "gone"}}}}
		})},
		"Failed":            {phase(v1alpha1.PhaseFailed), workload(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(5)) })},
		"Failed, reverted":  {phase(v1alpha1.PhaseFailed), func(b *bench) { b.laws.stamps["shop/Deployment/web"] = "2026-03-01T12:00:31Z" }},
		"WaitingForRollout": {phase(v1alpha1.PhaseWaitingForRollout), workload(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(5)) })},
		"RateLimited": {gate("RateLimited"), func(b *bench) {
			b.laws.stamps["shop/Deployment/web"] = b.loop.Now().Add(50 * time.Minute).Format(time.RFC3339Nano)
			rules(func(s *v1alpha1.KickPolicySpec) { s.Restart.MinInterval = &metav1.Duration{Duration: time.Hour} })(b)
		}},
		"Settling": {gate("Settling"), rules(func(s *v1alpha1.KickPolicySpec) { s.Restart.SettleDelay = &metav1.Duration{Duration: time.Hour} })},
	}
	for name, tt := range tests {
		for _, true_ := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				b := shop(t, lawLost)
				b.complete()
				r := request("deployment-web")
				tt.says(r)
				b.create(Manager, r)
				b.rotate("second-password")
				if true_ {
					tt.truth(b)
				}
				b.laws.Healed = b.loop.Now()
				b.wait(time.Hour)
				b.laws.AtEnd()
				if true_ {
					b.holds()
				} else {
					b.fires("which does not hold")
				}
			})
		}
	}
}

// complete writes the status of a Deployment that is done.
func (b *bench) complete() {
	b.Helper()
	stored := b.server.Get(deploymentKind, key("web")).DeepCopyObject().(*appsv1.Deployment)
	stored.Status = appsv1.DeploymentStatus{ObservedGeneration: 99, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1}
	if _, err := b.server.Update(stored, statusWrite); err != nil {
		b.Fatal(err)
	}
}

// TestGateOfFinishedRequest: what a request once waited for excuses nothing.
func TestGateOfFinishedRequest(t *testing.T) {
	b := shop(t, lawLost)
	r := request("deployment-web")
	r.Status.Phase, r.Status.Gate = v1alpha1.PhaseSucceeded, &v1alpha1.GateStatus{Reason: "PolicySuspended"}
	b.create(Manager, r)
	b.rotate("second-password")
	edit(b, "kubectl", policyKind, "web", func(p *v1alpha1.KickPolicy) { p.Spec.Suspend = true })
	b.laws.AtEnd()
	b.fires("KICK says Succeeded")
}

// TestWindowGaveChance: a window that stood open for an hour after all faults had
// ended is no excuse once it is shut again.
func TestWindowGaveChance(t *testing.T) {
	b := shop(t, lawLost)
	edit(b, "kubectl", policyKind, "web", func(p *v1alpha1.KickPolicy) {
		p.Spec.Schedule.Windows = []v1alpha1.Window{{Type: v1alpha1.WindowAllow, Cron: "0 13 * * *", Duration: metav1.Duration{Duration: time.Hour}}}
	})
	r := request("deployment-web")
	r.Status.Phase, r.Status.Gate = v1alpha1.PhaseWaitingForGate, &v1alpha1.GateStatus{Reason: "OutsideSchedule"}
	b.create(Manager, r)
	b.rotate("second-password")
	b.laws.Healed = b.loop.Now()
	b.wait(30 * time.Minute)
	b.laws.AtEnd()
	b.holds()
	b.wait(2 * time.Hour)
	b.laws.AtEnd()
	b.fires("KICK says OutsideSchedule")

	b.laws.violations = nil // until just now something else may have stood against it
	edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) { d.Spec.Paused = true })
	edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) { d.Spec.Paused = false })
	b.laws.AtEnd()
	b.holds()
}

func TestStatefulSetBlocks(t *testing.T) {
	for name, tt := range map[string]struct {
		strategy appsv1.StatefulSetUpdateStrategy
		reason   string
		ordinal  int
		excused  bool
	}{
		"OnDelete":             {appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}, "OnDelete", 0, true},
		"not OnDelete":         {appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType}, "OnDelete", 0, false},
		"below the partition":  {partition(2), "Partitioned", 1, true},
		"above the partition":  {partition(1), "Partitioned", 1, false},
		"partition, no reason": {partition(2), "Paused", 1, false},

		"failed, and below the partition": {partition(2), "RolloutTimeout", 1, true},
		"failed, and above the partition": {partition(1), "RolloutTimeout", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, lawLost)
			b.create("kubectl", secret(), policy("web"), &appsv1.StatefulSet{ObjectMeta: meta("set"), Spec: appsv1.StatefulSetSpec{
				Replicas: new(int32(3)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Template: template(), UpdateStrategy: tt.strategy,
			}})
			b.runAs("shop/StatefulSet/set", Source{"Secret", "shop", "db"}, Content{Exists: true, Key: "old"})
			b.pods["shop/StatefulSet/set"][0].Ordinal = tt.ordinal
			r := request("statefulset-set")
			r.Spec.TargetRef = v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "set"}
			r.Status.Phase, r.Status.Gate = v1alpha1.PhaseWaitingForRollout, &v1alpha1.GateStatus{Reason: tt.reason}
			b.create(Manager, r)
			b.laws.stamps["shop/StatefulSet/set"] = "" // it was restarted, and that stands
			set := b.server.Get(setKind, key("set")).DeepCopyObject().(*appsv1.StatefulSet)
			set.Status = appsv1.StatefulSetStatus{ObservedGeneration: 9, Replicas: 3, ReadyReplicas: 3, UpdatedReplicas: 3}
			if _, err := b.server.Update(set, statusWrite); err != nil {
				t.Fatal(err)
			}
			b.laws.AtEnd()
			if tt.excused {
				b.holds()
			} else {
				b.fires("which does not hold")
			}
		})
	}
}
