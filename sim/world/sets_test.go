package world

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func TestSetTraces(t *testing.T) {
	restart := func(r *rig, kind string) {
		r.note("restart")
		r.must(r.world.Restart("shop", kind, "db"))
	}
	tests := []struct {
		name string
		sts  func(*appsv1.StatefulSet)
		ds   func(*appsv1.DaemonSet)
		run  func(*rig)
	}{
		{"statefulset-rollout-and-undo", func(*appsv1.StatefulSet) {}, nil, func(r *rig) {
			restart(r, "StatefulSet")
			r.run(time.Minute)
			r.note("undo")
			r.must(r.world.Undo("shop", "StatefulSet", "db"))
			r.run(time.Minute)
		}},
		{"statefulset-partition", func(s *appsv1.StatefulSet) {
			s.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{
				Type:          appsv1.RollingUpdateStatefulSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(2))},
			}
		}, nil, func(r *rig) {
			restart(r, "StatefulSet")
			r.run(time.Minute)
			r.note("evict the first: below the partition it comes back as it was")
			r.must(r.world.Evict("shop", "StatefulSet", "db", 1))
			r.run(time.Minute)
			r.note("partition 0")
			edit(r, kindStatefulSet, "db", func(s *appsv1.StatefulSet) { s.Spec.UpdateStrategy.RollingUpdate.Partition = new(int32(0)) })
			r.run(time.Minute)
		}},
		{"statefulset-on-delete", func(s *appsv1.StatefulSet) {
			s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
		}, nil, func(r *rig) {
			restart(r, "StatefulSet")
			r.run(time.Minute)
			r.note("evict all")
			r.must(r.world.Evict("shop", "StatefulSet", "db", 0))
			r.run(time.Minute)
		}},
		{"statefulset-ordered-ready-deadlock", func(*appsv1.StatefulSet) {}, nil, func(r *rig) {
			r.must(r.world.FailImage("shop", "StatefulSet", "db"))
			r.must(r.world.Evict("shop", "StatefulSet", "db", 1))
			r.run(time.Minute)
			r.note("a restart changes nothing while db-0 is unready")
			r.must(r.world.Restart("shop", "StatefulSet", "db"))
			r.run(time.Hour)
			r.note("somebody deletes it, the cause being gone")
			delete(r.world.failing, workload{"StatefulSet", keyOf(statefulSet("db", 3))})
			r.must(r.world.Evict("shop", "StatefulSet", "db", 1))
			r.run(time.Minute)
		}},
		{"statefulset-parallel", func(s *appsv1.StatefulSet) {
			s.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
		}, nil, func(r *rig) {
			r.must(r.world.FailImage("shop", "StatefulSet", "db"))
			r.must(r.world.Evict("shop", "StatefulSet", "db", 1))
			r.run(time.Minute)
			delete(r.world.failing, workload{"StatefulSet", keyOf(statefulSet("db", 3))})
			r.note("unavailable outdated pods go first, and do not block")
			restart(r, "StatefulSet")
			r.run(time.Minute)
		}},
		{"statefulset-scale", func(*appsv1.StatefulSet) {}, nil, func(r *rig) {
			r.must(r.world.Scale("shop", "StatefulSet", "db", 1))
			r.run(time.Minute)
			r.must(r.world.Scale("shop", "StatefulSet", "db", 2))
			r.run(time.Minute)
		}},
		{"daemonset-rolling", nil, func(*appsv1.DaemonSet) {}, func(r *rig) {
			restart(r, "DaemonSet")
			r.run(time.Minute)
			r.note("undo")
			r.must(r.world.Undo("shop", "DaemonSet", "db"))
			r.run(time.Minute)
		}},
		{"daemonset-surge", nil, func(d *appsv1.DaemonSet) {
			d.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{
				Type: appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{
					MaxSurge: new(intstr.FromInt32(2)), MaxUnavailable: new(intstr.FromInt32(0)),
				},
			}
		}, func(r *rig) {
			restart(r, "DaemonSet")
			r.run(time.Minute)
			r.note("evict one")
			r.must(r.world.Evict("shop", "DaemonSet", "db", 1))
			r.run(time.Minute)
		}},
		{"daemonset-on-delete", nil, func(d *appsv1.DaemonSet) {
			d.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType
		}, func(r *rig) {
			restart(r, "DaemonSet")
			r.run(time.Minute)
			r.note("evict one")
			r.must(r.world.Evict("shop", "DaemonSet", "db", 1))
			r.run(time.Minute)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, Options{})
			r.quiet = true
			r.apply(secret("db", "password", "old"))
			if tt.sts != nil {
				s := statefulSet("db", 3)
				tt.sts(s)
				r.apply(s)
			} else {
				d := daemonSet("db")
				tt.ds(d)
				r.apply(d)
			}
			r.run(20 * time.Second)
			r.quiet = false
			tt.run(r)
			if !r.world.Settled() {
				t.Error("not settled")
			}
			r.golden(tt.name)
		})
	}
}

func TestMinReadySecondsDelaysAvailability(t *testing.T) {
	r := newRig(t, Options{})
	r.apply(secret("db", "password", "old"))
	d := deployment("web", 1)
	d.Spec.MinReadySeconds = 10
	r.apply(d)
	s := statefulSet("data", 1)
	s.Spec.MinReadySeconds = 10
	r.apply(s)
	for _, at := range []struct {
		seconds time.Duration
		want    int32
	}{{11, 0}, {14, 1}} {
		r.run(epoch.Add(at.seconds * time.Second).Sub(r.loop.Now()))
		stored := r.server.Get(kindDeployment, keyOf(d)).(*appsv1.Deployment)
		if got := stored.Status.AvailableReplicas; got != at.want {
			t.Errorf("after %ds: %d available in the Deployment, want %d", at.seconds, got, at.want)
		}
		set := r.server.Get(kindStatefulSet, keyOf(s)).(*appsv1.StatefulSet)
		if got := set.Status.AvailableReplicas; got != at.want {
			t.Errorf("after %ds: %d available in the StatefulSet, want %d", at.seconds, got, at.want)
		}
	}
}

func TestStatefulSetPodsMountTheirClaims(t *testing.T) {
	r := newRig(t, Options{})
	r.apply(secret("db", "password", "old"))
	s := statefulSet("db", 1)
	s.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: meta("data"), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
	}}}
	s.Spec.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	r.apply(s)
	r.run(10 * time.Second)
	pods := r.world.Pods("shop", "StatefulSet", "db")
	if len(pods) != 1 || pods[0].Name != "db-0" {
		t.Fatalf("got %v", pods)
	}
	pod := r.server.Get(kindPod, keyOf(&corev1.Pod{ObjectMeta: meta("db-0")})).(*corev1.Pod)
	if claim := pod.Spec.Volumes[0].PersistentVolumeClaim; ptr.Deref(claim, corev1.PersistentVolumeClaimVolumeSource{}).ClaimName != "data-db-0" {
		t.Errorf("claim %v", claim)
	}
}
