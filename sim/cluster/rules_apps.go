package cluster

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var deploymentRules = &rules{
	generation:     generationAnnotations,
	unconditional:  true,
	mergeInPlace:   true,
	defaults:       on(defaultDeployment),
	prepareStatus:  onPair(func(in, old *appsv1.Deployment) { in.Labels = old.Labels }),
	statusKeeps:    []string{"labels"},
	validateStatus: checkPair(validateDeploymentStatus),
	validate:       check(validateDeployment),
	validateUpdate: checkPair(func(in, old *appsv1.Deployment) field.ErrorList {
		return sameSelector(in.Spec.Selector, old.Spec.Selector)
	}),
}

var statefulSetRules = &rules{
	generation:     generationBody,
	unconditional:  true,
	mergeInPlace:   true,
	name:           apimachineryvalidation.NameIsDNSLabel,
	defaults:       on(defaultStatefulSet),
	validate:       check(validateStatefulSet),
	validateUpdate: checkPair(validateStatefulSetUpdate),
	validateStatus: checkPair(validateStatefulSetStatus),
}

var daemonSetRules = &rules{
	generation:    generationBody,
	unconditional: true,
	mergeInPlace:  true,
	defaults:      on(defaultDaemonSet),
	prepareCreate: on(func(ds *appsv1.DaemonSet) {
		said, _ := strconv.ParseInt(ds.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
		setTemplateGeneration(ds, max(said, 1))
	}),
	prepareUpdate:  onPair(bumpTemplateGeneration),
	validateStatus: checkPair(validateDaemonSetStatus),
	validate:       check(validateDaemonSet),
	validateUpdate: checkPair(func(in, old *appsv1.DaemonSet) field.ErrorList {
		return sameSelector(in.Spec.Selector, old.Spec.Selector)
	}),
}

var replicaSetRules = &rules{
	validateStatus: checkPair(validateReplicaSetStatus),
	generation:     generationBody,
	unconditional:  true,
	mergeInPlace:   true,
	defaults: on(func(rs *appsv1.ReplicaSet) {
		setDefaultPointer(&rs.Spec.Replicas, 1)
		defaultPodSpec(&rs.Spec.Template.Spec)
	}),
	validate: check(func(rs *appsv1.ReplicaSet) field.ErrorList {
		errs := nonNegative(rs.Spec.Replicas, field.NewPath("spec", "replicas"))
		errs = append(errs, nonNegative(&rs.Spec.MinReadySeconds, field.NewPath("spec", "minReadySeconds"))...)
		return append(errs, validateWorkload(rs.Spec.Selector, &rs.Spec.Template, "replicaset")...)
	}),
	validateUpdate: checkPair(func(in, old *appsv1.ReplicaSet) field.ErrorList {
		return sameSelector(in.Spec.Selector, old.Spec.Selector)
	}),
}

var controllerRevisionRules = &rules{
	unconditional: true,
	validate: check(func(cr *appsv1.ControllerRevision) field.ErrorList {
		path := field.NewPath("data")
		errs := apimachineryvalidation.ValidateNonnegativeField(cr.Revision, field.NewPath("revision"))
		var content map[string]any
		switch {
		case len(cr.Data.Raw) == 0:
			errs = append(errs, field.Required(path, "data is mandatory"))
		case json.Unmarshal(cr.Data.Raw, &content) != nil || content == nil:
			errs = append(errs, field.Required(path, "data must be a valid JSON object"))
		}
		return errs
	}),
	validateUpdate: checkPair(func(in, old *appsv1.ControllerRevision) field.ErrorList {
		return apimachineryvalidation.ValidateImmutableField(in.Data, old.Data, field.NewPath("data"))
	}),
}

var jobRules = &rules{
	generation:    generationBody,
	unconditional: true,
	orphan:        true, // batch/v1, for compatibility
	defaults: on(func(j *batchv1.Job) {
		defaultJobSpec(&j.Spec)
		if j.Labels == nil {
			j.Labels = j.Spec.Template.Labels
		}
	}),
	validate: check(func(j *batchv1.Job) field.ErrorList {
		return validatePodTemplate(&j.Spec.Template, field.NewPath("spec", "template"))
	}),
}

var cronJobRules = &rules{
	generation:    generationBody,
	unconditional: true,
	defaults: on(func(c *batchv1.CronJob) {
		setDefault(&c.Spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
		setDefaultPointer(&c.Spec.Suspend, false)
		setDefaultPointer(&c.Spec.SuccessfulJobsHistoryLimit, 3)
		setDefaultPointer(&c.Spec.FailedJobsHistoryLimit, 1)
		defaultPodSpec(&c.Spec.JobTemplate.Spec.Template.Spec)
	}),
	validate: check(func(c *batchv1.CronJob) field.ErrorList {
		return validatePodTemplate(&c.Spec.JobTemplate.Spec.Template, field.NewPath("spec", "jobTemplate", "spec", "template"))
	}),
}

func defaultDeployment(d *appsv1.Deployment) {
	spec := &d.Spec
	setDefaultPointer(&spec.Replicas, 1)
	setDefault(&spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		setDefaultPointer(&spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		setDefaultPointer(&spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		setDefaultPointer(&spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	setDefaultPointer(&spec.RevisionHistoryLimit, 10)
	setDefaultPointer(&spec.ProgressDeadlineSeconds, 600)
	defaultPodSpec(&spec.Template.Spec)
}

func defaultStatefulSet(s *appsv1.StatefulSet) {
	spec := &s.Spec
	setDefault(&spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	if spec.UpdateStrategy.Type == "" {
		spec.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		setDefaultPointer(&spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
	}
	rolling := spec.UpdateStrategy.RollingUpdate
	if spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType && rolling != nil {
		setDefaultPointer(&rolling.Partition, 0)
		setDefaultPointer(&rolling.MaxUnavailable, intstr.FromInt32(1))
	}
	setDefaultPointer(&spec.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	setDefault(&spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setDefault(&spec.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setDefaultPointer(&spec.Replicas, 1)
	setDefaultPointer(&spec.RevisionHistoryLimit, 10)
	defaultPodSpec(&spec.Template.Spec)
	for i := range spec.VolumeClaimTemplates {
		pvc := &spec.VolumeClaimTemplates[i]
		setDefaultPointer(&pvc.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
		setDefault(&pvc.Status.Phase, corev1.ClaimPending)
		pvc.APIVersion, pvc.Kind = "v1", "PersistentVolumeClaim"
	}
}

func defaultDaemonSet(d *appsv1.DaemonSet) {
	spec := &d.Spec
	setDefault(&spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		setDefaultPointer(&spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		setDefaultPointer(&spec.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		setDefaultPointer(&spec.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	setDefaultPointer(&spec.RevisionHistoryLimit, 10)
	defaultPodSpec(&spec.Template.Spec)
	if d.Annotations[appsv1.DeprecatedTemplateGeneration] == "" {
		setTemplateGeneration(d, 0) // so that the writer comes to own the annotation
	}
}

func defaultJobSpec(spec *batchv1.JobSpec) {
	if spec.Completions == nil && spec.Parallelism == nil {
		setDefaultPointer(&spec.Completions, 1)
	}
	setDefaultPointer(&spec.Parallelism, 1)
	setDefaultPointer(&spec.BackoffLimit, 6)
	setDefaultPointer(&spec.CompletionMode, batchv1.NonIndexedCompletion)
	setDefaultPointer(&spec.Suspend, false)
	setDefaultPointer(&spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	setDefaultPointer(&spec.ManualSelector, false)
	defaultPodSpec(&spec.Template.Spec)
}

// setTemplateGeneration writes the annotation in which apps/v1 shows the internal
// field.
func setTemplateGeneration(ds *appsv1.DaemonSet, generation int64) {
	if ds.Annotations == nil {
		ds.Annotations = map[string]string{}
	}
	ds.Annotations[appsv1.DeprecatedTemplateGeneration] = strconv.FormatInt(generation, 10)
}

// bumpTemplateGeneration counts changes of the template.
func bumpTemplateGeneration(in, old *appsv1.DaemonSet) {
	was, _ := strconv.ParseInt(old.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if !apiequality.Semantic.DeepEqual(in.Spec.Template, old.Spec.Template) {
		was++
	}
	setTemplateGeneration(in, was)
}

func validateDeployment(d *appsv1.Deployment) field.ErrorList {
	path := field.NewPath("spec")
	errs := nonNegative(d.Spec.Replicas, path.Child("replicas"))
	errs = append(errs, validateWorkload(d.Spec.Selector, &d.Spec.Template, "deployment")...)
	rolling := d.Spec.Strategy.RollingUpdate
	strategy := path.Child("strategy")
	switch d.Spec.Strategy.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if rolling != nil {
			errs = append(errs, field.Forbidden(strategy.Child("rollingUpdate"), "may not be specified when strategy `type` is 'Recreate'"))
		}
	case appsv1.RollingUpdateDeploymentStrategyType:
		errs = append(errs, validateShare(rolling.MaxUnavailable, true, strategy.Child("rollingUpdate", "maxUnavailable"))...)
		errs = append(errs, validateShare(rolling.MaxSurge, false, strategy.Child("rollingUpdate", "maxSurge"))...)
		if isZero(rolling.MaxUnavailable) && isZero(rolling.MaxSurge) {
			errs = append(errs, field.Invalid(strategy.Child("rollingUpdate", "maxUnavailable"), rolling.MaxUnavailable, "may not be 0 when `maxSurge` is 0"))
		}
	default:
		errs = append(errs, field.NotSupported(strategy, d.Spec.Strategy, []string{"Recreate", "RollingUpdate"}))
	}
	errs = append(errs, apimachineryvalidation.ValidateNonnegativeField(int64(d.Spec.MinReadySeconds), path.Child("minReadySeconds"))...)
	errs = append(errs, nonNegative(d.Spec.RevisionHistoryLimit, path.Child("revisionHistoryLimit"))...)
	errs = append(errs, nonNegative(d.Spec.ProgressDeadlineSeconds, path.Child("progressDeadlineSeconds"))...)
	if *d.Spec.ProgressDeadlineSeconds <= d.Spec.MinReadySeconds {
		errs = append(errs, field.Invalid(path.Child("progressDeadlineSeconds"), *d.Spec.ProgressDeadlineSeconds, "must be greater than minReadySeconds"))
	}
	return errs
}

// validateShare checks a number or a percentage of pods.
func validateShare(v *intstr.IntOrString, atMostAll bool, path *field.Path) field.ErrorList {
	if v == nil {
		return nil
	}
	if v.Type == intstr.Int {
		return apimachineryvalidation.ValidateNonnegativeField(int64(v.IntVal), path)
	}
	var errs field.ErrorList
	for _, msg := range validation.IsValidPercent(v.StrVal) {
		errs = append(errs, field.Invalid(path, v, msg))
	}
	percent, err := strconv.Atoi(strings.TrimSuffix(v.StrVal, "%"))
	if err == nil && atMostAll && percent > 100 {
		errs = append(errs, field.Invalid(path, v, "must not be greater than 100%"))
	}
	return errs
}

// isZero reports 0 and 0%.
func isZero(v *intstr.IntOrString) bool {
	return v != nil && (v.Type == intstr.Int && v.IntVal == 0 || v.Type == intstr.String && v.StrVal == "0%")
}

func validateStatefulSet(s *appsv1.StatefulSet) field.ErrorList {
	path := field.NewPath("spec")
	var errs field.ErrorList
	switch s.Spec.PodManagementPolicy {
	case appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement:
	default:
		errs = append(errs, field.Invalid(path.Child("podManagementPolicy"), s.Spec.PodManagementPolicy,
			fmt.Sprintf("must be '%s' or '%s'", appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement)))
	}
	rolling := path.Child("updateStrategy", "rollingUpdate")
	switch s.Spec.UpdateStrategy.Type {
	case appsv1.RollingUpdateStatefulSetStrategyType:
		if r := s.Spec.UpdateStrategy.RollingUpdate; r != nil {
			errs = append(errs, nonNegative(r.Partition, rolling.Child("partition"))...)
			errs = append(errs, validateShare(r.MaxUnavailable, true, rolling.Child("maxUnavailable"))...)
			if isZero(r.MaxUnavailable) {
				errs = append(errs, field.Invalid(rolling.Child("maxUnavailable"), r.MaxUnavailable, "cannot be 0"))
			}
		}
	case appsv1.OnDeleteStatefulSetStrategyType:
		if r := s.Spec.UpdateStrategy.RollingUpdate; r != nil {
			errs = append(errs, field.Invalid(rolling, r, "only allowed for updateStrategy 'RollingUpdate'"))
		}
	default:
		errs = append(errs, field.Invalid(path.Child("updateStrategy"), s.Spec.UpdateStrategy, "must be 'RollingUpdate' or 'OnDelete'"))
	}
	errs = append(errs, nonNegative(s.Spec.Replicas, path.Child("replicas"))...)
	errs = append(errs, nonNegative(&s.Spec.MinReadySeconds, path.Child("minReadySeconds"))...)
	if s.Spec.Ordinals != nil {
		errs = append(errs, nonNegative(&s.Spec.Ordinals.Start, path.Child("ordinals", "start"))...)
	}
	claims, kept := path.Child("persistentVolumeClaimRetentionPolicy"), s.Spec.PersistentVolumeClaimRetentionPolicy
	const retain, remove = appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	errs = append(errs, oneOf(kept.WhenDeleted, claims.Child("whenDeleted"), retain, remove)...)
	errs = append(errs, oneOf(kept.WhenScaled, claims.Child("whenScaled"), retain, remove)...)
	template := s.Spec.Template.DeepCopy()
	for _, pvc := range s.Spec.VolumeClaimTemplates { // the controller mounts them
		template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: pvc.Name})
	}
	return append(errs, validateWorkload(s.Spec.Selector, template, "statefulset")...)
}

func validateStatefulSetUpdate(in, old *appsv1.StatefulSet) field.ErrorList {
	path := field.NewPath("spec")
	errs := sameSelector(in.Spec.Selector, old.Spec.Selector)
	for _, f := range []struct {
		name     string
		new, old any
	}{
		{"volumeClaimTemplates", in.Spec.VolumeClaimTemplates, old.Spec.VolumeClaimTemplates},
		{"serviceName", in.Spec.ServiceName, old.Spec.ServiceName},
		{"podManagementPolicy", in.Spec.PodManagementPolicy, old.Spec.PodManagementPolicy},
	} {
		errs = append(errs, apimachineryvalidation.ValidateImmutableField(f.new, f.old, path.Child(f.name))...)
	}
	return errs
}

func validateDaemonSet(d *appsv1.DaemonSet) field.ErrorList {
	path := field.NewPath("spec", "updateStrategy")
	errs := validateWorkload(d.Spec.Selector, &d.Spec.Template, "daemonset")
	errs = append(errs, nonNegative(&d.Spec.MinReadySeconds, field.NewPath("spec", "minReadySeconds"))...)
	errs = append(errs, nonNegative(d.Spec.RevisionHistoryLimit, field.NewPath("spec", "revisionHistoryLimit"))...)
	switch d.Spec.UpdateStrategy.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
	case appsv1.RollingUpdateDaemonSetStrategyType:
		rolling := d.Spec.UpdateStrategy.RollingUpdate
		errs = append(errs, validateShare(rolling.MaxUnavailable, true, path.Child("rollingUpdate", "maxUnavailable"))...)
		errs = append(errs, validateShare(rolling.MaxSurge, true, path.Child("rollingUpdate", "maxSurge"))...)
		switch unavailable, surge := !isZero(rolling.MaxUnavailable), !isZero(rolling.MaxSurge); {
		case unavailable && surge:
			errs = append(errs, field.Invalid(path.Child("rollingUpdate", "maxSurge"), rolling.MaxSurge, "may not be set when maxUnavailable is non-zero"))
		case !unavailable && !surge:
			errs = append(errs, field.Required(path.Child("rollingUpdate", "maxUnavailable"), "cannot be 0 when maxSurge is 0"))
		}
	default:
		errs = append(errs, field.NotSupported(path, d.Spec.UpdateStrategy, []string{"RollingUpdate", "OnDelete"}))
	}
	return errs
}
