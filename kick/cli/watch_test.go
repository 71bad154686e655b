package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// silent tells nothing for as long as a watch may last.
type silent struct {
	client.WithWatch
	t      *testing.T
	limits bool // whether a watch has to have an end
	end    func()
}

func (s silent) Watch(ctx context.Context, _ client.ObjectList, _ ...client.ListOption) (watch.Interface, error) {
	if _, limited := ctx.Deadline(); limited != s.limits {
		s.t.Errorf("a watch has an end: %v, want %v", limited, s.limits)
		s.end()
	}
	if !s.limits {
		s.end() // as an interrupt does
	}
	<-ctx.Done()
	w := watch.NewFake()
	w.Stop()
	return w, nil
}

// TestAWatchEndsWithItsTime: --request-timeout ends a watch, as it ends one of kubectl's;
// without it an interrupt does.
//
// Proves: KICK-FEAT-038.
func TestAWatchEndsWithItsTime(t *testing.T) {
	tests := map[string]struct {
		timeout time.Duration
		want    error
		says    string
	}{
		"limited":   {time.Millisecond, context.DeadlineExceeded, "the --request-timeout of 1ms is over"},
		"unlimited": {0, context.Canceled, "canceled"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			s := &session{ctx: ctx, config: &rest.Config{Timeout: tt.timeout}, live: silent{t: t, limits: tt.timeout > 0, end: interrupt}}
			err := s.follow(&v1alpha1.KickRequestList{}, "1", func(client.Object) error { return nil })
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) || late(err) != (tt.timeout > 0) {
				t.Errorf("the watch ends with %v, late %v; want %v", err, late(err), tt.want)
			}
		})
	}
}
