package operator

// What KICK may do, and nothing else. The role below kick/operator/rbac is made
// from these lines, the preflight asks for exactly what the role says, and the
// chart's role is compared with it.
//
// +kubebuilder:rbac:groups="",resources=secrets;configmaps,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list
// +kubebuilder:rbac:groups=apps,resources=deployments;statefulsets;daemonsets,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=apps,resources=replicasets;controllerrevisions,verbs=list;watch
// +kubebuilder:rbac:groups=kick.corewire.io,resources=kickpolicies,verbs=get;list;watch
// +kubebuilder:rbac:groups=kick.corewire.io,resources=kickpolicies/status,verbs=update
// +kubebuilder:rbac:groups=kick.corewire.io,resources=kickrequests,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=kick.corewire.io,resources=kickrequests/status,verbs=update
// +kubebuilder:rbac:groups=kick.corewire.io,resources=sourceobservations,verbs=get;list;watch;create;update;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;create,namespace=kick-system
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update,namespace=kick-system
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch,namespace=kick-system
//
// Of GitOps tools, each needed only while its integration is on and its kinds are
// installed: of Argo CD, of Flux and its sources, of Kargo, of Argo Rollouts, of the
// Secrets Store CSI driver.
//
// +kubebuilder:rbac:groups=argoproj.io,resources=applications;appprojects,verbs=get;list;watch
// +kubebuilder:rbac:groups=kustomize.toolkit.fluxcd.io,resources=kustomizations,verbs=get;list;watch
// +kubebuilder:rbac:groups=helm.toolkit.fluxcd.io,resources=helmreleases,verbs=get;list;watch
// +kubebuilder:rbac:groups=source.toolkit.fluxcd.io,resources=gitrepositories;ocirepositories;buckets;externalartifacts,verbs=get;list;watch
// +kubebuilder:rbac:groups=kargo.akuity.io,resources=stages,verbs=get;list;watch
// +kubebuilder:rbac:groups=kargo.akuity.io,resources=promotions,verbs=list;watch
// +kubebuilder:rbac:groups=argoproj.io,resources=rollouts,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=secrets-store.csi.x-k8s.io,resources=secretproviderclasses,verbs=get;list;watch
// +kubebuilder:rbac:groups=secrets-store.csi.x-k8s.io,resources=secretproviderclasspodstatuses,verbs=list;watch
