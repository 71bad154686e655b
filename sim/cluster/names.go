package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// generatedBase is where the real server cuts a generateName.
	generatedBase = 58
	// generateAttempts is how often it tries another suffix before it gives up.
	generateAttempts = 8
	// suffixAlphabet holds no vowels and nothing that looks like another character.
	suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789"
)

// nameGenerated fills an empty name from generateName. Suffixes come from a counter,
// scrambled so that they look like the real ones and their order means nothing.
func (s *Server) nameGenerated(k *kind, m *metav1.ObjectMeta) {
	if m.Name != "" || m.GenerateName == "" {
		return
	}
	base := m.GenerateName
	if len(base) > generatedBase {
		base = base[:generatedBase]
	}
	for range generateAttempts {
		m.Name = base + s.nextSuffix()
		if k.records[types.NamespacedName{Namespace: m.Namespace, Name: m.Name}] == nil {
			return
		}
	}
}

// nextSuffix is five letters that follow from the number of suffixes made so far.
func (s *Server) nextSuffix() string {
	s.suffixes++
	x := scramble(s.suffixes)
	var out [5]byte
	for i := range out {
		out[i] = suffixAlphabet[x%uint64(len(suffixAlphabet))]
		x /= uint64(len(suffixAlphabet))
	}
	return string(out[:])
}

// scramble is the finaliser of splitmix64, a bijection.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// newUID is a UID of the usual form, made from a counter.
func (s *Server) newUID() types.UID {
	if s.opts.UIDs != nil {
		return s.opts.UIDs()
	}
	s.uids++
	x := scramble(s.uids)
	return types.UID(fmt.Sprintf("%08x-%04x-4000-8000-%012x", uint32(x>>32), uint16(x>>16), s.uids))
}

var namespaceKind = schema.GroupKind{Kind: "Namespace"}

// admitNamespace refuses creates in a namespace that is missing or terminating.
func (s *Server) admitNamespace(k *kind, m *metav1.ObjectMeta, o WriteOptions) error {
	if !k.namespaced {
		return nil
	}
	ns, _ := s.Get(namespaceKind, types.NamespacedName{Name: m.Namespace}).(*corev1.Namespace)
	if ns == nil {
		if !s.opts.NamespaceAutoCreate {
			return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, m.Namespace)
		}
		if !o.DryRun {
			s.createNamespace(m.Namespace)
		}
		return nil
	}
	if ns.Status.Phase != corev1.NamespaceTerminating {
		return nil
	}
	err := apierrors.NewForbidden(k.resource, m.Name, fmt.Errorf(
		"unable to create new content in namespace %s because it is being terminated", m.Namespace))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: fmt.Sprintf("namespace %s is being terminated", m.Namespace),
		Field:   "metadata.namespace",
	})
	return err
}

// createNamespace makes a namespace on the server's own account. An invalid name
// makes none; the object that asked for it is then refused for the same name.
func (s *Server) createNamespace(name string) {
	_, _ = s.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, WriteOptions{Manager: "kube-apiserver"})
}
