package check

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
)

func TestWaited(t *testing.T) {
	for name, tt := range map[string]struct {
		updated int32
		failed  bool
		back    bool          // a template that it had before
		after   time.Duration // from the new template to the restart
		words   string
	}{
		"over":                     {updated: 1, after: time.Minute},
		"under way":                {after: time.Minute, words: "in the middle of a rollout that began 1m0s before"},
		"a former one":             {back: true, after: time.Minute},
		"given up":                 {failed: true, after: time.Minute},
		"no progress for its time": {after: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawWaited)
			b.laws.RolloutTimeout = 15 * time.Minute
			edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) { d.Spec.Template.Labels["v"] = "2" })
			if tt.back {
				edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) { delete(d.Spec.Template.Labels, "v") })
			}
			stored := b.server.Get(deploymentKind, key("web")).DeepCopyObject().(*appsv1.Deployment)
			stored.Status = appsv1.DeploymentStatus{ObservedGeneration: stored.Generation, Replicas: 1, UpdatedReplicas: tt.updated, ReadyReplicas: 1}
			if tt.failed {
				stored.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: "False", Reason: "ProgressDeadlineExceeded"}}
			}
			if _, err := b.server.Update(stored, statusWrite); err != nil {
				t.Fatal(err)
			}
			b.wait(tt.after)
			b.restart()
			b.judged(tt.words)
		})
	}
}
