package check

import (
	"reflect"
	"testing"
)

// A law that sees writes before KICK begins to work and remembers them has to hand
// its memory on.
func TestLawsThatRememberFork(t *testing.T) {
	for _, entry := range All() {
		law := entry.New()
		kind := reflect.TypeOf(law)
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		_, sees := law.(writeHook)
		_, forks := law.(forker)
		if remembers := kind.NumField() > 0; sees && remembers && !forks {
			t.Errorf("%T sees all writes and remembers, but has no fork", law)
		}
	}
}
