// Package configmap teaches KICK about core/v1 ConfigMaps.
package configmap

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/kick/model/fingerprint"
	"github.com/corewire/kick/kick/sources"
)

// Kind is the ConfigMap adapter.
type Kind struct{}

var _ sources.Kind = Kind{}

// Name is "ConfigMap".
func (Kind) Name() string { return discover.KindConfigMap }

// New returns an empty ConfigMap.
func (Kind) New() client.Object { return &corev1.ConfigMap{} }

// Digest fingerprints immutable, data and binaryData.
func (Kind) Digest(o client.Object) fingerprint.Digest {
	return fingerprint.ConfigMap(o.(*corev1.ConfigMap))
}

// KeyNames are the keys of data and binaryData.
func (Kind) KeyNames(o client.Object) []string {
	c := o.(*corev1.ConfigMap)
	return slices.Concat(slices.Collect(maps.Keys(c.Data)), slices.Collect(maps.Keys(c.BinaryData)))
}

// Empty keeps the keys and drops every value.
func (Kind) Empty(o client.Object) {
	c := o.(*corev1.ConfigMap)
	names := make(map[string]string, len(c.Data)+len(c.BinaryData))
	for name := range c.Data {
		names[name] = ""
	}
	for name := range c.BinaryData {
		names[name] = ""
	}
	c.Data, c.BinaryData = names, nil
}
