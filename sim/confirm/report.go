package confirm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/corewire/kick/sim/scenario"
)

// report is what a container says it loaded when it started: digests of its
// environment and of the files in its volumes.
type report struct {
	Env   map[string]string `json:"env"`
	Files map[string]string `json:"files"`
}

// firstPort is where the first container of a pod takes the order to crash.
const firstPort = 18080

// dressed is an object of the scenario as the cluster gets it: with a real kubelet,
// every container runs the image that reports.
func (n *node) dressed(r scenario.Resource) scenario.Resource { //nolint:cyclop // one case a form of pod
	if !n.rig.options.RealPods && !n.binds {
		return r
	}
	path := map[string][]string{
		"Deployment": {"spec", "template", "spec"}, "StatefulSet": {"spec", "template", "spec"},
		"DaemonSet": {"spec", "template", "spec"}, "ReplicaSet": {"spec", "template", "spec"}, "Pod": {"spec"},
	}[r.GVK.Kind]
	if path == nil {
		return r
	}
	return changed(r, func(data map[string]any) {
		spec := data
		for _, field := range path {
			below, ok := spec[field].(map[string]any)
			if !ok {
				return
			}
			spec = below
		}
		_, whole := spec["containers"]
		if !n.rig.options.RealPods {
			if whole {
				n.takesOver(spec)
			}
			return
		}
		port := firstPort
		for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
			items, _ := spec[list].([]any)
			for _, item := range items {
				if c, ok := item.(map[string]any); ok {
					n.dress(c, list == "initContainers" && c["restartPolicy"] != "Always", port)
					port++
				}
			}
		}
		if whole {
			n.slowDown(spec)
		}
	})
}

// slowDown lets pods become ready when the scenario says.
func (n *node) slowDown(spec map[string]any) {
	if n.gated {
		spec["readinessGates"] = []any{map[string]any{"conditionType": worksGate}}
	}
	if start := n.rig.plan.scenario.World.PodStart; start > scenario.DefaultPodStart {
		first := map[string]any{"name": "pod-start", "image": n.rig.options.Image, "args": []any{"--once", "--sleep=" + start.String()}}
		others, _ := spec["initContainers"].([]any)
		spec["initContainers"] = append([]any{first}, others...)
	}
}

func (n *node) dress(c map[string]any, once bool, port int) {
	args := []any{fmt.Sprintf("--listen=:%d", port)}
	if once {
		args = []any{"--once"}
	}
	if image, ok := c["image"].(string); ok {
		args = append(args, "--for="+image)
	}
	mounts, _ := c["volumeMounts"].([]any)
	for _, item := range mounts {
		m, _ := item.(map[string]any)
		if at, ok := m["mountPath"].(string); ok {
			args = append(args, at)
		}
	}
	for _, field := range []string{"command", "readinessProbe", "livenessProbe", "startupProbe", "lifecycle", "resources", "imagePullPolicy"} {
		delete(c, field)
	}
	c["image"], c["args"] = n.rig.options.Image, args
}

// ask reads what a container reported.
func (n *node) ask(ctx context.Context, l *load) {
	options := &corev1.PodLogOptions{Container: l.container}
	err := eventually(ctx, slack, func() error {
		raw, err := n.rig.set.CoreV1().Pods(l.pod.Namespace).GetLogs(l.pod.Name, options).DoRaw(ctx)
		if err != nil {
			return err
		}
		var r report
		if err := json.Unmarshal(raw, &r); err != nil {
			return fmt.Errorf("container %s of %s has not reported yet", l.container, l.pod)
		}
		n.mu.Lock()
		l.report = &r
		n.mu.Unlock()
		return nil
	})
	// A pod that is gone can no longer be asked, and no longer counts.
	if object := n.rig.record.at(objectKey{"Pod", l.pod}, time.Now()); ctx.Err() == nil && object != nil && object.GetUID() == l.uid && object.GetDeletionTimestamp() == nil {
		n.rig.problem(err)
	}
}

// kill lets the containers of a pod end as a crash would.
func (n *node) kill(ctx context.Context, pod *corev1.Pod) error {
	port := firstPort + len(pod.Spec.InitContainers)
	for i := range pod.Spec.Containers {
		target := fmt.Sprintf("%s:%d", pod.Name, port+i)
		err := n.rig.set.CoreV1().RESTClient().Post().Namespace(pod.Namespace).Resource("pods").Name(target).
			SubResource("proxy").Suffix("crash").Do(ctx).Error()
		if err != nil {
			return fmt.Errorf("crash %s: %w", target, err)
		}
	}
	return nil
}

// projected is what a container shows of a source's content: digests by the names
// of variables and the paths of files.
func (l *load) projected(source objectKey, c content) map[string]string {
	out := map[string]string{}
	if c == nil {
		return out
	}
	for _, container := range slices.Concat(l.spec.InitContainers, l.spec.Containers) {
		if container.Name == l.container {
			envOf(container, source, c, out)
			filesOf(l.spec.Volumes, container, source, c, out)
		}
	}
	return out
}

func envOf(container corev1.Container, source objectKey, c content, out map[string]string) { //nolint:cyclop // one case a way to read
	for _, from := range container.EnvFrom {
		if (from.SecretRef != nil && is(source, "Secret", from.SecretRef.Name)) || (from.ConfigMapRef != nil && is(source, "ConfigMap", from.ConfigMapRef.Name)) {
			for k, v := range c {
				out[from.Prefix+k] = digest(v)
			}
		}
	}
	for _, e := range container.Env {
		delete(out, e.Name) // it hides one of envFrom
		if e.ValueFrom == nil {
			continue
		}
		key := ""
		if r := e.ValueFrom.SecretKeyRef; r != nil && is(source, "Secret", r.Name) {
			key = r.Key
		}
		if r := e.ValueFrom.ConfigMapKeyRef; r != nil && is(source, "ConfigMap", r.Name) {
			key = r.Key
		}
		if v, ok := c[key]; ok && key != "" {
			out[e.Name] = digest(v)
		}
	}
}

func filesOf(volumes []corev1.Volume, container corev1.Container, source objectKey, c content, out map[string]string) {
	for _, volume := range volumes {
		for _, items := range itemsOf(volume, source) {
			for _, mount := range container.VolumeMounts {
				if mount.Name != volume.Name {
					continue
				}
				for k, v := range c {
					file := k
					if len(items) > 0 {
						i := slices.IndexFunc(items, func(item corev1.KeyToPath) bool { return item.Key == k })
						if i < 0 {
							continue
						}
						file = items[i].Path
					}
					switch {
					case mount.SubPath == "":
						out[path.Join(mount.MountPath, file)] = digest(v)
					case mount.SubPath == file:
						out[mount.MountPath] = digest(v)
					case strings.HasPrefix(file, mount.SubPath+"/"):
						out[path.Join(mount.MountPath, strings.TrimPrefix(file, mount.SubPath+"/"))] = digest(v)
					}
				}
			}
		}
	}
}

// itemsOf lists how a volume projects a source: one list of items for each place.
func itemsOf(v corev1.Volume, source objectKey) (out [][]corev1.KeyToPath) {
	if v.Secret != nil && is(source, "Secret", v.Secret.SecretName) {
		out = append(out, v.Secret.Items)
	}
	if v.ConfigMap != nil && is(source, "ConfigMap", v.ConfigMap.Name) {
		out = append(out, v.ConfigMap.Items)
	}
	if v.Projected == nil {
		return out
	}
	for _, p := range v.Projected.Sources {
		if p.Secret != nil && is(source, "Secret", p.Secret.Name) {
			out = append(out, p.Secret.Items)
		}
		if p.ConfigMap != nil && is(source, "ConfigMap", p.ConfigMap.Name) {
			out = append(out, p.ConfigMap.Items)
		}
	}
	return out
}

func is(source objectKey, kind, name string) bool { return source.kind == kind && source.Name == name }

// names are all variables and files in which any version of a source ever showed.
func (l *load) names(source objectKey, versions []version) map[string]bool {
	out := map[string]bool{}
	for _, v := range versions {
		for name := range l.projected(source, contentOf(v.object)) {
			out[name] = true
		}
	}
	return out
}

// carries reports that what a container reported is what a content gives.
func (l *load) carries(source objectKey, c content, names map[string]bool) bool {
	want := l.projected(source, c)
	for name := range names {
		said := l.report.Env[name]
		if strings.HasPrefix(name, "/") {
			said = l.report.Files[name]
		}
		if said != want[name] {
			return false
		}
	}
	return true
}

// digest is the form in which the reporting image shows a value.
func digest(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}
