package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// answerTime is how long a control plane may take to say that it is there.
const answerTime = 10 * time.Second

// controlPlane reads a kubeconfig (empty: $KUBECONFIG, else ~/.kube/config) and asks the
// server it names for its version. An error names the file and what to do.
func controlPlane(file string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	name := "kubeconfig " + strings.Join(rules.GetLoadingPrecedence(), string(os.PathListSeparator))
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	switch {
	case err == nil:
	case clientcmd.IsEmptyConfig(err) && file == "":
		return nil, fmt.Errorf("no control plane to confirm against: %s names none: give --kubeconfig FILE (make cluster-up starts one)", name)
	case clientcmd.IsEmptyConfig(err):
		return nil, fmt.Errorf("%s names no control plane: give another with --kubeconfig (make cluster-up starts one)", name)
	case errors.Is(err, fs.ErrNotExist) && !clientcmd.IsConfigurationInvalid(err):
		return nil, fmt.Errorf("%s: no such file: give another with --kubeconfig (make cluster-up starts a control plane and writes one)", name)
	case clientcmd.IsConfigurationInvalid(err):
		return nil, fmt.Errorf("%s: %s: mend it, or give another with --kubeconfig", name, strings.TrimPrefix(err.Error(), "invalid configuration: "))
	default:
		return nil, fmt.Errorf("%s is none: %s: mend it, or give another with --kubeconfig", name, loadError(err))
	}
	probe := rest.CopyConfig(config)
	probe.Timeout = answerTime
	client, err := discovery.NewDiscoveryClientForConfig(probe)
	if err == nil {
		_, err = client.ServerVersion()
	}
	if err != nil {
		reason, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("%s: no control plane answers at %s: %s: start it (make cluster-up), or give another file with --kubeconfig", name, config.Host, reason)
	}
	return config, nil
}

// loadError is why a file is no kubeconfig, without what repeats its name or speaks of Go types.
func loadError(err error) string {
	text := err.Error()
	if _, reason, found := strings.Cut(text, `": `); found && strings.HasPrefix(text, "error loading config file ") {
		text = reason
	}
	if strings.Contains(text, "couldn't get version/kind") {
		return "it has no apiVersion: v1 and kind: Config"
	}
	return text
}
