package world

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The kinds the actors handle.
var (
	kindDeployment         = schema.GroupKind{Group: "apps", Kind: "Deployment"}
	kindReplicaSet         = schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}
	kindStatefulSet        = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
	kindDaemonSet          = schema.GroupKind{Group: "apps", Kind: "DaemonSet"}
	kindControllerRevision = schema.GroupKind{Group: "apps", Kind: "ControllerRevision"}
	kindPod                = schema.GroupKind{Kind: "Pod"}
	kindSecret             = schema.GroupKind{Kind: "Secret"}
	kindConfigMap          = schema.GroupKind{Kind: "ConfigMap"}
	kindNamespace          = schema.GroupKind{Kind: "Namespace"}
	kindJob                = schema.GroupKind{Group: "batch", Kind: "Job"}
	kindRollout            = schema.GroupKind{Group: "argoproj.io", Kind: "Rollout"}
)

// workloadKinds maps the short kind names of verbs and of PodTruth to kinds.
var workloadKinds = map[string]schema.GroupKind{
	"Deployment": kindDeployment, "ReplicaSet": kindReplicaSet, "StatefulSet": kindStatefulSet,
	"DaemonSet": kindDaemonSet, "Pod": kindPod, "Job": kindJob, "Rollout": kindRollout,
}

// appsKind is the full kind that owner references to a kind of apps/v1 name.
func appsKind(kind string) schema.GroupVersionKind { return appsv1.SchemeGroupVersion.WithKind(kind) }
