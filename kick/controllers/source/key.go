package source

import "context"

// loadKey reports whether the installation key is at hand. The first leader makes the
// key; making it is a write, and so a pass of its own: the next pass finds it. Of two
// passes that ask at once, one makes the key and the other finds it.
func (r *reconciler) loadKey(ctx context.Context) (bool, error) {
	held, err := r.Gather.HoldKey(ctx)
	if held || err != nil {
		return held, err
	}
	return false, r.Apply.InstallationKey(ctx, r.Gather.Own, r.NewKey())
}
