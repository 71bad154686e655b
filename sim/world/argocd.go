package world

import (
	"encoding/json"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/foreign"
)

var kindApplication = schema.GroupKind{Group: "argoproj.io", Kind: "Application"}

const (
	managerArgoCD = "argocd-controller"
	annTracking   = "argocd.argoproj.io/tracking-id"
	annRefresh    = "argocd.argoproj.io/refresh"
)

// Timing of Argo CD.
const (
	argoRefresh = 3 * time.Minute // an Application is compared at the latest
	argoStarts  = time.Second     // from the request of an operation to its begin
	argoSync    = 2 * time.Second // how long an operation runs
	argoGap     = 3 * time.Second // from the end of an operation to the comparison that follows
)

// argoCD plays Argo CD's application controller for Applications whose repoURL is that
// of a played repository. Its quirks are the real one's: between the end of a sync and the
// comparison that follows its status is the one from before; drift of what it manages
// changes the sync status without a new reconciledAt; what is only in the cluster is no
// difference, except where Git says that a map is empty.
type argoCD struct {
	w     *World
	queue *queue[types.NamespacedName]
}

func newArgoCD(w *World) {
	a := &argoCD{w: w}
	a.queue = newKeyQueue(w, "argocd-application-controller", a.sync)
	w.on(kindApplication, func(ev cluster.Event) {
		if ev.Type != cluster.Deleted {
			a.queue.add(ev.Key)
		}
	})
	w.on(kindDeployment, func(ev cluster.Event) {
		if id := ev.Object.GetAnnotations()[annTracking]; id != "" {
			for _, o := range w.server.List(kindApplication, "") {
				a.queue.add(client.ObjectKeyFromObject(o))
			}
		}
	})
}

func (a *argoCD) now() time.Time { return seconds(a.w.opt.KCM.Now()).Time }

func (a *argoCD) stamp() string { return a.now().Format(time.RFC3339) }

// sync makes the one step that is due, if any, and sets the timer for the next.
func (a *argoCD) sync(key types.NamespacedName) error {
	stored, ok := a.w.server.Get(kindApplication, key).(*foreign.Application)
	if !ok {
		return nil
	}
	manifests, revision, played := a.w.repository(stored.Spec.Text("source", "repoURL"))
	if !played || stored.Annotations["argocd.argoproj.io/skip-reconcile"] == "true" {
		return nil
	}
	app := stored.DeepCopyObject().(*foreign.Application)
	if app.Status == nil {
		app.Status = foreign.Free{}
	}
	wait, err := a.step(app, manifests, revision)
	if err != nil {
		return err
	}
	if wait > 0 {
		a.queue.addAfter(key, wait)
	}
	if reflect.DeepEqual(stored, app) {
		return nil
	}
	_, err = a.w.server.Update(app, cluster.WriteOptions{Manager: managerArgoCD})
	return err
}

// step changes the Application as its controller would now, and says when to look again.
func (a *argoCD) step(app *foreign.Application, manifests []manifest, revision string) (time.Duration, error) {
	started := app.Status.Time("operationState", "startedAt")
	running := app.Status.Text("operationState", "phase") == "Running"
	switch {
	case running && a.now().Before(started.Add(argoSync)):
		return started.Add(argoSync).Sub(a.now()), nil
	case running:
		return argoGap, a.finish(app, manifests, revision)
	case app.Operation != nil:
		app.Status["operationState"] = map[string]any{"phase": "Running", "startedAt": a.stamp(), "operation": runtime.DeepCopyJSON(app.Operation)}
		return argoSync, nil
	}
	a.compare(app, manifests, revision)
	if a.mayAutoSync(app, revision) {
		app.Operation = foreign.Free{"sync": map[string]any{"revision": revision}, "initiatedBy": map[string]any{"automated": true}}
		return argoStarts, nil
	}
	return argoRefresh, nil
}

// finish ends an operation. What it led to is compared a little later.
func (a *argoCD) finish(app *foreign.Application, manifests []manifest, revision string) error {
	for _, m := range manifests {
		if err := a.apply(app, m); err != nil {
			return err
		}
	}
	app.Operation = nil
	app.Status.Set("Succeeded", "operationState", "phase")
	app.Status.Set(a.stamp(), "operationState", "finishedAt")
	app.Status.Set(revision, "operationState", "syncResult", "revision")
	return nil
}

// compare brings the sync status up to date, at once for drift, and with a new
// reconciledAt for whatever makes it look at Git again.
func (a *argoCD) compare(app *foreign.Application, manifests []manifest, revision string) {
	finished, compared := app.Status.Time("operationState", "finishedAt"), app.Status.Time("reconciledAt")
	if !finished.IsZero() && compared.Before(finished) && a.now().Before(finished.Add(argoGap)) {
		return // the gap
	}
	_, asked := app.Annotations[annRefresh]
	to := map[string]any{"source": app.Spec.At("source"), "destination": app.Spec.At("destination")}
	if asked || compared.Before(finished) || !a.now().Before(compared.Add(argoRefresh)) || !reflect.DeepEqual(app.Status.At("sync", "comparedTo"), any(to)) {
		delete(app.Annotations, annRefresh)
		app.Status.Set(a.stamp(), "reconciledAt")
		app.Status.Set(revision, "sync", "revision")
		app.Status.Set(runtime.DeepCopyJSON(to), "sync", "comparedTo")
	}
	app.Status.Set(app.Namespace, "controllerNamespace")
	a.list(app, manifests)
}

// list is status.resources and what follows from it.
func (a *argoCD) list(app *foreign.Application, manifests []manifest) {
	overall, resources := "Synced", make([]any, 0, len(manifests))
	for _, m := range manifests {
		status := "Synced"
		if live := a.w.server.Get(m.gvk.GroupKind(), m.key); live == nil || differs(m.content, plain(live), "") {
			status, overall = "OutOfSync", "OutOfSync"
		}
		r := map[string]any{"version": m.gvk.Version, "kind": m.gvk.Kind, "namespace": m.key.Namespace, "name": m.key.Name, "status": status}
		if m.gvk.Group != "" {
			r["group"] = m.gvk.Group
		}
		resources = append(resources, r)
	}
	app.Status.Set(overall, "sync", "status")
	app.Status["resources"] = resources
}

// mayAutoSync: a new revision is synced once, drift only with self-heal.
func (a *argoCD) mayAutoSync(app *foreign.Application, revision string) bool {
	automated, on := app.Spec.At("syncPolicy", "automated").(map[string]any)
	if !on || app.Status.Text("sync", "status") != "OutOfSync" || app.Status.Text("sync", "revision") != revision ||
		app.Status.Time("reconciledAt").Before(app.Status.Time("operationState", "finishedAt")) {
		return false
	}
	return app.Status.Text("operationState", "syncResult", "revision") != revision || automated["selfHeal"] == true
}

// apply is a client-side apply of one manifest: live-only fields stay, a null removes.
func (a *argoCD) apply(app *foreign.Application, m manifest) error {
	id := app.Name + ":" + m.gvk.Group + "/" + m.gvk.Kind + ":" + m.key.Namespace + "/" + m.key.Name
	content := foreign.Free(m.content).DeepCopy()
	content.Set(id, "metadata", "annotations", annTracking)
	body, err := json.Marshal(content)
	if err != nil {
		return err
	}
	kind, o := types.MergePatchType, cluster.WriteOptions{Manager: managerArgoCD}
	if a.w.server.Get(m.gvk.GroupKind(), m.key) == nil {
		kind, o.Force = types.ApplyPatchType, true
	}
	_, err = a.w.server.Patch(m.gvk.GroupKind(), m.key, kind, body, o)
	return err
}

// plain is an object as JSON values.
func plain(o client.Object) map[string]any {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil // which differs from whatever is wanted
	}
	return content
}

// differs reports whether a live value is not what Git says. Names of the kind are not
// looked at: the server keeps them apart.
func differs(want, live any, path string) bool {
	switch w := want.(type) {
	case map[string]any:
		l, _ := live.(map[string]any)
		return mapDiffers(w, l, path)
	case []any:
		l, _ := live.([]any)
		for i := range min(len(w), len(l)) {
			if differs(w[i], l[i], path+"[]") {
				return true
			}
		}
		return len(l) != len(w)
	case nil:
		return live != nil
	}
	return !reflect.DeepEqual(want, live)
}

func mapDiffers(want, live map[string]any, path string) bool {
	if path == ".spec.template.metadata.annotations" && len(want) == 0 {
		return len(live) > 0 // dropped from what is desired, and not from what was applied
	}
	for key := range want {
		typeMeta := path == "" && (key == "apiVersion" || key == "kind")
		if !typeMeta && differs(want[key], live[key], path+"."+key) {
			return true
		}
	}
	return false
}
