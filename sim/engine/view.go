package engine

import (
	"maps"
	"slices"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/corewire/kick/kick/gather"
	"github.com/corewire/kick/kick/model"
	"github.com/corewire/kick/kick/operator"
	"github.com/corewire/kick/sim/check"
)

var _ check.Operator = (*Engine)(nil)

// leader is the process that holds the lease, or nil.
func (e *Engine) leader() *process { return e.lease.holder }

// Wake is when a timer of the leader looks at a workload again.
func (e *Engine) Wake(namespace, kind, name string) time.Time {
	p := e.leader()
	if p == nil {
		return time.Time{}
	}
	target := model.Key{Kind: kind, Namespace: namespace, Name: name}
	for _, q := range p.queues {
		if t, running := q.timers[target]; running {
			return t.due
		}
	}
	return time.Time{}
}

// Readers are the workloads that the leader's cache finds for a source.
func (e *Engine) Readers(s check.Source) ([]string, bool) {
	p := e.leader()
	if p == nil {
		return nil, false
	}
	var out []string
	for _, f := range p.feeds {
		for _, key := range f.index[gather.IndexSources+"="+s.Kind+"/"+s.Name] {
			if key.Namespace == s.Namespace {
				out = append(out, key.Namespace+"/"+f.kind.Kind+"/"+key.Name)
			}
		}
	}
	slices.Sort(out)
	return out, true
}

var roles = sync.OnceValue(func() []operator.Role {
	all, err := operator.Roles()
	if err != nil {
		panic(err.Error()) // the generated role is part of this program
	}
	return all
})

// Grants are the rights of the generated roles, as far as the options need them.
func (e *Engine) Grants() []check.Grant {
	var out []check.Grant
	for _, r := range roles() {
		if !r.Needed(e.options) {
			continue
		}
		for _, rule := range r.Rules {
			out = append(out, check.Grant{Own: r.Own, Groups: rule.APIGroups, Resources: rule.Resources, Verbs: rule.Verbs})
		}
	}
	return out
}

// known is how far the caches of a process follow the server. What is committed at this
// instant or later none of them shows, however long the pass takes that begins now: a
// watch event takes its time.
func (p *process) known() check.Known {
	now := p.engine.loop.Now()
	p.engine.passes++
	k := check.Known{Pass: p.engine.passes, Secrets: now, ConfigMaps: now, Records: now, Workloads: now, Requests: now, Classes: now, Began: p.since}
	for _, f := range p.feeds {
		if f.behind.IsZero() {
			continue
		}
		since := f.behind
		if !f.older.IsZero() && f.older.Before(since) {
			since = f.older
		}
		switch f.kind.Kind {
		case "Secret":
			k.Secrets = since
		case "ConfigMap":
			k.ConfigMaps = since
		case "SourceObservation":
			k.Records = since
		case "KickRequest":
			k.Requests = since
		case "SecretProviderClass", "SecretProviderClassPodStatus":
			k.Classes = earlier(k.Classes, since)
		case "Deployment", "StatefulSet", "DaemonSet", "Rollout":
			k.Workloads = earlier(k.Workloads, since)
		}
	}
	return k
}

// shows reports whether the cache of a process shows an object that passes are about.
func (p *process) shows(k model.Key) bool {
	return slices.ContainsFunc(p.feeds, func(f *feed) bool {
		return f.kind.Kind == k.Kind && f.objects[client.ObjectKey{Namespace: k.Namespace, Name: k.Name}] != nil
	})
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// reads notes a live read of something that restarts depend on, for the pass under
// way: whoever reads one record live reads all that the pass is about.
func (p *process) reads(s *site, key client.ObjectKey) {
	knew := &p.knew
	if p.running != nil {
		knew = &p.running.knew
	}
	next := p.engine.loop.Now().Add(time.Nanosecond)
	switch {
	case s.kind.Kind == "KickPolicy":
		knew.Policies = p.engine.loop.Now()
	case s.kind.Kind == "Pod":
		knew.Pods = p.engine.loop.Now()
	case s.verb != "get" || key.Namespace == p.engine.options.Namespace: // the key
	case s.kind.Kind == "Secret", s.kind.Kind == "ConfigMap":
		read := maps.Clone(knew.Read) // what was sent before keeps its own
		if read == nil {
			read = map[check.Source]time.Time{}
		}
		read[check.Source{Kind: s.kind.Kind, Namespace: key.Namespace, Name: key.Name}] = next
		knew.Read = read
	case s.kind.Kind == "SourceObservation":
		knew.Records = next
	}
}
