package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/api/v1alpha1"
	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/ledger"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/operator"
)

// session is a look at one cluster.
type session struct {
	*app
	ctx       context.Context
	config    *rest.Config
	namespace string // "" is all of them
	live      client.WithWatch
	core      kubernetes.Interface
	writes    dynamic.Interface
	cache     *cache
	gather    *gather.Gatherer
	now       time.Time

	integrated bool // the GitOps tools are known
}

// session connects to the cluster that the flags name.
func (a *app) session(c *cobra.Command) (*session, error) {
	s := &session{app: a, ctx: c.Context()}
	var err error
	if s.config, err = a.flags.ToRESTConfig(); err != nil {
		return nil, fmt.Errorf("no cluster to talk to: %w; use --kubeconfig, --context or $KUBECONFIG", err)
	}
	s.config = rest.CopyConfig(s.config)
	s.config.QPS, s.config.Burst, s.config.UserAgent = 50, 100, "kubectl-kick"
	if s.namespace, _, err = a.flags.ToRawKubeConfigLoader().Namespace(); err != nil {
		return nil, err
	}
	if a.all {
		s.namespace = ""
	}
	scheme := operator.NewScheme()
	if s.live, err = client.NewWithWatch(s.config, client.Options{Scheme: scheme}); err != nil {
		return nil, fmt.Errorf("connect to the API server: %w", err)
	}
	if s.core, err = kubernetes.NewForConfig(s.config); err != nil {
		return nil, fmt.Errorf("connect to the API server: %w", err)
	}
	if s.writes, err = dynamic.NewForConfig(s.config); err != nil {
		return nil, fmt.Errorf("connect to the API server: %w", err)
	}
	none := &operator.Integrations{}
	if s.cache, err = newCache(s.live, scheme, operator.Transforms(a.options(), none), operator.Indexes()); err != nil {
		return nil, err
	}
	s.gather = operator.Reader(s.cache, s.live, a.options(), none)
	s.narrow()
	s.now = gather.Now(clockOf(a.Now))
	return s, nil
}

// narrow lets a session be content with one namespace, where that is all the user may read:
// only how many restarts of other namespaces are under way is not known then.
func (s *session) narrow() {
	if s.namespace == "" {
		return
	}
	// What the gatherer reads past the cache for restarts is the same again here.
	s.cache.view, s.gather.Watched = s.namespace, []string{s.namespace}
	told := false
	s.cache.narrowed = func(err error) {
		if !told {
			_, _ = fmt.Fprintf(s.Stderr, "warning: restarts in other namespaces than %s are not counted against the operator's limit: %v\n", s.namespace, err)
		}
		told = true
	}
}

// Over is what reads for why, over an API server that a reader leads to and as an operator
// with these options and integrations would.
func Over(live client.Reader, o operator.Options, i *operator.Integrations) (*gather.Gatherer, error) {
	c, err := newCache(live, operator.NewScheme(), operator.Transforms(o, i), append(operator.Indexes(), i.Indexes()...))
	if err != nil {
		return nil, err
	}
	return operator.Reader(c, live, o, i), nil
}

// options are those of an operator of which nothing but its namespace is known. Kargo,
// Argo Rollouts and the Secrets Store CSI driver count where they are installed.
func (a *app) options() operator.Options {
	o := operator.NewOptions()
	o.Namespace, o.EnableKargo, o.EnableArgoRollouts, o.EnableCSI = a.own, true, true, true
	return o
}

// integrate finds out which tools are installed, before anything is judged: who is asked, what
// can be restarted, and what is read.
func (s *session) integrate() error {
	if s.integrated {
		return nil
	}
	o := s.options()
	tools, err := operator.Installed(s.config, &o)
	if err != nil {
		return err
	}
	s.gather.Providers, s.gather.Workloads, s.gather.Sources, s.integrated = tools.Registry, tools.Workloads(), tools.Sources(), true
	return s.cache.learn(tools.Transforms(), tools.Indexes())
}

// unserved reports whether the API server does not know a kind that was asked for.
func unserved(err error) bool {
	return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

type clockOf func() time.Time

func (c clockOf) Now() time.Time { return c() }

// about connects, and reads the KIND/NAME that a command is about as a target or a policy.
func (a *app) about(c *cobra.Command, args []string, read func(*session, string) (model.Key, error)) (*session, model.Key, error) {
	s, err := a.session(c)
	if err != nil {
		return nil, model.Key{}, err
	}
	id, err := read(s, args[0])
	return s, id, err
}

// snapshot reads a workload with all that it is judged by.
func (s *session) snapshot(target model.Key) (*model.Snapshot, error) {
	if err := s.integrate(); err != nil {
		return nil, err
	}
	snap, err := s.gather.Workload(s.ctx, target, s.now, gather.FromCache)
	if apierrors.IsForbidden(err) {
		err = fmt.Errorf("%w; KICK's judgement needs the workloads, sources, pods and records of the namespace, and Secret %s/%s", err, s.own, ledger.KeySecret)
	}
	return snap, err
}

// shortNames are how people call kinds.
var shortNames = map[string]string{
	"deploy": "Deployment", "sts": "StatefulSet", "ds": "DaemonSet", "ro": "Rollout", "policy": "KickPolicy", "policies": "KickPolicy", "kpol": "KickPolicy",
	"request": "KickRequest", "kreq": "KickRequest",
}

// target reads KIND/NAME, a workload unless kinds says otherwise.
func (s *session) target(text string) (model.Key, error) {
	kind, name, found := strings.Cut(text, "/")
	if !found || name == "" || strings.Contains(name, "/") {
		return model.Key{}, usageError{fmt.Errorf("%q: write KIND/NAME, for example deployment/web", text)}
	}
	if s.namespace == "" {
		return model.Key{}, usageError{fmt.Errorf("%s: name one namespace with -n instead of -A", text)}
	}
	if means(kind, "KickRequest") { // its target is meant
		var r v1alpha1.KickRequest
		if err := s.cache.Get(s.ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, &r); err != nil {
			return model.Key{}, fmt.Errorf("read KickRequest %s/%s: %w", s.namespace, name, err)
		}
		return gather.TargetOf(&r), nil
	}
	if means(kind, "Rollout") { // a kind that a tool brings
		if err := s.integrate(); err != nil {
			return model.Key{}, err
		}
	}
	for _, k := range s.gather.Workloads {
		if means(kind, k.Name()) {
			return model.Key{Kind: k.Name(), Namespace: s.namespace, Name: name}, nil
		}
	}
	return model.Key{}, usageError{fmt.Errorf("%q: KICK restarts no such kind; write deployment/NAME, statefulset/NAME, daemonset/NAME or, where Argo Rollouts is installed, rollout/NAME", text)}
}

// groups are those of the kinds, after which a dot may follow a version or nothing.
var groups = map[string]string{
	"Deployment": "apps", "StatefulSet": "apps", "DaemonSet": "apps", "Rollout": "argoproj.io",
	"KickPolicy": v1alpha1.GroupVersion.Group, "KickRequest": v1alpha1.GroupVersion.Group,
}

// means reports whether somebody who writes text may mean a kind: by its name, its plural
// or a short one, with its group and version or without, as kubectl takes them.
func means(text, kind string) bool {
	low, group, qualified := strings.Cut(strings.ToLower(text), ".")
	if qualified && group != groups[kind] && !strings.HasSuffix(group, "."+groups[kind]) {
		return false
	}
	one := strings.ToLower(kind)
	return low == one || low == one+"s" || low == strings.TrimSuffix(one, "y")+"ies" || shortNames[low] == kind
}

// policy reads policy/NAME.
func (s *session) policy(text string) (model.Key, error) {
	kind, name, found := strings.Cut(text, "/")
	if !found || name == "" || s.namespace == "" || !means(kind, "KickPolicy") {
		return model.Key{}, usageError{fmt.Errorf("%q: write policy/NAME, and one namespace with -n", text)}
	}
	return model.Key{Kind: "KickPolicy", Namespace: s.namespace, Name: name}, nil
}
