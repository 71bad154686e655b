// Package fingerprint turns the content of a Secret or ConfigMap into a value
// that can be compared, stored and shown without telling the content.
//
// It does so in two steps. A Digest is SHA-256 over what counts as content: type,
// immutable and payload (operator model, section 3). Labels, annotations and all
// other metadata stay out, so metadata churn is no change. A Digest never leaves
// the process: from the digest of a short secret the secret can be guessed. What
// is stored is the Digest sealed with the installation's Key (HMAC-SHA256), which
// is worth nothing without that key.
//
//	key, err := fingerprint.NewKey(random32)
//	...
//	before := key.Seal(fingerprint.Secret(old))
//	after := key.Seal(fingerprint.Secret(cur))
//	if before != after { ... } // the content changed
//
// Sealed values compare only with values sealed under the same key and by the
// same format. Key.ID stands for both: a record that carries another ID is not a
// record of a change but one to be sealed anew, so neither a lost key nor an
// upgrade of the format restarts anything.
//
// The package is pure and keeps no content. It must not grow a function that
// shows a digest or a key; Digest.Note is for objects that never leave a cache of
// this process.
package fingerprint
