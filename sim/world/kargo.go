package world

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/sim/cluster"
	"github.com/corewire/kick/sim/foreign"
)

var (
	kindStage     = schema.GroupKind{Group: "kargo.akuity.io", Kind: "Stage"}
	kindPromotion = schema.GroupKind{Group: "kargo.akuity.io", Kind: "Promotion"}
)

const managerKargo = "kargo-controller"

// kargoShard is the shard whose Stages are played; the others' stay as they are written.
const kargoShard = "sim"

// kargoRuns is how long a Promotion runs.
const kargoRuns = 10 * time.Second

// kargo plays Kargo's controller: the Promotions of a Stage run one after another, by
// name. After one has ended, the next stays pending until the Stage's condition Verified
// is True, if the Stage has a verification.
type kargo struct {
	w     *World
	queue *queue[types.NamespacedName]
}

func newKargo(w *World) {
	k := &kargo{w: w}
	k.queue = newKeyQueue(w, "kargo-controller", k.sync)
	w.on(kindStage, func(ev cluster.Event) {
		if ev.Type != cluster.Deleted {
			k.queue.add(ev.Key)
		}
	})
	w.on(kindPromotion, func(ev cluster.Event) {
		if p, ok := ev.Object.(*foreign.Promotion); ok && ev.Type != cluster.Deleted {
			k.queue.add(types.NamespacedName{Namespace: ev.Key.Namespace, Name: p.Spec.Text("stage")})
		}
	})
}

func (k *kargo) now() time.Time { return seconds(k.w.opt.KCM.Now()).Time }

// sync makes one step of a Stage.
func (k *kargo) sync(key types.NamespacedName) error {
	stage, ok := k.w.server.Get(kindStage, key).(*foreign.Stage)
	if !ok || stage.Spec.Text("shard") != kargoShard {
		return nil
	}
	if current := stage.Status.Text("currentPromotion", "name"); current != "" {
		return k.proceed(stage, current)
	}
	waiting := k.waiting(stage)
	if len(waiting) == 0 {
		return nil
	}
	first := waiting[0]
	if first.Status.Text("phase") == "" {
		return k.phase(first, foreign.Free{"phase": "Pending"})
	}
	verified, _, _ := stage.Status.Condition("Verified")
	if stage.Spec.At("verification") != nil && stage.Status.At("lastPromotion") != nil && verified != "True" {
		return nil
	}
	return k.status(stage, foreign.Free{"currentPromotion": map[string]any{"name": first.Name}, "conditions": nil})
}

// waiting are the Promotions of a Stage that have not begun, in order.
func (k *kargo) waiting(stage *foreign.Stage) []*foreign.Promotion {
	var all []*foreign.Promotion
	for _, o := range k.w.server.List(kindPromotion, stage.Namespace) {
		p := o.(*foreign.Promotion)
		if phase := p.Status.Text("phase"); p.Spec.Text("stage") == stage.Name && (phase == "" || phase == "Pending") {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *foreign.Promotion) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// proceed runs the current Promotion, and clears it once that has ended.
func (k *kargo) proceed(stage *foreign.Stage, current string) error {
	p, ok := k.w.server.Get(kindPromotion, types.NamespacedName{Namespace: stage.Namespace, Name: current}).(*foreign.Promotion)
	if !ok {
		return k.status(stage, foreign.Free{"currentPromotion": nil})
	}
	switch p.Status.Text("phase") {
	case "", "Pending":
		return k.phase(p, foreign.Free{"phase": "Running", "startedAt": k.now().Format(time.RFC3339)})
	case "Running":
		left := p.Status.Time("startedAt").Add(kargoRuns).Sub(k.now())
		if left > 0 {
			k.queue.addWithin(client.ObjectKeyFromObject(stage), left)
			return nil
		}
		return k.phase(p, foreign.Free{"phase": "Succeeded", "finishedAt": k.now().Format(time.RFC3339)})
	}
	last := map[string]any{"name": p.Name, "finishedAt": p.Status.Text("finishedAt")}
	return k.status(stage, foreign.Free{"currentPromotion": nil, "lastPromotion": last})
}

func (k *kargo) phase(p *foreign.Promotion, fields foreign.Free) error {
	p = p.DeepCopyObject().(*foreign.Promotion)
	p.Status = merged(p.Status, fields)
	_, err := k.w.updateStatus(p, managerKargo)
	return err
}

func (k *kargo) status(s *foreign.Stage, fields foreign.Free) error {
	s = s.DeepCopyObject().(*foreign.Stage)
	s.Status = merged(s.Status, fields)
	_, err := k.w.updateStatus(s, managerKargo)
	return err
}

// merged sets fields of a status that is the caller's own; nil removes one.
func merged(status, fields foreign.Free) foreign.Free {
	if status == nil {
		status = foreign.Free{}
	}
	for name, value := range fields {
		if value == nil {
			delete(status, name)
		} else {
			status[name] = value
		}
	}
	return status
}
