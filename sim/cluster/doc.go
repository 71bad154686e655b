// Package cluster is a deterministic kube-apiserver in memory: typed objects, one
// revision counter, and the write semantics that KICK and its users rely on. No
// goroutine, no real clock, no randomness, no map-ordered output.
//
// Duty: take the requests a real API server takes (create, update, the four kinds
// of patch, delete, the status subresource), answer what the real one answers, and
// tell subscribers of every commit in order. Every rule was read from the real
// server's source and is compared with it by the conformance table.
//
// What it must not do: run controllers. Nothing here creates pods, collects garbage
// or finishes a namespace; actors in sim/world do that through this API.
//
// Objects are immutable once stored. Server.Get and Server.List hand out the stored
// pointers, a Client copies the struct but shares what it points to, and a write
// copies its input: a reader that wants to change an object deep-copies it first.
// Options.DetectMutation finds who does not.
//
//	s := cluster.New(cluster.Options{Now: clock.Now, NamespaceAutoCreate: true})
//	c := s.Client("kubectl")
//	err := c.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"}})
package cluster
