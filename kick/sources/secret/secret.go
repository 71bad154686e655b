// Package secret teaches KICK about core/v1 Secrets.
package secret

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/kick/model/fingerprint"
	"github.com/corewire/kick/kick/sources"
)

// Kind is the Secret adapter.
type Kind struct{}

var _ sources.Kind = Kind{}

// Name is "Secret".
func (Kind) Name() string { return discover.KindSecret }

// New returns an empty Secret.
func (Kind) New() client.Object { return &corev1.Secret{} }

// Digest fingerprints type, immutable and data.
func (Kind) Digest(o client.Object) fingerprint.Digest {
	return fingerprint.Secret(o.(*corev1.Secret))
}

// KeyNames are the keys of data.
func (Kind) KeyNames(o client.Object) []string {
	return slices.Collect(maps.Keys(o.(*corev1.Secret).Data))
}

// Empty keeps the keys of data and drops every value.
func (Kind) Empty(o client.Object) {
	s := o.(*corev1.Secret)
	names := make(map[string][]byte, len(s.Data))
	for name := range s.Data {
		names[name] = nil
	}
	s.Data, s.StringData = names, nil
}
