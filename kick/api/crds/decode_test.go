package crds_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	robfig "github.com/robfig/cron/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
)

// A time that the schema admits is one that metav1.MicroTime reads: in spec, where a rule says so, and in status, where a
// pattern does.
func TestAdmittedTimesDecode(t *testing.T) {
	admission := newAdmissions(t)["KickRequest"]
	instants := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"2026-03-01", "2026-02-30", "2026-13-01", "0000-01-01", "99999-01-01", "26-3-1"}).Draw(t, "date") +
			rapid.SampledFrom([]string{"T", "t", " ", ""}).Draw(t, "separator") +
			rapid.SampledFrom([]string{"12:00:00", "24:00:00", "23:59:60", "23:59:59", "1:2:3", "12:00", ""}).Draw(t, "time") +
			rapid.SampledFrom([]string{"", ".", ".000000", ".123456", ",123456", ".123", ".123456789"}).Draw(t, "fraction") +
			rapid.SampledFrom([]string{"Z", "z", "", "+02:00", "-14:59", "+24:00", "+0200", "UTC"}).Draw(t, "zone")
	})
	rapid.Check(t, func(t *rapid.T) {
		instant := instants.Draw(t, "instant")
		for _, r := range []row{
			{object: asked(fmt.Sprintf("changedAt: %q", instant))},
			{before: request("{" + web + "}"), object: requestStatus(fmt.Sprintf("openedAt: %q", instant)), status: true},
		} {
			if _, err := admission.write(r); err != nil {
				continue
			}
			var decoded metav1.MicroTime
			if err := decoded.UnmarshalJSON(fmt.Appendf(nil, "%q", instant)); err != nil {
				t.Errorf("admitted %s: %v", r.object, err)
			}
		}
	})
}

// A duration is admitted exactly if metav1.Duration reads it and it lies within the bounds.
func TestAdmittedDurationsDecode(t *testing.T) {
	admission := newAdmissions(t)["KickPolicy"]
	part := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"", "0", "1", "59", "8784", "9999999999"}).Draw(t, "number") +
			rapid.SampledFrom([]string{"", ".", ".5", ".000000001"}).Draw(t, "fraction") +
			rapid.SampledFrom([]string{"ns", "us", "µs", "ms", "s", "m", "h", "d", ""}).Draw(t, "unit")
	})
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SampledFrom([]string{"", "", "", "-", "+", " "}).Draw(t, "sign") +
			strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), "")
		parsed, parseErr := time.ParseDuration(value)
		want := parseErr == nil && parsed > 0 && parsed <= 366*24*time.Hour && len(value) <= 64
		if _, err := admission.write(row{object: duration(value)}); (err == nil) != want {
			t.Errorf("duration %q: %v; parsed as %v, %v", value, err, parsed, parseErr)
		}
	})
}

// A cron expression is admitted exactly if the parser KICK uses reads it, but for a range that runs backwards: of those only
// the common ones are refused here, the others by KICK. The parser also reads a list with nothing between its commas, which the
// schema refuses and this test leaves out.
func TestAdmittedCronParses(t *testing.T) {
	admission := newAdmissions(t)["KickPolicy"]
	value := rapid.SampledFrom([]string{"*", "?", "0", "1", "5", "6", "7", "09", "12", "23", "24", "31", "32", "59", "60", "JAN", "dec", "sun", "FRI", "SAT", "L", "x"})
	term := rapid.Custom(func(t *rapid.T) string {
		text := value.Draw(t, "low")
		if text != "*" && text != "?" && rapid.Bool().Draw(t, "ranged") {
			text += "-" + value.Filter(func(v string) bool { return v != "*" && v != "?" }).Draw(t, "high")
		}
		return text + rapid.SampledFrom([]string{"", "", "", "/1", "/15", "/0", "/"}).Draw(t, "step")
	})
	field := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(term, 1, 2).Draw(t, "terms"), ",")
	})
	rapid.Check(t, func(t *rapid.T) {
		fields := []string{"*", "*", "*", "*", "*"}
		fields[rapid.IntRange(0, 4).Draw(t, "at")] = field.Draw(t, "field")
		expression := strings.Join(fields, " ")
		_, refused := admission.write(row{object: cron(expression)})
		_, unreadable := readCron(expression)
		switch {
		case unreadable != nil && strings.Contains(unreadable.Error(), "beyond end of range"):
		case (refused == nil) != (unreadable == nil):
			t.Errorf("cron %q: the schema says %v, the parser says %v", expression, refused, unreadable)
		}
	})
}

func readCron(expression string) (robfig.Schedule, error) {
	return robfig.ParseStandard(expression)
}
