package operator

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/gitops/argocd"
	"github.com/corewire/kick/kick/tracing"
)

// Options are the operator's flags. The simulator takes the same ones under
// spec.operator.flags of a scenario.
type Options struct {
	Kubeconfig      string
	Namespace       string
	WatchNamespaces []string

	LeaderElect   bool
	LeaseDuration time.Duration
	RenewDeadline time.Duration
	RetryPeriod   time.Duration

	MetricsAddress string
	HealthAddress  string
	LogLevel       string
	KubeAPIQPS     float32
	KubeAPIBurst   int

	RolloutTimeout   time.Duration
	RequestRetention time.Duration
	ClockAllowance   time.Duration
	MaxConcurrent    int

	EnableArgoCD bool
	EnableFlux   bool
	EnableKargo  bool
	// GitOpsNamespaces are where the objects of GitOps tools are looked for; none: everywhere.
	GitOpsNamespaces []string
	ArgoCD           argocd.Config
	// EnableArgoRollouts restarts Rollouts.
	EnableArgoRollouts bool
	// EnableCSI restarts the readers of rotated SecretProviderClasses, which the driver looks
	// for each RotationInterval.
	EnableCSI        bool
	RotationInterval time.Duration
	// KargoTolerant takes a Stage that an Application names and that does not exist for idle.
	KargoTolerant bool

	Bundles       BundleOptions
	Notifications NotificationOptions
	Timeline      TimelineOptions
	Tracing       tracing.Options
}

// DefaultNamespace is where KICK lives when nothing says otherwise.
const DefaultNamespace = "kick-system"

// NewOptions returns the options with the defaults of their flags.
func NewOptions() Options {
	o := Options{}
	o.AddFlags(pflag.NewFlagSet("kick", pflag.ContinueOnError))
	return o
}

// AddFlags binds the options to a flag set.
func (o *Options) AddFlags(f *pflag.FlagSet) {
	namespace := os.Getenv("POD_NAMESPACE")
	if namespace == "" {
		namespace = DefaultNamespace
	}
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "kubeconfig file; empty: $KUBECONFIG, then the pod's service account")
	f.StringVar(&o.Namespace, "namespace", namespace, "KICK's own namespace, for its lease and its installation key; default $POD_NAMESPACE, then "+DefaultNamespace)
	f.StringSliceVar(&o.WatchNamespaces, "watch-namespaces", nil, "namespaces to manage, comma separated; empty: all of them")

	f.BoolVar(&o.LeaderElect, "leader-elect", true, "let one replica at a time act; the others stand by with warm caches")
	f.DurationVar(&o.LeaseDuration, "leader-election-lease-duration", 15*time.Second, "how long a silent leader is waited for; whole seconds, at least 2s")
	f.DurationVar(&o.RenewDeadline, "leader-election-renew-deadline", 10*time.Second, "how long the leader tries to renew before it gives up; less than the lease duration")
	f.DurationVar(&o.RetryPeriod, "leader-election-retry-period", 2*time.Second, "pause between tries to get or renew the lease; less than the renew deadline")

	f.StringVar(&o.MetricsAddress, "metrics-bind-address", ":8080", "address of /metrics; 0 turns it off")
	f.StringVar(&o.HealthAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0 turns it off")
	f.StringVar(&o.LogLevel, "log-level", "info", "error, info or debug; logs are JSON lines on standard error")
	f.Float32Var(&o.KubeAPIQPS, "kube-api-qps", 50, "requests a second to the API server on average")
	f.IntVar(&o.KubeAPIBurst, "kube-api-burst", 100, "requests in a burst to the API server")

	f.DurationVar(&o.RolloutTimeout, "rollout-timeout", 15*time.Minute, "a rollout without any progress for this long has failed")
	f.DurationVar(&o.RequestRetention, "request-retention", 24*time.Hour, "how long a finished KickRequest is kept")
	f.DurationVar(&o.ClockAllowance, "clock-allowance", 5*time.Second, "how far the clocks of KICK, the API server and the nodes may differ")

	f.IntVar(&o.MaxConcurrent, "max-concurrent-restarts", 25, "how many restarts may be under way at a time, over all namespaces; 0: no limit")

	o.addGitOpsFlags(f)
	o.Bundles.addFlags(f)
	o.Notifications.addFlags(f)
	o.Timeline.addFlags(f)
	addTracingFlags(&o.Tracing, f)
}

// addGitOpsFlags binds what concerns GitOps tools.
func (o *Options) addGitOpsFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.EnableArgoCD, "enable-argocd", true, "ask Argo CD where a policy says so; without its CRDs the integration is inactive")
	f.BoolVar(&o.EnableFlux, "enable-flux", true, "ask Flux where a policy says so; without its CRDs the integration is inactive")
	f.BoolVar(&o.EnableKargo, "enable-kargo", false, "ask Kargo, and then Argo CD, where a policy says so; needs --enable-argocd; without its CRDs the integration is inactive")
	f.StringSliceVar(&o.GitOpsNamespaces, "gitops-namespaces", nil, "namespaces of the objects of GitOps tools, comma separated; empty: all of them. An owner anywhere else is unknown")
	f.BoolVar(&o.EnableArgoRollouts, "enable-argo-rollouts", false, "restart Rollouts of Argo Rollouts as well; without its CRD the integration is inactive")
	f.BoolVar(&o.EnableCSI, "enable-csi-integration", false, "restart what mounts a SecretProviderClass of the Secrets Store CSI driver when that is rotated; without its CRDs the integration is inactive")
	f.DurationVar(&o.RotationInterval, "csi-rotation-poll-interval", 2*time.Minute, "the driver's own --rotation-poll-interval: how long the Secret that mirrors a rotated class is waited for; a class that is rotated three times within five of them has flapped")
	f.StringVar(&o.ArgoCD.Namespace, "argocd-namespace", argocd.DefaultNamespace, "namespace of Argo CD's control plane: its AppProjects and ConfigMap argocd-cm")
	f.StringSliceVar(&o.ArgoCD.Namespaces, "argocd-application-namespaces", nil, "namespaces of Applications besides Argo CD's own, comma separated; empty: all of them")
	f.StringSliceVar(&o.ArgoCD.Clusters, "argocd-clusters", nil, "names and servers under which Argo CD deploys to this cluster, besides in-cluster and https://kubernetes.default.svc")
	f.DurationVar(&o.ArgoCD.StaleAfter, "argocd-stale-after", 0, "an Application that was compared longer ago shuts the gate; 0: five times Argo CD's own refresh interval; below 0: never")
	f.BoolVar(&o.KargoTolerant, "kargo-ignore-missing-stages", false, "take a Stage that an Application names and that does not exist for idle")
}

// Validate reports every option that cannot be used, and what would be right.
func (o *Options) Validate() error {
	var wrong []error
	add := func(format string, a ...any) { wrong = append(wrong, fmt.Errorf(format, a...)) }
	if o.Namespace == "" {
		add("--namespace must not be empty: KICK keeps its lease and its key there")
	}
	wrong = append(wrong, o.validateLease()...)
	wrong = append(wrong, o.Bundles.validate()...)
	wrong = append(wrong, o.Notifications.validate()...)
	wrong = append(wrong, o.Timeline.validate()...)
	wrong = append(wrong, validateTracing(&o.Tracing)...)
	wrong = append(wrong, o.validateTimes()...)
	if o.EnableKargo && !o.EnableArgoCD {
		add("--enable-kargo needs --enable-argocd: after its Stages Kargo's gate asks Argo CD")
	}
	if o.ArgoCD.Namespace == "" {
		add("--argocd-namespace must not be empty: AppProjects and ConfigMap argocd-cm are read there")
	}
	if o.MaxConcurrent < 0 {
		add("--max-concurrent-restarts %d must not be negative; 0 sets no limit", o.MaxConcurrent)
	}
	if _, known := logLevels[o.LogLevel]; !known {
		add("--log-level %q: use error, info or debug", o.LogLevel)
	}
	return errors.Join(wrong...)
}

func (o *Options) validateTimes() (wrong []error) {
	add := func(format string, a ...any) { wrong = append(wrong, fmt.Errorf(format, a...)) }
	for name, d := range map[string]time.Duration{"rollout-timeout": o.RolloutTimeout, "request-retention": o.RequestRetention} {
		if d < time.Second {
			add("--%s %s must be at least 1s", name, d)
		}
	}
	if o.ClockAllowance < 0 || o.ClockAllowance > time.Minute {
		add("--clock-allowance %s must be between 0s and 1m; clocks further apart must be set right", o.ClockAllowance)
	}
	if o.RotationInterval < time.Second || o.RotationInterval > time.Hour {
		add("--csi-rotation-poll-interval %s must be between 1s and 1h, as that of the driver", o.RotationInterval)
	}
	return wrong
}

func (o *Options) validateLease() (wrong []error) {
	add := func(format string, a ...any) { wrong = append(wrong, fmt.Errorf(format, a...)) }
	if o.LeaseDuration < 2*time.Second || o.LeaseDuration%time.Second != 0 {
		add("--leader-election-lease-duration %s: the API server stores whole seconds, so use whole seconds and at least 2s; anything else lets two replicas lead", o.LeaseDuration)
	}
	if o.RenewDeadline >= o.LeaseDuration {
		add("--leader-election-renew-deadline %s must be less than the lease duration %s", o.RenewDeadline, o.LeaseDuration)
	}
	if o.RetryPeriod <= 0 || o.RetryPeriod*12/10 >= o.RenewDeadline {
		add("--leader-election-retry-period %s must be more than 0 and, with a fifth added, less than the renew deadline %s", o.RetryPeriod, o.RenewDeadline)
	}
	return wrong
}

// Settings are the options that decisions depend on.
func (o *Options) Settings() model.Settings {
	return model.Settings{
		RolloutTimeout: o.RolloutTimeout, RequestRetention: o.RequestRetention, ClockAllowance: o.ClockAllowance,
		MaxConcurrent: o.MaxConcurrent, RotationInterval: o.RotationInterval,
	}
}
