package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/operator"
)

// redacted stands where something is left out.
const redacted = "REDACTED"

// bundle is a support bundle. No Secret and no ConfigMap is read for it, and what is
// derived of one, or a person may have put a credential into, is left out.
type bundle struct {
	Plugin        string                        `json:"plugin"`
	Server        string                        `json:"server"`
	Time          string                        `json:"time"`
	Findings      []finding                     `json:"findings"`
	Policies      []v1alpha1.KickPolicy         `json:"policies"`
	Requests      []v1alpha1.KickRequest        `json:"requests"`
	Records       []v1alpha1.SourceObservation  `json:"records"`
	Notifications []v1alpha1.NotificationPolicy `json:"notifications"`
	Events        []eventsv1.Event              `json:"events"`
	Missing       []string                      `json:"missing,omitempty"` // what could not be read
}

func (a *app) report() *cobra.Command {
	return &cobra.Command{
		Use: "report", Short: "Print a support bundle, as YAML or with -o json, without anything of Secrets and ConfigMaps", Args: cobra.NoArgs,
		Example: "  kubectl kick report -A > kick-report.yaml",
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.session(c)
			if err != nil {
				return err
			}
			a.output = cmp.Or(a.output, "yaml")
			b := s.bundle()
			for _, what := range b.Missing {
				_, _ = fmt.Fprintf(s.Stderr, "warning: left out of the report: %s\n", plain(what))
			}
			_, err = a.structured(b)
			return err
		},
	}
}

func (s *session) bundle() *bundle {
	b := &bundle{Plugin: operator.Version(), Server: "unknown", Time: moment(s.now), Findings: s.findings()}
	if v, err := s.core.Discovery().ServerVersion(); err == nil {
		b.Server = v.GitVersion
	}
	var (
		policies      v1alpha1.KickPolicyList
		requests      v1alpha1.KickRequestList
		records       v1alpha1.SourceObservationList
		notifications v1alpha1.NotificationPolicyList
		events        eventsv1.EventList
	)
	for _, one := range []struct {
		name string
		list client.ObjectList
	}{{"KickPolicies", &policies}, {"KickRequests", &requests}, {"SourceObservations", &records}, {"NotificationPolicies", &notifications}, {"events", &events}} {
		err := s.live.List(s.ctx, one.list, client.InNamespace(s.namespace))
		switch {
		case unserved(err):
			b.Missing = append(b.Missing, one.name+": the cluster does not serve them")
		case err != nil:
			b.Missing = append(b.Missing, fmt.Sprintf("%s: %v", one.name, err))
		}
	}
	b.Policies, b.Requests, b.Records, b.Notifications = policies.Items, requests.Items, records.Items, notifications.Items
	for i := range events.Items {
		if ofKick(&events.Items[i]) {
			b.Events = append(b.Events, events.Items[i])
		}
	}
	b.redact()
	return b
}

// redact leaves out digests, names of keys, credentials and whatever annotations and managed
// fields may repeat of them.
func (b *bundle) redact() {
	for i := range b.Policies {
		quiet(&b.Policies[i])
	}
	for i := range b.Requests {
		quiet(&b.Requests[i])
	}
	for i := range b.Events {
		quiet(&b.Events[i])
	}
	for i := range b.Records {
		quiet(&b.Records[i])
		redactRecord(&b.Records[i].Spec)
	}
	for i := range b.Notifications {
		quiet(&b.Notifications[i])
		redactWebhook(&b.Notifications[i].Spec.Webhook)
	}
}

func quiet(o client.Object) {
	o.SetManagedFields(nil)
	o.SetAnnotations(nil)
}

func redactRecord(spec *v1alpha1.SourceObservationSpec) {
	for i := range spec.History {
		if spec.History[i].Fingerprint != "" {
			spec.History[i].Fingerprint = redacted
		}
	}
	for i := range spec.KeyNames {
		spec.KeyNames[i] = redacted
	}
}

// redactWebhook: an address may hold a token in its path, and a header anything.
func redactWebhook(w *v1alpha1.Webhook) {
	w.URL = redacted
	for i := range w.Headers {
		if w.Headers[i].Value != nil {
			hidden := redacted
			w.Headers[i].Value = &hidden
		}
	}
}
