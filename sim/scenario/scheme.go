package scenario

import (
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/foreign"
)

// Scheme knows the Go types of every object a scenario may hold.
var Scheme = NewScheme(foreign.Tools()...)

// NewScheme returns a scheme that has of all GitOps tools the kinds of the named ones.
func NewScheme(tools ...string) *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	utilruntime.Must(v1alpha1.AddToScheme(s))
	foreign.AddTo(s, tools...)
	return s
}
