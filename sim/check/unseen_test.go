package check

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// TestTouchedBeforeToldInPlace: a container started in its place after such a write.
func TestTouchedBeforeToldInPlace(t *testing.T) {
	for name, tt := range map[string]struct {
		after time.Duration
		words string
	}{
		"as clocks may differ": {4 * time.Second, ""},
		"long after":           {time.Minute, "every running pod carried the current content"},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawSpurious)
			b.create(Manager, record())
			b.wait(time.Minute)
			b.rotate("second-password")
			b.wait(time.Minute)
			b.touch()
			b.wait(tt.after)
			c := b.run(b.now())
			b.pods["shop/Deployment/web"][0].Created, c.Again = b.loop.Now().Add(-time.Hour), true
			b.wait(time.Second)
			b.recorded()
			b.restart()
			b.judged(tt.words)
		})
	}
}

// TestAwayUndated: a container started between two changes, and no date tells of the second.
func TestAwayUndated(t *testing.T) {
	data := func(b *bench, manager string, pairs ...string) {
		edit(b, manager, secretKind, "db", func(s *corev1.Secret) {
			s.Data = map[string][]byte{}
			for i := 0; i < len(pairs); i += 2 {
				s.Data[pairs[i]] = []byte(pairs[i+1])
			}
		})
		b.wait(time.Second)
	}
	for name, tt := range map[string]struct {
		noted bool // KICK wrote the first change down
		after []string
		words string
	}{
		"a key came and went":                       {after: []string{"password", "second-password"}},
		"it is as it was":                           {after: []string{"password", "first-password"}},
		"KICK wrote down that it came":              {noted: true, after: []string{"password", "second-password"}, words: "still runs old content of Secret shop/db"},
		"a key went that KICK had seen before both": {after: []string{"token", "first-token"}, words: "still runs old content of Secret shop/db"},
	} {
		t.Run(name, func(t *testing.T) {
			b := shop(t, lawLost)
			b.create(Manager, record())
			b.wait(time.Minute)
			first := "second-password"
			if tt.after[1] == "first-password" {
				first = tt.after[1]
			}
			data(b, "helm", "password", first, "token", "first-token")
			b.run(b.now())
			if tt.noted {
				b.recorded()
			}
			b.wait(time.Second)
			data(b, "kubectl", tt.after...)
			b.recorded()
			b.wait(time.Hour)
			b.laws.AtEnd()
			b.judged(tt.words)
		})
	}
}
