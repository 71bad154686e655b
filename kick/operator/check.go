package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// checkCommand is kick check: what an installation lacks, for people and for helm test.
// It takes the operator's own flags, so that it asks for what that operator needs, and
// changes nothing.
func checkCommand(o *Options) *cobra.Command {
	var metrics string
	var patience time.Duration
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check CRDs, rights, leader and metrics of an installation; changes nothing",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), patience)
			defer cancel()
			return check(ctx, *o, metrics, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&metrics, "metrics-url", "", "where the metrics of a running operator are; empty: they are not looked at")
	cmd.Flags().DurationVar(&patience, "timeout", time.Minute, "how long to wait for a leader and for metrics")
	return cmd
}

// check says of each thing that it is there, or of the first one that is not what to do.
func check(ctx context.Context, o Options, metrics string, out io.Writer) error {
	config, err := loadConfig(o.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = o.KubeAPIQPS, o.KubeAPIBurst
	if err := Preflight(ctx, config, o); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(out, "ok  the CRDs are served and every right is granted")
	c, err := client.New(config, client.Options{Scheme: NewScheme()})
	if err != nil {
		return err
	}
	if o.LeaderElect {
		holder := ""
		err := until(ctx, func() (err error) {
			holder, err = leader(ctx, c, o)
			return err
		})
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(out, "ok  %s leads\n", holder)
	}
	if metrics == "" {
		return nil
	}
	if err := until(ctx, func() error { return answers(ctx, metrics) }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "ok  %s answers\n", metrics)
	return err
}

// until tries once a second until it succeeds or the time is over.
func until(ctx context.Context, try func() error) error {
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(time.Second):
		}
	}
}

// leader is who holds the lease and is alive.
func leader(ctx context.Context, r client.Reader, o Options) (string, error) {
	var lease coordinationv1.Lease
	if err := r.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: LeaseName}, &lease); err != nil {
		return "", fmt.Errorf("nobody is known to lead: read lease %s/%s: %w", o.Namespace, LeaseName, err)
	}
	held := lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "" && lease.Spec.RenewTime != nil
	if !held || time.Since(lease.Spec.RenewTime.Time) > 2*o.LeaseDuration {
		return "", fmt.Errorf("nobody leads: lease %s/%s has no live holder", o.Namespace, LeaseName)
	}
	return *lease.Spec.HolderIdentity, nil
}

func answers(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("--metrics-url: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask for metrics: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("ask for metrics: %s says %s", url, response.Status)
	}
	return nil
}
