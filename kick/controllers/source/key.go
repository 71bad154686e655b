package source

import "context"

// loadKey reports whether the installation key is at hand. The first leader makes the
// key; making it is a write, and so a pass of its own: the next pass finds it. Of two
// passes that ask at once, one makes the key and the other finds it.
func (r *reconciler) loadKey(ctx context.Context) (bool, error) {
	if !r.Gather.Keys.Key().IsZero() {
		return true, nil
	}
	key, found, err := r.Gather.InstallationKey(ctx, r.Namespace)
	if err != nil {
		return false, err
	}
	if !found {
		return false, r.Apply.InstallationKey(ctx, r.Namespace, r.NewKey())
	}
	r.Gather.Keys.Hold(key)
	return true, nil
}
