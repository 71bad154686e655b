package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/kicktest/controlplane"
	"github.com/corewire/kick/kick/kicktest/installation"
	"github.com/corewire/kick/kick/operator"
)

const (
	defaultRounds = 60
	warmup        = 3 // rounds that open connections and requests, and are not counted
	kickSide      = "bench-kick"
	floorSide     = "bench-floor"
	name          = "web"
	stamp         = "kubectl.kubernetes.io/restartedAt"
	roundTimeout  = time.Minute
)

// Measure runs both sides in turns.
func Measure(ctx context.Context, plane *controlplane.ControlPlane, rounds int) (Report, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b, err := begin(ctx, plane)
	if err != nil {
		return Report{}, err
	}
	var r Report
	for i := range warmup + rounds {
		f, err := b.round(ctx, b.floor, i)
		if err != nil {
			return r, fmt.Errorf("floor, round %d: %w", i, err)
		}
		k, err := b.round(ctx, b.kick, i)
		if err != nil {
			return r, fmt.Errorf("KICK, round %d: %w\nthe operator's last lines:\n%s", i, err, b.operator.Tail())
		}
		if i >= warmup {
			r.Floor, r.Kick = append(r.Floor, f.total), append(r.Kick, k.total)
			r.Recorded, r.Opened = append(r.Recorded, k.recorded), append(r.Opened, k.opened)
		}
	}
	return Report{
		Floor: sorted(r.Floor), Kick: sorted(r.Kick), Recorded: sorted(r.Recorded), Opened: sorted(r.Opened),
		Resident: resident(b.operator.PID),
	}, nil
}

// begin starts both restarters and makes their objects.
func begin(ctx context.Context, plane *controlplane.ControlPlane) (*bench, error) {
	kick, err := installation.New(ctx, plane, "kick-system")
	if err != nil {
		return nil, err
	}
	b := &bench{}
	if b.operator, err = kick.Start("--log-level=error"); err != nil {
		return nil, err
	}
	if err := b.operator.WaitReady(ctx); err != nil {
		return nil, err
	}
	if b.client, err = client.NewWithWatch(plane.Config, client.Options{Scheme: operator.NewScheme()}); err != nil {
		return nil, err
	}
	if b.floor, err = b.side(ctx, floorSide); err != nil {
		return nil, err
	}
	if err := startFloor(ctx, kick.Config(), floorSide); err != nil {
		return nil, err
	}
	if b.kick, err = b.side(ctx, kickSide); err != nil {
		return nil, err
	}
	return b, b.follow(ctx)
}

type bench struct {
	client      client.WithWatch
	operator    *installation.Operator
	floor, kick *side
	marks       marks
}

// latency is one round: until the template patch was seen, and until KICK's two
// writes before it were.
type latency struct{ total, recorded, opened time.Duration }

// side is one of the two that are compared: a namespace and what is seen of its
// Deployment.
type side struct {
	namespace string
	seen      <-chan sighting
	last      sighting // the newest state taken from seen
}

// sighting is a state of the Deployment and when it was seen.
type sighting struct {
	at     time.Time
	object *appsv1.Deployment
}

// side makes a namespace with a Secret and a Deployment that reads it. Both sides
// get the same objects; the policy is KICK's only.
func (b *bench) side(ctx context.Context, namespace string) (*side, error) {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name}
	labels := map[string]string{"app": name}
	one := int32(1)
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"TOKEN": "before"}},
		&appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
			Replicas: &one,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "app", Image: "nginx", EnvFrom: []corev1.EnvFromSource{{
					SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}},
				}}}},
			}},
		}},
	}
	if namespace == kickSide {
		objects = append(objects, &v1alpha1.KickPolicy{ObjectMeta: meta, Spec: v1alpha1.KickPolicySpec{
			Restart: v1alpha1.Restart{SettleDelay: &metav1.Duration{}, MinInterval: &metav1.Duration{}},
		}})
	}
	for _, o := range objects {
		if err := b.client.Create(ctx, o); err != nil {
			return nil, fmt.Errorf("create %T in %s: %w", o, namespace, err)
		}
	}
	return b.watch(ctx, namespace)
}

func (b *bench) watch(ctx context.Context, namespace string) (*side, error) {
	w, err := b.client.Watch(ctx, &appsv1.DeploymentList{}, client.InNamespace(namespace))
	if err != nil {
		return nil, fmt.Errorf("watch Deployments of %s: %w", namespace, err)
	}
	seen := make(chan sighting, 1024) // never waited for: the time of arrival is what counts
	go func() {
		defer close(seen)
		for e := range w.ResultChan() {
			if d, ok := e.Object.(*appsv1.Deployment); ok {
				seen <- sighting{at: time.Now(), object: d}
			}
		}
	}()
	return &side{namespace: namespace, seen: seen}, nil
}

// round waits until nothing moves, changes the Secret and waits for the stamp.
func (b *bench) round(ctx context.Context, s *side, i int) (latency, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, roundTimeout, fmt.Errorf("nothing for %s", roundTimeout))
	defer cancel()
	before, err := s.await(ctx, complete)
	if err != nil {
		return latency{}, fmt.Errorf("wait for the rollout: %w", err)
	}
	if err := b.quiet(ctx, s); err != nil {
		return latency{}, fmt.Errorf("wait for the request: %w", err)
	}
	b.marks.clear()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	change := fmt.Appendf(nil, `{"stringData":{"TOKEN":"round-%d"}}`, i)
	if err := b.client.Patch(ctx, secret, client.RawPatch(types.MergePatchType, change)); err != nil {
		return latency{}, fmt.Errorf("change the Secret: %w", err)
	}
	acknowledged := time.Now()
	old := before.object.Spec.Template.Annotations[stamp]
	after, err := s.await(ctx, func(d *appsv1.Deployment) bool { return d.Spec.Template.Annotations[stamp] != old })
	if err != nil {
		return latency{}, fmt.Errorf("wait for the stamp: %w", err)
	}
	recorded, opened := b.marks.first()
	return latency{
		total: after.at.Sub(acknowledged), recorded: recorded.Sub(acknowledged), opened: opened.Sub(acknowledged),
	}, nil
}

// await takes states in the order of their arrival until one is as wanted, the
// newest that was taken before included.
func (s *side) await(ctx context.Context, wanted func(*appsv1.Deployment) bool) (sighting, error) {
	for s.last.object == nil || !wanted(s.last.object) {
		select {
		case next, open := <-s.seen:
			if !open {
				return s.last, fmt.Errorf("the watch of %s ended", s.namespace)
			}
			s.last = next
		case <-ctx.Done():
			return s.last, context.Cause(ctx)
		}
	}
	return s.last, nil
}

// quiet waits until KICK has finished its request, so that every round is a
// restart of its own.
func (b *bench) quiet(ctx context.Context, s *side) error {
	for s.namespace == kickSide {
		var list v1alpha1.KickRequestList
		if err := b.client.List(ctx, &list, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		if len(list.Items) == 1 && list.Items[0].Status.CompletedAt != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

func complete(d *appsv1.Deployment) bool {
	st := d.Status
	return st.ObservedGeneration >= d.Generation && st.UpdatedReplicas == 1 && st.Replicas == 1 && st.AvailableReplicas == 1
}

// resident reads the memory of a process where the system tells it.
func resident(pid int) int64 {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	_, line, _ := strings.Cut(string(status), "VmRSS:")
	kib, _ := strconv.ParseInt(strings.Fields(line + " 0")[0], 10, 64)
	return kib * 1024
}
