package world

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// barePod is a pod without a controller whose container app reads Secret db by env.
func barePod(change func(*corev1.PodSpec)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: meta("one"), Spec: template("one").Spec}
	change(&pod.Spec)
	return pod
}

// withFiles lets the container read Secret db from a volume instead.
func withFiles(optional bool, items ...corev1.KeyToPath) func(*corev1.PodSpec) {
	return func(spec *corev1.PodSpec) {
		spec.Containers[0].Env = nil
		spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: "db", Optional: &optional, Items: items,
		}}}}
		spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
	}
}

func setPassword(r *rig, value string) {
	edit(r, kindSecret, "db", func(s *corev1.Secret) { s.Data["password"] = []byte(value) })
}

// loaded is what the container of the bare pod holds of Secret db.
func loaded(r *rig) (Content, bool) {
	pods := r.world.Pods("shop", "Pod", "one")
	if len(pods) != 1 || len(pods[0].Loads) == 0 {
		return Content{}, false
	}
	loads := pods[0].Loads
	content, ok := loads[len(loads)-1].Sources[refDB]
	return content, ok
}

// reason is why the container of the bare pod waits.
func reason(r *rig) string {
	pod := r.server.Get(kindPod, types.NamespacedName{Namespace: "shop", Name: "one"}).(*corev1.Pod)
	if w := pod.Status.ContainerStatuses[0].State.Waiting; w != nil {
		return string(pod.Status.Phase) + " " + w.Reason
	}
	return string(pod.Status.Phase)
}

func TestMissingSources(t *testing.T) {
	yes := true
	tests := []struct {
		name   string
		pod    func(*corev1.PodSpec)
		secret *corev1.Secret // present from the start
		want   string
		waits  bool
	}{
		{"env without its Secret", func(*corev1.PodSpec) {}, nil, "Pending CreateContainerConfigError", true},
		{"env without its key", func(*corev1.PodSpec) {}, secret("db", "other", "x"), "Pending CreateContainerConfigError", true},
		{"envFrom without its Secret", func(s *corev1.PodSpec) {
			s.Containers[0].Env = nil
			s.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}}}}
		}, nil, "Pending CreateContainerConfigError", true},
		{"volume without its Secret", withFiles(false), nil, "Pending ContainerCreating", true},
		{"volume without an item", withFiles(false, corev1.KeyToPath{Key: "password", Path: "p"}), secret("db", "other", "x"), "Pending ContainerCreating", true},
		{"volume that nobody mounts, without its Secret", func(s *corev1.PodSpec) { withFiles(false)(s); s.Containers[0].VolumeMounts = nil }, nil, "Running", false},
		{"optional env", func(s *corev1.PodSpec) { s.Containers[0].Env[0].ValueFrom.SecretKeyRef.Optional = &yes }, nil, "Running", false},
		{"optional volume", withFiles(true), nil, "Running", false},
		{"optional item", withFiles(true, corev1.KeyToPath{Key: "password", Path: "p"}), secret("db", "other", "x"), "Running", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, Options{})
			if tt.secret != nil {
				r.apply(tt.secret)
			}
			r.apply(barePod(tt.pod))
			r.run(time.Minute)
			if got := reason(r); got != tt.want {
				t.Errorf("before the source: %q, want %q", got, tt.want)
			}
			if !r.world.Settled() {
				t.Error("a pod that waits for a source counts as work")
			}
			if got, _ := loaded(r); !tt.waits && got.Absent != (tt.secret == nil) {
				t.Errorf("loaded %v", got)
			}
			if tt.secret == nil {
				r.apply(secret("db", "password", "new"))
			} else {
				edit(r, kindSecret, "db", func(s *corev1.Secret) { s.Data = map[string][]byte{"password": []byte("new")} })
			}
			r.run(time.Second)
			if got := reason(r); got != "Running" {
				t.Errorf("after the source: %q", got)
			}
			if got, _ := loaded(r); tt.waits && got != password("new") {
				t.Errorf("loaded %v", got)
			}
		})
	}
}

func TestSourcesAreReadAtTheEndOfPodStart(t *testing.T) {
	tests := []struct {
		name    string
		lag     time.Duration
		changed time.Duration // after the creation of the pod
		want    string
	}{
		{"just before", 0, 1999 * time.Millisecond, "new"},
		{"just after", 0, 2001 * time.Millisecond, "old"},
		{"within the lag of the cache", time.Second, 1500 * time.Millisecond, "old"},
		{"before the lag of the cache", time.Second, 900 * time.Millisecond, "new"},
	}
	for _, tt := range tests {
		for _, pod := range []func(*corev1.PodSpec){func(*corev1.PodSpec) {}, withFiles(false)} {
			t.Run(tt.name, func(t *testing.T) {
				r := newRig(t, Options{KubeletCacheLag: tt.lag})
				r.apply(secret("db", "password", "old"))
				r.run(10 * time.Second)
				r.apply(barePod(pod))
				r.run(tt.changed)
				setPassword(r, "new")
				r.run(3 * time.Second)
				if got, _ := loaded(r); got != password(tt.want) {
					t.Errorf("loaded %v, want %s", got, tt.want)
				}
				if r.world.Current(refDB) != password("new") {
					t.Error("Current is not current")
				}
			})
		}
	}
}

func TestCrashedContainersReadAgain(t *testing.T) {
	tests := []struct {
		name  string
		pod   func(*corev1.PodSpec)
		after time.Duration // from the change to the crash
		want  string
	}{
		{"env is current", func(*corev1.PodSpec) {}, time.Second, "new"},
		{"files before the periodic sync", withFiles(false), time.Second, "old"},
		{"files after the periodic sync", withFiles(false), 59 * time.Second, "new"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, Options{})
			r.apply(secret("db", "password", "old"))
			r.apply(barePod(tt.pod))
			r.run(10 * time.Second)
			setPassword(r, "new")
			r.run(tt.after)
			if got, _ := loaded(r); got != password("old") {
				t.Errorf("a running container changed to %v", got)
			}
			r.must(r.world.CrashContainers("shop", "Pod", "one", 1))
			crash := r.loop.Now()
			if _, ok := loaded(r); ok {
				t.Error("a dead container has a load")
			}
			r.run(2 * time.Second)
			if got, _ := loaded(r); got != password(tt.want) {
				t.Errorf("loaded %v, want %s", got, tt.want)
			}
			pod := r.server.Get(kindPod, types.NamespacedName{Namespace: "shop", Name: "one"}).(*corev1.Pod)
			c := pod.Status.ContainerStatuses[0]
			if c.RestartCount != 1 || !c.LastTerminationState.Terminated.FinishedAt.Time.Equal(crash.Truncate(time.Second)) ||
				!c.State.Running.StartedAt.Time.Equal(crash.Add(time.Second).Truncate(time.Second)) || !isReady(pod) {
				t.Errorf("status %+v", c)
			}
		})
	}
}

func TestFilesKeepTheirContentWhenTheSourceGoes(t *testing.T) {
	r := newRig(t, Options{})
	r.apply(secret("db", "password", "old"))
	r.apply(barePod(withFiles(false)))
	r.run(10 * time.Second)
	setPassword(r, "brief")
	r.run(time.Second)
	r.remove(kindSecret, "db")
	r.run(5 * time.Minute)
	r.must(r.world.CrashContainers("shop", "Pod", "one", 1))
	r.run(2 * time.Second)
	if got, _ := loaded(r); got != password("old") {
		t.Errorf("loaded %v", got)
	}
}

func TestImmutableSourceIsServedFromTheNode(t *testing.T) {
	for _, off := range []bool{false, true} {
		r := newRig(t, Options{Nodes: 1, NoImmutable: off})
		yes := true
		old := secret("db", "password", "old")
		old.Immutable = &yes
		r.apply(old)
		r.apply(deployment("web", 1))
		r.run(10 * time.Second)
		r.remove(kindSecret, "db")
		r.apply(secret("db", "password", "new"))
		r.must(r.world.Restart("shop", "Deployment", "web"))
		r.run(10 * time.Second)
		load := r.world.Pods("shop", "Deployment", "web")[0].Loads[0]
		want, cached := password("old"), 1
		if off {
			want, cached = password("new"), 0
		}
		if load.Sources[refDB] != want || len(load.Cached) != cached {
			t.Errorf("cache off %v: loaded %+v", off, load)
		}
		// Without a consumer on the node the copy is gone.
		r.must(r.world.Scale("shop", "Deployment", "web", 0))
		r.run(10 * time.Second)
		r.must(r.world.Scale("shop", "Deployment", "web", 1))
		r.run(10 * time.Second)
		if got := r.world.Pods("shop", "Deployment", "web")[0].Loads[0].Sources[refDB]; got != password("new") {
			t.Errorf("cache off %v: loaded %v after the scale to zero", off, got)
		}
	}
}

func TestPodTruth(t *testing.T) {
	r := newRig(t, Options{})
	r.apply(secret("db", "password", "old"))
	r.apply(secret("tls", "crt", "a"))
	r.apply(&corev1.ConfigMap{ObjectMeta: meta("cfg"), Data: map[string]string{"a": "1", "b": "2"}, BinaryData: map[string][]byte{"c": {0}}})
	always := corev1.ContainerRestartPolicyAlways
	ref := corev1.LocalObjectReference{Name: "cfg"}
	r.apply(barePod(func(s *corev1.PodSpec) {
		s.InitContainers = []corev1.Container{
			{Name: "migrate", Image: "m:1", Env: []corev1.EnvVar{secretEnv("db", "password")}},
			{Name: "proxy", Image: "p:1", RestartPolicy: &always, EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: ref}}}},
		}
		s.Volumes = []corev1.Volume{
			{Name: "all", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: ref, Items: []corev1.KeyToPath{{Key: "b", Path: "b"}, {Key: "a", Path: "a"}}}},
			}}}},
			{Name: "idle", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "tls"}}},
		}
		s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "all", MountPath: "/a", SubPath: "a"}}
	}))
	r.run(10 * time.Second)
	r.golden("pod-with-init-containers")
	pod := r.world.Pods("shop", "Pod", "one")[0]
	if !pod.Created.Equal(epoch) || !pod.Started.Equal(epoch.Add(2*time.Second)) || !pod.Ready {
		t.Errorf("pod %+v", pod)
	}
	cfg := SourceRef{"ConfigMap", "shop", "cfg"}
	want := []struct {
		container string
		init      bool
		ref       SourceRef
		use       Use
	}{
		{"migrate", true, refDB, Use{Env: true, Keys: []string{"password"}}},
		{"proxy", true, cfg, Use{Env: true, All: true}},
		{"app", false, cfg, Use{Volume: true, SubPath: true, Keys: []string{"a", "b"}}},
		{"", false, SourceRef{"Secret", "shop", "tls"}, Use{Volume: true, Optional: true, All: true}}, // the kubelet does not wait for it
	}
	if len(pod.Loads) != len(want) {
		t.Fatalf("%d loads, want %d", len(pod.Loads), len(want))
	}
	for i, w := range want {
		load := pod.Loads[i]
		use, ok := load.Uses[w.ref]
		if load.Container != w.container || load.Init != w.init || !ok || !sameUse(use, w.use) || load.Sources[w.ref] != r.world.Current(w.ref) {
			t.Errorf("load %d: %+v, want %+v", i, load, w)
		}
	}
}

func sameUse(a, b Use) bool {
	if len(a.Keys) != len(b.Keys) {
		return false
	}
	for i := range a.Keys {
		if a.Keys[i] != b.Keys[i] {
			return false
		}
	}
	return a.Env == b.Env && a.Volume == b.Volume && a.SubPath == b.SubPath && a.All == b.All && a.Optional == b.Optional
}

func TestContentIsInjective(t *testing.T) {
	same := contentOf(&corev1.ConfigMap{Data: map[string]string{"a": "1"}})
	if got := contentOf(&corev1.ConfigMap{BinaryData: map[string][]byte{"a": []byte("1")}}); got != same {
		t.Error("data and binaryData are one payload")
	}
	for _, other := range []map[string]string{{}, {"a": "1", "b": ""}, {"a1": ""}, {"a": "11:b"}} {
		if contentOf(&corev1.ConfigMap{Data: other}) == same {
			t.Errorf("%v counts as equal", other)
		}
	}
}
