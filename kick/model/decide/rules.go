package decide

// rule is one question every pass asks. It never looks at what other rules said.
type rule struct {
	name string
	ask  func(*facts) Step
}

// RuleProvider is the name of the rule that asks the GitOps tool.
const RuleProvider = "provider"

// rules in the order in which the first one that does not pass names the phase
// (DESIGN section 7).
var rules = []rule{
	{"target", target},           // is there still a workload to restart?
	{"policy", policy},           // does exactly one active policy select it?
	{"asked", asked},             // has the change a person speaks of come yet?
	{"windows", windows},         // is a maintenance window open?
	{RuleProvider, provider},     // does the GitOps tool agree?
	{"rollout", rollout},         // is it between two revisions?
	{"freshness", fresh},         // is any running pod stale?
	{"strategy", strategy},       // would a stamp reach the stale pods?
	{"settling", settling},       // has the last change been quiet for long enough?
	{"flapping", flapping},       // does what is missed come to rest?
	{"mirrors", mirrors},         // have the Secrets that mirror a rotated class followed?
	{"sources", sources},         // could new pods start?
	{"dry-run", dryRun},          // may KICK act at all?
	{"interval", interval},       // is the last restart long enough ago?
	{"concurrency", concurrency}, // are few enough others being restarted?
	{"act", act},                 // then restart
}

// ask puts every rule to the facts and returns the trail and its first step that
// is not a pass. The last rule never passes, so there always is one.
func ask(f *facts) (trail []Step, decisive *Step) {
	trail = make([]Step, 0, len(rules))
	for _, r := range rules {
		step := r.ask(f)
		step.Rule = r.name
		trail = append(trail, step)
	}
	for i := range trail {
		if trail[i].Outcome != Pass {
			return trail, &trail[i]
		}
	}
	return trail, nil
}
