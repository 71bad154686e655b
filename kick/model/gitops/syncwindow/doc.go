// Package syncwindow answers what the sync windows of an Argo CD AppProject say of
// an application, and when that answer changes next. It says what Argo CD itself
// would say of an automated sync, quirks included: a window that people wrote for
// Argo CD must not mean one thing there and another here. (The windows of a
// KickPolicy are KICK's own and kinder, see package schedule.)
//
// # The answer
//
// Only windows that match the application count. None: open. An active deny: closed.
// An active allow: open. An allow that is not active: closed. Else: open. One window
// that matches and cannot be read closes all (since Argo CD 2.13), whatever the others
// say; one that does not match has no effect. manualSync and syncOverrun loosen a
// window for syncs that people started or that run already; a restart by KICK is
// neither, so both are without effect here.
//
//   - kind is exactly "allow" or "deny"; any other value has no effect, but its
//     schedule must be readable.
//   - Selectors are globs of github.com/gobwas/glob without separators, on the
//     application's bare name, on the destination's name or server as written, and on
//     the destination's namespace. A pattern that cannot be read matches nothing. With
//     andOperator all lists that are set must match, else one is enough; a window
//     without any selector is nobody's.
//   - A window is active strictly between its start and start plus duration: at either
//     instant itself it is not. A duration of zero or less is never active.
//   - A schedule that never fires (30 February) counts as active for ever.
//   - schedule is a cron of five fields in the dialect of github.com/robfig/cron/v3,
//     which also takes a leading TZ= or CRON_TZ=.
//   - An unknown timeZone is UTC.
//
// # Wall clock
//
// Argo CD shifts now by the zone's offset of this moment and evaluates the cron on the
// shifted clock. So a window covers wall-clock time from its start to start plus
// duration: a start that the clock skips opens when the clock jumps, a window across
// the change is an hour longer or shorter in elapsed time, and an hour that the clock
// shows twice is covered twice.
//
// # The next change
//
// State.Until walks from change to change, across windows that touch and across zone
// transitions. A state that lasts a single instant (one deny ends where the next
// begins) is what Argo CD sees at that instant, and At says so; as a next change it is
// passed over, since nobody should be woken for it.
//
// The package is pure: the caller passes now. Zone data is compiled in.
package syncwindow
