package world

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/foreign"
)

var (
	kindGitRepository = schema.GroupKind{Group: "source.toolkit.fluxcd.io", Kind: "GitRepository"}
	kindKustomization = schema.GroupKind{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization"}
)

// Field managers and labels of Flux.
const (
	managerFlux   = "kustomize-controller"
	managerSource = "source-controller"

	labelFluxName      = "kustomize.toolkit.fluxcd.io/name"
	labelFluxNamespace = "kustomize.toolkit.fluxcd.io/namespace"
	annFluxRequested   = "reconcile.fluxcd.io/requestedAt"
)

// fluxApply is how long a reconcile of a Kustomization takes.
const fluxApply = 2 * time.Second

// flux plays Flux's source- and kustomize-controller for GitRepositories whose URL is
// that of a played repository. Before each apply it takes over the fields of managers it
// takes for kubectl, by the beginning of their names, and drops those that are not in
// Git: a restart of theirs is undone.
type flux struct {
	w               *World
	sources, owners *queue[types.NamespacedName]
}

func newFlux(w *World) {
	f := &flux{w: w}
	f.sources = newKeyQueue(w, "source-controller", f.fetch)
	f.owners = newKeyQueue(w, "kustomize-controller", f.reconcile)
	w.on(kindGitRepository, func(ev cluster.Event) {
		if ev.Type != cluster.Deleted {
			f.sources.add(ev.Key)
		}
		for _, o := range w.server.List(kindKustomization, ev.Key.Namespace) {
			if o.(*foreign.Kustomization).Spec.Text("sourceRef", "name") == ev.Key.Name {
				f.owners.add(client.ObjectKeyFromObject(o))
			}
		}
	})
	w.on(kindKustomization, func(ev cluster.Event) {
		if ev.Type != cluster.Deleted {
			f.owners.add(ev.Key)
		}
	})
}

func (f *flux) now() time.Time { return seconds(f.w.opt.KCM.Now()).Time }

// fetch polls a repository once an interval.
func (f *flux) fetch(key types.NamespacedName) error {
	source, ok := f.w.server.Get(kindGitRepository, key).(*foreign.GitRepository)
	if !ok {
		return nil
	}
	_, revision, played := f.w.repository(source.Spec.Text("url"))
	if !played {
		return nil
	}
	f.sources.addAfter(key, source.Spec.Span(time.Minute, "interval"))
	if source.Status.Text("artifact", "revision") == revision {
		return nil
	}
	source = source.DeepCopyObject().(*foreign.GitRepository)
	if source.Status == nil {
		source.Status = foreign.Free{}
	}
	source.Status.Set(revision, "artifact", "revision")
	_, err := f.w.updateStatus(source, managerSource)
	return err
}

// reconcile begins a reconcile that is due, or ends the one under way.
func (f *flux) reconcile(key types.NamespacedName) error {
	k, ok := f.w.server.Get(kindKustomization, key).(*foreign.Kustomization)
	if !ok || k.Spec.True("suspend") {
		return nil
	}
	source, ok := f.w.server.Get(kindGitRepository, types.NamespacedName{Namespace: key.Namespace, Name: k.Spec.Text("sourceRef", "name")}).(*foreign.GitRepository)
	if !ok {
		return nil
	}
	manifests, _, played := f.w.repository(source.Spec.Text("url"))
	revision := source.Status.Text("artifact", "revision")
	if !played || revision == "" {
		return nil
	}
	if status, _, began := k.Status.Condition("Reconciling"); status == "True" {
		if left := began.Add(fluxApply).Sub(f.now()); left > 0 {
			f.owners.addWithin(key, left)
			return nil
		}
		return f.finish(k, manifests)
	}
	if !f.due(k, revision) {
		return nil
	}
	k = k.DeepCopyObject().(*foreign.Kustomization)
	if k.Status == nil {
		k.Status = foreign.Free{}
	}
	k.Status.Set(revision, "lastAttemptedRevision")
	k.Status.Set([]any{f.condition("Ready", "Unknown", "Progressing"), f.condition("Reconciling", "True", "Progressing")}, "conditions")
	_, err := f.w.updateStatus(k, managerFlux)
	return err
}

// due reports whether there is something to do, and sets the timer for the next time.
func (f *flux) due(k *foreign.Kustomization, revision string) bool {
	_, _, since := k.Status.Condition("Ready")
	asked := k.Annotations[annFluxRequested]
	left := since.Add(k.Spec.Span(10*time.Minute, "interval")).Sub(f.now())
	if k.Status.Int("observedGeneration") != k.Generation || k.Status.Text("lastAppliedRevision") != revision ||
		asked != "" && asked != k.Status.Text("lastHandledReconcileAt") || left <= 0 {
		return true
	}
	f.owners.addAfter(client.ObjectKeyFromObject(k), left)
	return false
}

func (f *flux) condition(name, status, reason string) map[string]any {
	return map[string]any{"type": name, "status": status, "reason": reason, "lastTransitionTime": f.now().Format(time.RFC3339)}
}

// finish applies what Git says and writes down that it did.
func (f *flux) finish(k *foreign.Kustomization, manifests []manifest) error {
	entries := make([]any, 0, len(manifests))
	for _, m := range manifests {
		if err := f.apply(k, m); err != nil {
			return err
		}
		entries = append(entries, map[string]any{"id": m.key.Namespace + "_" + m.key.Name + "_" + m.gvk.Group + "_" + m.gvk.Kind, "v": m.gvk.Version})
	}
	k = k.DeepCopyObject().(*foreign.Kustomization)
	k.Status.Set([]any{f.condition("Ready", "True", "ReconciliationSucceeded")}, "conditions")
	k.Status.Set(k.Generation, "observedGeneration")
	k.Status.Set(k.Status.Text("lastAttemptedRevision"), "lastAppliedRevision")
	k.Status.Set(entries, "inventory", "entries")
	if asked := k.Annotations[annFluxRequested]; asked != "" {
		k.Status.Set(asked, "lastHandledReconcileAt")
	}
	_, err := f.w.updateStatus(k, managerFlux)
	return err
}

// apply is a server-side apply of one manifest, after the take-over.
func (f *flux) apply(k *foreign.Kustomization, m manifest) error {
	if err := f.takeOver(m); err != nil {
		return err
	}
	content := foreign.Free(m.content).DeepCopy()
	content.Set(k.Name, "metadata", "labels", labelFluxName)
	content.Set(k.Namespace, "metadata", "labels", labelFluxNamespace)
	body, err := json.Marshal(content)
	if err != nil {
		return err
	}
	_, err = f.w.server.Patch(m.gvk.GroupKind(), m.key, types.ApplyPatchType, body, cluster.WriteOptions{Manager: managerFlux, Force: true})
	return err
}

// takeOver makes the fields of managers that look like kubectl its own.
func (f *flux) takeOver(m manifest) error {
	live := f.w.server.Get(m.gvk.GroupKind(), m.key)
	if live == nil {
		return nil
	}
	rest, taken := []metav1.ManagedFieldsEntry{}, []metav1.ManagedFieldsEntry{}
	for _, e := range live.GetManagedFields() {
		mine := e.Manager == managerFlux && e.Operation == metav1.ManagedFieldsOperationApply
		if mine || strings.HasPrefix(e.Manager, "kubectl") && e.Subresource == "" {
			taken = append(taken, e)
		} else {
			rest = append(rest, e)
		}
	}
	if !slices.ContainsFunc(taken, func(e metav1.ManagedFieldsEntry) bool { return e.Manager != managerFlux }) {
		return nil
	}
	own, err := united(taken)
	if err != nil {
		return err
	}
	body, err := json.Marshal([]map[string]any{{"op": "replace", "path": "/metadata/managedFields", "value": append(rest, own)}})
	if err != nil {
		return err
	}
	_, err = f.w.server.Patch(m.gvk.GroupKind(), m.key, types.JSONPatchType, body, cluster.WriteOptions{Manager: managerFlux})
	return err
}

// united is one entry of Flux's with the fields of all.
func united(all []metav1.ManagedFieldsEntry) (metav1.ManagedFieldsEntry, error) {
	own, owned := all[0], fieldpath.NewSet()
	for _, e := range all {
		fields := fieldpath.NewSet()
		if err := fields.FromJSON(bytes.NewReader(e.FieldsV1.GetRawBytes())); err != nil {
			return own, err
		}
		owned = owned.Union(fields)
	}
	raw, err := owned.ToJSON()
	own.Manager, own.Operation, own.FieldsV1 = managerFlux, metav1.ManagedFieldsOperationApply, metav1.NewFieldsV1(string(raw))
	return own, err
}
