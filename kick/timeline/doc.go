// Package timeline shows people what happened to which workload, and when: an API under
// /timeline, and a page at /timeline/ui that needs nothing else. It only reads, and only
// what the operator's caches hold, so every replica serves it, whether it leads or not.
//
// What it tells is what is on record: requests and their status, the ledger, the stamps
// and revisions of workloads, and the events that are still kept. It says it in the
// sentences of package explain. No answer holds content of a source, or a digest of it.
package timeline
