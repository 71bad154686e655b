package operator_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/cli"
)

// readers are those that tell a person why a workload is where it is.
type readers struct {
	*world
	timeline string
}

// allSay waits until the event, kubectl kick why and the timeline say of Deployment web
// what the request's status says, which holds a text.
func (r *readers) allSay(phase v1alpha1.Phase, reason, part string) {
	r.t.Helper()
	r.reaches("Deployment", "web", phase, reason)
	r.eventually(reason, func(ctx context.Context) string {
		sentence := r.request("Deployment", "web").Status.Gate.Message
		if !strings.Contains(sentence, part) {
			return fmt.Sprintf("the status says %q, want %q", sentence, part)
		}
		for reader, said := range map[string][]string{"event": r.notes(ctx), "kubectl kick why": {r.whySays(ctx)}, "timeline": {r.laneSays()}} {
			found := false
			for _, s := range said {
				found = found || s == sentence
			}
			if !found {
				return fmt.Sprintf("%s says %q, the status says %q", reader, said, sentence)
			}
		}
		return ""
	})
}

// notes are those of the events about the request.
func (r *readers) notes(ctx context.Context) []string {
	var list eventsv1.EventList
	if err := r.c.List(ctx, &list, client.InNamespace(r.ns)); err != nil {
		return []string{err.Error()}
	}
	var notes []string
	for i := range list.Items {
		if list.Items[i].Regarding.Name == "deployment-web" {
			notes = append(notes, list.Items[i].Note)
		}
	}
	return notes
}

// whySays is the message of kubectl kick why.
func (r *readers) whySays(ctx context.Context) string {
	var out, errs bytes.Buffer
	code := cli.Main([]string{"why", "deployment/web", "-o", "json", "--kubeconfig", r.plane.Kubeconfig, "-n", r.ns, "--kick-namespace", r.kick.Namespace},
		cli.Program{In: strings.NewReader(""), Stdout: &out, Stderr: &errs, Now: time.Now, Name: "kubectl kick", Context: ctx})
	var answer struct{ Message string }
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		return fmt.Sprintf("exit code %d: %s%s", code, out.String(), errs.String())
	}
	return answer.Message
}

// laneSays is the message of the timeline's lane.
func (r *readers) laneSays() string {
	_, body := fetch(r.t, r.timeline+"/timeline?namespace="+r.ns+"&kind=Deployment&name=web", "")
	var answer struct{ Lane struct{ Message string } }
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		return body
	}
	return answer.Lane.Message
}

// TestAllReadersSayTheSame: whatever a request waits for and however it ends, its status,
// the event, kubectl kick why and the timeline say one sentence.
//
// Proves: KICK-FEAT-038, KICK-FEAT-043.
func TestAllReadersSayTheSame(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	r := &readers{newWorld(t, "readers"), "http://127.0.0.1:" + port}
	r.policy("")
	r.secret("db", "alpha")
	r.deployment("web", 1, byEnv("db"))
	r.rolledOut("Deployment", "web", 1)
	r.start("--timeline-bind-address=:" + port)
	spec := func(of string) { r.t.Helper(); r.patch(&v1alpha1.KickPolicy{}, "policy", `{"spec":`+of+`}`) }

	r.allSay(v1alpha1.PhaseNoLongerRequired, "Fresh", "Every pod read its sources")
	spec(`{"suspend":true}`)
	r.secret("db", "bravo")
	r.allSay(v1alpha1.PhaseWaitingForGate, "PolicySuspended", "is suspended")
	spec(`{"suspend":false,"schedule":{"windows":[{"type":"Allow","cron":"0 0 30 2 *","duration":"1h"}]}}`)
	r.allSay(v1alpha1.PhaseWaitingForGate, "ConfigurationError", "month 2 has no day 30")
	spec(`{"schedule":{"windows":[{"type":"Deny","cron":"* * * * *","duration":"24h"}]}}`)
	r.allSay(v1alpha1.PhaseWaitingForGate, "OutsideSchedule", "The policy's schedule is shut")
	spec(`{"schedule":null}`)
	r.allSay(v1alpha1.PhaseSucceeded, "RestartCompleted", "the rollout is complete")

	r.patch(&appsv1.Deployment{}, "web", `{"spec":{"paused":true}}`)
	r.secret("db", "charlie")
	r.allSay(v1alpha1.PhaseWaitingForRollout, "Paused", "is paused")
	r.policy("web")
	r.allSay(v1alpha1.PhaseWaitingForGate, "PolicyConflict", "Several policies select")
	if err := r.c.Delete(t.Context(), &v1alpha1.KickPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: r.ns, Name: "policyweb"}}); err != nil {
		t.Fatal(err)
	}
	spec(`{"restart":{"minInterval":"24h"}}`)
	r.patch(&appsv1.Deployment{}, "web", `{"spec":{"paused":false}}`)
	r.allSay(v1alpha1.PhaseWaitingForGate, "RateLimited", "allows the next restart from")
	spec(`{"restart":{"minInterval":"0s"},"dryRun":true}`)
	r.allSay(v1alpha1.PhaseDryRun, "DryRun", "Would restart now")
}
