package world

import (
	"crypto/sha1" //nolint:gosec // names a version as a provider does
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/secretsstore"
	"github.com/corewire/kick/sim/cluster"
)

var (
	kindClass     = schema.GroupKind{Group: secretsstore.GroupVersion.Group, Kind: "SecretProviderClass"}
	kindPodStatus = schema.GroupKind{Group: secretsstore.GroupVersion.Group, Kind: "SecretProviderClassPodStatus"}
)

const managerCSI = "secrets-store-csi-driver"

// csiProvider is the provider whose classes are played; the pods of others mount nothing,
// and their status objects stay as a scenario writes them.
const csiProvider = "sim"

// How the parameters of a class say that it is played.
const (
	csiVault    = "vault"        // name of the ConfigMap that holds the secrets: whoever writes it rotates them
	csiInterval = "pollInterval" // how often each node looks; default 2m
	csiRotation = "rotation"     // off: nobody looks
	csiLag      = "statusLag"    // for how many polls a status still tells the old versions
	csiVersions = "versions"     // content (default), fixed, eachPoll or eachPod
	csiMirror   = "mirror"       // before: a Secret is written before the status; else how long after, default 2s
	csiBroken   = "brokenNode"   // name of a node whose driver does not look
)

const (
	csiEvery = 2 * time.Minute
	csiAfter = 2 * time.Second // from a status to the Secret that mirrors it
)

// csi plays the Secrets Store CSI driver. Its quirks are the real one's: each node looks at
// its pods by itself, so those of a workload are rotated one after the other; files are
// written first and the status object is second, or never; Secrets that mirror a class
// follow. Versions are the provider's: some never change, some do each time it is asked.
type csi struct {
	w     *World
	queue *queue[types.NamespacedName] // of pods
}

func newCSI(w *World) *csi {
	c := &csi{w: w}
	c.queue = newKeyQueue(w, managerCSI, c.poll)
	retry := func(ev cluster.Event) {
		for _, p := range w.sources.users[SourceRef{kindClass.Kind, ev.Key.Namespace, ev.Key.Name}] {
			if p.due && p.waits() {
				w.kubelet.queue.add(p.key)
			}
		}
	}
	w.on(kindClass, retry)
	return c
}

// csiMount is what the driver knows of a volume.
type csiMount struct {
	told   map[string]string // versions in the status object
	toldAt time.Time         // true time at which these were written
	polls  int               // that have found files which the status does not tell of
	looks  int               // polls altogether
}

// isClass reports whether a source is a class.
func (r SourceRef) isClass() bool { return r.Kind == kindClass.Kind }

// mount gives a pod the files of a class; absent: there is no such class, or its provider
// does not answer.
func (c *csi) mount(p *podState, ref SourceRef) (*version, *csiMount) {
	class, ok := c.w.server.Get(kindClass, ref.key()).(*secretsstore.SecretProviderClass)
	if !ok {
		return absent, nil
	}
	m := &csiMount{}
	if class.Spec.Provider != csiProvider {
		return files(nil), m
	}
	vault := c.vault(class)
	if vault == nil {
		return absent, nil
	}
	versions := c.versions(class, vault, p)
	if !c.tell(class, p, m, versions) {
		return absent, nil
	}
	c.mirror(class, vault, csiAfter)
	c.next(class, p)
	return files(versions), m
}

// files is a version that holds what was mounted.
func files(versions map[string]string) *version {
	return &version{object: &corev1.ConfigMap{Data: versions}}
}

func (c *csi) vault(class *secretsstore.SecretProviderClass) *corev1.ConfigMap {
	key := types.NamespacedName{Namespace: class.Namespace, Name: class.Spec.Parameters[csiVault]}
	vault, _ := c.w.server.Get(kindConfigMap, key).(*corev1.ConfigMap)
	return vault
}

// versions are what the provider calls the versions of its secrets.
func (c *csi) versions(class *secretsstore.SecretProviderClass, vault *corev1.ConfigMap, p *podState) map[string]string {
	out := make(map[string]string, len(vault.Data))
	for id, value := range vault.Data {
		salt := ""
		switch class.Spec.Parameters[csiVersions] {
		case "fixed":
			out[id] = "0"
			continue
		case "eachPoll":
			salt = c.w.loop.Now().String()
		case "eachPod":
			salt = string(p.uid)
		}
		sum := sha1.Sum([]byte(id + "\x00" + value + "\x00" + salt)) //nolint:gosec // as above
		out[id] = hex.EncodeToString(sum[:])[:8]
	}
	return out
}

// next sets the clock of the pod's node: nodes look at different times of the interval.
func (c *csi) next(class *secretsstore.SecretProviderClass, p *podState) {
	parameters := class.Spec.Parameters
	if parameters[csiRotation] == "off" || parameters[csiBroken] == p.node {
		return
	}
	every, err := time.ParseDuration(parameters[csiInterval])
	if err != nil || every <= 0 {
		every = csiEvery
	}
	number, _ := strconv.Atoi(p.node[strings.LastIndexByte(p.node, '-')+1:])
	now := c.w.loop.Now()
	at := now.Truncate(every).Add(time.Duration(number) * every / 4 % every)
	for !at.After(now) {
		at = at.Add(every)
	}
	c.queue.addAfter(p.key, at.Sub(now))
}

// poll rotates what one pod has mounted.
func (c *csi) poll(key types.NamespacedName) error {
	pod, ok := c.w.server.Get(kindPod, key).(*corev1.Pod)
	if !ok || pod.DeletionTimestamp != nil {
		return nil
	}
	p := c.w.kubelet.pods[pod.UID]
	if p == nil {
		return nil
	}
	for _, ref := range slices.SortedFunc(maps.Keys(p.mounts), compareRefs) {
		class, ok := c.w.server.Get(kindClass, ref.key()).(*secretsstore.SecretProviderClass)
		if !ref.isClass() || !ok || class.Spec.Provider != csiProvider {
			continue
		}
		c.rotate(class, p, p.mounts[ref])
		c.next(class, p)
	}
	return nil
}

func compareRefs(a, b SourceRef) int { return strings.Compare(a.Kind+"/"+a.Name, b.Kind+"/"+b.Name) }

// rotate is one look at one volume: the files first, then what tells of them.
func (c *csi) rotate(class *secretsstore.SecretProviderClass, p *podState, m *mount) {
	vault := c.vault(class)
	if vault == nil {
		return
	}
	versions, parameters := c.versions(class, vault, p), class.Spec.Parameters
	m.now, m.csi.looks = files(versions), m.csi.looks+1
	if parameters[csiMirror] == "before" {
		c.mirror(class, vault, 0)
	}
	if maps.Equal(versions, m.csi.told) {
		m.csi.polls = 0
	} else {
		m.csi.polls++
	}
	if lag, _ := strconv.Atoi(parameters[csiLag]); m.csi.polls > lag || m.csi.polls == 0 {
		c.tell(class, p, m.csi, versions)
		m.csi.polls = 0
		c.mirror(class, vault, mirrorAfter(class))
	}
}

// mirrorAfter is how long the Secrets that mirror a class are behind a status.
func mirrorAfter(class *secretsstore.SecretProviderClass) time.Duration {
	if after, err := time.ParseDuration(class.Spec.Parameters[csiMirror]); err == nil && after > 0 {
		return after
	}
	return csiAfter
}
