package generate

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/sim/scenario"
	"github.com/corewire/kick/sim/steps"
)

// hookName is the ConfigMap that plays the web server to which notifications go.
const hookName = "hook"

// told are the phases that a policy may want to hear of; none: its default.
var told = [][]v1alpha1.Phase{
	nil, {v1alpha1.PhaseExecuting}, {v1alpha1.PhasePending, v1alpha1.PhaseWaitingForGate, v1alpha1.PhaseExecuting, v1alpha1.PhaseSucceeded, v1alpha1.PhaseNoLongerRequired},
	{v1alpha1.PhaseFailed, v1alpha1.PhaseDryRun},
}

// answers are what the web server may say; the first one is that it takes everything.
var answers = []string{"200", "500", "404", "429", "none"}

// notifications gives a namespace a policy that tells of its restarts, and who hears it.
func (b *builder) notifications(namespace string) {
	if b.seldom(3, "a short queue") {
		b.flag("notification-queue-size", pick(b.maker, "queue size", []string{"1", "2"}))
	}
	b.give(&corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: kindConfigMap},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: hookName},
		Data:       map[string]string{"answer": pick(b.maker, "answer", answers), "retryAfter": pick(b.maker, "retry after", []string{"", "5", "3600"})},
	})
	b.give(&v1alpha1.NotificationPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "NotificationPolicy"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "team"},
		Spec: v1alpha1.NotificationPolicySpec{
			Phases: pick(b.maker, "phases", told), Webhook: v1alpha1.Webhook{URL: "https://" + hookName + "." + namespace + ".sim/kick"},
		},
	})
}

// answer changes what the web server of a namespace says.
func (s *story) answer() {
	if len(s.hooks) == 0 {
		s.edit()
		return
	}
	key := types.NamespacedName{Namespace: pick(s.maker, "whose server", s.hooks), Name: hookName}
	data := map[string]any{"data": map[string]any{"answer": pick(s.maker, "new answer", answers)}}
	s.try(steps.PatchStep(scenario.NewPatch(corev1.SchemeGroupVersion.WithKind(kindConfigMap), key, data), "", ""))
}
