package engine

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/controllers/notification"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/model/notify"
	"github.com/corewire/kick/sim/check"
)

// deliverSite is the name of the call that delivers a notification.
const deliverSite = "deliver"

// deliverer takes notifications to the endpoints of the simulated world.
type deliverer struct{ process *process }

var _ notification.Deliverer = deliverer{}

// Deliver makes one try. Other things may happen before it arrives, and before its
// answer does.
func (d deliverer) Deliver(_ context.Context, n *notify.Delivery) notify.Outcome {
	e, policy := d.process.engine, types.NamespacedName{Namespace: n.Policy.Namespace, Name: n.Policy.Name}
	looked := d.process.looked[policy]
	d.process.suspend(deliverSite)
	code, retryAfter := 0, ""
	if e.Endpoint != nil {
		code, retryAfter = e.Endpoint(n.Target.URL)
	}
	outcome := notify.Outcome{Why: "nobody answers"}
	if code > 0 {
		outcome = notify.Judge(code, "", retryAfter, gather.Now(e.Clock))
	}
	if e.Notified != nil {
		e.Notified(check.Notified{
			Policy:  policy,
			Request: types.NamespacedName{Namespace: n.Message.Namespace, Name: n.Message.RequestName},
			Phase:   n.Message.Phase, At: n.Message.OccurredAt, Key: n.Key, Text: n.Message.Message,
			Code: code, Taken: outcome.Delivered, Final: outcome.Final, By: d.process, Looked: looked,
		})
	}
	d.process.suspend(deliverSite)
	return outcome
}
