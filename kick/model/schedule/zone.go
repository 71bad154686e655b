package schedule

import (
	"math"
	"time"
)

// The ends of time, far enough inside int64 that adding an offset is safe.
const (
	earliest = math.MinInt64 / 4
	latest   = math.MaxInt64 / 4
)

// segment is a stretch of time, in Unix seconds [start, end), in which a zone's
// clock runs undisturbed: wall = instant + offset. Before start the offset was
// another one, or the same if nothing happened to the clock there.
type segment struct {
	start, end     int64
	offset, before int64
}

// gap reports whether the clock jumped forward at start, past the wall times
// [start+before, start+offset).
func (s segment) gap() bool { return s.before < s.offset }

// firstWall is the first wall time of the segment that the clock has not shown
// already: it is later than the first wall time if the clock was put back.
func (s segment) firstWall() int64 { return s.start + max(s.offset, s.before) }

// segmentAt is the segment around an instant.
//
// ZoneBounds is documented to tell the transitions of a zone. Past the last one in
// the zone data it follows a rule and cuts at year ends, and there it is careless:
// on 31 December of a leap year the end it tells has already passed, and the start
// may lie before the last recorded transition (America/Ciudad_Juarez in December
// 2022). So neither is taken on trust.
func segmentAt(zone *time.Location, at int64) segment {
	t := time.Unix(at, 0).In(zone)
	from, to := t.ZoneBounds()
	s := segment{start: earliest, end: latest, offset: offsetAt(zone, at)}
	if !to.IsZero() {
		s.end = to.Unix()
		if s.end <= at {
			s.end = at + secondsPerDay
		}
		if offsetAt(zone, s.end-1) != s.offset {
			s.end = transition(zone, at, s.end-1)
		}
	}
	s.before = s.offset
	if !from.IsZero() {
		s.start = from.Unix()
		if offsetAt(zone, s.start) != s.offset {
			s.start = transition(zone, s.start, at)
		}
		s.before = offsetAt(zone, s.start-1)
	}
	return s
}

// transition is the first instant in (from, to] whose offset is that of to, given
// that the offset changes once between them.
func transition(zone *time.Location, from, to int64) int64 {
	offset := offsetAt(zone, to)
	for to-from > 1 {
		middle := from + (to-from)/2
		if offsetAt(zone, middle) == offset {
			to = middle
		} else {
			from = middle
		}
	}
	return to
}

func offsetAt(zone *time.Location, at int64) int64 {
	_, offset := time.Unix(at, 0).In(zone).Zone()
	return int64(offset)
}
