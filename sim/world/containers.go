package world

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// mount is what a pod's volume holds of one source, and what it will hold after the
// periodic syncs to come.
type mount struct {
	refs   []*reference
	now    *version
	cached bool
	later  []pendingMount
	csi    *csiMount // of a volume of the Secrets Store CSI driver
}

// pendingMount is a version that a periodic sync will bring into a volume.
type pendingMount struct {
	at      time.Time // true time
	version *version
}

// current is what the volume holds at an instant.
func (m *mount) current(t time.Time) *version {
	for len(m.later) > 0 && !m.later[0].at.After(t) {
		m.now, m.cached = m.later[0].version, false
		m.later = m.later[1:]
	}
	return m.now
}

// startContainers starts what can start: volumes first, then init containers in
// their order, then all others, each as far as its env can be resolved.
func (k *kubelet) startContainers(p *podState) {
	if p.mountedAt.IsZero() && !k.mountVolumes(p) {
		k.retryAfterLag(p)
		return
	}
	blocked := false
	for i := range p.containers {
		c, plan := &p.containers[i], &p.plan.containers[i]
		if c.running || c.done || c.down {
			continue
		}
		if blocked {
			c.reason = "PodInitializing"
			continue
		}
		load, problem := k.load(p, plan, c.last != nil)
		if problem != "" {
			c.reason, c.message = "CreateContainerConfigError", problem
			blocked = plan.init
			k.retryAfterLag(p)
			continue
		}
		k.run(c, plan, load)
	}
	if p.started.IsZero() && !p.waits() {
		p.started = k.w.loop.Now()
	}
}

// run marks a container as started. A plain init container has finished at once.
func (k *kubelet) run(c *containerState, plan *containerPlan, load *Load) {
	c.load, c.reason, c.message, c.exit = load, "", "", nil
	c.began = seconds(k.w.opt.Kubelet.Now())
	if plan.init && !plan.sidecar {
		c.done = true
		c.exit = &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: c.began, FinishedAt: c.began}
		return
	}
	c.running = true
}

// retryAfterLag looks again when the cache shows what is already there. Anything
// later comes with an event of the source, so the kubelet's own retry every ten
// seconds would find nothing new and is left out.
func (k *kubelet) retryAfterLag(p *podState) {
	if lag := k.w.opt.KubeletCacheLag; lag > 0 && k.behind(p) {
		k.queue.addAfter(p.key, lag)
	}
}

// behind reports that the cache does not show the newest version of some source of
// the pod yet.
func (k *kubelet) behind(p *podState) bool {
	shown := k.w.loop.Now().Add(-k.w.opt.KubeletCacheLag)
	fresh := func(r reference) bool {
		log := k.w.sources.log[r.ref]
		return len(log) > 0 && log[len(log)-1].from.After(shown)
	}
	for i := range p.plan.containers {
		if slices.ContainsFunc(p.plan.containers[i].env, fresh) {
			return true
		}
	}
	return slices.ContainsFunc(p.plan.volumes, fresh)
}

// mountVolumes writes all volumes of a pod and reports whether their sources were
// there.
func (k *kubelet) mountVolumes(p *podState) bool {
	mounts := map[SourceRef]*mount{}
	for i := range p.plan.volumes {
		r := &p.plan.volumes[i]
		m := mounts[r.ref]
		if m == nil {
			m = &mount{}
			if m.now, m.cached = k.w.sources.read(p.node, r.ref); r.ref.isClass() {
				m.now, m.csi = k.w.csi.mount(p, r.ref)
			}
			mounts[r.ref] = m
		}
		m.refs = append(m.refs, r)
		if problem := r.missing(m.now); problem != "" {
			for j := range p.containers {
				p.containers[j].reason = p.creating()
			}
			return false
		}
	}
	p.mounts, p.mountedAt = mounts, k.w.loop.Now()
	for i := range p.plan.volumes {
		// Versions that the lagging cache did not show yet.
		ref := p.plan.volumes[i].ref
		for _, v := range k.w.sources.log[ref] {
			if v.from.After(p.mountedAt.Add(-k.w.opt.KubeletCacheLag)) {
				k.follow(p, ref, v)
			}
		}
	}
	if len(p.plan.unmounted) > 0 {
		plan := containerPlan{files: p.plan.unmounted}
		p.unmounted, _ = k.load(p, &plan, false)
	}
	return true
}

// follow schedules a new version of a mounted source for the next periodic sync
// that can see it. A sync that finds a required source missing changes nothing, and
// a node that holds an immutable copy sees no new version.
func (k *kubelet) follow(p *podState, ref SourceRef, v *version) {
	m := p.mounts[ref]
	if m == nil || m.csi != nil || k.w.sources.cache[nodeSource{p.node, ref}] != nil {
		return
	}
	m.current(k.w.loop.Now())
	visible := v.from.Add(k.w.opt.KubeletCacheLag)
	periods := max((visible.Sub(p.mountedAt)+k.w.opt.VolumeSync-1)/k.w.opt.VolumeSync, 1)
	at := p.mountedAt.Add(periods * k.w.opt.VolumeSync)
	for len(m.later) > 0 && !m.later[len(m.later)-1].at.Before(at) {
		m.later = m.later[:len(m.later)-1]
	}
	for _, r := range m.refs {
		if r.missing(v) != "" {
			return
		}
	}
	m.later = append(m.later, pendingMount{at, v})
}

// load reads all that a container needs and records it; the problem says what is
// missing. Where a container reads a source both ways, the files count: they are
// never newer than its env.
func (k *kubelet) load(p *podState, plan *containerPlan, restart bool) (*Load, string) {
	now := k.w.loop.Now()
	out := &Load{
		Pod: p.key, PodUID: p.uid, Container: plan.name, Init: plan.init, StartedAt: now, Restart: restart,
		Sources: map[SourceRef]Content{}, Uses: map[SourceRef]Use{},
	}
	for i := range plan.env {
		r := &plan.env[i]
		v, cached := k.w.sources.read(p.node, r.ref)
		if problem := r.missing(v); problem != "" {
			return nil, problem
		}
		out.record(r, v, cached)
	}
	for i := range plan.files {
		r := &plan.files[i]
		m := p.mounts[r.ref]
		v := m.current(now)
		out.record(r, v, m.cached)
	}
	return out, ""
}

// record notes one reading of a source.
func (l *Load) record(r *reference, v *version, cached bool) {
	use, known := l.Uses[r.ref]
	l.Uses[r.ref] = use.merge(r, !known)
	l.Sources[r.ref] = v.content()
	if cached && (!known || l.Cached == nil || l.Cached[len(l.Cached)-1] != r.ref) {
		l.Cached = append(l.Cached, r.ref)
	}
}

// crash ends the running containers of a pod; they are restarted in place soon.
func (k *kubelet) crash(p *podState) error {
	pod, ok := k.w.server.Get(kindPod, p.key).(*corev1.Pod)
	if !ok || pod.UID != p.uid || p.stopping {
		return nil
	}
	now := seconds(k.w.opt.Kubelet.Now())
	for i := range p.containers {
		c := &p.containers[i]
		if !c.running {
			continue
		}
		c.running, c.down = false, true
		c.exit = &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", StartedAt: c.began, FinishedAt: now}
	}
	k.w.soon(k.w.opt.CrashRestart, about("kubelet restart", p.key), func() { k.restart(p) })
	return k.report(p, pod)
}

// restart starts the containers that are down: env is read anew, files are what the
// volume holds by now. (A subPath is bound again at a restart, so it is no exception.)
func (k *kubelet) restart(p *podState) {
	pod, ok := k.w.server.Get(kindPod, p.key).(*corev1.Pod)
	if !ok || pod.UID != p.uid || pod.DeletionTimestamp != nil {
		return
	}
	for i := range p.containers {
		if c := &p.containers[i]; c.down {
			c.down, c.last, c.exit = false, c.exit, nil
			c.restarts++
		}
	}
	k.startContainers(p)
	if k.report(p, pod) != nil {
		k.queue.add(p.key)
	}
}
