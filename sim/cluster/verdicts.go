package cluster

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// verdictLimit bounds the memory of a CRD's verdicts; a full one starts anew.
const verdictLimit = 8192

// verdicts remembers the outcome of a validation by the content it judged. The same
// objects are written over and over in millions of schedules, and evaluating the
// rules costs far more than hashing the object. Shared by the servers of a process.
type verdicts struct {
	lock sync.Mutex
	seen map[[sha256.Size]byte]field.ErrorList
}

func newVerdicts() *verdicts { return &verdicts{seen: map[[sha256.Size]byte]field.ErrorList{}} }

// of returns the remembered verdict on a write, or asks judge for it.
func (v *verdicts) of(k *kind, in, old client.Object, subresource string, judge func() field.ErrorList) field.ErrorList {
	if k.fast() {
		form := k.formOf(in, old, subresource)
		if k.crd.valid.has(form) {
			return nil
		}
		errs := judge()
		if len(errs) == 0 { // a refusal quotes values, which do not follow from the form
			k.crd.valid.learn(form)
		}
		return errs
	}
	key := contentKey(k, in, old, subresource)
	v.lock.Lock()
	errs, ok := v.seen[key]
	v.lock.Unlock()
	if ok {
		return errs
	}
	errs = judge()
	v.lock.Lock()
	defer v.lock.Unlock()
	if len(v.seen) >= verdictLimit {
		clear(v.seen)
	}
	v.seen[key] = errs
	return errs
}

// contentKey hashes all that a rule can see: the body, the name, and the object before.
func contentKey(k *kind, in, old client.Object, subresource string) [sha256.Size]byte {
	h := sha256.New()
	encoder := json.NewEncoder(h)
	for _, obj := range []client.Object{in, old} {
		if obj == nil {
			continue
		}
		bare := k.shallow(obj)
		*objectMeta(bare) = metav1.ObjectMeta{Name: obj.GetName(), GenerateName: obj.GetGenerateName()}
		_ = encoder.Encode(bare) // a stored type always encodes
	}
	_ = encoder.Encode(subresource)
	return [sha256.Size]byte(h.Sum(nil))
}
