package confirm

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/corewire/kick/kick/model/schedule"
	"github.com/corewire/kick/sim/foreign"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

func TestCallOf(t *testing.T) {
	tests := map[string]struct {
		method, url string
		want        call
		counts      bool
	}{
		"stamp":        {"PATCH", "/apis/apps/v1/namespaces/shop/deployments/web", call{verb: "patch", kind: "Deployment", namespace: "shop", name: "web", group: "apps", resource: "deployments"}, true},
		"status":       {"PUT", "/apis/kick.corewire.io/v1alpha1/namespaces/shop/kickrequests/a/status", call{verb: "update", kind: "KickRequest", namespace: "shop", name: "a", group: "kick.corewire.io", resource: "kickrequests"}, true},
		"live read":    {"GET", "/api/v1/namespaces/shop/pods", call{verb: "list", kind: "Pod", namespace: "shop", resource: "pods"}, true},
		"filled cache": {"GET", "/api/v1/namespaces/shop/pods?resourceVersion=0", call{kind: "Pod", namespace: "shop", resource: "pods"}, false},
		"watch":        {"GET", "/api/v1/namespaces/shop/pods?watch=true", call{kind: "Pod", namespace: "shop", resource: "pods"}, false},
		"lease":        {"PUT", "/apis/coordination.k8s.io/v1/namespaces/kick/leases/kick", call{verb: "update", namespace: "kick", name: "kick", group: "coordination.k8s.io", resource: "leases"}, false},
		"event":        {"POST", "/apis/events.k8s.io/v1/namespaces/shop/events", call{verb: "create", namespace: "shop", group: "events.k8s.io", resource: "events"}, false},
		"right":        {"POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", call{verb: "create", group: "authorization.k8s.io", resource: "selfsubjectrulesreviews"}, false},
		"discovery":    {"GET", "/apis", call{}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := callOf(httptest.NewRequest(tt.method, tt.url, nil))
			if got != tt.want || got.counts() != tt.counts {
				t.Errorf("got %+v (counts %v), want %+v (counts %v)", got, got.counts(), tt.want, tt.counts)
			}
		})
	}
}

// api is an API server that counts what reaches it.
func api(t *testing.T) (*rest.Config, *[]string) {
	var reached []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		reached = append(reached, r.Method+" "+r.URL.Path+" "+string(body))
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}, &reached
}

func TestProxy(t *testing.T) {
	const body = `{"metadata":{"name":"web","resourceVersion":"7"}}`
	tests := map[string]struct {
		trouble func(*trouble)
		status  int
		reason  metav1.StatusReason
		reached bool
		killed  bool
	}{
		"nothing":        {func(*trouble) {}, 201, "", true, false},
		"conflict":       {func(t *trouble) { t.add(steps.Fault{Name: "conflict", Verb: "create"}) }, 409, metav1.StatusReasonConflict, false, false},
		"throttled":      {func(t *trouble) { t.add(steps.Fault{Name: "throttled", ObjectName: "web"}) }, 429, metav1.StatusReasonTooManyRequests, false, false},
		"another object": {func(t *trouble) { t.add(steps.Fault{Name: "throttled", ObjectName: "api"}) }, 201, "", true, false},
		"another kind":   {func(t *trouble) { t.add(steps.Fault{Name: "serverError", Kind: "Secret"}) }, 201, "", true, false},
		"lost timeout":   {func(t *trouble) { t.add(steps.Fault{Name: "timeoutLost"}) }, 500, metav1.StatusReasonServerTimeout, false, false},
		"landed timeout": {func(t *trouble) { t.add(steps.Fault{Name: "timeoutLanded"}) }, 500, metav1.StatusReasonServerTimeout, true, false},
		"crash landed":   {func(t *trouble) { t.crashAtWrite(1, true) }, 200, "", true, true},
		"crash lost":     {func(t *trouble) { t.crashAtWrite(1, false) }, 200, "", false, true},
		"later crash":    {func(t *trouble) { t.crashAtWrite(2, false) }, 201, "", true, false},
		"healed":         {func(t *trouble) { t.add(steps.Fault{Name: "timeoutLost"}); t.crashAtWrite(1, false); t.heal() }, 201, "", true, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			config, reached := api(t)
			trouble, killed := newTrouble(), false
			tt.trouble(trouble)
			p, err := newProxy(config, trouble, func() { killed = true }, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer p.close()
			response, err := http.Post(p.url()+"/apis/kick.corewire.io/v1alpha1/namespaces/shop/kickrequests", "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = response.Body.Close() }()
			var status metav1.Status
			_ = json.NewDecoder(response.Body).Decode(&status)
			if response.StatusCode != tt.status || apierrors.ReasonForError(&apierrors.StatusError{ErrStatus: status}) != tt.reason {
				t.Errorf("answer %d %q", response.StatusCode, status.Reason)
			}
			if (len(*reached) == 1) != tt.reached || killed != tt.killed {
				t.Errorf("reached the API server: %v, killed: %v", *reached, killed)
			}
			if tt.reached && !strings.HasSuffix((*reached)[0], body) {
				t.Errorf("the body arrived as %s", (*reached)[0])
			}
		})
	}
}

func TestFaultsAreCounted(t *testing.T) {
	trouble := newTrouble()
	trouble.add(steps.Fault{Name: "serverError", Times: 2})
	write := call{verb: "update", kind: "KickRequest"}
	for i, want := range []bool{true, true, false} {
		if _, fault := trouble.next(write); (fault != nil) != want {
			t.Errorf("write %d: fault %v", i+1, fault)
		}
	}
}

func TestHeldWatch(t *testing.T) {
	trouble := newTrouble()
	trouble.add(steps.Fault{Name: "staleCache", Kind: "Secret"})
	if trouble.held("ConfigMap") != nil {
		t.Error("a watch of another kind is held")
	}
	held := trouble.held("Secret")
	if held == nil {
		t.Fatal("the watch is not held")
	}
	body := &heldBody{ReadCloser: io.NopCloser(strings.NewReader("event")), held: func() <-chan struct{} { return trouble.held("Secret") }}
	read := make(chan string)
	go func() {
		got, _ := io.ReadAll(body)
		read <- string(got)
	}()
	select {
	case got := <-read:
		t.Fatalf("read %q while held", got)
	case <-time.After(20 * time.Millisecond):
	}
	trouble.heal()
	if got := <-read; got != "event" {
		t.Errorf("read %q", got)
	}
}

func TestCut(t *testing.T) {
	at := func(d ...time.Duration) []time.Duration { return d }
	c := newCut(at(0, 10*time.Second, time.Hour, 2*time.Hour+500*time.Millisecond), at(30*time.Second), time.Second)
	for place, want := range map[time.Duration]time.Duration{
		0: 0, 10 * time.Second: 3 * time.Second, 20 * time.Second: 3 * time.Second,
		time.Hour: 3*time.Second + time.Hour - 37*time.Second, 2*time.Hour + 500*time.Millisecond: 3*time.Second + time.Hour - 37*time.Second + time.Hour - 7*time.Second,
	} {
		if got := c.before(place); got != want {
			t.Errorf("before %s: %s is taken out, want %s", place, got, want)
		}
	}
	if c.idle(0) || !c.idle(time.Hour) {
		t.Error("rest is not seen")
	}
	minutes := newCut(at(0, time.Hour), nil, time.Minute)
	if got := minutes.before(time.Hour); got != 59*time.Minute {
		t.Errorf("%s, want whole minutes", got)
	}
}

func TestShorter(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{2 * time.Second: 2 * time.Second, time.Minute: 10 * time.Second, 15 * time.Minute: 150 * time.Second, 20 * time.Second: 10 * time.Second} {
		if got := shorter(d, 6); got != want {
			t.Errorf("%s / 6: %s, want %s", d, got, want)
		}
	}
}

func TestStretches(t *testing.T) {
	s, err := schedule.Parse([]schedule.Window{
		{Cron: "0 1 * * *", Duration: 2 * time.Hour}, {Deny: true, Cron: "30 1 * * *", Duration: 30 * time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	got := stretches(s, day, day.Add(6*time.Hour))
	want := []stretch{{day.Add(time.Hour), day.Add(90 * time.Minute)}, {day.Add(2 * time.Hour), day.Add(3 * time.Hour)}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %v, want %v", got, want)
	}
}

func resource(t *testing.T, kind string, data map[string]any) scenario.Resource {
	t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	var r scenario.Resource
	r.GVK.Kind, r.Data, r.JSON = kind, data, raw
	return r
}

func TestDatesMove(t *testing.T) {
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	policy := resource(t, "KickPolicy", map[string]any{"spec": map[string]any{
		"schedule": map[string]any{"windows": []any{map[string]any{"type": "Deny", "cron": "0 0 * * *", "duration": "1h", "timeZone": "UTC"}}},
	}})
	moved := rewindowed(policy, day, 2*time.Hour, func(t time.Time) time.Time { return t })
	moved = shifted(moved, day, 48*time.Hour+time.Minute)
	windows, _, _ := windowsOf(moved)
	window := windows[0].(map[string]any)
	if len(windows) != 1 || window["type"] != "Allow" || window["cron"] != "1 1 3 1 *" {
		t.Errorf("windows %v", windows)
	}
	request := resource(t, "KickRequest", map[string]any{"status": map[string]any{"requeueAt": "2026-01-01T01:00:00.000000Z", "message": "at 2026"}})
	status := shifted(request, day, time.Hour).Data["status"].(map[string]any)
	if status["requeueAt"] != "2026-01-01T02:00:00.000000Z" || status["message"] != "at 2026" {
		t.Errorf("status %v", status)
	}
}

func TestNamespacesAreUnique(t *testing.T) {
	n := namespaces{suffix: "ab12001", own: "kick-ab12001"}
	for name, want := range map[string]string{"": "", "shop": "shop-ab12001", "kick-system": "kick-ab12001", strings.Repeat("x", 63): strings.Repeat("x", 55) + "-ab12001"} {
		if got := n.real(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := n.movedBack("shop-ab12001", []string{"a", "shop"}); got != "shop" {
		t.Errorf("back: %q", got)
	}
}

func TestEquals(t *testing.T) {
	expect := scenario.Expect{Restarts: map[string]scenario.Range{"a": {Min: 6, Max: 7}, "n/Deployment/web": {Min: 0, Max: 1}}, Requests: map[string]string{"named": "NoLongerRequired"}}
	of := func(restarts map[string]int, requests map[string]string, broken ...string) Outcome {
		return Outcome{restarts, requests, broken}
	}
	base := of(map[string]int{"a": 6, "b": 1}, map[string]string{"r": "Succeeded"})
	for name, tt := range map[string]struct {
		other Outcome
		want  bool
	}{
		"same":             {of(map[string]int{"a": 6, "b": 1}, map[string]string{"r": "Succeeded"}), true},
		"in the range":     {of(map[string]int{"a": 7, "b": 1}, map[string]string{"r": "Succeeded"}), true},
		"out of the range": {of(map[string]int{"a": 8, "b": 1}, map[string]string{"r": "Succeeded"}), false},
		"another count":    {of(map[string]int{"a": 6, "b": 2}, map[string]string{"r": "Succeeded"}), false},
		"another phase":    {of(map[string]int{"a": 6, "b": 1}, map[string]string{"r": "Failed"}), false},
		"nothing to do":    {of(map[string]int{"a": 6, "b": 1}, map[string]string{"r": "Succeeded", "x": "NoLongerRequired"}), true},
		"but named":        {of(map[string]int{"a": 6, "b": 1}, map[string]string{"r": "Succeeded", "named": "NoLongerRequired"}), false},
		"an open phase":    {of(map[string]int{"a": 6, "b": 1}, map[string]string{"r": "Succeeded", "n/deployment-web": "Failed"}), true},
		"a broken law":     {of(map[string]int{"a": 6, "b": 1}, map[string]string{"r": "Succeeded"}, "nothing lost"), false},
	} {
		if got := base.equals(tt.other, expect); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestReportedContent(t *testing.T) {
	spec := &corev1.PodSpec{
		Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "db", Items: []corev1.KeyToPath{{Key: "pass", Path: "sub/p"}}}}}},
		Containers: []corev1.Container{{
			Name: "app", EnvFrom: []corev1.EnvFromSource{{Prefix: "DB_", SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}}}},
			VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/etc/db"}},
		}},
	}
	source := objectKey{kind: "Secret"}
	source.Name = "db"
	l := &load{container: "app", spec: spec, report: &report{
		Env: map[string]string{"DB_pass": digest("a"), "PATH": digest("/")}, Files: map[string]string{"/etc/db/sub/p": digest("a")},
	}}
	names := map[string]bool{"DB_pass": true, "/etc/db/sub/p": true, "DB_more": true}
	for name, tt := range map[string]struct {
		held content
		want bool
	}{
		"what it loaded": {content{"pass": "a"}, true},
		"another value":  {content{"pass": "b"}, false},
		"another key":    {content{"pass": "a", "more": "b"}, false},
		"nothing":        {nil, false},
	} {
		if got := l.carries(source, tt.held, names); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestForeignKindsAreRefused: the refusal names a suite that there is, whatever the tool.
func TestForeignKindsAreRefused(t *testing.T) {
	for _, tool := range foreign.Tools() {
		var refused reasonError
		if err := otherworldly(scenario.World{CRDs: []string{tool}}); !errors.As(err, &refused) || refused.Class != classCRDs {
			t.Errorf("%s: %v", tool, err)
			continue
		}
		_, rest, _ := strings.Cut(refused.Reason, "chainsaw/suites/")
		suite, _, _ := strings.Cut(rest, " ")
		if _, err := os.Stat(filepath.Join("..", "..", "chainsaw", "suites", suite)); suite == "" || err != nil {
			t.Errorf("%s: %q names no suite: %v", tool, refused.Reason, err)
		}
	}
}
