package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// marks are when KICK's writes on the way to a restart were first seen in a round.
type marks struct {
	mu               sync.Mutex
	recorded, opened time.Time
}

func (m *marks) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recorded, m.opened = time.Time{}, time.Time{}
}

func (m *marks) first() (recorded, opened time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.recorded, m.opened
}

func (m *marks) saw(e watch.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch o := e.Object.(type) {
	case *v1alpha1.SourceObservation:
		if m.recorded.IsZero() {
			m.recorded = time.Now()
		}
	case *v1alpha1.KickRequest:
		if m.opened.IsZero() && o.Status.Phase == v1alpha1.PhasePending {
			m.opened = time.Now()
		}
	}
}

// follow watches KICK's own objects for the marks.
func (b *bench) follow(ctx context.Context) error {
	for _, list := range []client.ObjectList{&v1alpha1.SourceObservationList{}, &v1alpha1.KickRequestList{}} {
		w, err := b.client.Watch(ctx, list, client.InNamespace(kickSide))
		if err != nil {
			return fmt.Errorf("watch %T: %w", list, err)
		}
		go func() {
			for e := range w.ResultChan() {
				b.marks.saw(e)
			}
		}()
	}
	return nil
}
