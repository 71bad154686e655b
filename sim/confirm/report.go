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
func (n *node) dressed(r scenario.Resource) scenario.Resource {
	if (!n.rig.options.RealPods && !n.binds) || podSpec(r.GVK.Kind, r.Data) == nil {
		return r
	}
	return changed(r, func(data map[string]any) {
		spec := podSpec(r.GVK.Kind, data)
		if _, whole := spec["containers"]; whole {
			n.takesOver(spec)
			n.slowDown(spec)
		}
		if n.rig.options.RealPods {
			n.dressContainers(spec)
		}
	})
}

// podSpec is the part of an object that says what its pods run; nil where it says
// nothing of it.
func podSpec(kind string, data map[string]any) map[string]any {
	fields := []string{"spec", "template", "spec"}
	switch kind {
	case "Pod":
		fields = fields[:1]
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet":
	default:
		return nil
	}
	for _, field := range fields {
		data, _ = data[field].(map[string]any)
	}
	return data
}

// dressContainers gives every container a port of its own, since they share one
// network.
func (n *node) dressContainers(spec map[string]any) {
	port := firstPort
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		items, _ := spec[list].([]any)
		for _, item := range items {
			if c, ok := item.(map[string]any); ok && c["name"] != slowStart {
				n.dress(c, list == "initContainers" && c["restartPolicy"] != "Always", port)
			}
			port++
		}
	}
}

// slowStart is a container that keeps the others waiting.
const slowStart = "pod-start"

// slowDown lets pods of a real node become ready when the scenario says.
func (n *node) slowDown(spec map[string]any) {
	if n.gated {
		spec["readinessGates"] = []any{map[string]any{"conditionType": worksGate}}
	}
	if start := n.rig.plan.scenario.World.PodStart; n.rig.options.RealPods && start > scenario.DefaultPodStart {
		first := map[string]any{"name": slowStart, "image": n.rig.options.Image, "args": []any{"--once", "--sleep=" + start.String()}}
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

// reading is one way in which a container's environment reads a source: all its
// keys, or one.
type reading struct {
	kind, name string
	optional   *bool
	all        bool
	prefix     string // of the variables, where all keys are read
	key        string
	variable   string // that the key becomes
}

func readings(c corev1.Container) (out []reading) {
	for _, from := range c.EnvFrom {
		if s := from.SecretRef; s != nil {
			out = append(out, reading{kind: "Secret", name: s.Name, optional: s.Optional, all: true, prefix: from.Prefix})
		}
		if m := from.ConfigMapRef; m != nil {
			out = append(out, reading{kind: "ConfigMap", name: m.Name, optional: m.Optional, all: true, prefix: from.Prefix})
		}
	}
	for _, e := range c.Env {
		if e.ValueFrom == nil {
			continue
		}
		if s := e.ValueFrom.SecretKeyRef; s != nil {
			out = append(out, reading{kind: "Secret", name: s.Name, optional: s.Optional, key: s.Key, variable: e.Name})
		}
		if m := e.ValueFrom.ConfigMapKeyRef; m != nil {
			out = append(out, reading{kind: "ConfigMap", name: m.Name, optional: m.Optional, key: m.Key, variable: e.Name})
		}
	}
	return out
}

func envOf(container corev1.Container, source objectKey, c content, out map[string]string) {
	named := map[string]bool{} // variables of env hide those of envFrom
	for _, e := range container.Env {
		named[e.Name] = true
	}
	for _, r := range readings(container) {
		if !is(source, r.kind, r.name) {
			continue
		}
		for k, v := range c {
			switch {
			case r.all && !named[r.prefix+k]:
				out[r.prefix+k] = digest(v)
			case !r.all && k == r.key:
				out[r.variable] = digest(v)
			}
		}
	}
}

func filesOf(volumes []corev1.Volume, container corev1.Container, source objectKey, c content, out map[string]string) {
	for _, volume := range volumes {
		for _, items := range itemsOf(volume, source) {
			for _, mount := range container.VolumeMounts {
				for k, v := range c {
					if file := placeOf(k, items, mount); file != "" && mount.Name == volume.Name {
						out[file] = digest(v)
					}
				}
			}
		}
	}
}

// placeOf is where a key of a source shows below a mount; empty where it does not.
func placeOf(key string, items []corev1.KeyToPath, mount corev1.VolumeMount) string {
	file := key
	if len(items) > 0 {
		i := slices.IndexFunc(items, func(item corev1.KeyToPath) bool { return item.Key == key })
		if i < 0 {
			return ""
		}
		file = items[i].Path
	}
	switch below, found := strings.CutPrefix(file, mount.SubPath+"/"); {
	case mount.SubPath == "":
		return path.Join(mount.MountPath, file)
	case mount.SubPath == file:
		return mount.MountPath
	case found:
		return path.Join(mount.MountPath, below)
	}
	return ""
}

// volumeSource is a source that a volume holds: some of its keys, or all.
type volumeSource struct {
	kind, name string
	optional   *bool
	items      []corev1.KeyToPath
}

func contentsOf(v corev1.Volume) (out []volumeSource) {
	if s := v.Secret; s != nil {
		out = append(out, volumeSource{"Secret", s.SecretName, s.Optional, s.Items})
	}
	if m := v.ConfigMap; m != nil {
		out = append(out, volumeSource{"ConfigMap", m.Name, m.Optional, m.Items})
	}
	if v.Projected == nil {
		return out
	}
	for _, p := range v.Projected.Sources {
		if s := p.Secret; s != nil {
			out = append(out, volumeSource{"Secret", s.Name, s.Optional, s.Items})
		}
		if m := p.ConfigMap; m != nil {
			out = append(out, volumeSource{"ConfigMap", m.Name, m.Optional, m.Items})
		}
	}
	return out
}

// itemsOf lists how a volume holds a source: one list of items for each place.
func itemsOf(v corev1.Volume, source objectKey) (out [][]corev1.KeyToPath) {
	for _, s := range contentsOf(v) {
		if is(source, s.kind, s.name) {
			out = append(out, s.items)
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
