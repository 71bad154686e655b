package operator

import (
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/apply"
	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/controllers/notification"
	"github.com/corewire/kick/kick/gather"
)

// What KICK may do besides unless --enable-notifications=false is set: a role of its own,
// so that an installation without notifications has no rights on their kind.
//
// +kubebuilder:rbac:groups=kick.corewire.io,resources=notificationpolicies,verbs=get;list;watch,roleName=kick-notifications
// +kubebuilder:rbac:groups=kick.corewire.io,resources=notificationpolicies/status,verbs=update,roleName=kick-notifications

// notificationRole is the name of that role.
const notificationRole = "kick-notifications"

// notificationCRD is the resource that must be there then.
const notificationCRD = "notificationpolicies"

// notificationQPS and notificationBurst are the calls to the API server that notifications
// may make on their own, so that they never stand in line before a restart.
const (
	notificationQPS   = 20
	notificationBurst = 40
)

// NotificationOptions are the flags of NotificationPolicies.
type NotificationOptions struct {
	Enabled bool
	// Queue is how many transitions may wait for one policy.
	Queue int
	// Local lets notifications go to loopback and link-local addresses.
	Local bool
}

func (o *NotificationOptions) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.Enabled, "enable-notifications", true, "tell the webhooks of NotificationPolicies what becomes of requests; needs the CRD and the role "+notificationRole)
	f.IntVar(&o.Queue, "notification-queue-size", 1000, "how many notifications may wait for one NotificationPolicy; the oldest make room; at least 1")
	f.BoolVar(&o.Local, "notification-allow-local-targets", false, "let notifications go to loopback and link-local addresses: whoever may write a NotificationPolicy then reaches what listens on KICK's machine")
}

func (o *NotificationOptions) validate() []error {
	if o.Queue < 1 {
		return []error{fmt.Errorf("--notification-queue-size %d must be at least 1", o.Queue)}
	}
	return nil
}

// Calls are a reader and a writer of their own.
type Calls struct {
	Live  client.Reader
	Write apply.Client
}

// notificationCalls are those calls in production.
func notificationCalls(config *rest.Config) (Calls, error) {
	own := rest.CopyConfig(config)
	own.QPS, own.Burst = notificationQPS, notificationBurst
	c, err := client.New(own, client.Options{Scheme: NewScheme()})
	if err != nil {
		return Calls{}, fmt.Errorf("connect to the API server: %w", err)
	}
	return Calls{Live: c, Write: c}, nil
}

// notificationControllers is the controller of notifications, if they are enabled. What it
// reads live and writes goes its own way.
func notificationControllers(d Deps, g *gather.Gatherer, a *apply.Applier) []controllers.Controller {
	if !d.Options.Notifications.Enabled {
		return nil
	}
	return []controllers.Controller{notification.New(notification.Deps{
		Clock: d.Clock, Gather: g.Reading(d.Notifications.Live), Apply: &apply.Applier{Client: d.Notifications.Write, Workloads: a.Workloads},
		Metrics: d.Metrics, Deliver: d.Deliver, Queue: d.Options.Notifications.Queue,
	})}
}

// notificationTransforms are what is cached for notifications, if they are enabled.
func notificationTransforms(o Options) []controllers.Transform {
	if !o.Notifications.Enabled {
		return nil
	}
	return []controllers.Transform{{Object: &v1alpha1.NotificationPolicy{}, Apply: func(o client.Object) { o.SetManagedFields(nil) }}}
}
