package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/explain"
)

func (a *app) events() *cobra.Command {
	c := &cobra.Command{
		Use: "events", Short: "Show what KICK told about its requests", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.session(c)
			if err != nil {
				return err
			}
			version, err := s.printEvents()
			if err != nil || !a.watch {
				return err
			}
			return s.follow(&eventsv1.EventList{}, version, func(o client.Object) error {
				if e, ok := o.(*eventsv1.Event); ok && ofKick(e) {
					return s.printEvent(e)
				}
				return nil
			})
		},
	}
	c.Flags().BoolVarP(&a.watch, "watch", "w", false, "go on as they come")
	return c
}

func ofKick(e *eventsv1.Event) bool { return e.Regarding.Kind == "KickRequest" }

// printEvents prints what there is, and returns the version from which on to watch.
func (s *session) printEvents() (version string, err error) {
	var list eventsv1.EventList
	if err := s.live.List(s.ctx, &list, client.InNamespace(s.namespace)); err != nil {
		return "", fmt.Errorf("list events: %w", err)
	}
	list.Items = slices.DeleteFunc(list.Items, func(e eventsv1.Event) bool { return !ofKick(&e) })
	if len(list.Items) == 0 {
		if err := absent(s.core.Discovery()); err != nil { // nothing will ever be told
			return "", err
		}
	}
	slices.SortStableFunc(list.Items, func(a, b eventsv1.Event) int { return eventTime(&a).Compare(eventTime(&b)) })
	for i := range list.Items {
		list.Items[i].ManagedFields = nil // as kubectl has it
	}
	if !s.watch {
		if done, err := s.structured(list.Items); done {
			return "", err
		}
		if len(list.Items) == 0 {
			_, _ = fmt.Fprintln(s.Stderr, "No event: KICK told nothing, or it is longer ago than the API server keeps events.")
		}
	}
	for i := range list.Items {
		if err := s.printEvent(&list.Items[i]); err != nil {
			return "", err
		}
	}
	return list.ResourceVersion, nil
}

func (s *session) printEvent(e *eventsv1.Event) error {
	e.ManagedFields = nil
	if done, err := s.structured(e); done {
		return err
	}
	about := e.Regarding.Namespace + "/" + e.Regarding.Name
	if e.Related != nil {
		about = e.Related.Kind + " " + e.Related.Namespace + "/" + e.Related.Name
	}
	_, err := fmt.Fprintf(s.Stdout, "%s  %-7s  %-20s  %s: %s\n", explain.Time(eventTime(e)), e.Type, e.Reason, about, plain(e.Note))
	return err
}

// eventTime is when an event was last seen.
func eventTime(e *eventsv1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	}
	return e.CreationTimestamp.Time
}

// follow hands on what appears and changes after a version, until it is interrupted or
// --request-timeout is over, which ends a watch of kubectl's too. The API server ends each
// watch after a while; the next one goes on where it was, within the same time.
func (s *session) follow(list client.ObjectList, version string, show func(client.Object) error) error {
	ctx, cancel := s.ctx, context.CancelFunc(func() {})
	if limit := s.config.Timeout; limit > 0 {
		ctx, cancel = context.WithTimeoutCause(s.ctx, limit, fmt.Errorf("the --request-timeout of %v is over: %w", limit, context.DeadlineExceeded))
	}
	defer cancel()
	for ctx.Err() == nil {
		w, err := s.live.Watch(ctx, list, client.InNamespace(s.namespace), &client.ListOptions{Raw: since(version)})
		if err == nil {
			version, err = heard(w, version, show)
			w.Stop()
		}
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("watch: %w", err)
		}
	}
	return fmt.Errorf("watch: %w", context.Cause(ctx))
}

// heard takes what one watch tells, and returns the version it came to.
func heard(w watch.Interface, version string, show func(client.Object) error) (string, error) {
	for e := range w.ResultChan() {
		if e.Type == watch.Error {
			return version, apierrors.FromObject(e.Object)
		}
		obj, ok := e.Object.(client.Object)
		if !ok {
			continue
		}
		version = obj.GetResourceVersion()
		if e.Type == watch.Bookmark {
			continue
		}
		if err := show(obj); err != nil {
			return version, err
		}
	}
	return version, nil
}
