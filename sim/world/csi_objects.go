package world

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/secretsstore"
	"github.com/corewire/kick/sim/cluster"
)

// tell writes the status object of a pod, as the driver does each time it looks, and
// reports whether it could.
func (c *csi) tell(class *secretsstore.SecretProviderClass, p *podState, m *csiMount, versions map[string]string) bool {
	s := &secretsstore.SecretProviderClassPodStatus{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.key.Namespace, Name: p.key.Name + "-" + p.key.Namespace + "-" + class.Name,
			Labels:          map[string]string{"internal.secrets-store.csi.k8s.io/node-name": p.node},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.key.Name, UID: p.uid}},
		},
		Status: secretsstore.PodStatus{
			PodName: p.key.Name, SecretProviderClassName: class.Name, Mounted: true,
			TargetPath: "/var/lib/kubelet/pods/" + string(p.uid) + "/volumes/kubernetes.io~csi/secrets/mount",
		},
	}
	for _, id := range slices.Sorted(maps.Keys(versions)) {
		s.Status.Objects = append(s.Status.Objects, secretsstore.MountedObject{ID: id, Version: versions[id]})
	}
	if !c.write(s) {
		return false
	}
	if m.told == nil || !maps.Equal(m.told, versions) {
		m.told, m.toldAt = versions, c.w.loop.Now()
	}
	return true
}

// write makes a status object, or brings the one of that name up to date: a pod of a
// StatefulSet takes over its predecessor's.
func (c *csi) write(s *secretsstore.SecretProviderClassPodStatus) bool {
	o := cluster.WriteOptions{Manager: managerCSI}
	stored, ok := c.w.server.Get(kindPodStatus, keyOf(s)).(*secretsstore.SecretProviderClassPodStatus)
	if !ok {
		_, err := c.w.server.Create(s, o)
		return err == nil
	}
	next := stored.DeepCopy()
	next.Labels, next.OwnerReferences, next.Status = s.Labels, s.OwnerReferences, s.Status
	_, err := c.w.server.Update(next, o)
	return err == nil
}

// mirror brings the Secrets that mirror a class up to date, after a while.
func (c *csi) mirror(class *secretsstore.SecretProviderClass, vault *corev1.ConfigMap, after time.Duration) {
	for i := range class.Spec.SecretObjects {
		want := &class.Spec.SecretObjects[i]
		data := map[string][]byte{}
		for _, d := range want.Data {
			if value, there := vault.Data[d.ObjectName]; there {
				data[d.Key] = []byte(value)
			}
		}
		key := types.NamespacedName{Namespace: class.Namespace, Name: want.SecretName}
		c.w.soon(after, about(managerCSI+" secret", key), func() { c.sync(key, want, data) })
	}
}

// sync writes one such Secret.
func (c *csi) sync(key types.NamespacedName, want *secretsstore.SecretObject, data map[string][]byte) {
	o := cluster.WriteOptions{Manager: managerCSI}
	stored, ok := c.w.server.Get(kindSecret, key).(*corev1.Secret)
	if !ok {
		labels := maps.Clone(want.Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		labels[secretsstore.ManagedLabel] = "true"
		_, _ = c.w.server.Create(&corev1.Secret{ // whatever fails is done when the driver looks next
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: labels, Annotations: want.Annotations},
			Type:       corev1.SecretType(want.Type), Data: data,
		}, o)
		return
	}
	next := stored.DeepCopy()
	next.Data = data
	_, _ = c.w.server.Update(next, o)
}
