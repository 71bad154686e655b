// Package freshness decides from evidence whether running pods carry the current
// content of what they read (DESIGN section 5).
//
// A container reads its sources when it starts, and no API object says exactly
// when that was. So each judgement rests on start witnesses: instants that are
// provably not later than the read. A pod is fresh for a source when some witness
// puts its read after the source's last change, or when it provably read at a
// time when the content was the one that stands again now. Everything else is
// stale: a doubt costs one restart, never a lost change.
package freshness
