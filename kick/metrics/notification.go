package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/corewire/kick/kick/model"
)

// What became of a try to deliver a notification.
const (
	NotificationDelivered = "success"
	NotificationFailed    = "failure"
)

// NotificationPolicy makes the series of a policy exist.
func (m *Metrics) NotificationPolicy(id model.Key) {
	for _, outcome := range []string{NotificationDelivered, NotificationFailed} {
		m.notices.WithLabelValues(id.Namespace, id.Name, outcome)
	}
}

// NoNotificationPolicy removes the series of a policy that is gone.
func (m *Metrics) NoNotificationPolicy(id model.Key) {
	m.notices.DeletePartialMatch(prometheus.Labels{"namespace": id.Namespace, "policy": id.Name})
}

// Notification counts a try to deliver.
func (m *Metrics) Notification(id model.Key, outcome string) {
	m.notices.WithLabelValues(id.Namespace, id.Name, outcome).Inc()
}

// NotificationsDropped counts notifications that are not delivered because too many
// waited.
func (m *Metrics) NotificationsDropped(n int64) { m.dropped.Add(float64(n)) }
