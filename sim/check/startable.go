package check

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const lawStartable = "no restart into pods that cannot start"

// startable judges a restart when it is sent: every source and key that the template
// requires is there, as far as KICK can have been told (DESIGN section 4).
func startable() Law {
	return &atRestart{law: lawStartable, but: "its new pods cannot start: ", words: (*Context).unstartable}
}

// unstartable says what a template requires and is not there, for one who knows this
// much.
func (c *Context) unstartable(w workload, known Known) string {
	if w.Object == nil {
		return ""
	}
	used := *w.template // a volume that no container mounts keeps no pod from starting (docs/decisions/0007)
	used.Spec.Volumes = slices.DeleteFunc(slices.Clone(used.Spec.Volumes), func(v corev1.Volume) bool { return len(mounters(w.template, v.Name)) == 0 })
	for _, r := range refsOf(w.GetNamespace(), &used) {
		last, changed := c.sources.of(r.source).last()
		untold := changed && !known.of(r.source).IsZero() && !last.at.Before(known.of(r.source))
		if missing := c.missing(r); r.required && !untold && missing != "" {
			return missing
		}
	}
	return ""
}

// missing names the source of a reference, or its first key, that is not there.
func (c *Context) missing(r ref) string {
	object := c.source(r.source)
	if object == nil {
		return fmt.Sprintf("%s does not exist", r.source)
	}
	have := payload(object)
	for _, key := range r.keys {
		if _, ok := have[key]; !ok {
			return fmt.Sprintf("%s has no key %q", r.source, key)
		}
	}
	return ""
}

func (c *Context) source(s Source) client.Object {
	if s.isClass() {
		return c.API.Get(classKind, types.NamespacedName{Namespace: s.Namespace, Name: s.Name})
	}
	return c.API.Get(schema.GroupKind{Group: corev1.GroupName, Kind: s.Kind}, types.NamespacedName{Namespace: s.Namespace, Name: s.Name})
}
