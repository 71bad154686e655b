package cluster

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// defaultPod fills a pod; a template gets less.
func defaultPod(p *corev1.Pod) {
	defaultPodSpec(&p.Spec)
	setDefaultPointer(&p.Spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
	if *p.Spec.TerminationGracePeriodSeconds < 0 {
		p.Spec.TerminationGracePeriodSeconds = new(int64(1))
	}
	for i := range p.Spec.Containers {
		defaultRequests(&p.Spec.Containers[i].Resources)
	}
	for i := range p.Spec.InitContainers {
		defaultRequests(&p.Spec.InitContainers[i].Resources)
	}
}

// defaultRequests lets requests follow limits.
func defaultRequests(r *corev1.ResourceRequirements) {
	if r.Limits == nil {
		return
	}
	requests := maps.Clone(r.Limits)
	maps.Copy(requests, r.Requests)
	r.Requests = requests
}

// defaultPodSpec fills what the real server fills in pods and templates alike.
func defaultPodSpec(spec *corev1.PodSpec) {
	if spec.ServiceAccountName == "" {
		spec.ServiceAccountName = spec.DeprecatedServiceAccount
	}
	spec.DeprecatedServiceAccount = spec.ServiceAccountName
	setDefault(&spec.DNSPolicy, corev1.DNSClusterFirst)
	setDefault(&spec.RestartPolicy, corev1.RestartPolicyAlways)
	setDefaultPointer(&spec.SecurityContext, corev1.PodSecurityContext{})
	setDefaultPointer(&spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	setDefault(&spec.SchedulerName, corev1.DefaultSchedulerName)
	for i := range spec.Volumes {
		defaultVolume(&spec.Volumes[i].VolumeSource)
	}
	for i := range spec.InitContainers {
		defaultContainer(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		defaultContainer(&spec.Containers[i])
	}
}

func defaultVolume(v *corev1.VolumeSource) {
	switch {
	case v.Secret != nil:
		setDefaultPointer(&v.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	case v.ConfigMap != nil:
		setDefaultPointer(&v.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	case v.DownwardAPI != nil:
		setDefaultPointer(&v.DownwardAPI.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
	case v.Projected != nil:
		setDefaultPointer(&v.Projected.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
		for i := range v.Projected.Sources {
			if token := v.Projected.Sources[i].ServiceAccountToken; token != nil {
				setDefaultPointer(&token.ExpirationSeconds, 3600)
			}
		}
	case *v == corev1.VolumeSource{}:
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
}

func defaultContainer(c *corev1.Container) {
	if c.ImagePullPolicy == "" {
		c.ImagePullPolicy = corev1.PullIfNotPresent
		if imageTag(c.Image) == "latest" {
			c.ImagePullPolicy = corev1.PullAlways
		}
	}
	setDefault(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	setDefault(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		setDefault(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil && from.FieldRef != nil {
			setDefault(&from.FieldRef.APIVersion, "v1")
		}
	}
	for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		defaultProbe(p)
	}
}

func defaultProbe(p *corev1.Probe) {
	if p == nil {
		return
	}
	setDefault(&p.TimeoutSeconds, 1)
	setDefault(&p.PeriodSeconds, 10)
	setDefault(&p.SuccessThreshold, 1)
	setDefault(&p.FailureThreshold, 3)
	if p.HTTPGet != nil {
		setDefault(&p.HTTPGet.Path, "/")
		setDefault(&p.HTTPGet.Scheme, corev1.URISchemeHTTP)
	}
}

// imageTag is the tag of an image, latest when it names neither tag nor digest.
func imageTag(image string) string {
	if strings.Contains(image, "@") || strings.TrimSpace(image) != image {
		return "" // the latter is no image
	}
	last := image[strings.LastIndex(image, "/")+1:]
	if _, tag, ok := strings.Cut(last, ":"); ok {
		return tag
	}
	return "latest"
}

// nonNegative checks an optional count.
func nonNegative(v *int32, path *field.Path) field.ErrorList {
	if v == nil {
		return nil
	}
	return apimachineryvalidation.ValidateNonnegativeField(int64(*v), path)
}

// sameSelector checks that the selector did not change.
func sameSelector(in, old *metav1.LabelSelector) field.ErrorList {
	return apimachineryvalidation.ValidateImmutableField(in, old, field.NewPath("spec", "selector"))
}

// validateWorkload checks a selector, its template, and that one selects the other.
func validateWorkload(selector *metav1.LabelSelector, template *corev1.PodTemplateSpec, kind string) field.ErrorList {
	path := field.NewPath("spec")
	var errs field.ErrorList
	if selector == nil {
		errs = append(errs, field.Required(path.Child("selector"), ""))
	} else {
		errs = append(errs, metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path.Child("selector"))...)
		if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
			errs = append(errs, field.Invalid(path.Child("selector"), selector, "empty selector is invalid for "+kind))
		}
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	switch {
	case err != nil:
		errs = append(errs, field.Invalid(path.Child("selector"), selector, "invalid label selector"))
	case !parsed.Empty() && !parsed.Matches(labels.Set(template.Labels)):
		errs = append(errs, field.Invalid(path.Child("template", "metadata", "labels"), template.Labels, "`selector` does not match template `labels`"))
	}
	errs = append(errs, validatePodTemplate(template, path.Child("template"))...)
	if template.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(path.Child("template", "spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in "+kind+" is not Supported"))
	}
	if policy := template.Spec.RestartPolicy; policy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(path.Child("template", "spec", "restartPolicy"), policy, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	return errs
}

// validatePodTemplate checks the metadata and spec of a template.
func validatePodTemplate(t *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabels(t.Labels, path.Child("labels"))
	errs = append(errs, apimachineryvalidation.ValidateAnnotations(t.Annotations, path.Child("annotations"))...)
	return append(errs, validatePodSpec(&t.Spec, path.Child("spec"))...)
}

// validatePodSpec checks what a test or an actor is likely to get wrong: volumes,
// containers, and the references between them.
func validatePodSpec(spec *corev1.PodSpec, path *field.Path) field.ErrorList { //nolint:cyclop // the server's checks, in its order
	var errs field.ErrorList
	volumes := map[string]bool{}
	for i := range spec.Volumes {
		v := &spec.Volumes[i]
		at := path.Child("volumes").Index(i)
		if volumeTypes(&v.VolumeSource) > 1 {
			errs = append(errs, field.Forbidden(at, "may not specify more than 1 volume type"))
		}
		errs = append(errs, uniqueLabel(v.Name, volumes, at.Child("name"))...)
		if v.Secret != nil && v.Secret.SecretName == "" {
			errs = append(errs, field.Required(at.Child("secret", "secretName"), ""))
		}
		if v.ConfigMap != nil && v.ConfigMap.Name == "" {
			errs = append(errs, field.Required(at.Child("configMap", "name"), ""))
		}
	}
	if name := spec.ServiceAccountName; name != "" {
		for _, msg := range apimachineryvalidation.ValidateServiceAccountName(name, false) {
			errs = append(errs, field.Invalid(path.Child("serviceAccountName"), name, msg))
		}
	}
	errs = append(errs, oneOf(spec.DNSPolicy, path.Child("dnsPolicy"),
		corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone)...)
	errs = append(errs, oneOf(spec.RestartPolicy, path.Child("restartPolicy"),
		corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)...)
	if len(spec.Containers) == 0 {
		errs = append(errs, field.Required(path.Child("containers"), ""))
	}
	names := map[string]bool{}
	for i := range spec.Containers {
		errs = append(errs, validateContainer(&spec.Containers[i], names, volumes, path.Child("containers").Index(i))...)
	}
	for i := range spec.InitContainers {
		errs = append(errs, validateContainer(&spec.InitContainers[i], names, volumes, path.Child("initContainers").Index(i))...)
	}
	return errs
}

// volumeTypes counts the sources of a volume.
func volumeTypes(v *corev1.VolumeSource) int {
	n := 0
	for _, f := range reflect.ValueOf(v).Elem().Fields() {
		if !f.IsNil() {
			n++
		}
	}
	return n
}

// oneOf checks a value of a closed list.
func oneOf[T ~string](value T, path *field.Path, known ...T) field.ErrorList {
	if slices.Contains(known, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, known)}
}

// uniqueLabel checks a DNS label that must not repeat.
func uniqueLabel(name string, seen map[string]bool, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	var errs field.ErrorList
	for _, msg := range validation.IsDNS1123Label(name) {
		errs = append(errs, field.Invalid(path, name, msg))
	}
	if seen[name] {
		errs = append(errs, field.Duplicate(path, name))
	}
	seen[name] = true
	return errs
}

func validateContainer(c *corev1.Container, names, volumes map[string]bool, path *field.Path) field.ErrorList {
	errs := uniqueLabel(c.Name, names, path.Child("name"))
	if c.Image == "" {
		errs = append(errs, field.Required(path.Child("image"), ""))
	}
	errs = append(errs, oneOf(c.ImagePullPolicy, path.Child("imagePullPolicy"), corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
	for i := range c.Env {
		errs = append(errs, validateEnv(&c.Env[i], path.Child("env").Index(i))...)
	}
	mounted := map[string]bool{}
	for i, m := range c.VolumeMounts {
		at := path.Child("volumeMounts").Index(i)
		if !volumes[m.Name] {
			errs = append(errs, field.NotFound(at.Child("name"), m.Name))
		}
		switch {
		case m.MountPath == "":
			errs = append(errs, field.Required(at.Child("mountPath"), ""))
		case mounted[m.MountPath]:
			errs = append(errs, field.Invalid(at.Child("mountPath"), m.MountPath, "must be unique"))
		}
		mounted[m.MountPath] = true
	}
	return errs
}

func validateEnv(e *corev1.EnvVar, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if e.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	}
	if e.ValueFrom == nil {
		return errs
	}
	from := path.Child("valueFrom")
	if e.Value != "" {
		errs = append(errs, field.Invalid(from, "", "may not be specified when `value` is not empty"))
	}
	if ref := e.ValueFrom.SecretKeyRef; ref != nil {
		errs = append(errs, validateKeyRef(ref.Name, ref.Key, from.Child("secretKeyRef"))...)
	}
	if ref := e.ValueFrom.ConfigMapKeyRef; ref != nil {
		errs = append(errs, validateKeyRef(ref.Name, ref.Key, from.Child("configMapKeyRef"))...)
	}
	return errs
}

func validateKeyRef(name, key string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, msg := range apimachineryvalidation.NameIsDNSSubdomain(name, false) {
		errs = append(errs, field.Invalid(path.Child("name"), name, msg))
	}
	if key == "" {
		errs = append(errs, field.Required(path.Child("key"), ""))
	}
	return errs
}

// validatePodUpdate allows the few fields of a running pod that may change.
func validatePodUpdate(in, old *corev1.Pod) field.ErrorList {
	if apiequality.Semantic.DeepEqual(in.Spec, old.Spec) {
		return nil
	}
	if was, now := old.Spec.ActiveDeadlineSeconds, in.Spec.ActiveDeadlineSeconds; was != nil {
		path := field.NewPath("spec", "activeDeadlineSeconds")
		switch {
		case now == nil:
			return field.ErrorList{field.Invalid(path, now, "must not update from a positive integer to nil value")}
		case *now > *was:
			return field.ErrorList{field.Invalid(path, *now, "must be less than or equal to previous value")}
		}
	}
	for i, gate := range in.Spec.SchedulingGates {
		if !slices.Contains(old.Spec.SchedulingGates, gate) {
			return field.ErrorList{field.Forbidden(field.NewPath("spec", "schedulingGates").Index(i).Child("name"),
				"only deletion is allowed, but found new scheduling gate '"+gate.Name+"'")}
		}
	}
	munged := in.Spec.DeepCopy()
	sameImages(munged.Containers, old.Spec.Containers)
	sameImages(munged.InitContainers, old.Spec.InitContainers)
	munged.ActiveDeadlineSeconds = old.Spec.ActiveDeadlineSeconds
	munged.SchedulingGates = old.Spec.SchedulingGates
	munged.Tolerations = old.Spec.Tolerations
	if apiequality.Semantic.DeepEqual(*munged, old.Spec) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), "pod updates may not change fields other than "+
		"`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"+
		"`spec.tolerations` (only additions to existing tolerations),"+
		"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)")}
}

// sameImages takes the images of the old containers, so that they do not count.
func sameImages(in, old []corev1.Container) {
	for i := range min(len(in), len(old)) {
		in[i].Image = old[i].Image
	}
}
