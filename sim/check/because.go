package check

import (
	"fmt"
	"strings"
	"time"
)

// Because says what of the cluster decides that a workload waits for a reason that KICK
// names, or is restarted now (no reason): the source that is missing, the window that is open or shut, the
// restart before. Empty where there is nothing of the kind. It is for those who read what
// happened; no law asks it.
func (c *Context) Because(reason, namespace, kind, name string) string {
	w, ok := c.workload(namespace, kind, name)
	if !ok {
		return ""
	}
	switch reason {
	case "SourceMissing":
		if missing := c.unstartable(w, Known{}); missing != "" {
			return missing
		}
		return "nothing that it requires is missing"
	case "OutsideSchedule", "":
		return c.windowWords(w)
	case "RateLimited":
		return c.distanceWords(w)
	default:
		return ""
	}
}

// windowWords name the windows of the policy of a workload, and whether they let it be
// restarted now.
func (c *Context) windowWords(w workload) string {
	policies := c.policiesOf(w)
	if len(policies) != 1 || len(policies[0].Spec.Schedule.Windows) == 0 {
		return ""
	}
	var all []string
	for _, window := range policies[0].Spec.Schedule.Windows {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %q for %s %s", window.Type, window.Cron, short(window.Duration.Duration), window.TimeZone)))
	}
	state := "shut"
	if open(policies[0], c.KickNow()) {
		state = "open"
	}
	return strings.Join(all, ", ") + " is " + state
}

// short is a length without units that are 0: 8h, not 8h0m0s.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// distanceWords tell of the restart that another one keeps its distance from.
func (c *Context) distanceWords(w workload) string {
	policies := c.policiesOf(w)
	stamp, err := time.Parse(time.RFC3339Nano, c.stamps[w.id()])
	if err != nil || len(policies) != 1 {
		return ""
	}
	return fmt.Sprintf("restarted at %s, %s between restarts", stamp.UTC().Format("15:04:05.000000Z"), short(minInterval(policies[0])))
}
