// Package schedule answers when the windows of a policy let a restart run, and
// when that answer changes next. It is stage one of the gate.
//
// # Windows
//
// A window begins at every time its cron names, in its time zone, and lasts its
// duration. It covers the instants from its start, inclusive, to start plus
// duration, exclusive.
//
//   - A Deny window always wins.
//   - No windows at all: always open.
//   - Deny windows only: the rest of the time is open.
//   - At least one Allow window: open only inside one.
//
// Windows that overlap or touch act as one. State.Until looks through such seams:
// it is the next instant at which the answer really changes.
//
// # Cron
//
// Five fields: minute, hour, day of month, month, day of week. The dialect is
// that of github.com/robfig/cron/v3, which Argo CD's sync windows use as well:
// lists, ranges, steps (5/15 means 5-59/15), ? for *, names of months and days in
// any case, Sunday is 0. If both day fields are restricted, a day matches that
// satisfies either; a step above 1 (*/2) is a restriction. Seconds, descriptors
// (@daily) and a zone inside the expression are refused.
//
// # Daylight saving
//
// A start that the clock skips happens at the first instant after the gap, once
// however many starts were skipped. A start that the clock shows twice happens
// the first time only. Durations are elapsed time: a window that begins at 22:00
// and lasts 10h ends at 07:00 or 09:00 on the wall in the two nights of the year.
// (All this is case B51: a Deny window is never skipped, and the repeated hour is
// one window, not two with a hole.)
//
// The second rule has a consequence for windows that begin every hour: in a zone
// with daylight saving they pause during the repeated hour. Where that matters,
// leave timeZone out: UTC repeats nothing.
//
// # Purity
//
// The package has no clock: the caller passes now. It must not restart, log or
// decide anything; it knows nothing of policies. Zone data is compiled in, so that
// an image without it answers alike (case B44).
//
//	s, err := schedule.Parse([]schedule.Window{{Cron: "0 2 * * *", Duration: time.Hour, TimeZone: "Europe/Berlin"}})
//	if err != nil { ... } // and s stays closed
//	state := s.At(now)
//	if !state.Open { wakeAt = state.Until }
package schedule
