package notify

import (
	"strings"
	"time"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// Message is what is told of a transition: names, times and reasons; never data of a
// source, its key names or digests.
type Message struct {
	Namespace      string    `json:"namespace"`
	RequestName    string    `json:"requestName"`
	Phase          string    `json:"phase"`
	Reason         string    `json:"reason"`
	Message        string    `json:"message"`
	TargetKind     string    `json:"targetKind"`
	TargetName     string    `json:"targetName"`
	GitOpsProvider string    `json:"gitOpsProvider"`
	OccurredAt     time.Time `json:"occurredAt"`
}

// withheld stands for a message that names a key of a source.
const withheld = "A source, or a key of one, that the workload requires is missing."

// MessageOf is what is told of a transition. provider is the GitOps tool that is asked
// for the workload; empty: none.
func MessageOf(t *Transition, provider string) Message {
	m := Message{
		Namespace: t.Request.Namespace, RequestName: t.Request.Name,
		Phase: string(t.Phase), Reason: string(t.Reason), Message: t.Message,
		TargetKind: t.Target.Kind, TargetName: t.Target.Name,
		GitOpsProvider: strings.ToLower(provider), OccurredAt: t.At,
	}
	if t.Reason == request.SourceMissing {
		m.Message = withheld
	}
	if m.GitOpsProvider == "" {
		m.GitOpsProvider = "none"
	}
	return m
}

// Delivery is one message on its way to one endpoint. It holds credentials, and is made
// for one try.
type Delivery struct {
	Policy  model.Key
	Key     string // the same for every try, see Mark.Key
	Message Message
	Target  Target
}

// Target is an endpoint and what it takes to be let in.
type Target struct {
	URL     string
	Method  string
	Timeout time.Duration
	// CloudEvents: the body is a CloudEvent.
	CloudEvents bool
	Headers     []Header
	Bearer      string // token; empty: none
	Basic       *Basic // nil: none
	// CA are the PEM certificates that are trusted; nil: the system's.
	CA []byte
	// Certificate and CertificateKey are shown to the endpoint, PEM; nil: none.
	Certificate, CertificateKey []byte
}

// Header is a header of a request.
type Header struct{ Name, Value string }

// Basic is a user name and a password.
type Basic struct{ Username, Password string }
