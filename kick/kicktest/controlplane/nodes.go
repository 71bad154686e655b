package controlplane

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientset "k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"
)

// kwok does nothing without stages, the life cycles it plays. These come from its
// own module and are kept beside the built program.
const stagesFile = "stages.yaml"

var stageSources = []string{
	"node/fast/node-initialize.yaml",
	"node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
	"pod/fast/pod-ready.yaml",
	"pod/fast/pod-complete.yaml",
	"pod/fast/pod-delete.yaml",
}

func copyStages(ctx context.Context, toolDir, home string) error {
	module, err := goCommand(ctx, toolDir, "list", "-m", "-f", "{{.Dir}}", sources[Kwok].module)
	if err != nil {
		return err
	}
	docs := make([][]byte, 0, len(stageSources))
	for _, name := range stageSources {
		doc, err := os.ReadFile(filepath.Join(module, "kustomize", "stage", name))
		if err != nil {
			return err
		}
		docs = append(docs, doc)
	}
	return os.WriteFile(filepath.Join(home, stagesFile), bytes.Join(docs, []byte("\n---\n")), 0o644)
}

// withReadyDelay gives the stage that makes pods ready a delay and a jitter.
func withReadyDelay(stages []byte, delay time.Duration) ([]byte, error) {
	docs := bytes.Split(stages, []byte("\n---\n"))
	for i, doc := range docs {
		var stage unstructured.Unstructured
		if err := yaml.Unmarshal(doc, &stage.Object); err != nil {
			return nil, fmt.Errorf("read kwok's stages: %w", err)
		}
		if stage.GetName() != "pod-ready" || delay == 0 {
			continue
		}
		wait := map[string]any{
			"durationMilliseconds":       delay.Milliseconds(),
			"jitterDurationMilliseconds": (delay + delay/5).Milliseconds(),
		}
		if err := unstructured.SetNestedMap(stage.Object, wait, "spec", "delay"); err != nil {
			return nil, err
		}
		changed, err := yaml.Marshal(stage.Object)
		if err != nil {
			return nil, err
		}
		docs[i] = changed
	}
	return bytes.Join(docs, []byte("\n---\n")), nil
}

func (cp *ControlPlane) startKwok(ctx context.Context) error {
	stages, err := os.ReadFile(filepath.Join(filepath.Dir(cp.Binaries[Kwok]), stagesFile))
	if err != nil {
		return err
	}
	if stages, err = withReadyDelay(stages, cp.opts.PodReadyDelay); err != nil {
		return err
	}
	config := filepath.Join(cp.dir, stagesFile)
	if err := os.WriteFile(config, stages, 0o644); err != nil {
		return err
	}
	_, err = cp.run(Kwok, "--kubeconfig="+cp.Kubeconfig, "--config="+config,
		"--manage-all-nodes=true", "--cidr=10.200.0.0/16", "--node-ip="+loopback,
		"--node-lease-duration-seconds=40", // else nothing renews the leases and nodes fail after 50 s
	)
	if err != nil {
		return err
	}
	return cp.createFakeNodes(ctx)
}

func (cp *ControlPlane) createFakeNodes(ctx context.Context) error {
	client, err := clientset.NewForConfig(cp.Config)
	if err != nil {
		return err
	}
	room := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("1000"), corev1.ResourceMemory: resource.MustParse("1Ti"), corev1.ResourcePods: resource.MustParse("10000"),
	}
	for i := range cp.nodeCount() {
		name := fmt.Sprintf("node-%d", i)
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{
				Name:        name,
				Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
				Labels:      map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"},
			},
			Status: corev1.NodeStatus{Allocatable: room, Capacity: room},
		}
		if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create fake node: %w", err)
		}
	}
	return nil
}

func (cp *ControlPlane) nodeCount() int {
	if cp.opts.Node == RealNode {
		return 1
	}
	return max(1, cp.opts.FakeNodes)
}

// waitNodes waits until pods can run: all nodes ready and free of the taint that
// kube-controller-manager takes off, and the default service account made by it.
func (cp *ControlPlane) waitNodes(ctx context.Context) error {
	client, err := clientset.NewForConfig(cp.Config)
	if err != nil {
		return err
	}
	return waitFor(ctx, "nodes", nil, func(ctx context.Context) error {
		for _, p := range cp.processes {
			if !p.Alive() {
				return fmt.Errorf("%s ended; its last lines:\n%s", p.Name, p.Tail())
			}
		}
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		usable := 0
		for i := range nodes.Items {
			if nodeUsable(&nodes.Items[i]) {
				usable++
			}
		}
		if usable < cp.nodeCount() {
			return fmt.Errorf("%d of %d nodes are usable", usable, cp.nodeCount())
		}
		_, err = client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

func nodeUsable(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue && len(node.Spec.Taints) == 0
		}
	}
	return false
}
