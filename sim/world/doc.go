// Package world is the rest of a cluster around KICK: toy versions of
// kube-controller-manager's workload controllers, of its garbage collector, of
// the scheduler and of the kubelet, faithful in everything that KICK can observe.
//
// Each actor reacts to committed writes (cluster.Server.Subscribe), reads live
// state and writes through the server under the name of the real component. One
// sync of one key is one event of the loop, so a schedule can put anything
// between any two of them. No actor keeps a truth of its own except the kubelet,
// which knows what each container really loaded: PodTruth. The laws "nothing
// lost" and "nothing spurious" are judged by that record and by nothing else, so
// this package must never import kick.
//
//	w := world.New(world.Options{Loop: loop, Server: server, KCM: kcm, Kubelet: kubelet})
//	// create a Deployment through the server, then
//	loop.RunUntil(loop.Now().Add(10 * time.Second))
//	pods := w.Pods("shop", "Deployment", "web")
//
// Create the World before the first object: actors learn of objects by their
// events only.
//
// Not modelled: adoption of orphans by label, persistent volume claims,
// node conditions, taints and resources, probes, Jobs (the
// object just exists), and everything that belongs to the network.
package world
