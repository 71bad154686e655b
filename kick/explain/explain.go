// Package explain turns the steps of a verdict into sentences. Events, request
// status, the command line, the UI and the simulator all say the same thing
// because they all ask here. Pure: no client, no API types, no clock. A sentence
// never holds a duration counted from now, so that the same state always reads
// the same and is not written twice.
package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/corewire/kick/kick/model/decide"
	"github.com/corewire/kick/kick/model/request"
)

// Step is the sentence for one step of a trail. It names the facts with their
// times, what stands in the way, and what happens next.
func Step(s *decide.Step) string {
	if s == nil {
		return ""
	}
	if say, ok := sentences[s.Reason]; ok {
		return say(s)
	}
	if s.Reason != "" {
		return sentence(string(s.Reason), s.Detail)
	}
	return passed(s)
}

// sentences has one entry per reason that needs more than its name.
var sentences = map[request.Reason]func(*decide.Step) string{
	request.Opened: func(s *decide.Step) string {
		if s.Object.Kind == "KickRequest" { // somebody asked, and no source changed
			return fmt.Sprintf("%s asks for a restart; waiting for the first judgement.", s.Object)
		}
		return fmt.Sprintf("%s changed%s; waiting for the first judgement.", s.Object, since(s.At))
	},
	request.OutsideSchedule: func(s *decide.Step) string {
		if s.Rule == decide.RuleProvider {
			return sentence("The GitOps tool's sync windows are shut", s.Detail)
		}
		return sentence("The policy's schedule is shut", s.Detail) + looksAgain(s)
	},
	request.ConfigurationError: func(s *decide.Step) string {
		if s.Rule == decide.RuleProvider {
			return sentence("What is configured for the GitOps tool cannot be read", s.Detail)
		}
		return fmt.Sprintf("%s: %s. The gate stays closed for this policy; others are not affected.", s.Object, strings.TrimSuffix(s.Detail, "."))
	},
	request.OwnerUnknown:        owner("No GitOps owner is known"),
	request.AmbiguousOwner:      owner("More than one GitOps owner claims it"),
	request.OwnerOutOfSync:      owner("Its GitOps owner is not as declared"),
	request.OwnerReconciling:    owner("Its GitOps owner is not done yet"),
	request.ProjectUnknown:      owner("The project of its GitOps owner is not known"),
	request.ProviderUnavailable: owner("The GitOps tool cannot be asked"),
	request.PolicySuspended: func(s *decide.Step) string {
		return fmt.Sprintf("%s is suspended; the change is kept and acted on when spec.suspend is false.", s.Object)
	},
	request.PolicyConflict: func(s *decide.Step) string {
		return fmt.Sprintf("Several policies select this workload (%s); narrow their workloadSelectors until one is left.", s.Detail)
	},
	request.Settling: func(s *decide.Step) string {
		if s.Detail != "" {
			return sentence(fmt.Sprintf("The last change was observed%s", since(s.At)), s.Detail)
		}
		if s.Until.IsZero() {
			return fmt.Sprintf("%s is not on record as it stands; waiting until it is.", s.Object)
		}
		return fmt.Sprintf("The last change was observed %s; waiting until %s for further edits.", Time(s.At), Time(s.Until))
	},
	request.SourceMissing: func(s *decide.Step) string {
		if s.Detail != "" {
			return fmt.Sprintf("%s lacks the required %s; new pods could not start. Waiting until it is there.", s.Object, s.Detail)
		}
		return fmt.Sprintf("%s is required and does not exist; new pods could not start. Waiting until it is there.", s.Object)
	},
	request.NotYet: func(s *decide.Step) string {
		return fmt.Sprintf("spec.changedAt of %s lies in the future; waiting until %s.", s.Object, Time(s.Until))
	},
	request.RateLimited: func(s *decide.Step) string {
		return fmt.Sprintf("KICK restarted it %s; spec.restart.minInterval of %s allows the next restart from %s.", Time(s.At), s.Object, Time(s.Until))
	},
	request.ClassFlapping: func(s *decide.Step) string {
		return fmt.Sprintf("The versions of %s change each time the driver looks, the last time %s, and a restart would only be followed by the next; restarts for it have stopped. KICK restarts once they have been the same until %s.", s.Object, Time(s.At), Time(s.Until))
	},
	request.MirrorPending: func(s *decide.Step) string {
		return fmt.Sprintf("%s was rotated %s; waiting until %s for %s, which the driver makes of it, so that both are one restart.", s.Object, Time(s.At), Time(s.Until), s.Detail)
	},
	request.ConcurrencyLimited: func(s *decide.Step) string { // no names: each restart that ends would be one more write
		who := "The operator allows"
		if s.Object.Name != "" {
			who = s.Object.String() + " allows"
		}
		return fmt.Sprintf("%s %d at a time (%s), and as many restarts or more are under way; this one follows when one of them ends.", who, s.Limit, s.Setting)
	},
	request.RolloutInProgress: func(s *decide.Step) string { // no counts: each would be one more write
		return fmt.Sprintf("%s is rolling; it is judged when that is over.", s.Object)
	},
	request.Paused: func(s *decide.Step) string {
		if s.Detail != "" {
			return fmt.Sprintf("%s is paused (%s); a restart would take its pods down in the middle of that. It is judged when it goes on and is done.", s.Object, s.Detail)
		}
		return fmt.Sprintf("%s is paused; a restart would do nothing. Resume it and KICK goes on.", s.Object)
	},
	request.OnDelete: func(s *decide.Step) string {
		return fmt.Sprintf("%s has updateStrategy OnDelete; delete its pods to let them read the new content.", s.Object)
	},
	request.Partitioned: func(s *decide.Step) string {
		return fmt.Sprintf("Only pods below the partition of %s are stale, and a restart does not reach them; lower spec.updateStrategy.rollingUpdate.partition or delete the pods.", s.Object)
	},
	request.PodsNotStarted: func(s *decide.Step) string {
		return fmt.Sprintf("Only pods that have not started are left to judge for %s; waiting for them.", s.Object)
	},
	request.RunByRollout: func(s *decide.Step) string {
		return fmt.Sprintf("%s runs the template of %s by spec.workloadRef; a restart of the latter would start its canary. KICK restarts the Rollout; scale the other down, or delete its pods.", s.Detail, s.Object)
	},
	request.UpdateInProgress: func(s *decide.Step) string {
		return fmt.Sprintf("%s is in the middle of an update (%s), which a restart would disturb; it is judged when that is over.", s.Object, s.Detail)
	},
	request.RolloutAborted: func(s *decide.Step) string {
		return fmt.Sprintf("The update of %s was aborted; retry it, or go back to the old template, and KICK goes on.", s.Object)
	},
	request.RolloutInvalid: func(s *decide.Step) string {
		return sentence(fmt.Sprintf("Argo Rollouts takes no step with %s, its spec is invalid", s.Object), s.Detail)
	},
	request.RestartScheduled: func(s *decide.Step) string {
		return fmt.Sprintf("spec.restartAt of %s, which is not KICK's, schedules a restart at %s; it is judged after that.", s.Object, Time(s.Until))
	},
	request.RestartDropped: func(s *decide.Step) string {
		return fmt.Sprintf("Argo Rollouts dropped the restart of %s because template or steps changed, and old pods are left; it is restarted again.", Time(s.At))
	},
	request.UnreadyPods: func(s *decide.Step) string {
		return fmt.Sprintf("The restart of %s does not go on: so few pods of %s are available that Argo Rollouts takes none down. Delete the pods that are not ready, or mend them.", Time(s.At), s.Object)
	},
	request.EvictionRefused: func(s *decide.Step) string {
		return fmt.Sprintf("The restart of %s does not go on: old pods of %s are not evicted. Look for a PodDisruptionBudget that allows no disruption, and whether the controller of Argo Rollouts runs and may create pods/eviction.", Time(s.At), s.Object)
	},
	request.Restarting:       restarting,
	request.RestartCompleted: completed,
	request.Fresh: func(s *decide.Step) string {
		if s.At.IsZero() { // never, or before anybody looked
			return "No source it reads is on record as changed."
		}
		return fmt.Sprintf("Every pod read its sources after the last change (%s, %s).", s.Object, Time(s.At))
	},
	request.NotRunning: func(*decide.Step) string {
		return "No pod runs, so none carries old content; pods started later read the current one."
	},
	request.NoLongerManaged: func(s *decide.Step) string {
		return fmt.Sprintf("No KickPolicy of the namespace selects %s any more.", s.Object)
	},
	request.DryRunOnly: func(s *decide.Step) string {
		return fmt.Sprintf("Would restart now; %s has spec.dryRun.%s", s.Object, proof(s))
	},
	request.RolloutTimeout: func(s *decide.Step) string {
		return sentence(fmt.Sprintf("The rollout of %s made no progress for %s", Time(s.At), s.Setting), s.Detail) + " A newer change tries again."
	},
	request.ProgressDeadlineExceeded: func(s *decide.Step) string {
		return sentence(fmt.Sprintf("The rollout of %s exceeded spec.progressDeadlineSeconds", Time(s.At)), s.Detail) + " A newer change tries again."
	},
	request.Reverted: func(s *decide.Step) string {
		return fmt.Sprintf("The stamp of %s was %s and pod %s still carries old content; KICK does not fight over it.", Time(s.At), taken(s.Manager), s.Pod)
	},
	request.TargetNotFound: func(s *decide.Step) string { return fmt.Sprintf("%s does not exist, or is being deleted.", s.Object) },
	request.PatchRejected: func(s *decide.Step) string {
		return sentence(fmt.Sprintf("The API server refuses to restart %s", s.Object), s.Detail)
	},
}

// owner is a sentence of a GitOps tool's: what it says, and when it looks again, is in the
// step's detail.
func owner(head string) func(*decide.Step) string {
	return func(s *decide.Step) string { return sentence(head, s.Detail) }
}

func restarting(s *decide.Step) string {
	if s.Outcome == decide.Act {
		return fmt.Sprintf("%s changed%s; restarting.%s", s.Object, since(s.At), proof(s))
	}
	if s.Taken {
		return fmt.Sprintf("The stamp of %s was %s; waiting for the running rollout to judge by its pods.", Time(s.At), taken(s.Manager))
	}
	if s.Detail == decide.SinglePod {
		return fmt.Sprintf("Restarted %s; watching the rollout: %s.", Time(s.At), s.Detail)
	}
	return fmt.Sprintf("Restarted %s; watching the rollout.", Time(s.At))
}

func completed(s *decide.Step) string {
	if s.Taken {
		return fmt.Sprintf("Restarted %s; the stamp was %s, and every pod carries the current content.", Time(s.At), taken(s.Manager))
	}
	return fmt.Sprintf("Restarted %s; the rollout is complete.", Time(s.At))
}

func proof(s *decide.Step) string {
	if s.Pod == "" {
		return ""
	}
	return fmt.Sprintf(" Pod %s is only known to have read its sources after %s.", s.Pod, Time(s.Since))
}

func taken(manager string) string {
	if manager == "" {
		return "removed"
	}
	return "taken over by " + manager
}

func looksAgain(s *decide.Step) string {
	if s.Until.IsZero() {
		return " No later time opens it."
	}
	return fmt.Sprintf(" Looks again %s.", Time(s.Until))
}

func sentence(head, detail string) string {
	if detail == "" {
		return head + "."
	}
	return head + ": " + strings.TrimSuffix(detail, ".") + "."
}

// since is when a change was seen; zero: nobody saw when it came.
func since(t time.Time) string {
	if t.IsZero() {
		return " before KICK looked"
	}
	return " " + Time(t)
}

// Time prints an instant as every part of KICK does: UTC, with the fraction only
// where there is one.
func Time(t time.Time) string {
	return strings.Replace(t.UTC().Format("2006-01-02 15:04:05.999999Z07:00"), "+00:00", "Z", 1)
}
