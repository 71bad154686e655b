package main

import (
	"bytes"
	"context"
	_ "embed" // the quickstart's objects
	"errors"
	"fmt"
	"io"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/operator"
)

//go:embed quickstart.yaml
var quickstart []byte

const namespace = "shop"

// tell applies the quickstart, changes its Secret and reports what happens until
// the restart has succeeded.
func tell(ctx context.Context, out io.Writer, plane *controlplane.ControlPlane) error {
	c, err := client.NewWithWatch(plane.Config, client.Options{Scheme: operator.NewScheme()})
	if err != nil {
		return err
	}
	n := &narrator{out: out}
	say(out, "\n")
	if err := applyQuickstart(ctx, c, n); err != nil {
		return err
	}
	events, stop, err := follow(ctx, c)
	if err != nil {
		return err
	}
	defer stop()
	if err := n.until(ctx, events, n.adopted); err != nil {
		return err
	}
	n.line("you", "change Secret web-secret: API_TOKEN alpha -> bravo")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web-secret"}}
	change := client.RawPatch("application/merge-patch+json", []byte(`{"stringData":{"API_TOKEN":"bravo"}}`))
	if err := c.Patch(ctx, secret, change, client.FieldOwner("demo")); err != nil {
		return fmt.Errorf("change the Secret: %w", err)
	}
	return n.until(ctx, events, n.restarted)
}

func applyQuickstart(ctx context.Context, c client.Client, n *narrator) error {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(quickstart), 4096)
	for {
		o := &unstructured.Unstructured{}
		if err := decoder.Decode(&o.Object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read the quickstart: %w", err)
		}
		if err := c.Create(ctx, o, client.FieldOwner("demo")); err != nil {
			return fmt.Errorf("create %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		n.line("you", "create %s %s", o.GetKind(), o.GetName())
	}
}

// follow merges the watches of what the story is about.
func follow(ctx context.Context, c client.WithWatch) (<-chan watch.Event, func(), error) {
	ctx, cancel := context.WithCancel(ctx)
	merged := make(chan watch.Event)
	for _, list := range []client.ObjectList{&v1alpha1.KickRequestList{}, &appsv1.DeploymentList{}} {
		w, err := c.Watch(ctx, list, client.InNamespace(namespace))
		if err != nil {
			cancel()
			return nil, nil, fmt.Errorf("watch %T: %w", list, err)
		}
		go func() {
			for e := range w.ResultChan() {
				select {
				case merged <- e:
				case <-ctx.Done():
					w.Stop()
					return
				}
			}
		}()
	}
	return merged, cancel, nil
}

// narrator turns events into lines.
type narrator struct {
	out     io.Writer
	message string // the last one of the request
	rollout string // the last state of the Deployment
	settled bool   // the Deployment has rolled out
	phase   v1alpha1.Phase
}

// line is one line of the story, at the time this process learned of it.
func (n *narrator) line(who, format string, args ...any) {
	say(n.out, "  %s  %-11s  %s\n", time.Now().UTC().Format("15:04:05.000"), who, fmt.Sprintf(format, args...))
}

// until reports events until the story has come as far as over says.
func (n *narrator) until(ctx context.Context, events <-chan watch.Event, over func() bool) error {
	for !over() {
		select {
		case e := <-events:
			switch o := e.Object.(type) {
			case *v1alpha1.KickRequest:
				n.request(o)
			case *appsv1.Deployment:
				n.deployment(o)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if n.phase == v1alpha1.PhaseFailed {
			return fmt.Errorf("the restart failed: %s", n.message)
		}
	}
	return nil
}

func (n *narrator) request(r *v1alpha1.KickRequest) {
	if r.Status.Gate == nil || r.Status.Gate.Message == n.message {
		return
	}
	n.phase, n.message = r.Status.Phase, r.Status.Gate.Message
	n.line("KickRequest", "%-16s  %s", n.phase, n.message)
}

func (n *narrator) deployment(d *appsv1.Deployment) {
	st := d.Status
	if d.Generation != st.ObservedGeneration {
		n.settled = false
		return
	}
	n.settled = st.UpdatedReplicas == *d.Spec.Replicas && st.AvailableReplicas == *d.Spec.Replicas && st.Replicas == *d.Spec.Replicas
	now := fmt.Sprintf("generation %d: %d of %d pods updated, %d available", d.Generation, st.UpdatedReplicas, *d.Spec.Replicas, st.AvailableReplicas)
	if now != n.rollout {
		n.rollout = now
		n.line("Deployment", "%s", now)
	}
}

// adopted: KICK has judged the workload as it was created, and it runs.
func (n *narrator) adopted() bool { return n.settled && n.phase == v1alpha1.PhaseNoLongerRequired }

func (n *narrator) restarted() bool { return n.settled && n.phase == v1alpha1.PhaseSucceeded }
