package cluster

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var (
	namespaceType = reflect.TypeFor[corev1.Namespace]()
)

var secretRules = &rules{
	unconditional: true,
	mergeInPlace:  true,
	defaults:      on(defaultSecret),
	prepareUpdate: onPair(func(in, old *corev1.Secret) {
		if in.Type == "" {
			in.Type = old.Type
		}
	}),
	validate:       check(validateSecret),
	validateUpdate: checkPair(validateSecretUpdate),
}

var configMapRules = &rules{
	defaults:       on(func(cm *corev1.ConfigMap) { noNulls(cm.BinaryData) }),
	unconditional:  true,
	mergeInPlace:   true,
	validate:       check(validateConfigMap),
	validateUpdate: checkPair(validateConfigMapUpdate),
}

var podRules = &rules{
	generation:     generationBody,
	unconditional:  true,
	mergeInPlace:   true,
	defaults:       on(defaultPod),
	prepareCreate:  on(func(p *corev1.Pod) { p.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: qosClass(p)} }),
	prepareStatus:  onPair(preparePodStatus),
	statusKeeps:    []string{"deletionTimestamp", "ownerReferences"},
	validateStatus: checkPair(validatePodStatus),
	validate:       check(func(p *corev1.Pod) field.ErrorList { return validatePodSpec(&p.Spec, field.NewPath("spec")) }),
	validateUpdate: checkPair(validatePodUpdate),
	graceful:       gracefulPod,
}

var namespaceRules = &rules{
	unconditional: true,
	name:          apimachineryvalidation.ValidateNamespaceName,
	defaults: on(func(ns *corev1.Namespace) {
		labelNamespace(ns)
		setDefault(&ns.Status.Phase, corev1.NamespaceActive)
	}),
	prepareCreate: on(func(ns *corev1.Namespace) {
		labelNamespace(ns)
		ns.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
		if !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
			ns.Spec.Finalizers = append(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
		}
	}),
	prepareUpdate:  onPair(func(in, old *corev1.Namespace) { in.Spec.Finalizers = old.Spec.Finalizers }),
	validateStatus: checkPair(validateNamespaceStatus),
}

var nodeRules = &rules{unconditional: true}

var serviceRules = &rules{
	unconditional: true,
	name:          apimachineryvalidation.NameIsDNS1035Label,
	defaults: on(func(svc *corev1.Service) {
		setDefault(&svc.Spec.SessionAffinity, corev1.ServiceAffinityNone)
		setDefault(&svc.Spec.Type, corev1.ServiceTypeClusterIP)
	}),
}

// setDefault fills a value that the request left empty.
func setDefault[T comparable](at *T, value T) {
	var zero T
	if *at == zero {
		*at = value
	}
}

// setDefaultPointer fills a pointer that the request left nil.
func setDefaultPointer[T any](at **T, value T) {
	if *at == nil {
		*at = &value
	}
}

// defaultSecret merges the write-only stringData into data and names the type.
func defaultSecret(s *corev1.Secret) {
	mergeStringData(s)
	setDefault(&s.Type, corev1.SecretTypeOpaque)
}

// mergeStringData does what converting a Secret to its stored form does.
func mergeStringData(s *corev1.Secret) {
	if len(s.StringData) > 0 && s.Data == nil {
		s.Data = map[string][]byte{}
	}
	for key, value := range s.StringData {
		s.Data[key] = []byte(value)
	}
	s.StringData = nil
	noNulls(s.Data)
}

// noNulls stores an empty value for a null, which the wire does not tell apart.
func noNulls(data map[string][]byte) {
	for key, value := range data {
		if value == nil {
			data[key] = []byte{}
		}
	}
}

// requiredKeys are what a Secret of a type must hold.
var requiredKeys = map[corev1.SecretType][]string{
	corev1.SecretTypeDockercfg:        {corev1.DockerConfigKey},
	corev1.SecretTypeDockerConfigJson: {corev1.DockerConfigJsonKey},
	corev1.SecretTypeSSHAuth:          {corev1.SSHAuthPrivateKey},
	corev1.SecretTypeTLS:              {corev1.TLSCertKey, corev1.TLSPrivateKeyKey},
}

func validateSecret(s *corev1.Secret) field.ErrorList {
	path := field.NewPath("data")
	errs, size := validateKeys(s.Data, path)
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(path, "", corev1.MaxSecretSize))
	}
	for _, key := range requiredKeys[s.Type] {
		if _, ok := s.Data[key]; !ok {
			errs = append(errs, field.Required(path.Key(key), ""))
		}
	}
	return append(errs, validateSecretType(s, path)...)
}

// validateSecretType checks what a type asks for besides the presence of keys.
func validateSecretType(s *corev1.Secret, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch s.Type { //nolint:exhaustive // the other types ask for nothing more
	case corev1.SecretTypeServiceAccountToken:
		if s.Annotations[corev1.ServiceAccountNameKey] == "" {
			errs = append(errs, field.Required(field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey), ""))
		}
	case corev1.SecretTypeBasicAuth:
		if !hasKey(s.Data, corev1.BasicAuthUsernameKey) && !hasKey(s.Data, corev1.BasicAuthPasswordKey) {
			errs = append(errs, field.Required(path.Key(corev1.BasicAuthUsernameKey), ""),
				field.Required(path.Key(corev1.BasicAuthPasswordKey), ""))
		}
	case corev1.SecretTypeDockercfg, corev1.SecretTypeDockerConfigJson:
		key := requiredKeys[s.Type][0]
		if raw, ok := s.Data[key]; ok {
			if err := json.Unmarshal(raw, &map[string]any{}); err != nil {
				errs = append(errs, field.Invalid(path.Key(key), "<secret contents redacted>", err.Error()))
			}
		}
	}
	return errs
}

// hasKey reports whether a map holds a key.
func hasKey[V any](m map[string]V, key string) bool { _, ok := m[key]; return ok }

// validateKeys checks the key names in order and adds up the size of the values.
func validateKeys[V string | []byte](data map[string]V, path *field.Path) (field.ErrorList, int) {
	var errs field.ErrorList
	size := 0
	for _, key := range slices.Sorted(maps.Keys(data)) {
		for _, msg := range validation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(path.Key(key), key, msg))
		}
		size += len(data[key])
	}
	return errs, size
}

const immutableSet = "field is immutable when `immutable` is set"

func validateSecretUpdate(in, old *corev1.Secret) field.ErrorList {
	errs := apimachineryvalidation.ValidateImmutableField(in.Type, old.Type, field.NewPath("type"))
	if old.Immutable == nil || !*old.Immutable {
		return errs
	}
	if in.Immutable == nil || !*in.Immutable {
		errs = append(errs, field.Forbidden(field.NewPath("immutable"), immutableSet))
	}
	if !apiequality.Semantic.DeepEqual(in.Data, old.Data) {
		errs = append(errs, field.Forbidden(field.NewPath("data"), immutableSet))
	}
	return errs
}

func validateConfigMap(cm *corev1.ConfigMap) field.ErrorList {
	errs, size := validateKeys(cm.Data, field.NewPath("data"))
	for _, key := range slices.Sorted(maps.Keys(cm.Data)) {
		if hasKey(cm.BinaryData, key) {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key, "duplicate of key present in binaryData"))
		}
	}
	more, binary := validateKeys(cm.BinaryData, field.NewPath("binaryData"))
	errs = append(errs, more...)
	if size+binary > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize))
	}
	return errs
}

func validateConfigMapUpdate(in, old *corev1.ConfigMap) field.ErrorList {
	var errs field.ErrorList
	if old.Immutable == nil || !*old.Immutable {
		return nil
	}
	if in.Immutable == nil || !*in.Immutable {
		errs = append(errs, field.Forbidden(field.NewPath("immutable"), immutableSet))
	}
	if !apiequality.Semantic.DeepEqual(in.Data, old.Data) {
		errs = append(errs, field.Forbidden(field.NewPath("data"), immutableSet))
	}
	if !apiequality.Semantic.DeepEqual(in.BinaryData, old.BinaryData) {
		errs = append(errs, field.Forbidden(field.NewPath("binaryData"), immutableSet))
	}
	return errs
}

// qosClass is BestEffort without any request or limit, Guaranteed when every
// container limits what it requests, else Burstable.
func qosClass(p *corev1.Pod) corev1.PodQOSClass {
	guaranteed, any := true, false
	for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
		any = any || len(c.Resources.Requests)+len(c.Resources.Limits) > 0
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			limit, ok := c.Resources.Limits[name]
			request, asked := c.Resources.Requests[name]
			guaranteed = guaranteed && ok && (!asked || limit.Cmp(request) == 0)
		}
	}
	switch {
	case !any:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// preparePodStatus keeps what pods/status may not touch.
func preparePodStatus(in, old *corev1.Pod) {
	in.DeletionTimestamp = nil // put back by the common rule
	in.OwnerReferences = old.OwnerReferences
	if in.Status.QOSClass == "" {
		in.Status.QOSClass = old.Status.QOSClass
	}
	if in.Status.ObservedGeneration == 0 {
		in.Status.ObservedGeneration = old.Status.ObservedGeneration
	}
}

// gracefulPod decides how long a pod is given: none without a node or once it ended.
func gracefulPod(obj client.Object, options *metav1.DeleteOptions) {
	p := obj.(*corev1.Pod)
	period := int64(0)
	switch {
	case options.GracePeriodSeconds != nil:
		period = *options.GracePeriodSeconds
	case p.Spec.TerminationGracePeriodSeconds != nil:
		period = *p.Spec.TerminationGracePeriodSeconds
	}
	if p.Spec.NodeName == "" || p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
		period = 0
	}
	if period < 0 {
		period = 1
	}
	options.GracePeriodSeconds = &period
}

// labelNamespace keeps the label that every namespace carries.
func labelNamespace(ns *corev1.Namespace) {
	if ns.Name == "" {
		return
	}
	if ns.Labels == nil {
		ns.Labels = map[string]string{}
	}
	ns.Labels[corev1.LabelMetadataName] = ns.Name
}

// namespaceEmptied reports whether nothing holds a terminating namespace any more.
func namespaceEmptied(obj client.Object) bool {
	return len(obj.(*corev1.Namespace).Spec.Finalizers) == 0
}
