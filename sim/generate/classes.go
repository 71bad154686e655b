package generate

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/secretsstore"
	"github.com/corewire/kick/kick/model/discover"
	"github.com/corewire/kick/sim/faults"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

// Flags that let KICK follow the Secrets Store CSI driver, and tell it how often that looks.
const (
	flagClasses  = "enable-csi-integration"
	flagRotation = "csi-rotation-poll-interval"
)

// polls are how often the driver of a world looks. KICK is told, since it can find out by no
// other way.
var polls = []time.Duration{2 * time.Minute, 10 * time.Minute}

// drivers are how the driver and the provider of a class behave, the plainest first.
var drivers = []map[string]string{
	nil, {"mirror": "45s"}, {"versions": "eachPoll"}, {"statusLag": "1"}, {"mirror": "before"}, {"statusLag": "3", "mirror": "before"}, {"versions": "eachPod"},
	{"versions": "fixed"}, {"rotation": "off"}, {"brokenNode": "node-1"}, {"versions": "eachPoll", "mirror": "45s"}, nil,
}

// drawDriver puts the driver into one world of about fifteen. It looks at each pod all day:
// such a world costs as much as several others, and few are spent on workloads that nothing
// may restart.
func (b *builder) drawDriver() {
	if b.driver = b.has[classes] && b.seldom(4, "secrets store"); !b.driver {
		return
	}
	if !b.seldom(4, "driver where little restarts") {
		for _, f := range []feature{paused, suspended, dryRuns, secondPolicy, noPolicy, missingSources} {
			b.has[f] = false
		}
	}
	b.install("secrets-store-csi")
	b.flag(flagClasses, "true")
	if b.poll = pick(b.maker, "driver looks each", polls); b.poll != polls[0] {
		b.flag(flagRotation, b.poll.String())
	}
}

// giveClasses gives a namespace one or two classes, each with the vault that holds its
// secrets.
func (b *builder) giveClasses(namespace string) {
	if !b.driver {
		return
	}
	for _, name := range []string{"vault", "keys"}[:1+b.below(4, "classes")/3] {
		b.give(vaultOf(namespace, name).object(pick(b.maker, "plain content", plainContents), dress{}))
		class := newClass(namespace, name, b.poll, pick(b.maker, "driver", drivers))
		if b.below(3, "mirrored") > 0 {
			key := pick(b.maker, "mirrored object", []string{"a", "b"})
			class.Spec.SecretObjects = []secretsstore.SecretObject{{
				SecretName: mirrorOf(class).name, Type: string(corev1.SecretTypeOpaque), Data: []secretsstore.ObjectData{{ObjectName: key, Key: key}},
			}}
		}
		if b.has[sourceLabels] {
			class.Labels = pick(b.maker, "source labels", []map[string]string{nil, {"tier": "app"}, {"tier": "infra"}})
		}
		b.give(class)
		b.classes[namespace] = append(b.classes[namespace], class)
	}
}

func newClass(namespace, name string, poll time.Duration, driver map[string]string) *secretsstore.SecretProviderClass {
	parameters := map[string]string{"vault": vaultOf(namespace, name).name, "pollInterval": poll.String()}
	maps.Copy(parameters, driver)
	out := &secretsstore.SecretProviderClass{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: secretsstore.ClassSpec{Provider: "sim", Parameters: parameters},
	}
	out.SetGroupVersionKind(secretsstore.ClassKind)
	return out
}

// vaultOf holds the secrets of a class: whoever writes it rotates them.
func vaultOf(namespace, class string) source {
	return source{kindConfigMap, namespace, class + "-held"}
}

// mirrorOf is the Secret that the driver makes of a class, if that asks for one.
func mirrorOf(class *secretsstore.SecretProviderClass) source {
	return source{kindSecret, class.Namespace, class.Name + "-mirror"}
}

// mountClass lets a pod mount a class, and read the Secret that mirrors it as well.
func (b *builder) mountClass(pod *corev1.PodSpec, namespace string) {
	all := b.classes[namespace]
	if len(all) == 0 || b.seldom(4, "no class") {
		return
	}
	class := pick(b.maker, "mounted class", all)
	where := pick(b.maker, "class in", []form{volume, volume, sidecarVolume, initVolume, secondEnvFrom, unmounted})
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "secrets", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{
		Driver: secretsstore.Driver, ReadOnly: new(true), VolumeAttributes: map[string]string{secretsstore.ClassAttribute: class.Name},
	}}})
	if where != unmounted {
		mount(readerOf(pod, where), "secrets", "")
	}
	if len(class.Spec.SecretObjects) > 0 && b.below(3, "reads the mirror") > 0 {
		refer(pod, reference{form: envFrom, source: mirrorOf(class)})
	}
}

// classState is what the story knows of a class.
type classState struct {
	class  *secretsstore.SecretProviderClass // as it was given
	exists bool
}

func (k *classState) key() types.NamespacedName {
	return types.NamespacedName{Namespace: k.class.Namespace, Name: k.class.Name}
}

func (k *classState) edit(fields map[string]any) scenario.Resource {
	return scenario.NewPatch(secretsstore.ClassKind, k.key(), fields)
}

// poll is how often the driver looks.
func (k *classState) poll() time.Duration {
	every, _ := time.ParseDuration(k.class.Spec.Parameters["pollInterval"])
	return every
}

// classAct is something that happens to a class.
func (s *story) classAct() {
	k := pick(s.maker, "class", s.mounted())
	pick(s.maker, "class act", []func(*story, *classState){
		(*story).rotate, (*story).rotate, (*story).rotate, (*story).rotateBack, (*story).rotateUnseen, (*story).otherDriver, (*story).relabelClass,
		(*story).classGoes, (*story).classTrouble, (*story).mirrorLost,
	})(s, k)
}

// mounted are the classes that some workload mounts, or all where none is.
func (s *story) mounted() []*classState {
	out := slices.DeleteFunc(slices.Clone(s.classes), func(k *classState) bool { return len(s.mounters(k)) == 0 })
	if len(out) == 0 {
		return s.classes
	}
	return out
}

// rotate gives the vault of a class other secrets; something may happen before, while or
// after the driver finds out.
func (s *story) rotate(k *classState) {
	if vault := s.sourceNamed(vaultOf(k.class.Namespace, k.class.Name)); vault != nil {
		s.change(vault, s.otherThan(vault.content))
	}
	poll := k.poll()
	s.at += pick(s.maker, "after a rotation", []time.Duration{2 * poll, 0, poll / 4, poll, poll + 3*time.Second, time.Second, 5 * poll})
}

// rotateBack rotates a class and takes that back.
func (s *story) rotateBack(k *classState) {
	vault := s.sourceNamed(vaultOf(k.class.Namespace, k.class.Name))
	if vault == nil || vault.content == nil {
		return
	}
	before := vault.content
	s.rotate(k)
	s.change(vault, before)
}

// rotateUnseen rotates a class while KICK is down; its pods may be replaced meanwhile, before
// or after it.
func (s *story) rotateUnseen(k *classState) {
	w := s.mounting(k)
	s.do(steps.OperatorStep("stop"))
	if w != nil && s.maybe("replaced before") {
		s.roll(w, "evict", s.below(3, "how many pods"))
		s.at += time.Minute
	}
	s.rotate(k)
	if w != nil && s.seldom(3, "replaced after") {
		s.roll(w, "evict", s.below(3, "how many pods"))
		s.breathe()
	}
	s.at += pick(s.maker, "away after a rotation", []time.Duration{2 * k.poll(), 0, k.poll() / 2})
	s.do(steps.OperatorStep("start"))
}

// mounting is a workload that mounts a class; nil: there is none.
func (s *story) mounting(k *classState) *workloadState {
	all := s.mounters(k)
	if len(all) == 0 {
		return nil
	}
	return pick(s.maker, "mounting workload", all)
}

func (s *story) mounters(k *classState) (all []*workloadState) {
	for _, w := range s.workloads {
		of := discover.Ref{Kind: discover.KindSecretProviderClass, Name: k.class.Name}
		if w.exists && w.namespace == k.class.Namespace && slices.Contains(discover.Refs(&templateOf(w.object).Spec), of) {
			all = append(all, w)
		}
	}
	return all
}

// otherThan is a content that differs from the one that stands.
func (s *story) otherThan(stands content) content {
	for {
		if c := s.otherContent(); !maps.Equal(c, stands) {
			return c
		}
	}
}

// driverEdits are edits of how the driver and the provider of a class behave.
var driverEdits = []map[string]any{
	{"versions": "eachPoll"}, {"versions": nil}, {"statusLag": "2"}, {"statusLag": nil}, {"rotation": "off"}, {"rotation": nil},
	{"brokenNode": "node-2"}, {"brokenNode": nil}, {"mirror": "before"}, {"unknown": "x"},
}

// otherDriver changes a class. Pods that run see nothing of that but how the provider answers.
func (s *story) otherDriver(k *classState) {
	edit := pick(s.maker, "driver edit", driverEdits)
	s.try(steps.PatchStep(k.edit(map[string]any{"spec": map[string]any{"parameters": edit}}), pick(s.maker, "writer", writers), ""))
	s.at += pick(s.maker, "driver stays so", []time.Duration{4 * k.poll(), k.poll(), 0, 12 * k.poll()})
}

func (s *story) relabelClass(k *classState) {
	label := pick(s.maker, "tier", []any{"app", "infra", nil})
	s.try(steps.PatchStep(k.edit(map[string]any{"metadata": map[string]any{"labels": map[string]any{"tier": label}}}), "", ""))
	s.rotate(k)
}

// classGoes deletes a class, and may make it again: without it no new pod starts.
func (s *story) classGoes(k *classState) {
	if k.exists {
		s.do(steps.DeleteStep(scenario.Ref{GVK: secretsstore.ClassKind, Key: k.key()}))
		if k.exists = !s.seldom(4, "stays away"); !k.exists {
			return
		}
		s.breathe()
		if s.maybe("rotated meanwhile") {
			s.rotate(k)
		}
	}
	k.exists = true
	s.try(steps.CreateStep(scenario.NewResource(k.class.DeepCopy()), pick(s.maker, "writer", writers)))
}

// classFaults are what befalls KICK's knowledge of classes, which it reads from its cache and
// never writes.
var classFaults = []*faults.Fault{faults.StaleCache, faults.LateWatch, faults.SkippedStates, faults.Relist, faults.OldCache}

// classTrouble lets watches of classes lie while one is rotated.
func (s *story) classTrouble(k *classState) {
	f := pick(s.maker, "class fault", classFaults)
	if f == faults.OldCache {
		s.rotate(k)
		s.oldStart()
		return
	}
	s.fail(steps.Fault{Name: f.Name, Kind: pick(s.maker, "class kind", []string{secretsstore.StatusKind.Kind, secretsstore.ClassKind.Kind})})
	s.rotate(k)
	if s.maybe("healed") {
		s.pause()
		s.do(steps.HealStep())
	}
}

// mirrorLost deletes the Secret that mirrors a class about when that is rotated; the driver
// makes it again when it looks next.
func (s *story) mirrorLost(k *classState) {
	if s.maybe("rotated before") {
		s.rotate(k)
	}
	s.do(steps.DeleteStep(mirrorOf(k.class).ref()))
	s.breathe()
	s.rotate(k)
}

// sourceNamed is what the story knows of a source; nil: nothing.
func (s *story) sourceNamed(of source) *sourceState {
	for _, k := range s.sources {
		if k.source == of {
			return k
		}
	}
	return nil
}
