package cluster

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// optimisticLock is the real server's text, which people search for.
const optimisticLock = "the object has been modified; please apply your changes to the latest version and try again"

// Create stores a new object and returns the stored, shared form.
func (s *Server) Create(obj client.Object, o WriteOptions) (client.Object, error) {
	k, err := s.kindOf(obj)
	if err != nil {
		return nil, err
	}
	if o.Subresource != "" {
		return nil, apierrors.NewMethodNotSupported(k.resource, "create "+o.Subresource)
	}
	in := k.take(obj)
	if objectMeta(in).Namespace == "" && k.namespaced {
		return nil, apierrors.NewBadRequest("an empty namespace may not be set during creation")
	}
	if in, err = k.decode(in); err != nil {
		return nil, err
	}
	k.wipe(in)
	s.trackUpdate(k, k.empty(), in, o)
	return s.finishCreate(k, in, o)
}

// take copies the caller's object into one the server owns: no apiVersion and kind,
// times as the wire carries them.
func (k *kind) take(obj client.Object) client.Object {
	out := obj.DeepCopyObject().(client.Object)
	if m := objectMeta(out); len(m.ManagedFields) == 0 {
		m.ManagedFields = nil // an empty list is not sent
	}
	k.normalise(out)
	return out
}

// normalise gives a private object the form in which objects are stored.
func (k *kind) normalise(obj client.Object) {
	v := reflect.ValueOf(obj).Elem()
	if f := v.FieldByName("TypeMeta"); f.IsValid() {
		f.SetZero()
	}
	k.times.truncate(v)
	if !k.namespaced {
		obj.SetNamespace("")
	}
}

// wipe clears what only the server may say of a new object.
func (k *kind) wipe(obj client.Object) {
	m := objectMeta(obj)
	m.CreationTimestamp = metav1.Time{}
	m.UID = ""
	m.DeletionTimestamp = nil
	m.DeletionGracePeriodSeconds = nil
}

// decode does what reading a request does: custom resources are pruned and filled
// from their schema, built-in kinds get their defaults.
func (k *kind) decode(obj client.Object) (client.Object, error) {
	if k.crd != nil {
		return k.crd.decode(k, obj)
	}
	if k.rules.defaults != nil {
		k.rules.defaults(obj)
	}
	return obj, nil
}

// finishCreate is the registry's half of a create, shared with create-by-apply.
func (s *Server) finishCreate(k *kind, in client.Object, o WriteOptions) (client.Object, error) {
	m := objectMeta(in)
	if err := s.admitNamespace(k, m, o); err != nil {
		return nil, err
	}
	s.nameGenerated(k, m)
	m.UID = s.newUID()
	m.CreationTimestamp = s.stamp()
	if k.rules.generation != generationNone {
		m.Generation = 1 // of other kinds it is what the request says
	}
	if k.hasStatus {
		reflect.ValueOf(in).Elem().Field(k.status).SetZero()
	}
	if k.rules.prepareCreate != nil {
		k.rules.prepareCreate(in)
	}
	if errs := k.validateCreate(in, o); len(errs) > 0 {
		return nil, apierrors.NewInvalid(k.gk, m.Name, errs)
	}
	if m.ResourceVersion != "" && !o.DryRun {
		return nil, serverError("resourceVersion should not be set on objects to be created")
	}
	if r := k.records[client.ObjectKeyFromObject(in)]; r != nil {
		err := apierrors.NewAlreadyExists(k.resource, m.Name)
		if r.object.GetDeletionTimestamp() != nil {
			err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
		}
		return nil, err
	}
	if !o.DryRun {
		s.insert(k, in, o.change("create"))
	}
	return in, nil
}

// validateCreate checks a new object: the kind's own rules, then its metadata.
func (k *kind) validateCreate(in client.Object, o WriteOptions) field.ErrorList {
	m, path := objectMeta(in), field.NewPath("metadata")
	errs := apimachineryvalidation.ValidateObjectMeta(m, k.namespaced, k.rules.nameRule(), path)
	errs = append(errs, k.validateFinalizers(m.Finalizers, path.Child("finalizers"))...)
	if k.rules.validate != nil {
		errs = append(errs, k.rules.validate(in)...)
	}
	if k.crd != nil {
		errs = k.crd.validateCreate(k, in, o.content, errs)
	}
	return settle(errs)
}

// settle puts errors about the same field in a fixed order: the libraries report the
// bad entries of a map in the order of the map.
func settle(errs field.ErrorList) field.ErrorList {
	for from := 0; from < len(errs); {
		to := from + 1
		for to < len(errs) && errs[to].Field == errs[from].Field {
			to++
		}
		slices.SortStableFunc(errs[from:to], compareErrors)
		from = to
	}
	return errs
}

// compareErrors orders by field, then by what is wrong.
func compareErrors(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) }

// change describes a commit of this request.
func (o WriteOptions) change(verb string) change {
	if o.verb != "" {
		verb = o.verb
	}
	return change{manager: o.Manager, verb: verb, sub: o.Subresource}
}

// Update replaces an object (optimistic lock when resourceVersion is set).
func (s *Server) Update(obj client.Object, o WriteOptions) (client.Object, error) {
	k, err := s.kindOf(obj)
	if err != nil {
		return nil, err
	}
	key := client.ObjectKeyFromObject(obj)
	if !k.namespaced {
		key.Namespace = ""
	}
	r := k.records[key]
	if r == nil {
		return nil, apierrors.NewNotFound(k.resource, key.Name)
	}
	in, err := s.readUpdate(k, r, obj, o)
	if err != nil {
		return nil, err
	}
	if uid := in.GetUID(); uid != "" && uid != r.object.GetUID() {
		return nil, apierrors.NewConflict(k.resource, key.Name, fmt.Errorf(
			"StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: "+
				"Precondition failed: UID in precondition: %v, UID in object meta: %v", k.storageKey(key), uid, r.object.GetUID()))
	}
	s.trackUpdate(k, r.object, in, o)
	return s.finishUpdate(k, r, in, o)
}

// readUpdate copies the caller's object, except for the part that this endpoint
// takes from the stored one anyway: spec and status are the bulk of a copy.
func (s *Server) readUpdate(k *kind, r *record, obj client.Object, o WriteOptions) (client.Object, error) {
	kept, err := k.keptField(o.Subresource)
	if err != nil {
		return nil, err
	}
	if kept >= 0 {
		obj = k.shallow(obj)
		reflect.ValueOf(obj).Elem().Field(kept).SetZero()
	}
	in := k.take(obj)
	if kept >= 0 {
		k.keep(in, r.object, kept)
	}
	if o.Subresource == "status" && k.crd == nil && k.goType != namespaceType {
		return in, nil // the defaults are those of the spec, which is the stored, shared one
	}
	return k.decode(in)
}

// keptField is the index of the field that an endpoint leaves as stored, -1 for none.
func (k *kind) keptField(subresource string) (int, error) {
	switch {
	case subresource == "":
		if k.hasStatus {
			return k.status, nil
		}
		return -1, nil
	case subresource == "status" && k.hasStatus:
		return k.spec, nil
	case subresource == "finalize" && k.goType == namespaceType,
		subresource == "ephemeralcontainers" && k.goType == reflect.TypeFor[corev1.Pod]():
		return k.status, nil
	}
	return -1, apierrors.NewGenericServerResponse(http.StatusNotFound, "", k.resource, "", "the server could not find the requested resource", 0, true)
}

// keep copies a field of the stored object, sharing what it points to.
func (k *kind) keep(in, old client.Object, index int) {
	reflect.ValueOf(in).Elem().Field(index).Set(reflect.ValueOf(old).Elem().Field(index))
}

// finishUpdate is the registry's half of an update, shared by PUT and every patch.
func (s *Server) finishUpdate(k *kind, r *record, in client.Object, o WriteOptions) (client.Object, error) {
	old := r.object
	if err := k.checkVersion(in, old); err != nil {
		return nil, err
	}
	in = k.prepareUpdate(in, old, o.Subresource)
	d := k.compare(in, old)
	if errs := k.validateUpdate(in, old, d, o); len(errs) > 0 {
		return nil, apierrors.NewInvalid(k.gk, old.GetName(), errs)
	}
	if k.emptied(in, old) {
		if !o.DryRun {
			s.remove(k, r, o.change("update"))
		}
		return in, nil
	}
	if d.none() {
		return old, nil
	}
	if !o.DryRun {
		s.replace(k, r, in, o.change("update"))
	}
	return in, nil
}

// checkVersion is the optimistic lock.
func (k *kind) checkVersion(in, old client.Object) error {
	switch version := in.GetResourceVersion(); {
	case version == old.GetResourceVersion():
		return nil
	case version != "":
		return apierrors.NewConflict(k.resource, old.GetName(), errors.New(optimisticLock))
	case k.rules.unconditional:
		in.SetResourceVersion(old.GetResourceVersion())
		return nil
	}
	resource := k.gk
	resource.Kind = k.resource.Resource // as the real server words it
	return apierrors.NewInvalid(resource, old.GetName(), field.ErrorList{
		field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update"),
	})
}

// prepareUpdate puts back what this endpoint may not change, and moves generation.
func (k *kind) prepareUpdate(in, old client.Object, subresource string) client.Object {
	m, was := objectMeta(in), objectMeta(old)
	m.Generation = was.Generation
	switch subresource {
	case "status":
		in = k.prepareStatus(in, old)
		m = objectMeta(in)
	case "":
		if k.hasStatus {
			k.keep(in, old, k.status)
		}
		if k.rules.prepareUpdate != nil {
			k.rules.prepareUpdate(in, old)
		}
		if k.movesGeneration(in, old) {
			m.Generation++
		}
	}
	if m.UID == "" {
		m.UID = was.UID
	}
	m.CreationTimestamp = was.CreationTimestamp
	if was.DeletionTimestamp != nil {
		m.DeletionTimestamp = was.DeletionTimestamp
	}
	if was.DeletionGracePeriodSeconds != nil && m.DeletionGracePeriodSeconds == nil {
		m.DeletionGracePeriodSeconds = was.DeletionGracePeriodSeconds
	}
	return in
}

// prepareStatus lets the status endpoint change status alone. Of a custom resource
// all else is the stored object; built-in kinds let some metadata through.
func (k *kind) prepareStatus(in, old client.Object) client.Object {
	if !builtIn(k.gk.Group) {
		out := k.shallow(old)
		k.keep(out, in, k.status)
		objectMeta(out).ManagedFields = objectMeta(in).ManagedFields
		return out
	}
	if k.spec >= 0 {
		k.keep(in, old, k.spec)
	}
	if k.rules.prepareStatus != nil {
		k.rules.prepareStatus(in, old)
	}
	return in
}

// validateUpdate checks a change. What did not change was valid when it was stored.
func (k *kind) validateUpdate(in, old client.Object, d delta, o WriteOptions) field.ErrorList { //nolint:cyclop // the server's checks, in its order
	var errs field.ErrorList
	if d.meta {
		path := field.NewPath("metadata")
		m, was := objectMeta(in), objectMeta(old)
		errs = apimachineryvalidation.ValidateObjectMetaUpdate(m, was, path)
		errs = append(errs, apimachineryvalidation.ValidateFinalizers(m.Finalizers, path.Child("finalizers"))...)
		errs = append(errs, k.validateFinalizers(m.Finalizers, path.Child("finalizers"))...)
	}
	if o.Subresource == "status" && k.rules.validateStatus != nil && !d.none() {
		errs = append(errs, k.rules.validateStatus(in, old)...)
	}
	if o.Subresource == "" && k.crd == nil && (d.body || d.meta) {
		if k.rules.validate != nil {
			errs = append(errs, k.rules.validate(in)...)
		}
		if k.rules.validateUpdate != nil {
			errs = append(errs, k.rules.validateUpdate(in, old)...)
		}
	}
	if k.crd != nil && (!d.none() || o.content != nil) {
		errs = k.crd.validateUpdate(k, in, old, o, errs)
	}
	return settle(errs)
}

// emptied reports whether this update took the last finalizer of an object whose
// deletion was asked for, so that the update deletes it.
func (k *kind) emptied(in, old client.Object) bool {
	m, was := objectMeta(in), objectMeta(old)
	if len(m.Finalizers) > 0 || was.DeletionTimestamp == nil {
		return false
	}
	if was.DeletionGracePeriodSeconds != nil && *was.DeletionGracePeriodSeconds != 0 {
		return false
	}
	return k.goType != namespaceType || namespaceEmptied(in)
}

// storageKey is an object's key in etcd, which some answers quote.
func (k *kind) storageKey(key types.NamespacedName) string {
	parts := []string{"/registry"}
	if !builtIn(k.gk.Group) {
		parts = append(parts, k.gk.Group)
	}
	parts = append(parts, k.resource.Resource)
	if k.namespaced {
		parts = append(parts, key.Namespace)
	}
	return strings.Join(append(parts, key.Name), "/")
}

// serverError is an answer with status 500 and no reason, as errors without a
// status become.
func serverError(text string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: text,
	}}
}
