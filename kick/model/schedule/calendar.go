package schedule

import (
	"math/bits"
	"time"
)

// This file searches a calendar without zones: the sequence of minutes that a
// clock on the wall shows if nobody ever touches it. A wall time is the number of
// seconds since 1970-01-01 00:00 on that wall.

const (
	secondsPerDay = 24 * 60 * 60
	minutesPerDay = 24 * 60
)

// nextWall is the first matching wall time in [from, limit).
func (t times) nextWall(from, limit int64) (int64, bool) {
	minute := -floorDiv(-from, 60) // rounded up
	day := floorDiv(minute, minutesPerDay)
	atLeast := int(minute - day*minutesPerDay)
	lastDay := floorDiv(limit-1, secondsPerDay)
	for {
		matching, ok := t.nextDay(day, lastDay)
		if !ok {
			return 0, false
		}
		if matching > day {
			day, atLeast = matching, 0
		}
		if m, ok := t.firstMinute(atLeast); ok {
			wall := day*secondsPerDay + int64(m)*60
			return wall, wall < limit
		}
		day, atLeast = day+1, 0
	}
}

// previousWall is the last matching wall time in [floor, upTo].
func (t times) previousWall(upTo, floor int64) (int64, bool) {
	minute := floorDiv(upTo, 60)
	day := floorDiv(minute, minutesPerDay)
	atMost := int(minute - day*minutesPerDay)
	firstDay := floorDiv(floor, secondsPerDay)
	for {
		matching, ok := t.previousDay(day, firstDay)
		if !ok {
			return 0, false
		}
		if matching < day {
			day, atMost = matching, minutesPerDay-1
		}
		if m, ok := t.lastMinute(atMost); ok {
			wall := day*secondsPerDay + int64(m)*60
			return wall, wall >= floor
		}
		day, atMost = day-1, minutesPerDay-1
	}
}

// nextDay is the first matching day in [day, last]. It leaps over months that do
// not match, so that eight years to the next 29 February are 96 steps.
func (t times) nextDay(day, last int64) (int64, bool) {
	for day <= last {
		year, month, dom := civil(day)
		length := daysIn(year, month)
		if t.month&(1<<month) != 0 {
			for d := dom; d <= length; d++ {
				if at := day + int64(d-dom); t.matches(d, weekday(at)) {
					return at, at <= last
				}
			}
		}
		day += int64(length - dom + 1)
	}
	return 0, false
}

// previousDay is the last matching day in [first, day].
func (t times) previousDay(day, first int64) (int64, bool) {
	for day >= first {
		_, month, dom := civil(day)
		if t.month&(1<<month) != 0 {
			for d := dom; d >= 1; d-- {
				if at := day - int64(dom-d); t.matches(d, weekday(at)) {
					return at, at >= first
				}
			}
		}
		day -= int64(dom)
	}
	return 0, false
}

// firstMinute is the first matching minute of a day from a minute on.
func (t times) firstMinute(from int) (int, bool) {
	hour, minute := from/60, from%60
	if t.hour&(1<<hour) != 0 {
		if rest := t.minute >> minute << minute; rest != 0 {
			return hour*60 + bits.TrailingZeros64(rest), true
		}
	}
	later := t.hour >> (hour + 1) << (hour + 1)
	if later == 0 {
		return 0, false
	}
	return bits.TrailingZeros64(later)*60 + bits.TrailingZeros64(t.minute), true
}

// lastMinute is the last matching minute of a day up to a minute.
func (t times) lastMinute(upTo int) (int, bool) {
	hour, minute := upTo/60, upTo%60
	if t.hour&(1<<hour) != 0 {
		if rest := t.minute & (1<<(minute+1) - 1); rest != 0 {
			return hour*60 + bits.Len64(rest) - 1, true
		}
	}
	earlier := t.hour & (1<<hour - 1)
	if earlier == 0 {
		return 0, false
	}
	return (bits.Len64(earlier)-1)*60 + bits.Len64(t.minute) - 1, true
}

// spacing is the longest time between two neighbouring starts: within a matching
// day, and across the midnight between two of them.
func (t times) spacing() (within, across time.Duration) {
	first, _ := t.firstMinute(0)
	last := first
	longest := 0
	for {
		next, ok := t.firstMinute(last + 1)
		if !ok {
			break
		}
		longest = max(longest, next-last)
		last = next
	}
	return time.Duration(longest) * time.Minute, time.Duration(minutesPerDay-last+first) * time.Minute
}

// everyDay reports whether all days match.
func (t times) everyDay() bool {
	const months, days, weekdays = 1<<13 - 1<<1, 1<<32 - 1<<1, 1<<7 - 1
	allDays, allWeekdays := t.day == days, t.weekday == weekdays
	if t.either {
		return t.month == months && (allDays || allWeekdays)
	}
	return t.month == months && allDays && allWeekdays
}

// civil splits a day, counted from 1970-01-01, into year, month and day of month.
// The method is Howard Hinnant's: years begin in March, so that the leap day is
// the last of the year, and repeat every 400 years.
func civil(day int64) (year int64, month, dom int) {
	const eraDays, epoch = 146097, 719468 // 400 years; 0000-03-01 to 1970-01-01
	day += epoch
	era := floorDiv(day, eraDays)
	ofEra := day - era*eraDays
	yearOfEra := (ofEra - ofEra/1460 + ofEra/36524 - ofEra/146096) / 365
	ofYear := int(ofEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100))
	fromMarch := (5*ofYear + 2) / 153
	dom = ofYear - (153*fromMarch+2)/5 + 1
	month = (fromMarch+2)%12 + 1
	year = yearOfEra + era*400
	if month <= 2 {
		year++
	}
	return year, month, dom
}

func daysIn(year int64, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// weekday counts from Sunday, 0. 1970-01-01 was a Thursday.
func weekday(day int64) int { return int(day + 4 - floorDiv(day+4, 7)*7) }

// floorDiv divides and rounds down, also below zero.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
