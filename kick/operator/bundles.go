package operator

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/apply"
	"github.com/corewire/kick/kick/bundle"
	"github.com/corewire/kick/kick/controllers"
	"github.com/corewire/kick/kick/gather"
)

// What KICK may do besides where --enable-config-bundles is set: a role of its own,
// so that nobody grants the right to write ConfigMaps who does not want bundles.
//
// +kubebuilder:rbac:groups=kick.corewire.io,resources=configbundles,verbs=get;list;watch;patch,roleName=kick-config-bundles
// +kubebuilder:rbac:groups=kick.corewire.io,resources=configbundles/status,verbs=update,roleName=kick-config-bundles
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=create;patch;delete,roleName=kick-config-bundles
// +kubebuilder:rbac:groups=apps,resources=controllerrevisions,verbs=get;create,roleName=kick-config-bundles

// bundleRole is the name of that role.
const bundleRole = "kick-config-bundles"

// bundleCRD is the resource that must be there then.
const bundleCRD = "configbundles"

// BundleOptions are the flags of ConfigBundles.
type BundleOptions struct {
	Enabled       bool
	CheckInterval time.Duration
}

func (o *BundleOptions) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.Enabled, "enable-config-bundles", false, "keep the ConfigMaps of ConfigBundles as they are declared; needs the CRD and the role "+bundleRole)
	f.DurationVar(&o.CheckInterval, "config-bundle-check-interval", 30*time.Second, "how often the ConfigMap of each bundle is read although nothing was heard of it; at least 1s")
}

func (o *BundleOptions) validate() []error {
	if o.CheckInterval < time.Second {
		return []error{fmt.Errorf("--config-bundle-check-interval %s must be at least 1s", o.CheckInterval)}
	}
	return nil
}

// bundleControllers is the controller of bundles, if they are enabled.
func bundleControllers(d Deps, g *gather.Gatherer, a *apply.Applier) []controllers.Controller {
	if !d.Options.Bundles.Enabled {
		return nil
	}
	return []controllers.Controller{bundle.New(bundle.Deps{
		Clock: d.Clock, Gather: g, Apply: a, Events: d.Events, Metrics: d.Metrics, Interval: d.Options.Bundles.CheckInterval,
	})}
}

// bundleTransforms are what is cached for bundles, if they are enabled.
func bundleTransforms(o Options) []controllers.Transform {
	if !o.Bundles.Enabled {
		return nil
	}
	return []controllers.Transform{{Object: &v1alpha1.ConfigBundle{}, Apply: func(o client.Object) { o.SetManagedFields(nil) }}}
}
