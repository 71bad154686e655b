package report

import (
	"regexp"
	"slices"
	"strings"

	"github.com/corewire/kick/sim/run"
)

// chain picks the lines that lead to a failure: those about the object it names and
// about what that object depends on, everything that went wrong, and the life of the
// operator; cause before effect, in no more than most lines.
func chain(r run.Result, most int) []run.Line {
	lines := r.Trail.Lines()
	if s := subjectOf(r.Failures, lines); s != nil {
		lines = slices.DeleteFunc(slices.Clone(lines), func(l run.Line) bool { return !s.concerns(l) })
		decide(lines, r.Failures[0].Message)
	}
	trail := run.TrailOf(r.Scenario.Start, lines)
	for _, dispensable := range dispensables {
		if len(trail.Explain(most+1)) <= most {
			break
		}
		lines = slices.DeleteFunc(lines, func(l run.Line) bool { return dispensable.MatchString(l.Actor + " " + l.Text) })
		trail = run.TrailOf(r.Scenario.Start, lines)
	}
	return trail.Explain(most)
}

// decide marks the newest line of each source that a failure names, and of a policy: they
// stay where there is not room for all.
func decide(lines []run.Line, failure string) {
	seen := map[string]bool{}
	for i := len(lines) - 1; i >= 0; i-- {
		l := &lines[i]
		source := strings.HasPrefix(l.Object, "Secret ") || strings.HasPrefix(l.Object, "ConfigMap ")
		counts := strings.HasPrefix(l.Object, "KickPolicy ") || source && strings.Contains(failure, l.Object)
		if counts && l.Actor == "user" && l.Causal && !seen[l.Object] {
			seen[l.Object], l.Deciding = true, true
		}
	}
}

// dispensables are lines that go where there is not room for all, the least
// telling first.
var dispensables = []*regexp.Regexp{
	regexp.MustCompile(`^fault (suspended|skippedStates|cacheAhead|relist|recreateAsUpdate) at `),
	regexp.MustCompile(`^user step \d+ could not be done`),
	regexp.MustCompile(`^kick SourceObservation .* \(created\)`),
	regexp.MustCompile(`^fault lateWatch at `),
}

// subject is what a failure is about, with what belongs to it.
type subject struct {
	objects map[string]bool // Kind namespace/name
	pods    []string        // how the names of its pods begin
	spaces  map[string]bool // namespaces
	sources bool            // what it reads is known
}

var (
	workloadID = regexp.MustCompile(`([a-z0-9.-]+)/(Deployment|StatefulSet|DaemonSet)/([a-z0-9.-]*[a-z0-9])`)
	objectID   = regexp.MustCompile(`\b(Secret|ConfigMap|KickRequest|KickPolicy|SourceObservation|Deployment|StatefulSet|DaemonSet) ([a-z0-9.-]+)/([a-z0-9.-]*[a-z0-9])`)
	podRuns    = regexp.MustCompile(`^pod ([a-z0-9.-]+)/([a-z0-9.-]+) runs (.*)$`)
	contentOf  = regexp.MustCompile(`(Secret|ConfigMap) ([^= ]+)=`)
	remembers  = regexp.MustCompile(`: (?:no longer )?remembers ((?:Secret|ConfigMap) \S+)`)
	byHand     = regexp.MustCompile(`: created by hand, for (\S+ \S+)$`)
	requestID  = regexp.MustCompile(`^(deployment|statefulset|daemonset)-(.+)$`)
)

var kinds = map[string]string{"deployment": "Deployment", "statefulset": "StatefulSet", "daemonset": "DaemonSet"}

// subjectOf reads the first failure; nil where it names nothing.
func subjectOf(failures []run.Failure, lines []run.Line) *subject {
	if len(failures) == 0 {
		return nil
	}
	s := &subject{objects: map[string]bool{}, spaces: map[string]bool{}}
	for _, m := range workloadID.FindAllStringSubmatch(failures[0].Message, -1) {
		s.workload(m[1], m[2], m[3])
	}
	for _, m := range objectID.FindAllStringSubmatch(failures[0].Message, -1) {
		s.object(m[1], m[2], m[3])
	}
	for i := range lines {
		s.learn(&lines[i])
	}
	if len(s.objects) == 0 {
		return nil
	}
	return s
}

func (s *subject) workload(namespace, kind, name string) {
	s.objects[kind+" "+namespace+"/"+name] = true
	s.objects["KickRequest "+namespace+"/"+strings.ToLower(kind)+"-"+name] = true
	s.pods = append(s.pods, namespace+"/"+name+"-")
	s.spaces[namespace] = true
}

func (s *subject) object(kind, namespace, name string) {
	s.objects[kind+" "+namespace+"/"+name] = true
	s.spaces[namespace] = true
	if m := requestID.FindStringSubmatch(name); m != nil && kind == "KickRequest" {
		s.workload(namespace, kinds[m[1]], m[2])
	} else if strings.HasSuffix(kind, "Set") || kind == "Deployment" {
		s.workload(namespace, kind, name)
	}
}

func (s *subject) ownsPod(pod string) bool {
	return slices.ContainsFunc(s.pods, func(begin string) bool { return strings.HasPrefix(pod, begin) })
}

// concerns reports whether a line belongs to the chain.
func (s *subject) concerns(l run.Line) bool {
	if m := podRuns.FindStringSubmatch(l.Text); m != nil {
		return s.ownsPod(m[1] + "/" + m[2])
	}
	object := l.Object
	if m := remembers.FindStringSubmatch(l.Text); m != nil {
		object = m[1]
	}
	kind, rest, _ := strings.Cut(object, " ")
	namespace, _, _ := strings.Cut(rest, "/")
	switch {
	case object == "" || s.objects[object]:
		return true
	case kind == "Secret" || kind == "ConfigMap":
		return !s.sources && s.spaces[namespace]
	default:
		return kind == "KickPolicy" && s.spaces[namespace]
	}
}

// learn takes up the sources that pods of the subject have read, and that its request waits for,
// and the requests that people made for it.
func (s *subject) learn(l *run.Line) {
	if m := byHand.FindStringSubmatch(l.Text); m != nil && s.objects[m[1]] {
		s.objects[l.Object] = true
	}
	if m := podRuns.FindStringSubmatch(l.Text); m != nil && s.ownsPod(m[1]+"/"+m[2]) {
		for _, source := range contentOf.FindAllStringSubmatch(m[3], -1) {
			s.objects[source[1]+" "+m[1]+"/"+source[2]], s.sources = true, true
		}
	}
	if l.Deciding && strings.HasPrefix(l.Object, "KickRequest ") && s.objects[l.Object] {
		for _, source := range objectID.FindAllStringSubmatch(strings.TrimPrefix(l.Text, l.Object), -1) {
			s.object(source[1], source[2], source[3])
		}
	}
}
