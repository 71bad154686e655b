package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// startFloor runs the least that can restart a Deployment when its Secret changes:
// one watch, one patch, as the same user as KICK. It remembers nothing, so a change it does not see is lost.
func startFloor(ctx context.Context, config *rest.Config, namespace string) error {
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	list, err := c.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list Secrets: %w", err)
	}
	w, err := c.CoreV1().Secrets(namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		return fmt.Errorf("watch Secrets: %w", err)
	}
	go func() {
		for e := range w.ResultChan() {
			if _, ok := e.Object.(*corev1.Secret); !ok {
				continue
			}
			patch := fmt.Appendf(nil, `{"spec":{"template":{"metadata":{"annotations":{%q:%q}}}}}`, stamp, time.Now().UTC().Format(time.RFC3339Nano))
			// A failure shows as a round that never ends.
			_, _ = c.AppsV1().Deployments(namespace).Patch(ctx, name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
		}
	}()
	return nil
}
