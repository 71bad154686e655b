package ledger

import (
	"sync"

	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/model/fingerprint"
)

// Keyring holds the installation key once it has been read. The zero value is empty.
type Keyring struct {
	mu   sync.Mutex
	held fingerprint.Key
}

// Key is the installation key; zero: it has not been read yet.
func (k *Keyring) Key() fingerprint.Key {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held
}

// Hold keeps the installation key.
func (k *Keyring) Hold(key fingerprint.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held = key
}

// Holds reports whether what stands is what a record says. Nothing can be said of
// content before the key is at hand, or if another key sealed the record.
func (k *Keyring) Holds(r *model.Record, s model.Source) bool {
	last := r.Current()
	if !s.Present || last.Absent() {
		return s.Present != last.Absent()
	}
	key := k.Key()
	return !key.IsZero() && r.KeyID == key.ID() && key.Seal(s.Digest) == last.Seal
}
