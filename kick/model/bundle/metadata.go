package bundle

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// Annotations that KICK itself puts on a ConfigMap; those of this domain are never
// copied.
const (
	domain = "kick.corewire.io"
	// AnnotationHeals counts how often the ConfigMap was put right.
	AnnotationHeals = domain + "/heals"
	// AnnotationLastHeal is when that was done last: RFC 3339, microseconds, UTC.
	AnnotationLastHeal = domain + "/last-heal"
)

// ownDomains are the domains of labels and annotations by which a tool recognises what
// it made itself: on a copy, it would take the ConfigMap for its own and delete it with
// the next pruning. (kubectl: last-applied-configuration and ApplySets; Argo CD: tracking-id
// and options; Helm: release-name; then kapp, Fleet and cli-utils.)
var ownDomains = map[string]bool{
	domain: true, "kubectl.kubernetes.io": true, "applyset.kubernetes.io": true, "argocd.argoproj.io": true, "meta.helm.sh": true,
	"kapp.k14s.io": true, "objectset.rio.cattle.io": true, "config.k8s.io": true, "kargo.akuity.io": true,
}

// fluxDomains end the domains of Flux, one a controller.
const fluxDomains = ".toolkit.fluxcd.io"

// instanceLabel is by default the label by which Argo CD knows its objects.
const instanceLabel = "app.kubernetes.io/instance"

// Copied reports whether a label or annotation of a bundle is handed on.
func Copied(key string) bool {
	prefix, _, found := strings.Cut(key, "/")
	return key != instanceLabel && (!found || !ownDomains[prefix] && !strings.HasSuffix(prefix, fluxDomains))
}

// Handed are the labels and annotations that are handed on.
func Handed(labels, annotations map[string]string) Meta {
	return Meta{Labels: copied(labels), Annotations: copied(annotations)}
}

func copied(all map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range all {
		if Copied(k) {
			out[k] = v
		}
	}
	return out
}

// Fingerprint names these labels and annotations. It is short, and another one for
// other metadata.
func (m Meta) Fingerprint() string {
	var b []byte
	for _, part := range []map[string]string{m.Labels, m.Annotations} {
		b = binary.AppendUvarint(b, uint64(len(part)))
		for _, k := range slices.Sorted(maps.Keys(part)) {
			b = text(text(b, k), part[k])
		}
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// text appends a text with its length, so that no two lists of texts are alike.
func text(b []byte, s string) []byte { return append(binary.AppendUvarint(b, uint64(len(s))), s...) }
