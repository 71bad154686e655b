// Command fluxapply applies the manifests on its input as Flux's kustomize-controller
// does: with Flux's own library for server-side apply, under that controller's name as
// the field manager, and after a take-over of the fields of those managers that it takes
// for people's edits. It prints what became of each object.
//
//	fluxapply KUBECONFIG KUSTOMIZATION NAMESPACE [MANAGER...] <manifests.yaml
//
// Further managers are those of kustomize-controller's flag --override-manager.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The name and the API group of kustomize-controller.
const (
	controller = "kustomize-controller"
	group      = "kustomize.toolkit.fluxcd.io"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: fluxapply KUBECONFIG KUSTOMIZATION NAMESPACE [MANAGER...] <manifests.yaml")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Stdin, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fluxapply:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, out io.Writer, args []string) error {
	kubeconfig, name, namespace, more := args[0], args[1], args[2], args[3:]
	objects, err := utils.ReadObjects(in)
	if err != nil {
		return err
	}
	if len(objects) == 0 {
		return errors.New("no object to apply")
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	c, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	manager := ssa.NewResourceManager(c, nil, ssa.Owner{Field: controller, Group: group})
	manager.SetOwnerLabels(objects, name, namespace)
	changes, err := manager.ApplyAll(ctx, objects, options(more))
	if changes != nil {
		for i := range changes.Entries {
			_, _ = fmt.Fprintln(out, changes.Entries[i].String())
		}
	}
	return err
}

// options are those of kustomize-controller with its default flags.
func options(more []string) ssa.ApplyOptions {
	o := ssa.DefaultApplyOptions()
	o.ExclusionSelector = map[string]string{group + "/reconcile": "disabled", group + "/ssa": "Ignore"}
	o.IfNotPresentSelector = map[string]string{group + "/ssa": "IfNotPresent"}
	o.ForceSelector = map[string]string{group + "/force": "enabled"}
	o.Cleanup = ssa.ApplyCleanupOptions{
		Annotations: []string{corev1.LastAppliedConfigAnnotation},
		Exclusions:  map[string]string{group + "/ssa": "Merge"},
		FieldManagers: []ssa.FieldManager{
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationApply},
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: "before-first-apply", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: controller, OperationType: metav1.ManagedFieldsOperationUpdate},
		},
	}
	for _, name := range more {
		o.Cleanup.FieldManagers = append(o.Cleanup.FieldManagers,
			ssa.FieldManager{Name: name, OperationType: metav1.ManagedFieldsOperationApply},
			ssa.FieldManager{Name: name, OperationType: metav1.ManagedFieldsOperationUpdate})
	}
	return o
}
