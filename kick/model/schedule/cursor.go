package schedule

import "time"

// cursor finds the starts of one window. It remembers the segment it was in last,
// since a search mostly stays within one.
type cursor struct {
	*window
	at segment
}

func (c *cursor) enter(instant int64) segment {
	if instant < c.at.start || instant >= c.at.end {
		c.at = segmentAt(c.zone, instant)
	}
	return c.at
}

// next is the first start in [from, limit), in Unix seconds.
func (c *cursor) next(from, limit int64) (int64, bool) {
	for from < limit {
		s := c.enter(from)
		if from == s.start && c.skipped(s) {
			return s.start, true
		}
		wall := max(from+s.offset, s.firstWall())
		if found, ok := c.times.nextWall(wall, min(s.end, limit)+s.offset); ok {
			return found - s.offset, true
		}
		from = s.end
	}
	return 0, false
}

// previous is the last start in [floor, upTo], in Unix seconds.
func (c *cursor) previous(upTo, floor int64) (int64, bool) {
	for upTo >= floor {
		s := c.enter(upTo)
		wall := max(floor+s.offset, s.firstWall())
		if found, ok := c.times.previousWall(upTo+s.offset, wall); ok {
			return found - s.offset, true
		}
		if s.start >= floor && c.skipped(s) {
			return s.start, true
		}
		upTo = s.start - 1
	}
	return 0, false
}

// skipped reports whether a start fell into the gap before the segment. It is
// made up for at the segment's first instant.
func (c *cursor) skipped(s segment) bool {
	if !s.gap() {
		return false
	}
	_, ok := c.times.nextWall(s.start+s.before, s.start+s.offset)
	return ok
}

// covering is the latest start whose window covers an instant.
func (c *cursor) covering(t time.Time) (start int64, ok bool) {
	// Starts are whole seconds. The first one after t-Duration still covers t.
	return c.previous(t.Unix(), t.Add(-c.Duration).Unix()+1)
}

// end is when the window that began at a start ends.
func (c *cursor) end(start int64) time.Time {
	return time.Unix(start, 0).UTC().Add(c.Duration)
}

// leap is a later start, or the given one, up to which the windows from the given
// start on leave no hole. It spares the search the starts in between, of which
// there may be one every minute for years.
func (c *cursor) leap(start int64) int64 {
	if !c.dense {
		return start
	}
	s := c.enter(start)
	reach := s.end - 1
	if !c.unbroken {
		// A start that makes up for skipped ones keeps no distance to the next.
		if _, regular := c.times.previousWall(start+s.offset, start+s.offset); !regular {
			return start
		}
		day := floorDiv(start+s.offset, secondsPerDay)
		reach = min(reach, (day+1)*secondsPerDay-1-s.offset)
	}
	// In an endless segment the end of time is far, but not searched minute by
	// minute: the last day matches, or it would not be unbroken.
	if last, ok := c.times.previousWall(reach+s.offset, start+s.offset); ok {
		return max(start, last-s.offset)
	}
	return start
}
