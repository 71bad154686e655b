package cluster_test

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// conformanceRow is one short history; its last answer is compared.
type conformanceRow struct {
	name string
	run  func(*session) (client.Object, error)
}

// deployed creates a Deployment by kubectl.
func (s *session) deployed() (*appsv1.Deployment, error) {
	d := deployment()
	d.Namespace = s.ns
	return d, s.Create(ctx, d, as("kubectl"))
}

// secreted creates a Secret by ann.
func (s *session) secreted() (*corev1.Secret, error) {
	c := secret(map[string]string{"password": "one", "user": "me"})
	c.Namespace = s.ns
	return c, s.Create(ctx, c, as("ann"))
}

// ordered creates a custom resource.
func (s *session) ordered() (*Order, error) {
	o := order()
	o.Namespace = s.ns
	return o, s.Create(ctx, o, as("ann"))
}

// onDeployment is a row that changes a fresh Deployment.
func onDeployment(name string, f func(*session, *appsv1.Deployment) error) conformanceRow {
	return conformanceRow{name, func(s *session) (client.Object, error) {
		d, err := s.deployed()
		if err != nil {
			return nil, err
		}
		return d, f(s, d)
	}}
}

// onSecret is a row that changes a fresh Secret.
func onSecret(name string, f func(*session, *corev1.Secret) error) conformanceRow {
	return conformanceRow{name, func(s *session) (client.Object, error) {
		c, err := s.secreted()
		if err != nil {
			return nil, err
		}
		return c, f(s, c)
	}}
}

// onOrder is a row that changes a fresh custom resource.
func onOrder(name string, f func(*session, *Order) error) conformanceRow {
	return conformanceRow{name, func(s *session) (client.Object, error) {
		o, err := s.ordered()
		if err != nil {
			return nil, err
		}
		return o, f(s, o)
	}}
}

// creating is a row that creates one object.
func creating(name string, make func(*session) client.Object) conformanceRow {
	return conformanceRow{name, func(s *session) (client.Object, error) {
		obj := make(s)
		return obj, s.Create(ctx, obj, as("kubectl"))
	}}
}

// patching is a row that sends one patch to a fresh Deployment.
func patching(name string, pt types.PatchType, data string) conformanceRow {
	return onDeployment(name, func(s *session, d *appsv1.Deployment) error {
		before := d.DeepCopy()
		err := s.Patch(ctx, d, client.RawPatch(pt, []byte(data)), as("kick"))
		s.moved(before)
		return err
	})
}

// conformanceRows is the table; see runConformance.
var conformanceRows = []conformanceRow{
	creating("create a Deployment", func(s *session) client.Object {
		d := deployment()
		d.Namespace, d.Status.Replicas, d.Generation = s.ns, 3, 9
		return d
	}),
	creating("create a StatefulSet", func(s *session) client.Object {
		return &appsv1.StatefulSet{ObjectMeta: s.meta("db"), Spec: appsv1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template()}}
	}),
	creating("create a DaemonSet", func(s *session) client.Object {
		return &appsv1.DaemonSet{ObjectMeta: s.meta("agent"), Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template()}}
	}),
	creating("create a Secret with stringData", func(s *session) client.Object {
		c := secret(map[string]string{"k": "v"})
		c.Namespace = s.ns
		return c
	}),
	creating("create a pod", func(s *session) client.Object {
		p := pod("a")
		p.Namespace = s.ns
		return p
	}),
	creating("generateName", func(s *session) client.Object {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, GenerateName: "web-"}, Data: map[string]string{"a": "b"}}
	}),
	creating("a namespace that is missing", func(*session) client.Object {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "nowhere", Name: "a"}}
	}),
	creating("a bad name", func(s *session) client.Object { return &corev1.Secret{ObjectMeta: s.meta("Bad")} }),
	creating("a set resourceVersion", func(s *session) client.Object {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "a", ResourceVersion: "1"}}
	}),
	creating("a TLS Secret without keys", func(s *session) client.Object {
		return &corev1.Secret{ObjectMeta: s.meta("tls"), Type: corev1.SecretTypeTLS}
	}),
	creating("a selector that misses the template", func(s *session) client.Object {
		return edit(deployment(), func(d *appsv1.Deployment) {
			d.Namespace = s.ns
			d.Spec.Template.Labels = map[string]string{"app": "other"}
		})
	}),
	creating("no containers", func(s *session) client.Object {
		return edit(deployment(), func(d *appsv1.Deployment) { d.Namespace, d.Spec.Template.Spec.Containers = s.ns, nil })
	}),
	onSecret("create twice", func(s *session, _ *corev1.Secret) error {
		return s.Create(ctx, &corev1.Secret{ObjectMeta: s.meta("db")})
	}),

	onDeployment("update with an old version", func(s *session, d *appsv1.Deployment) error {
		old := d.DeepCopy()
		d.Labels = labels
		if err := s.Update(ctx, d); err != nil {
			return err
		}
		old.Annotations = labels
		return s.Update(ctx, old)
	}),
	onDeployment("update without a version", func(s *session, d *appsv1.Deployment) error {
		d.ResourceVersion, d.Annotations = "", labels
		return s.Update(ctx, d, as("ann"))
	}),
	onDeployment("update with another uid", func(s *session, d *appsv1.Deployment) error {
		d.UID = "00000000-0000-0000-0000-000000000000"
		return s.Update(ctx, d)
	}),
	onDeployment("update of nothing", func(s *session, d *appsv1.Deployment) error {
		err := s.Update(ctx, d.DeepCopy(), as("kubectl"))
		s.moved(d)
		return err
	}),
	onDeployment("update of the selector", func(s *session, d *appsv1.Deployment) error {
		d.Spec.Selector.MatchLabels["more"] = "x"
		d.Spec.Template.Labels["more"] = "x"
		return s.Update(ctx, d)
	}),
	onDeployment("status of a Deployment", func(s *session, d *appsv1.Deployment) error {
		d.Status.Replicas, d.Spec.Replicas, d.Labels = 2, new(int32(7)), labels
		return s.Status().Update(ctx, d)
	}),
	onDeployment("two restarts, two managers", func(s *session, d *appsv1.Deployment) error {
		s.pause()
		if err := s.merge(d, "kick", `{"spec":{"template":{"metadata":{"annotations":{"`+restartedAt+`":"a"}}}}}`); err != nil {
			return err
		}
		s.pause()
		return s.merge(d, "argocd", `{"spec":{"template":{"metadata":{"annotations":{"`+restartedAt+`":"b"}}}}}`)
	}),

	patching("merge patch", types.MergePatchType, `{"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}`),
	patching("merge patch without effect", types.MergePatchType, `{"spec":{"replicas":1}}`),
	patching("merge patch with null", types.MergePatchType, `{"spec":{"replicas":null,"strategy":null,"minReadySeconds":1}}`),
	patching("merge patch of a percentage", types.MergePatchType, `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":3}}}}`),
	patching("merge patch of another name", types.MergePatchType, `{"metadata":{"name":"other"}}`),
	patching("merge patch with an old version", types.MergePatchType, `{"metadata":{"resourceVersion":"1"},"spec":{"replicas":2}}`),
	patching("merge patch with another uid", types.MergePatchType, `{"metadata":{"uid":"other"},"spec":{"replicas":2}}`),
	patching("strategic merge patch", types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"b"}]}}}}`),
	patching("json patch", types.JSONPatchType, `[{"op":"replace","path":"/spec/replicas","value":2}]`),
	patching("json patch with a failing test", types.JSONPatchType, `[{"op":"test","path":"/spec/replicas","value":7}]`),

	onSecret("a changed value", func(s *session, c *corev1.Secret) error {
		s.pause()
		return s.merge(c, "ann", `{"stringData":{"password":"two"}}`)
	}),
	onSecret("a removed key", func(s *session, c *corev1.Secret) error {
		s.pause()
		return s.merge(c, "ann", `{"data":{"user":null}}`)
	}),
	onSecret("a label", func(s *session, c *corev1.Secret) error {
		s.pause()
		return s.merge(c, "ann", `{"metadata":{"labels":{"a":"b"}}}`)
	}),
	onSecret("managedFields wiped", func(s *session, c *corev1.Secret) error {
		return s.merge(c, "ann", `{"metadata":{"managedFields":[{}]}}`)
	}),
	onSecret("another type", func(s *session, c *corev1.Secret) error { return s.merge(c, "ann", `{"type":"other"}`) }),
	onSecret("data of an immutable Secret", func(s *session, c *corev1.Secret) error {
		if err := s.merge(c, "ann", `{"immutable":true}`); err != nil {
			return err
		}
		return s.merge(c, "ann", `{"immutable":false,"stringData":{"password":"two"}}`)
	}),
	onSecret("labels of an immutable Secret", func(s *session, c *corev1.Secret) error {
		if err := s.merge(c, "ann", `{"immutable":true}`); err != nil {
			return err
		}
		return s.merge(c, "bob", `{"metadata":{"labels":{"a":"b"}}}`)
	}),
	onSecret("apply over an update", func(s *session, _ *corev1.Secret) error {
		return s.Apply(ctx, corev1apply.Secret("db", s.ns).WithStringData(map[string]string{"password": "two"}), as("bob"))
	}),
	applying("apply creates", func(s *session) error { return s.configure("ann", "one") }),
	applying("apply twice the same", func(s *session) error {
		if err := s.configure("ann", "one"); err != nil {
			return err
		}
		s.pause()
		return s.configure("ann", "one")
	}),
	applying("apply by two, a conflict", func(s *session) error {
		if err := s.configure("ann", "one"); err != nil {
			return err
		}
		return s.configure("bob", "two")
	}),
	applying("apply by two, forced", func(s *session) error {
		if err := s.configure("ann", "one"); err != nil {
			return err
		}
		s.pause()
		return s.configure("bob", "two", client.ForceOwnership)
	}),
	applying("apply by two, the same value", func(s *session) error {
		if err := s.configure("ann", "one"); err != nil {
			return err
		}
		s.pause()
		return s.configure("bob", "one")
	}),

	onSecret("delete with another uid", func(s *session, c *corev1.Secret) error {
		return s.Delete(ctx, c, client.Preconditions{UID: new(types.UID("x"))})
	}),
	onSecret("delete with an old version", func(s *session, c *corev1.Secret) error {
		return s.Delete(ctx, c, client.Preconditions{ResourceVersion: new("1")})
	}),
	onSecret("delete twice", func(s *session, c *corev1.Secret) error {
		if err := s.Delete(ctx, c); err != nil {
			return err
		}
		return s.Delete(ctx, c)
	}),
	onDeployment("delete in the foreground", func(s *session, d *appsv1.Deployment) error {
		return s.deletedBut(d, client.PropagationPolicy(metav1.DeletePropagationForeground))
	}),
	onDeployment("delete and orphan", func(s *session, d *appsv1.Deployment) error {
		return s.deletedBut(d, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	}),
	{"delete a Job", func(s *session) (client.Object, error) {
		j := &batchv1.Job{ObjectMeta: s.meta("once"), Spec: batchv1.JobSpec{Template: template()}}
		j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		if err := s.Create(ctx, j); err != nil {
			return nil, err
		}
		err := s.deletedBut(j)
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "job", Finalizers: j.Finalizers}}, err
	}},
	{"delete a pod that runs on a node", func(s *session) (client.Object, error) {
		p := pod("a")
		p.Namespace, p.Spec.NodeName = s.ns, "node"
		if err := s.Create(ctx, p); err != nil {
			return nil, err
		}
		return p, s.deletedBut(p)
	}},
	{"delete a pod without a node", func(s *session) (client.Object, error) {
		p := pod("a")
		p.Namespace = s.ns
		if err := s.Create(ctx, p); err != nil {
			return nil, err
		}
		return p, s.deletedBut(p)
	}},
	onSecret("a new finalizer while deleting", func(s *session, c *corev1.Secret) error {
		if err := s.merge(c, "ann", `{"metadata":{"finalizers":["example.com/a"]}}`); err != nil {
			return err
		}
		if err := s.Delete(ctx, c); err != nil {
			return err
		}
		return s.merge(c, "ann", `{"metadata":{"finalizers":["example.com/a","example.com/b"]}}`)
	}),
	onSecret("the last finalizer", func(s *session, c *corev1.Secret) error {
		if err := s.merge(c, "ann", `{"metadata":{"finalizers":["example.com/a"]}}`); err != nil {
			return err
		}
		if err := s.Delete(ctx, c); err != nil {
			return err
		}
		err := s.merge(c, "ann", `{"metadata":{"finalizers":null}}`)
		s.moved(c)
		return err
	}),
	{"a terminating namespace", func(s *session) (client.Object, error) {
		if err := s.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.ns}}); err != nil {
			return nil, err
		}
		return nil, s.Create(ctx, &corev1.ConfigMap{ObjectMeta: s.meta("a")})
	}},
	{"a pod's image and command", func(s *session) (client.Object, error) {
		p := pod("a")
		p.Namespace = s.ns
		if err := s.Create(ctx, p); err != nil {
			return nil, err
		}
		p.Spec.Containers[0].Image = "b"
		if err := s.Update(ctx, p); err != nil {
			return nil, err
		}
		if p.Generation != 2 {
			s.notes = append(s.notes, "generation did not move")
		}
		p.Spec.Containers[0].Command = []string{"x"}
		err := s.Update(ctx, p)
		if !apierrors.IsInvalid(err) {
			return nil, err
		}
		return nil, nil // the text holds a diff of Go structs
	}},

	creating("an order", func(s *session) client.Object {
		return &Order{ObjectMeta: s.meta("a"), Spec: OrderSpec{Item: "tea"}, Status: OrderStatus{Phase: "Done"}}
	}),
	creating("an order without item", func(s *session) client.Object { return &Order{ObjectMeta: s.meta("a")} }),
	creating("an order against a rule", func(s *session) client.Object {
		return &Order{ObjectMeta: s.meta("a"), Spec: OrderSpec{Item: "tea", Speed: "fast", Count: 11}}
	}),
	creating("an order against the schema", func(s *session) client.Object {
		return &Order{ObjectMeta: s.meta("a"), Spec: OrderSpec{Item: "tea", Count: -1}}
	}),
	onOrder("an order's spec", func(s *session, o *Order) error {
		o.Spec.Count, o.Status.Phase = 2, "Done"
		return s.Update(ctx, o)
	}),
	onOrder("an order's immutable field", func(s *session, o *Order) error {
		o.Spec.Item = "milk"
		return s.Update(ctx, o)
	}),
	onOrder("an order without a version", func(s *session, o *Order) error {
		o.ResourceVersion = ""
		return s.Update(ctx, o)
	}),
	onOrder("an order's status", func(s *session, o *Order) error {
		o.Status.Phase, o.Spec.Count, o.Labels = "Done", 7, labels
		return s.Status().Update(ctx, o)
	}),
	onOrder("an order's bad status", func(s *session, o *Order) error {
		o.Status.Phase = "Lost"
		return s.Status().Update(ctx, o)
	}),
	onOrder("a strategic patch of an order", func(s *session, o *Order) error {
		return s.Patch(ctx, o, client.RawPatch(types.StrategicMergePatchType, []byte(`{}`)))
	}),
	onOrder("delete an order in the foreground", func(s *session, o *Order) error {
		return s.deletedBut(o, client.PropagationPolicy(metav1.DeletePropagationForeground))
	}),
}
