package notify

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/corewire/kick/kick/model/notify"
)

// cloudEvent is a CloudEvent 1.0 in structured JSON.
type cloudEvent struct {
	SpecVersion string         `json:"specversion"`
	ID          string         `json:"id"`
	Source      string         `json:"source"`
	Type        string         `json:"type"`
	Subject     string         `json:"subject"`
	Time        time.Time      `json:"time"`
	ContentType string         `json:"datacontenttype"`
	Data        notify.Message `json:"data"`
}

// encode returns the body and its content type.
func encode(d *notify.Delivery) (body []byte, kind string, err error) {
	m := &d.Message
	var v any = m
	kind = "application/json"
	if d.Target.CloudEvents {
		kind = "application/cloudevents+json"
		v = cloudEvent{
			SpecVersion: "1.0", ID: d.Key,
			Source:  fmt.Sprintf("/apis/kick.corewire.io/v1alpha1/namespaces/%s/kickrequests/%s", m.Namespace, m.RequestName),
			Type:    "io.corewire.kick.request." + strings.ToLower(m.Phase),
			Subject: m.TargetKind + "/" + m.TargetName, Time: m.OccurredAt, ContentType: "application/json", Data: *m,
		}
	}
	body, err = json.Marshal(v)
	return body, kind, err
}
