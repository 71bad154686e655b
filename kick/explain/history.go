package explain

import (
	"fmt"
	"time"

	"github.com/corewire/kick/kick/model"
)

// Content is the sentence for one entry of a source's history.
func Content(source model.Key, c model.Content) string {
	switch known := model.Known(c.Observed); {
	case c.Absent() && c.Baseline && !known:
		return fmt.Sprintf("%s did not exist when KICK looked first.", source)
	case !known:
		return fmt.Sprintf("%s held this content when KICK looked first; nothing tells since when.", source)
	case c.Absent() && c.Baseline:
		return fmt.Sprintf("%s did not exist %s, when KICK looked first.", source, Time(c.Observed))
	case c.Absent():
		return fmt.Sprintf("%s was deleted; seen %s.", source, Time(c.Observed))
	case c.Baseline:
		return fmt.Sprintf("%s has held this content since %s; KICK found it so.", source, Time(c.Observed))
	}
	return fmt.Sprintf("%s changed %s.", source, Time(c.Observed))
}

// Stamped is the sentence for a restart that was: when, and by whom; an empty manager
// is not known.
func Stamped(at time.Time, manager string) string {
	if manager == "" {
		return fmt.Sprintf("Restarted %s.", Time(at))
	}
	return fmt.Sprintf("Restarted %s by %s.", Time(at), manager)
}

// Revision is the sentence for a revision of a workload.
func Revision(name string, created time.Time) string {
	return fmt.Sprintf("Revision %s was made %s.", name, Time(created))
}
