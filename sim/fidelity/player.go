package fidelity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kjson "sigs.k8s.io/json"
)

// Player plays one sequence on one API server.
type Player struct {
	Client    client.Client
	Namespace string           // of the sequence; it must exist and be used by nobody else
	Now       func() time.Time // the API server's clock
	Sleep     func()           // lets a little more than a second pass

	seen  map[string][2]client.Object // by kind and name: the newest state and the one before
	plain *plain
}

// elsewhere is the name of a sequence's second namespace, which is the Namespace "a".
const elsewhere = "a"

// Play plays a sequence and returns one answer for each operation.
func (p *Player) Play(ctx context.Context, sequence []Op) []Answer {
	p.seen, p.plain = map[string][2]client.Object{}, newPlain(p.Namespace)
	answers := make([]Answer, 0, len(sequence))
	for _, op := range sequence {
		answers = append(answers, p.play(ctx, op))
	}
	return answers
}

// play does one operation.
func (p *Player) play(ctx context.Context, op Op) Answer {
	if op.Verb == Wait {
		p.Sleep()
		p.plain.mark(p.Now())
		return Answer{}
	}
	if op.Verb == List {
		return p.list(ctx, op)
	}
	obj, err := p.write(ctx, op)
	if err != nil {
		return p.plain.refusal(err)
	}
	if op.Verb == Delete {
		if err := p.Client.Get(ctx, p.key(op), obj); err != nil {
			return p.plain.refusal(err)
		}
	}
	answer := p.plain.object(obj)
	if !op.DryRun {
		p.remember(op, obj)
	}
	return answer
}

// write sends the request of an operation and returns the object of the answer.
func (p *Player) write(ctx context.Context, op Op) (client.Object, error) {
	obj, err := p.empty(op)
	if err != nil {
		return nil, err
	}
	body := p.resolve(op, op.Body)
	switch op.Verb { //nolint:exhaustive // the others write nothing
	case Create:
		return p.create(ctx, op, obj, body)
	case Update, Finalize:
		return p.update(ctx, op, obj, body)
	case Delete:
		return obj, p.Client.Delete(ctx, obj, p.deletion(op))
	}
	options := &client.PatchOptions{FieldManager: op.Manager, DryRun: dry(op)}
	patch := client.RawPatch(op.Type, []byte(body))
	if op.Verb == Apply {
		options.Force = &op.Force
		patch = client.RawPatch(types.ApplyPatchType, []byte(body))
	}
	if op.Status {
		return obj, p.Client.Status().Patch(ctx, obj, patch, &client.SubResourcePatchOptions{PatchOptions: *options})
	}
	return obj, p.Client.Patch(ctx, obj, patch, options)
}

func (p *Player) create(ctx context.Context, op Op, obj client.Object, body string) (client.Object, error) {
	key := client.ObjectKeyFromObject(obj)
	if err := decode([]byte(body), obj); err != nil {
		return nil, err
	}
	if obj.GetName() == "" {
		obj.SetName(key.Name)
	}
	p.within(op, obj)
	return obj, p.Client.Create(ctx, obj, &client.CreateOptions{FieldManager: op.Manager, DryRun: dry(op)})
}

// within puts a new object where the sequence is at home, unless it says otherwise.
func (p *Player) within(op Op, obj client.Object) {
	switch {
	case !kindNamed(op.Kind).Cluster && obj.GetNamespace() == "":
		obj.SetNamespace(p.key(op).Namespace)
	case kindNamed(op.Kind).Cluster && obj.GetName() != "" && !strings.HasPrefix(obj.GetName(), p.Namespace+"-"):
		obj.SetName(p.Namespace + "-" + obj.GetName())
	}
	if obj.GetGenerateName() != "" && kindNamed(op.Kind).Cluster {
		obj.SetGenerateName(p.Namespace + "-" + obj.GetGenerateName())
	}
}

func (p *Player) update(ctx context.Context, op Op, obj client.Object, body string) (client.Object, error) {
	if err := p.Client.Get(ctx, p.key(op), obj); err != nil {
		return nil, err
	}
	live, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	edited, err := jsonpatch.MergePatch(live, []byte(body))
	if err != nil {
		return nil, err
	}
	if obj, err = p.empty(op); err != nil {
		return nil, err
	}
	if err := decode(edited, obj); err != nil {
		return nil, err
	}
	if obj.GetNamespace() == "" {
		obj.SetNamespace(p.key(op).Namespace) // else the client would refuse
	}
	switch op.Version {
	case "stale":
		obj.SetResourceVersion(p.recall(op, "self")[1].GetResourceVersion())
	case "none":
		obj.SetResourceVersion("")
	}
	options := &client.UpdateOptions{FieldManager: op.Manager, DryRun: dry(op)}
	switch {
	case op.Verb == Finalize:
		return obj, p.Client.SubResource("finalize").Update(ctx, obj, &client.SubResourceUpdateOptions{UpdateOptions: *options})
	case op.Status:
		return obj, p.Client.Status().Update(ctx, obj, &client.SubResourceUpdateOptions{UpdateOptions: *options})
	}
	return obj, p.Client.Update(ctx, obj, options)
}

// deletion says what a delete asks for.
func (p *Player) deletion(op Op) *client.DeleteOptions {
	out := &client.DeleteOptions{DryRun: dry(op), GracePeriodSeconds: op.Grace}
	if op.Spread != "" {
		spread := metav1.DeletionPropagation(op.Spread)
		out.PropagationPolicy = &spread
	}
	uid := types.UID("22222222-2222-4222-8222-222222222222")
	state := p.recall(op, "self")
	conditions := metav1.Preconditions{}
	switch op.UID {
	case "right":
		uid = state[0].GetUID()
		fallthrough
	case "wrong":
		conditions.UID = &uid
	}
	version := map[string]string{"right": state[0].GetResourceVersion(), "stale": state[1].GetResourceVersion()}[op.Version]
	if op.Version != "" {
		conditions.ResourceVersion = &version
	}
	if conditions != (metav1.Preconditions{}) {
		out.Preconditions = &conditions
	}
	return out
}

func (p *Player) list(ctx context.Context, op Op) Answer {
	gvk := kindNamed(op.Kind).gvk()
	gvk.Kind += "List"
	made, err := p.Client.Scheme().New(gvk)
	if err != nil {
		return p.plain.refusal(err)
	}
	list := made.(client.ObjectList)
	options := &client.ListOptions{Namespace: p.key(op).Namespace}
	if options.LabelSelector, err = labels.Parse(op.Labels); err != nil {
		return p.plain.refusal(err)
	}
	if options.FieldSelector, err = fields.ParseSelector(op.Fields); err != nil {
		return p.plain.refusal(err)
	}
	if err := p.Client.List(ctx, list, options); err != nil {
		return p.plain.refusal(err)
	}
	return p.plain.list(list)
}

// All lists what is left of every kind, in the end.
func (p *Player) All(ctx context.Context) []Answer {
	var out []Answer
	for _, k := range words.Kinds {
		out = append(out, p.list(ctx, Op{Verb: List, Kind: k.Kind}))
	}
	return out
}

// key is where an operation's object lives.
func (p *Player) key(op Op) client.ObjectKey {
	switch {
	case kindNamed(op.Kind).Cluster && op.Name == "":
		return client.ObjectKey{}
	case kindNamed(op.Kind).Cluster:
		return client.ObjectKey{Name: p.Namespace + "-" + op.Name}
	case op.Elsewhere:
		return client.ObjectKey{Namespace: p.Namespace + "-" + elsewhere, Name: op.Name}
	}
	return client.ObjectKey{Namespace: p.Namespace, Name: op.Name}
}

// empty is an object of an operation's kind that has a name and nothing else.
func (p *Player) empty(op Op) (client.Object, error) {
	made, err := p.Client.Scheme().New(kindNamed(op.Kind).gvk())
	if err != nil {
		return nil, err
	}
	obj := made.(client.Object)
	key := p.key(op)
	obj.SetName(key.Name)
	if op.Verb != Create {
		obj.SetNamespace(key.Namespace)
	}
	return obj, nil
}

// remember keeps the state that an answer showed, and the one before of the same object.
func (p *Player) remember(op Op, obj client.Object) {
	key := op.Kind + "/" + strings.TrimPrefix(obj.GetName(), p.Namespace+"-")
	if op.Elsewhere {
		return
	}
	before := p.seen[key][0]
	if before == nil || before.GetUID() != obj.GetUID() {
		before = nobody
	}
	if before.GetResourceVersion() != obj.GetResourceVersion() {
		p.seen[key] = [2]client.Object{obj, before}
	}
}

// nobody is what is remembered of an object that was never seen.
var nobody client.Object = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
	UID: "33333333-3333-4333-8333-333333333333", ResourceVersion: "1"}}

// recall returns the newest two states of an object.
func (p *Player) recall(op Op, which string) [2]client.Object {
	if which == "self" {
		which = op.Kind + "/" + op.Name
	}
	if states, ok := p.seen[which]; ok {
		return states
	}
	return [2]client.Object{nobody, nobody}
}

var placeholder = regexp.MustCompile(`\$(uid|version|stale|big)\{([^}]*)\}`)

// resolve fills the placeholders of a body.
func (p *Player) resolve(op Op, body string) string {
	body = strings.ReplaceAll(body, `"$name"`, fmt.Sprintf("%q", p.key(op).Name))
	return placeholder.ReplaceAllStringFunc(body, func(found string) string {
		groups := placeholder.FindStringSubmatch(found)
		states := p.recall(op, groups[2])
		switch groups[1] {
		case "uid":
			return string(states[0].GetUID())
		case "version":
			return states[0].GetResourceVersion()
		case "stale":
			return states[1].GetResourceVersion()
		}
		n, _ := strconv.Atoi(groups[2])
		return strings.Repeat("A", n)
	})
}

// decode reads JSON into an object as the API's own clients do.
func decode(raw []byte, obj client.Object) error {
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, obj); err != nil {
		return apierrors.NewBadRequest("the client cannot read this")
	}
	return nil
}

func dry(op Op) []string {
	if op.DryRun {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// apiStatus finds the answer of an API server in an error.
func apiStatus(err error) (metav1.Status, bool) {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status(), true
	}
	return metav1.Status{}, false
}
