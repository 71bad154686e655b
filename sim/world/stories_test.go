package world

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tale is what a user does to one workload. A step is a verb of kubectl, or patch
// with a strategic merge patch. A step that begins with an exclamation mark comes
// while the rollout of the step before is under way, as soon as that has made a pod;
// any other comes when all is quiet.
type tale struct {
	name   string
	object client.Object
	steps  []string
}

const (
	newImage  = `patch {"spec":{"template":{"spec":{"containers":[{"name":"app","image":"app:2"}]}}}}`
	thirdOne  = `patch {"spec":{"template":{"spec":{"containers":[{"name":"app","image":"app:3"}]}}}}`
	stamp     = `patch {"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-01T00:00:00.000001Z"}}}}}`
	nextStamp = `patch {"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-01T00:00:01.000001Z"}}}}}`
	annotate  = `patch {"metadata":{"annotations":{"note":"x"}}}`
	// broken stands for an image that never comes up: pods that are never scheduled.
	broken = `patch {"spec":{"template":{"spec":{"schedulingGates":[{"name":"example.com/broken"}]}}}}`
)

// brief are the stories that are told when time is short: each kind, and each way in
// which one rollout runs into another.
var brief = map[string]bool{
	"restart-undo": true, "pause": true, "scale-to-zero-in-rollout": true, "stamp-in-rollout": true, "undo-in-rollout": true,
	"recreate": true, "history": true, "broken": true, "no-surge": true, "orphan": true,
	"set": true, "set-on-delete": true, "set-partition": true, "set-broken": true, "set-stamp-in-rollout": true, "set-history": true,
	"daemon": true, "daemon-on-delete": true, "daemon-surge": true, "daemon-stamp-in-rollout": true, "daemon-history": true,
}

// of makes a story about a workload that is unlike the plain one.
func of[T client.Object](name string, object T, change func(T), steps ...string) tale {
	if change != nil {
		change(object)
	}
	return tale{name, object, steps}
}

func deploymentStories() []tale {
	web := func(n int32) *appsv1.Deployment { return deployment("web", n) }
	rolling := func(surge, unavailable string) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			s, u := intstr.Parse(surge), intstr.Parse(unavailable)
			d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &s, MaxUnavailable: &u}}
		}
	}
	recreate := func(d *appsv1.Deployment) { d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType }
	history := func(n int32) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = &n }
	}
	return []tale{
		of("restart-undo", web(3), nil, "restart", "undo"),
		of("pause", web(3), nil, "pause", newImage, "scale 4", "resume"),
		of("pause-in-rollout", web(3), nil, newImage, "!pause", "scale 5", "resume"),
		of("scale", web(3), nil, "scale 0", "scale 2", "restart"),
		of("scale-up-in-rollout", web(3), nil, newImage, "!scale 5"),
		of("scale-down-in-rollout", web(4), nil, newImage, "!scale 2"),
		of("scale-to-zero-in-rollout", web(3), nil, newImage, "!scale 0", "scale 2"),
		of("change-in-rollout", web(3), nil, newImage, "!"+thirdOne),
		of("stamp-in-rollout", web(3), nil, newImage, "!"+stamp),
		of("stamp-twice", web(3), nil, stamp, "!"+nextStamp),
		of("undo-in-rollout", web(3), nil, newImage, "!undo"),
		of("recreate", web(2), recreate, "restart", "undo"),
		of("recreate-in-rollout", web(2), recreate, newImage, "!"+thirdOne),
		of("history", web(1), history(1), newImage, "restart", "scale 2"),
		of("no-history", web(1), history(0), newImage, "restart"),
		of("broken", web(3), func(d *appsv1.Deployment) { d.Spec.ProgressDeadlineSeconds = new(int32(6)) }, broken, "undo"),
		of("broken-then-mended", web(2), func(d *appsv1.Deployment) { d.Spec.ProgressDeadlineSeconds = new(int32(6)) }, broken, newImage,
			`patch {"spec":{"template":{"spec":{"schedulingGates":[{"$patch":"delete","name":"example.com/broken"}]}}}}`),
		of("min-ready", web(3), func(d *appsv1.Deployment) { d.Spec.MinReadySeconds = 2 }, "restart"),
		of("no-surge", web(3), rolling("0", "1"), newImage, "undo"),
		of("all-surge", web(3), rolling("100%", "0"), newImage, "undo"),
		of("both", web(4), rolling("1", "2"), newImage),
		of("annotate", web(1), nil, annotate, newImage),
		of("delete-and-create", web(2), nil, newImage, "delete", "create"),
		of("orphan", web(2), nil, newImage, "delete orphan"),
	}
}

func setStories() []tale {
	// Without a grace period the API server removes pods at once. A fake node removes
	// them by name, late on a busy machine, and then takes the next pod of that name.
	web := func(n int32) *appsv1.StatefulSet {
		s := statefulSet("web", n)
		s.Spec.Template.Spec.TerminationGracePeriodSeconds = new(int64)
		return s
	}
	partition := func(n int32) func(*appsv1.StatefulSet) {
		return func(s *appsv1.StatefulSet) {
			s.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: &n}}
		}
	}
	onDelete := func(s *appsv1.StatefulSet) { s.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType }
	parallel := func(s *appsv1.StatefulSet) { s.Spec.PodManagementPolicy = appsv1.ParallelPodManagement }
	return []tale{
		of("set", web(3), nil, "restart", "undo", "scale 1"),
		of("set-on-delete", web(2), onDelete, "restart", "kill web-0", "kill web-1"),
		of("set-partition", web(3), partition(2), "restart", `patch {"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`),
		of("set-scale-up-in-rollout", web(2), nil, newImage, "!scale 3"),
		of("set-scale-to-zero-in-rollout", web(2), nil, newImage, "!scale 0", "scale 1"),
		of("set-change-in-rollout", web(2), nil, newImage, "!"+thirdOne),
		of("set-stamp-in-rollout", web(2), nil, newImage, "!"+stamp),
		of("set-undo-in-rollout", web(2), nil, newImage, "!undo"),
		of("set-broken", web(2), nil, broken, "undo", "kill web-1"),
		of("set-parallel", web(3), parallel, "restart", "scale 1"),
		of("set-min-ready", web(2), func(s *appsv1.StatefulSet) { s.Spec.MinReadySeconds = 2 }, "restart"),
		of("set-history", web(1), func(s *appsv1.StatefulSet) { s.Spec.RevisionHistoryLimit = new(int32(1)) }, newImage, thirdOne, stamp),
		of("set-annotate", web(1), nil, annotate),
		of("set-delete-and-create", web(1), nil, newImage, "delete", "create"),
		of("set-orphan", web(1), nil, "delete orphan"),
	}
}

func daemonStories() []tale {
	rolling := func(surge, unavailable int32) func(*appsv1.DaemonSet) {
		return func(d *appsv1.DaemonSet) {
			s, u := intstr.FromInt32(surge), intstr.FromInt32(unavailable)
			d.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxSurge: &s, MaxUnavailable: &u}}
		}
	}
	onDelete := func(d *appsv1.DaemonSet) { d.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType }
	return []tale{
		of("daemon", daemonSet("web"), nil, "restart", "undo"),
		of("daemon-on-delete", daemonSet("web"), onDelete, newImage, "kill", "kill"),
		of("daemon-two-at-once", daemonSet("web"), rolling(0, 2), newImage),
		of("daemon-surge", daemonSet("web"), rolling(1, 0), newImage),
		of("daemon-min-ready", daemonSet("web"), func(d *appsv1.DaemonSet) { d.Spec.MinReadySeconds = 2 }, newImage),
		of("daemon-change-in-rollout", daemonSet("web"), nil, newImage, "!"+thirdOne),
		of("daemon-stamp-in-rollout", daemonSet("web"), nil, newImage, "!"+stamp),
		of("daemon-undo-in-rollout", daemonSet("web"), nil, newImage, "!undo"),
		of("daemon-broken", daemonSet("web"), nil, broken, "undo"),
		of("daemon-history", daemonSet("web"), func(d *appsv1.DaemonSet) { d.Spec.RevisionHistoryLimit = new(int32(0)) }, newImage, thirdOne),
		of("daemon-annotate", daemonSet("web"), nil, annotate),
		of("daemon-delete-and-create", daemonSet("web"), nil, newImage, "delete", "create"),
		of("daemon-orphan", daemonSet("web"), nil, "delete orphan"),
	}
}

// kindOf is the kind of a workload.
func kindOf(object client.Object) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", object), "*v1.")
}
