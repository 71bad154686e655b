package operator

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"go.uber.org/zap/zapcore"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// logLevels are the values of --log-level.
var logLevels = map[string]zapcore.Level{"error": zapcore.ErrorLevel, "info": zapcore.InfoLevel, "debug": zapcore.DebugLevel}

// Exit codes of the operator.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

// Main runs the operator with the arguments of a command line and returns its exit
// code. Errors go to stderr in plain words, logs as JSON lines.
func Main(args []string, stdout, stderr io.Writer) int {
	o, code := NewOptions(), exitOK
	cmd := &cobra.Command{
		Use:   "kick",
		Short: "KICK restarts each workload whose Secrets or ConfigMaps changed: once, when it may, and provably.",
		Long: "KICK restarts each workload whose Secrets or ConfigMaps changed: once, when it may, and provably.\n\n" +
			"It does nothing in a namespace until a KickPolicy exists there.",
		Example:       "  kick --kubeconfig ~/.kube/config --namespace kick-system",
		Args:          cobra.NoArgs,
		Version:       Version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			code = exitUsage
			if err := o.Validate(); err != nil {
				return err
			}
			code = exitError
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return start(cmd.Context(), o, stderr)
		},
	}
	o.AddFlags(cmd.PersistentFlags())
	cmd.AddCommand(checkCommand(&o))
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		code = exitUsage
		return err
	})
	if err := cmd.ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			_, _ = fmt.Fprintln(stderr, "kick: "+line)
		}
		return max(code, exitError)
	}
	return exitOK
}

func start(ctx context.Context, o Options, stderr io.Writer) error {
	log := newLogger(o, stderr)
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	config, err := loadConfig(o.Kubeconfig)
	if err != nil {
		return err
	}
	log.Info("starting", "version", Version(), "namespace", o.Namespace, "watchNamespaces", o.WatchNamespaces)
	return Run(ctx, config, o, log)
}

func newLogger(o Options, w io.Writer) logr.Logger {
	return zap.New(zap.WriteTo(w), zap.JSONEncoder(func(c *zapcore.EncoderConfig) {
		c.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	}), zap.Level(logLevels[o.LogLevel]), zap.StacktraceLevel(zapcore.PanicLevel))
}

// loadConfig finds the API server: the flag, $KUBECONFIG and the default file, or
// the pod's service account.
func loadConfig(path string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("no API server to talk to: %w; use --kubeconfig, $KUBECONFIG, or run in a pod", err)
	}
	return config, nil
}

// version is what a release says it is (-ldflags -X).
var version string

// Version is the version of the build: the release's, the module's, or the revision it
// was built from.
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "devel-" + s.Value[:min(len(s.Value), 12)]
		}
	}
	return "devel"
}
