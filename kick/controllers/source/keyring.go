package source

import (
	"context"
	"sync"

	"github.com/corewire/kick/kick/model/fingerprint"
)

// keyring holds the installation key once it has been read. The first leader makes
// the key; making it is a write, and so a pass of its own.
type keyring struct {
	mu   sync.Mutex
	held fingerprint.Key
}

func (k *keyring) key() fingerprint.Key {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held
}

// load reports whether the key is at hand. If it did not exist it has now been
// asked for, and the next pass finds it. No lock is held over a call: of two passes
// that ask at once, one makes the key and the other finds it.
func (k *keyring) load(ctx context.Context, d *Deps) (bool, error) {
	if !k.key().IsZero() {
		return true, nil
	}
	key, found, err := d.Gather.InstallationKey(ctx, d.Namespace)
	if err != nil {
		return false, err
	}
	if !found {
		return false, d.Apply.InstallationKey(ctx, d.Namespace, d.NewKey())
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held = key
	return true, nil
}
