package ledger

import (
	"crypto/rand"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/fingerprint"
)

// KeySecret is the Secret in KICK's own namespace that holds the installation
// key. The first leader makes it; nobody ever overwrites it. Without it readers of
// the records could guess short secrets from their digests.
const KeySecret = "kick-installation-key"

// keyField is the one key of that Secret.
const keyField = "key"

// NewKeyBytes draws a key. The simulator passes its own source of bytes instead.
func NewKeyBytes() []byte {
	b := make([]byte, fingerprint.KeySize)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return b
}

// KeyObject is the Secret for a new key.
func KeyObject(namespace string, key []byte) *corev1.Secret {
	immutable := true
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: KeySecret,
			Labels: map[string]string{"app.kubernetes.io/managed-by": model.FieldManager},
		},
		Type:      corev1.SecretTypeOpaque,
		Immutable: &immutable,
		Data:      map[string][]byte{keyField: key},
	}
}

// KeyFrom reads the key out of its Secret.
func KeyFrom(s *corev1.Secret) (fingerprint.Key, error) {
	key, err := fingerprint.NewKey(s.Data[keyField])
	if err != nil {
		return key, fmt.Errorf("secret %s/%s, data[%q]: %w; delete the Secret and restart KICK to have a new one made", s.Namespace, s.Name, keyField, err)
	}
	return key, nil
}
