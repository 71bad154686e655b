package events

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/corewire/kick/kick/model/bundle"
)

// Reasons of events about a ConfigBundle, stable.
const (
	ConfigMapCreated  = "ConfigMapCreated"
	ConfigMapUpdated  = "ConfigMapUpdated"
	ConfigMapHealed   = "ConfigMapHealed"
	ConfigMapReplaced = "ConfigMapReplaced"
	SpecRestored      = "SpecRestored"
	BundleNotReady    = "BundleNotReady"
)

// ForBundleWrite is the event of a write made for a bundle; false where it is not worth
// one.
func ForBundleWrite(v *bundle.Verdict, note string) (Event, bool) {
	e := Event{Type: corev1.EventTypeNormal, Reason: ConfigMapUpdated, Action: string(v.Action), Note: note}
	switch v.Action {
	case bundle.Create:
		e.Reason = ConfigMapCreated
	case bundle.Apply, bundle.Prune:
	case bundle.Delete:
		e.Reason = ConfigMapReplaced
	case bundle.Restore:
		e.Type, e.Reason = corev1.EventTypeWarning, SpecRestored
	case bundle.None, bundle.Report, bundle.Keep:
		return Event{}, false
	}
	if v.Healing {
		e.Type = corev1.EventTypeWarning
		if v.Action != bundle.Delete {
			e.Reason = ConfigMapHealed
		}
	}
	return e, true
}

// ForBundleStatus is the event of a status write that says something new is wrong.
func ForBundleStatus(from, to bundle.Condition) (Event, bool) {
	if to.True || from.Reason == to.Reason && !from.True {
		return Event{}, false
	}
	return Event{Type: corev1.EventTypeWarning, Reason: BundleNotReady, Action: "Judge", Note: to.Message}, true
}
