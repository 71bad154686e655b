package check

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/corewire/kick/sim/clock"
)

// recordedBy says that a process that had watched since then wrote down what it knows of
// the Secret db.
func (b *bench) recordedBy(began time.Time) {
	b.Helper()
	b.laws.OnCall(Write{Verb: "update", Kind: recordKind, Key: key("secret-db"), Known: Known{Began: began}})
	b.recorded()
}

// TestEndedUnwatched: a content ended while nobody watched, and came back.
func TestEndedUnwatched(t *testing.T) {
	const started = time.Hour // since the baseline
	for name, tt := range map[string]struct {
		noted, ended time.Duration // since the start; when its last record was, zero: the baseline
		watched      bool
		words        string
	}{
		"within two allowances of the start":              {ended: 8 * time.Second},
		"long after, and no record proves that it stood":  {ended: time.Minute},
		"long after, on record within two allowances":     {noted: 9 * time.Second, ended: time.Minute},
		"long after, on record after two allowances":      {noted: 11 * time.Second, ended: time.Minute, words: "every running pod carried the current content"},
		"within two allowances, and the process saw that": {ended: 8 * time.Second, watched: true, words: "every running pod carried the current content"},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawSpurious)
			b.create(Manager, record())
			b.wait(started)
			b.run(b.now())
			if tt.noted > 0 {
				b.wait(tt.noted)
				b.recorded()
			}
			b.wait(tt.ended - tt.noted)
			began := b.loop.Now()
			b.rotate("second-password")
			b.wait(time.Second)
			if !tt.watched {
				began = b.loop.Now()
			}
			b.recordedBy(began)
			b.wait(time.Second)
			b.rotate("first-password")
			b.wait(time.Second)
			b.recordedBy(began)
			b.restart()
			b.judged(tt.words)
		})
	}
}

// TestUndatedBeforeThePod: a change that no date tells came shortly before a pod, and
// everything after it is dated and over.
func TestUndatedBeforeThePod(t *testing.T) {
	for name, tt := range map[string]struct {
		after time.Duration
		words string
	}{
		"within the allowance": {5 * time.Second, ""},
		"two seconds later":    {7 * time.Second, "every running pod carried the current content"},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawSpurious)
			b.create(Manager, record())
			b.wait(time.Minute)
			edit(b, "kubectl", secretKind, "db", func(s *corev1.Secret) { s.Data = nil })
			b.recorded()
			b.wait(tt.after)
			b.run(b.now())
			b.wait(time.Minute)
			b.recorded()
			b.recorded()
			b.restart()
			b.judged(tt.words)
		})
	}
}

// TestMadeAnew: a source was deleted and created again just after a container had read
// it, before KICK's first look.
func TestMadeAnew(t *testing.T) {
	for name, tt := range map[string]struct {
		behind time.Duration // of the API server's clock
		words  string
	}{
		"by its node's clock it started after that": {2 * time.Second, ""},
		"the clocks agree":                          {0, "still runs old content of Secret shop/db"},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawLost)
			b.clocks[clock.APIServer].Step(-tt.behind)
			b.run(b.now())
			b.wait(1500 * time.Millisecond)
			b.delete("kubectl", secretKind, "db")
			made := secret()
			made.Data = map[string][]byte{"password": []byte("second-password")}
			b.create("kubectl", made)
			b.wait(time.Second)
			b.create(Manager, record())
			b.laws.AtEnd()
			b.judged(tt.words)
		})
	}
}

// TestNodeCopyReturns: the node gave a container its copy instead of what stood, and
// that comes back.
func TestNodeCopyReturns(t *testing.T) {
	for _, cached := range []bool{true, false} {
		b := shop(t, lawLost)
		b.create(Manager, record())
		old := b.now()
		b.rotate("second-password")
		b.wait(time.Minute)
		b.run(old).Cached = map[Source]bool{{"Secret", "shop", "db"}: cached}
		b.wait(time.Minute)
		b.rotate("third-password")
		b.wait(time.Minute)
		b.rotate("second-password")
		b.laws.AtEnd()
		if cached {
			b.holds()
			continue
		}
		b.fires("still runs old content of Secret shop/db")
	}
}

// TestTouchedBeforeARestartInPlace: files of a volume may be those of before a write of
// metadata that nobody watched; what env holds was read at the start.
func TestTouchedBeforeARestartInPlace(t *testing.T) {
	volume := func(mounted bool) func(*appsv1.Deployment) {
		return func(d *appsv1.Deployment) {
			c := &d.Spec.Template.Spec.Containers[0]
			c.EnvFrom = nil
			d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "db"}}}}
			if mounted {
				c.VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
			}
		}
	}
	for name, tt := range map[string]struct {
		template func(*appsv1.Deployment)
		reader   string // the container that loaded it
		words    string
	}{
		"mounted":           {volume(true), "app", ""},
		"mounted by nobody": {volume(false), "", ""},
		"read by env":       {func(*appsv1.Deployment) {}, "app", "every running pod carried the current content"},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawSpurious)
			edit(b, "kubectl", deploymentKind, "web", tt.template)
			b.create(Manager, record())
			b.wait(time.Minute)
			b.touch()
			b.wait(time.Minute)
			pod := &b.pods["shop/Deployment/web"][0]
			pod.Containers[0].Name = tt.reader
			if tt.reader == "" {
				pod.Containers = append(pod.Containers, Container{Name: "app", Started: b.loop.Now(), Again: true})
			} else {
				pod.Containers[0].Started, pod.Containers[0].Again = b.loop.Now(), true
			}
			b.returned()
			b.wait(time.Minute)
			b.restart()
			b.judged(tt.words)
		})
	}
}
