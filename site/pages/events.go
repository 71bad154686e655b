package pages

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/corewire/kick/kick/events"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/request"
)

// waits and hangs begin an occasion that is one of several reasons.
const (
	waits = "a request waits with reason "
	hangs = "a restart does not go on, with reason "
)

// occasions are events, each with all that it is sent for, in the order of their coming.
type occasions []*occasion

type occasion struct {
	kind, reason string
	when         []string
}

// whens are all that it is sent for, with the beginning of several reasons said once.
func (o *occasion) whens() string {
	text := strings.Join(o.when, ", ")
	for _, begin := range []string{waits, hangs} {
		text = strings.ReplaceAll(text, ", "+begin, ", ")
	}
	return text
}

func (all *occasions) add(e events.Event, when string) {
	for _, o := range *all {
		if o.kind == e.Type && o.reason == e.Reason {
			if !slices.Contains(o.when, when) {
				o.when = append(o.when, when)
			}
			return
		}
	}
	*all = append(*all, &occasion{e.Type, e.Reason, []string{when}})
}

// eventsPage asks the code which event it would send for every phase and reason there is.
func eventsPage(tree fs.FS) (string, error) {
	reasons, err := constants(tree, requestFolder, "Reason")
	if err != nil {
		return "", err
	}
	var all occasions
	for _, phase := range request.Phases {
		common, _ := events.ForTransition(model.RequestStatus{}, model.RequestStatus{Phase: phase, Reason: "any"})
		if common.Reason != "" {
			all.add(common, "a request comes to phase "+code(string(phase)))
		}
		for _, r := range reasons {
			e, ok := events.ForTransition(model.RequestStatus{}, model.RequestStatus{Phase: phase, Reason: request.Reason(r.value)})
			if ok && (e.Reason != common.Reason || e.Type != common.Type) {
				how := waits
				if phase == request.Executing {
					how = hangs
				}
				all.add(e, how+code(r.value))
			}
		}
	}
	overridden, _ := events.ForTransition(model.RequestStatus{}, model.RequestStatus{Phase: request.Pending, Overridden: "x"})
	all.add(overridden, "somebody lets a request pass its tool's gate (`spec.gateOverride`)")
	all.add(events.ForFlapping(""), "a source changed six times within ten minutes")
	var b strings.Builder
	b.WriteString(note("Events", "Kubernetes Events that KICK sends about requests and sources: at most one for each change of phase or reason, after the status write that it tells of. They stand at the KickRequest and at the workload; their note is `status.gate.message`."))
	b.WriteString("\n| reason | type | sent when |\n|---|---|---|\n")
	for _, o := range all {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", code(o.reason), o.kind, cell(o.whens()))
	}
	b.WriteString("\n`Settling` is not told: it is over in a moment. A crash between the status write and its event may lose the event; none is doubled.\nEvents of a ConfigBundle are in [configbundle.md](../configbundle.md).\n\n```\nkubectl kick events -n shop\nkubectl -n shop get events --field-selector involvedObject.kind=KickRequest\n```\n")
	return b.String(), nil
}
