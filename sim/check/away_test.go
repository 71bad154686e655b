package check

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// touch writes metadata of the Secret db as the content's own manager.
func (b *bench) touch() {
	b.Helper()
	edit(b, "kubectl", secretKind, "db", func(s *corev1.Secret) { s.Labels = map[string]string{"at": b.loop.Now().Format("150405")} })
}

// returned says that KICK wrote down that the content of the Secret db was away.
func (b *bench) returned() {
	b.Helper()
	edit(b, Manager, recordKind, "secret-db", func(r *v1alpha1.SourceObservation) {
		r.Spec.History = append(r.Spec.History, r.Spec.History[len(r.Spec.History)-1])
	})
}

// TestTouchedWhileAway: metadata of the content's own manager, written around the time
// at which a pod started.
func TestTouchedWhileAway(t *testing.T) {
	for name, tt := range map[string]struct {
		start, touch time.Duration // of the pod, from the baseline
		note         func(*bench)
		words        string
	}{
		"a start within the allowances before it": {8 * time.Second, 9 * time.Second, (*bench).returned, ""},
		"a start in the second of it":             {8100 * time.Millisecond, 8 * time.Second, (*bench).returned, ""},
		"a start in a later second":               {9 * time.Second, 8 * time.Second, (*bench).returned, "every running pod carried the current content"},
		"it was no return to KICK":                {8 * time.Second, 9 * time.Second, (*bench).recorded, "every running pod carried the current content"},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawSpurious)
			b.create(Manager, record())
			b.loop.After(tt.start, "start", func() { b.run(b.now()) })
			b.loop.After(tt.touch, "touch", b.touch)
			b.wait(10 * time.Second)
			tt.note(b)
			b.wait(time.Minute)
			b.restart()
			b.judged(tt.words)
		})
	}
}

// TestTouchedWhilePodStarted: the pod is older than the write, its container is not.
func TestTouchedWhilePodStarted(t *testing.T) {
	for _, late := range []bool{true, false} {
		b := shop(t, lawSpurious)
		b.create(Manager, record())
		b.wait(10 * time.Second)
		created := b.loop.Now()
		b.wait(2 * time.Second)
		b.touch()
		b.wait(2 * time.Second)
		if !late {
			created = b.loop.Now()
		}
		b.run(b.now())
		b.pods["shop/Deployment/web"][0].Created = created
		b.wait(10 * time.Second)
		b.returned()
		b.restart()
		if late {
			b.holds()
			continue
		}
		b.fires("every running pod carried the current content")
	}
}

// TestTouchedBeforeBaseline: metadata written before KICK's first look, and how the pod
// stands to it.
func TestTouchedBeforeBaseline(t *testing.T) {
	for name, tt := range map[string]struct {
		created, started time.Duration // of the pod, from the write
		words            string
	}{
		"the pod is older, its container is not":   {-time.Second, time.Minute, ""},
		"pod and container are older":              {-2 * time.Second, -time.Second, ""},
		"the pod is of a later second":             {2 * time.Second, time.Minute, "every running pod carried the current content"},
		"its container was restarted in its place": {-time.Second, -time.Minute, "every running pod carried the current content"},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawSpurious)
			b.wait(time.Minute)
			touched := b.loop.Now()
			b.touch()
			b.wait(2 * time.Minute)
			c := b.run(b.now())
			b.pods["shop/Deployment/web"][0].Created, c.Started = touched.Add(tt.created), touched.Add(tt.started)
			if tt.started < -10*time.Second { // restarted long after, whatever its first start was
				c.Started, c.Again = touched.Add(time.Minute), true
			}
			b.create(Manager, record())
			b.wait(time.Minute)
			b.restart()
			b.judged(tt.words)
		})
	}
}

// restore gives the Secret db a date of its content that lies in the future, and maybe
// another content.
func (b *bench) restore(value string) {
	b.Helper()
	edit(b, "kubectl", secretKind, "db", func(s *corev1.Secret) {
		entry := s.ManagedFields[0]
		entry.Manager, entry.Time = "old-cluster", new(metav1.NewTime(b.loop.Now().AddDate(0, 0, 2)))
		s.ManagedFields = append(s.ManagedFields, entry)
		s.Data["password"] = []byte(value)
	})
}

// TestDateAhead: a date in the future shows no time, and no more than that.
func TestDateAhead(t *testing.T) {
	const fires = "every running pod carried the current content"
	for name, tt := range map[string]struct {
		act   func(*bench)
		words string
	}{
		"at the baseline": {func(b *bench) {
			b.restore("first-password")
			b.wait(time.Minute)
			b.run(b.now())
			b.create(Manager, record())
		}, ""},
		"a pod that came after the baseline": {func(b *bench) {
			b.restore("first-password")
			b.wait(time.Minute)
			b.create(Manager, record())
			b.wait(7 * time.Second)
			b.run(b.now())
		}, fires},
		"the date has come before the baseline": {func(b *bench) {
			b.restore("first-password")
			b.wait(49 * time.Hour)
			b.run(b.now())
			b.create(Manager, record())
		}, fires},
		"found away, when the date had come": {func(b *bench) {
			b.create(Manager, record())
			b.wait(time.Second)
			b.restore("first-password")
			b.wait(47 * time.Hour)
			b.run(b.now())
			b.wait(2 * time.Hour)
			b.returned()
		}, ""},
		"found away, a pod that came after the date": {func(b *bench) {
			b.create(Manager, record())
			b.wait(time.Second)
			b.restore("first-password")
			b.wait(49 * time.Hour)
			b.run(b.now())
			b.wait(time.Hour)
			b.returned()
		}, fires},
		"found away": {func(b *bench) {
			b.create(Manager, record())
			b.wait(time.Second)
			b.restore("first-password")
			b.wait(time.Minute)
			b.run(b.now())
			b.returned()
		}, ""},
		"a change": {func(b *bench) {
			b.create(Manager, record())
			b.wait(time.Second)
			b.restore("second-password")
			b.recorded()
			b.wait(3 * time.Second)
			b.run(b.now())
		}, ""},
		"a change long on record": {func(b *bench) {
			b.create(Manager, record())
			b.wait(time.Second)
			b.restore("second-password")
			b.wait(time.Second)
			b.recorded()
			b.wait(time.Minute)
			b.run(b.now())
			b.recorded()
		}, fires},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawSpurious)
			tt.act(b)
			b.wait(time.Minute)
			b.restart()
			b.judged(tt.words)
		})
	}
}

// TestPolicyEditedSinceItWasRead: between its last look at the policies and the wire
// nothing is in KICK's hand.
func TestPolicyEditedSinceItWasRead(t *testing.T) {
	for law, words := range map[string]string{lawGate: "no policy manages it", lawSpurious: "every running pod carried the current content"} {
		for _, before := range []bool{true, false} {
			b := shop(t, law)
			b.rotate("second-password")
			b.wait(time.Minute)
			w := patch(false, nil)
			w.Known.Policies = b.loop.Now()
			if before {
				w.Known.Policies = b.loop.Now().Add(time.Minute)
			}
			b.wait(30 * time.Second)
			b.delete("kubectl", policyKind, "web")
			b.wait(time.Minute)
			b.laws.OnCall(w)
			b.restart()
			if before {
				b.fires(words)
				continue
			}
			b.holds()
		}
	}
}

// TestServedOldThatIsRightAgain: a node gave a container a content that was no longer
// the one that stood, and then that content came back.
func TestServedOldThatIsRightAgain(t *testing.T) {
	for _, old := range []bool{true, false} {
		b := shop(t, lawSpurious)
		rotate := func(value string) {
			b.wait(time.Minute)
			b.rotate(value)
			b.wait(time.Second)
			b.recorded()
		}
		b.create(Manager, record())
		first := b.now()
		rotate("second-password")
		b.wait(time.Minute)
		if old {
			b.run(first)
		} else { // what it read came back by way of another one
			b.run(b.now())
			rotate("third-password")
			rotate("second-password")
			b.wait(time.Second)
			b.restart()
			b.fires("every running pod carried the current content")
			continue
		}
		rotate("first-password")
		b.wait(time.Second)
		b.restart()
		b.holds()
	}
}

// TestVolumeOfARestartedContainer: what its node wrote into a volume by the time a
// container came back no object says.
func TestVolumeOfARestartedContainer(t *testing.T) {
	for _, mounted := range []bool{true, false} {
		b := shop(t, lawSpurious)
		if mounted {
			edit(b, "kubectl", deploymentKind, "web", func(d *appsv1.Deployment) {
				spec := &d.Spec.Template.Spec
				spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "db"}}}}
				spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
			})
		}
		b.create(Manager, record())
		b.wait(time.Minute)
		created := b.pods["shop/Deployment/web"][0].Created
		b.rotate("second-password")
		b.wait(time.Second)
		b.recorded()
		b.wait(time.Hour)
		b.run(b.now()).Again = true
		b.pods["shop/Deployment/web"][0].Created = created
		b.wait(time.Minute)
		b.restart()
		if mounted {
			b.holds()
			continue
		}
		b.fires("every running pod carried the current content")
	}
}

// TestPodsJustLeft: a restart for a change whose pods were taken away in the same second, or
// after KICK had listed them.
func TestPodsJustLeft(t *testing.T) {
	const fires = "no pod of it was running"
	for name, tt := range map[string]struct {
		leave, restart, listed time.Duration // from the change
		words                  string
	}{
		"at once":              {100 * time.Millisecond, 500 * time.Millisecond, 0, ""},
		"the restart is late":  {100 * time.Millisecond, 2 * time.Second, 0, fires},
		"just before":          {-time.Millisecond, 500 * time.Millisecond, 0, ""},
		"they had left before": {-time.Second, 500 * time.Millisecond, 0, fires},
		"listed before":        {4 * time.Second, 5 * time.Second, 3 * time.Second, ""},
		"listed after":         {2 * time.Second, 5 * time.Second, 3 * time.Second, fires},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawSpurious)
			pod := &corev1.Pod{ObjectMeta: meta("pod-0"), Spec: podSpec()}
			b.create("kubectl", pod)
			b.loop.After(10*time.Second, "change", func() { b.rotate("second-password") })
			b.loop.After(10*time.Second+tt.leave, "leave", func() {
				b.delete("kubectl", schema.GroupKind{Kind: "Pod"}, "pod-0")
				b.pods = nil
			})
			b.wait(10*time.Second + tt.restart)
			if tt.listed > 0 {
				w := patch(false, nil)
				w.Known.Pods = b.loop.Now().Add(tt.listed - tt.restart)
				b.laws.OnCall(w)
			}
			b.restart()
			b.judged(tt.words)
		})
	}
}

// TestTouchedBeforeTold: metadata written between a change and its record.
func TestTouchedBeforeTold(t *testing.T) {
	for _, late := range []bool{true, false} {
		b := shop(t, lawSpurious)
		b.create(Manager, record())
		b.wait(time.Minute)
		b.rotate("second-password")
		b.wait(2 * time.Second)
		if !late {
			b.recorded()
		}
		b.run(b.now())
		b.wait(2 * time.Second)
		b.touch()
		b.wait(time.Second)
		if late {
			b.recorded()
		}
		b.wait(time.Minute)
		b.restart()
		if late {
			b.holds()
			continue
		}
		b.fires("every running pod carried the current content")
	}
}
