package world

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestDeploymentTraces(t *testing.T) {
	tests := []struct {
		name string
		run  func(*rig)
	}{
		{"deployment-rollout", func(r *rig) {
			r.run(10 * time.Second)
			r.must(r.world.Restart("shop", "Deployment", "web"))
			r.run(time.Minute)
		}},
		{"deployment-rollback", func(r *rig) {
			r.run(10 * time.Second)
			r.must(r.world.Restart("shop", "Deployment", "web"))
			r.run(time.Minute)
			r.note("undo")
			r.must(r.world.Undo("shop", "Deployment", "web"))
			r.run(time.Minute)
		}},
		{"deployment-pause", func(r *rig) {
			r.run(10 * time.Second)
			r.note("pause, change, scale")
			r.must(r.world.Pause("shop", "Deployment", "web"))
			r.run(time.Second)
			edit(r, kindDeployment, "web", func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "app:2" })
			r.run(10 * time.Second)
			r.must(r.world.Scale("shop", "Deployment", "web", 4))
			r.run(10 * time.Second)
			if r.world.Restart("shop", "Deployment", "web") == nil {
				r.t.Error("a paused Deployment was restarted")
			}
			r.note("resume")
			r.must(r.world.Resume("shop", "Deployment", "web"))
			r.run(time.Minute)
		}},
		{"deployment-scale-zero", func(r *rig) {
			r.run(10 * time.Second)
			r.must(r.world.Scale("shop", "Deployment", "web", 0))
			r.run(10 * time.Second)
			r.note("and back")
			r.must(r.world.Scale("shop", "Deployment", "web", 2))
			r.run(10 * time.Second)
		}},
		{"deployment-deadline", func(r *rig) {
			r.run(10 * time.Second)
			edit(r, kindDeployment, "web", func(d *appsv1.Deployment) { d.Spec.ProgressDeadlineSeconds = new(int32(30)) })
			r.must(r.world.FailImage("shop", "Deployment", "web"))
			r.must(r.world.Restart("shop", "Deployment", "web"))
			r.run(5 * time.Minute)
			r.note("fix")
			r.must(r.world.FixImage("shop", "Deployment", "web"))
			r.run(time.Minute)
		}},
		{"deployment-recreate", func(r *rig) {
			r.run(10 * time.Second)
			edit(r, kindDeployment, "web", func(d *appsv1.Deployment) {
				d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
			})
			r.run(time.Second)
			r.must(r.world.Restart("shop", "Deployment", "web"))
			r.run(time.Minute)
		}},
		{"deployment-scale-in-rollout", func(r *rig) {
			r.run(10 * time.Second)
			r.must(r.world.Restart("shop", "Deployment", "web"))
			r.run(time.Second)
			r.must(r.world.Scale("shop", "Deployment", "web", 6))
			r.run(time.Minute)
		}},
		{"deployment-evict", func(r *rig) {
			r.run(10 * time.Second)
			r.must(r.world.Evict("shop", "Deployment", "web", 1))
			r.run(time.Minute)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, Options{})
			r.apply(secret("db", "password", "old"))
			r.apply(deployment("web", 3))
			tt.run(r)
			if !r.world.Settled() {
				t.Error("not settled")
			}
			r.golden(tt.name)
		})
	}
}

func TestOldReplicaSetsAreCleanedUp(t *testing.T) {
	r := newRig(t, Options{})
	r.apply(secret("db", "password", "old"))
	d := deployment("web", 1)
	d.Spec.RevisionHistoryLimit = new(int32(2))
	stored := r.apply(d)
	for range 6 {
		r.run(20 * time.Second)
		r.must(r.world.Restart("shop", "Deployment", "web"))
	}
	r.run(time.Minute)
	if got := len(r.world.objects.replicaSets(stored.GetUID())); got != 3 {
		t.Errorf("got %d ReplicaSets, want 3", got)
	}
}

func TestFenceposts(t *testing.T) {
	tests := []struct {
		name                       string
		surge, unavailable         intstr.IntOrString
		replicas                   int32
		wantSurge, wantUnavailable int32
	}{
		{"default of one", intstr.FromString("25%"), intstr.FromString("25%"), 1, 1, 0},
		{"default of ten", intstr.FromString("25%"), intstr.FromString("25%"), 10, 3, 2},
		{"both resolve to nothing", intstr.FromInt32(0), intstr.FromString("10%"), 3, 0, 1},
		{"more than there are", intstr.FromInt32(0), intstr.FromInt32(9), 3, 0, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := deployment("web", tt.replicas)
			d.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxSurge: &tt.surge, MaxUnavailable: &tt.unavailable}
			if got := maxSurge(d); got != tt.wantSurge {
				t.Errorf("maxSurge = %d, want %d", got, tt.wantSurge)
			}
			if got := maxUnavailable(d); got != tt.wantUnavailable {
				t.Errorf("maxUnavailable = %d, want %d", got, tt.wantUnavailable)
			}
		})
	}
}
