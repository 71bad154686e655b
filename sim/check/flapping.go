package check

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/corewire/kick/kick/api/secretsstore"
)

const lawFlapping = "a class that flaps restarts nobody"

// flapRounds make a class one that flaps, if they begin within the length of a round
// (docs/csi.md).
const flapRounds = 3

// flapping judges a restart when it is sent: something besides classes that flap asks for
// it. How often a class was rotated it counts itself, from what the pods tell, and only
// where KICK had each of them on record before the next.
func flapping() Law {
	return &atRestart{law: lawFlapping, words: (*Context).forFlapping}
}

// forFlapping says which class that flaps a restart now is for, as far as one knows who knows
// this much; empty: something else asks for it. Whether it is for that class at all is
// another law's question.
func (c *Context) forFlapping(w workload, known Known) string {
	if !c.rotates(w) {
		return ""
	}
	calm, words := w, ""
	for _, ref := range refsOf(w.GetNamespace(), w.template) {
		if !ref.source.isClass() {
			continue
		}
		if rounds := c.flaps(ref.source, known); rounds >= flapRounds {
			words = fmt.Sprintf("%s was rotated %d times within %s, and nothing else asks for it", ref.source, rounds, roundLength*c.Rotation)
			calm.template = without(calm.template, ref.source.Name)
		}
	}
	if words == "" || !c.restartCase(w, known).wasStale() || c.needless(calm, known) == "" {
		return ""
	}
	return words
}

// rotates reports whether a restart of a workload may be one for a class, at a time that KICK's
// clock measures; one that its controller had dropped is made again without a question.
func (c *Context) rotates(w workload) bool {
	return w.Object != nil && c.CSI && !c.stepped() && !c.dropped(w)
}

// flaps counts how often a class was rotated lately, as far as one knows.
func (c *Context) flaps(class Source, known Known) int {
	return c.roundsSince(c.sources.of(class).turnsSeen(known.Records), c.Loop.Now().Add(c.Allowance-roundLength*c.Rotation))
}

// without is a template that does not mount a class.
func without(template *corev1.PodTemplateSpec, class string) *corev1.PodTemplateSpec {
	out := *template
	out.Spec.Volumes = nil
	for _, v := range template.Spec.Volumes {
		if v.CSI == nil || v.CSI.Driver != secretsstore.Driver || v.CSI.VolumeAttributes[secretsstore.ClassAttribute] != class {
			out.Spec.Volumes = append(out.Spec.Volumes, v)
		}
	}
	return &out
}
