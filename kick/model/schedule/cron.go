package schedule

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// times is a parsed cron: for each field the set of values that match, as bits.
type times struct {
	minute, hour, day, month, weekday uint64

	// either: both day fields are restricted, so a day need satisfy only one.
	either bool
}

// bounds describes one field of a cron.
type bounds struct {
	name     string
	min, max uint64
	names    []string // of min, min+1, ...
	hint     string
}

var fields = [...]bounds{
	{name: "minute", max: 59},
	{name: "hour", max: 23},
	{name: "day of month", min: 1, max: 31},
	{
		name: "month", min: 1, max: 12, hint: ", or jan-dec",
		names: []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"},
	},
	{
		name: "day of week", max: 6, hint: " (Sunday is 0), or sun-sat",
		names: []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"},
	},
}

// What the descriptors of other dialects are in five fields, to say so.
var descriptors = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *",
	"@weekly": "0 0 * * 0", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// parseCron reads a cron of five fields. It returns everything that is wrong.
//
// The dialect is robfig/cron's, less what that parser lets pass by accident (an
// empty element, *-5, a sign). A parser of our own can name the field and the
// mend; the tests compare it with robfig's.
func parseCron(expression string) (times, []string) {
	parts := strings.Fields(expression)
	if problem := badShape(parts); problem != "" {
		return times{}, []string{problem}
	}
	var sets [len(fields)]uint64
	var stars [len(fields)]bool
	var problems []string
	for i := range fields {
		var err error
		if sets[i], stars[i], err = fields[i].parse(parts[i]); err != nil {
			problems = append(problems, err.Error())
		}
	}
	if problems != nil {
		return times{}, problems
	}
	t := times{
		minute: sets[0], hour: sets[1], day: sets[2], month: sets[3], weekday: sets[4],
		either: !stars[2] && !stars[4],
	}
	if !t.happens() {
		return times{}, []string{fmt.Sprintf("never begins: month %s has no day %s", parts[3], parts[2])}
	}
	return t, nil
}

func badShape(parts []string) string {
	const want = "want 5: minute, hour, day of month, month, day of week"
	switch {
	case len(parts) == 0:
		return "is empty, " + strings.Replace(want, "5", "5 fields", 1)
	case strings.HasPrefix(parts[0], "TZ="), strings.HasPrefix(parts[0], "CRON_TZ="):
		return "has a time zone in it; write that into timeZone"
	case strings.HasPrefix(parts[0], "@"):
		if same, ok := descriptors[strings.ToLower(parts[0])]; ok {
			return fmt.Sprintf("%s is not supported; write %q", parts[0], same)
		}
		return fmt.Sprintf("%s is not supported; %s", parts[0], strings.Replace(want, "5", "5 fields", 1))
	case len(parts) == len(fields)+1:
		return "has 6 fields (seconds are not supported), " + want
	case len(parts) != len(fields):
		return fmt.Sprintf("has %d fields, %s", len(parts), want)
	}
	return ""
}

// parse reads one field. The star tells that the field is not restricted.
func (b bounds) parse(text string) (set uint64, star bool, err error) {
	for element := range strings.SplitSeq(text, ",") {
		values, all, err := b.element(element)
		if err != nil {
			return 0, false, err
		}
		set, star = set|values, star || all
	}
	return set, star, nil
}

// element reads *, a, a-b, or any of these with /step.
func (b bounds) element(text string) (set uint64, star bool, err error) {
	span, stepText, stepped := strings.Cut(text, "/")
	step := uint64(1)
	if stepped {
		if step, err = strconv.ParseUint(stepText, 10, 31); err != nil || step == 0 {
			return 0, false, fmt.Errorf("%s step %q is not a number above 0", b.name, stepText)
		}
	}
	low, high := b.min, b.max
	if star = span == "*" || span == "?"; !star {
		if low, high, err = b.span(span, stepped); err != nil {
			return 0, false, err
		}
	}
	for v := low; v <= high; v += step {
		set |= 1 << v
	}
	return set, star && step == 1, nil
}

// span reads a or a-b. With a step behind it, a means a to the end of the field.
func (b bounds) span(text string, stepped bool) (low, high uint64, err error) {
	lowText, highText, isRange := strings.Cut(text, "-")
	if low, err = b.value(lowText); err != nil {
		return 0, 0, err
	}
	switch {
	case isRange:
		if high, err = b.value(highText); err != nil {
			return 0, 0, err
		}
	case stepped:
		high = b.max
	default:
		high = low
	}
	if low > high {
		return 0, 0, fmt.Errorf("%s range %s runs backwards; write %d-%d,%d-%d", b.name, text, low, b.max, b.min, high)
	}
	return low, high, nil
}

func (b bounds) value(text string) (uint64, error) {
	for i, name := range b.names {
		if strings.EqualFold(text, name) {
			return b.min + uint64(i), nil
		}
	}
	v, err := strconv.ParseUint(text, 10, 31)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s %q is not a number %d-%d%s", b.name, text, b.min, b.max, b.hint)
	case v < b.min || v > b.max:
		return 0, fmt.Errorf("%s %s is not %d-%d%s", b.name, text, b.min, b.max, b.hint)
	}
	return v, nil
}

// happens reports whether there is such a day in any year. With either, a day of
// the week is enough and each month has all seven. Otherwise one of the day
// fields is a star, so the date alone decides; 29 February comes, 30 does not.
func (t times) happens() bool {
	if t.either {
		return true
	}
	for months := t.month; months != 0; months &= months - 1 {
		month := bits.TrailingZeros64(months)
		if t.day&(1<<(daysIn(2000, month)+1)-1) != 0 {
			return true
		}
	}
	return false
}

// matches reports whether windows begin on a day of a month that matches.
func (t times) matches(day, weekday int) bool {
	byDay, byWeekday := t.day&(1<<day) != 0, t.weekday&(1<<weekday) != 0
	if t.either {
		return byDay || byWeekday
	}
	return byDay && byWeekday
}
