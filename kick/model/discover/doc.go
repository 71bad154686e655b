// Package discover reads a pod spec and tells which Secrets, ConfigMaps and
// SecretProviderClasses its containers consume, and how. It is the function deps of the operator model
// (docs, operator model, section 2) with one thing added: the way in which each
// container reads the object, because a container that is restarted in place
// reads its environment again and its files not, and because a missing key
// keeps a pod from starting only where the reference requires it.
//
// What counts, in every container, init container and sidecar (an init
// container with restartPolicy Always):
//
//   - envFrom, and env with secretKeyRef or configMapKeyRef;
//   - volumes of the kinds secret, configMap and projected;
//   - csi volumes of the Secrets Store CSI driver, which name a SecretProviderClass.
//
// What does not count, because the application never sees it as configuration
// or because no API object lies behind it: imagePullSecrets, ephemeral
// containers, the secret references of volume drivers (CSI, RBD, CephFS, iSCSI,
// Azure File, ...), fileKeyRef, the downward API and service account tokens.
//
// There is no way to name a dependency by hand: only what the spec proves.
//
// The package is pure. It must not read the cluster, and it never looks at the
// content of a source.
//
//	for _, d := range discover.Dependencies(&deployment.Spec.Template.Spec) {
//		fmt.Println(d.Kind, d.Name, d.Required(), d.RequiredKeys())
//	}
package discover
