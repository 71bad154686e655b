{{- /* Written by make generate from kick/operator/rbac/role.yaml. */}}

{{- define "kick.rules.argoRollouts" -}}
- apiGroups:
  - argoproj.io
  resources:
  - rollouts
  verbs:
  - get
  - list
  - patch
  - watch
{{- end }}

{{- define "kick.writes.argoRollouts" -}}
'UPDATE argoproj.io/rollouts',
{{- end }}

{{- define "kick.rules.argocd" -}}
- apiGroups:
  - argoproj.io
  resources:
  - applications
  - appprojects
  verbs:
  - get
  - list
  - watch
{{- end }}

{{- define "kick.rules.flux" -}}
- apiGroups:
  - helm.toolkit.fluxcd.io
  resources:
  - helmreleases
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - kustomize.toolkit.fluxcd.io
  resources:
  - kustomizations
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - source.toolkit.fluxcd.io
  resources:
  - buckets
  - externalartifacts
  - gitrepositories
  - ocirepositories
  verbs:
  - get
  - list
  - watch
{{- end }}

{{- define "kick.rules.kargo" -}}
- apiGroups:
  - kargo.akuity.io
  resources:
  - promotions
  verbs:
  - list
  - watch
- apiGroups:
  - kargo.akuity.io
  resources:
  - stages
  verbs:
  - get
  - list
  - watch
{{- end }}

{{- define "kick.rules.kick" -}}
- apiGroups:
  - ""
  resources:
  - configmaps
  - secrets
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - ""
  resources:
  - pods
  verbs:
  - list
- apiGroups:
  - apps
  resources:
  - controllerrevisions
  - replicasets
  verbs:
  - list
  - watch
- apiGroups:
  - apps
  resources:
  - daemonsets
  - deployments
  - statefulsets
  verbs:
  - get
  - list
  - patch
  - watch
- apiGroups:
  - events.k8s.io
  resources:
  - events
  verbs:
  - create
  - patch
- apiGroups:
  - kick.corewire.io
  resources:
  - kickpolicies
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - kick.corewire.io
  resources:
  - kickpolicies/status
  - kickrequests/status
  verbs:
  - update
- apiGroups:
  - kick.corewire.io
  resources:
  - kickrequests
  verbs:
  - create
  - delete
  - get
  - list
  - watch
- apiGroups:
  - kick.corewire.io
  resources:
  - sourceobservations
  verbs:
  - create
  - delete
  - get
  - list
  - update
  - watch
{{- end }}

{{- define "kick.writes.kick" -}}
'CREATE events.k8s.io/events',
'CREATE kick.corewire.io/kickrequests',
'CREATE kick.corewire.io/sourceobservations',
'DELETE kick.corewire.io/kickrequests',
'DELETE kick.corewire.io/sourceobservations',
'UPDATE apps/daemonsets',
'UPDATE apps/deployments',
'UPDATE apps/statefulsets',
'UPDATE events.k8s.io/events',
'UPDATE kick.corewire.io/kickpolicies/status',
'UPDATE kick.corewire.io/kickrequests/status',
'UPDATE kick.corewire.io/sourceobservations',
{{- end }}

{{- define "kick.rules.kick-config-bundles" -}}
- apiGroups:
  - ""
  resources:
  - configmaps
  verbs:
  - create
  - delete
  - patch
- apiGroups:
  - apps
  resources:
  - controllerrevisions
  verbs:
  - create
  - get
- apiGroups:
  - kick.corewire.io
  resources:
  - configbundles
  verbs:
  - get
  - list
  - patch
  - watch
- apiGroups:
  - kick.corewire.io
  resources:
  - configbundles/status
  verbs:
  - update
{{- end }}

{{- define "kick.writes.kick-config-bundles" -}}
'CREATE /configmaps',
'CREATE apps/controllerrevisions',
'DELETE /configmaps',
'UPDATE /configmaps',
'UPDATE kick.corewire.io/configbundles',
'UPDATE kick.corewire.io/configbundles/status',
{{- end }}

{{- define "kick.rules.kick-notifications" -}}
- apiGroups:
  - kick.corewire.io
  resources:
  - notificationpolicies
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - kick.corewire.io
  resources:
  - notificationpolicies/status
  verbs:
  - update
{{- end }}

{{- define "kick.writes.kick-notifications" -}}
'UPDATE kick.corewire.io/notificationpolicies/status',
{{- end }}

{{- define "kick.rules.kick-timeline" -}}
- apiGroups:
  - events.k8s.io
  resources:
  - events
  verbs:
  - list
  - watch
{{- end }}

{{- define "kick.rules.kick-timeline-exposed" -}}
- apiGroups:
  - authentication.k8s.io
  resources:
  - tokenreviews
  verbs:
  - create
- apiGroups:
  - authorization.k8s.io
  resources:
  - subjectaccessreviews
  verbs:
  - create
{{- end }}

{{- define "kick.writes.kick-timeline-exposed" -}}
'CREATE authentication.k8s.io/tokenreviews',
'CREATE authorization.k8s.io/subjectaccessreviews',
{{- end }}

{{- define "kick.rules.own" -}}
- apiGroups:
  - ""
  resources:
  - events
  verbs:
  - create
  - patch
- apiGroups:
  - ""
  resources:
  - secrets
  verbs:
  - create
  - get
- apiGroups:
  - coordination.k8s.io
  resources:
  - leases
  verbs:
  - create
  - get
  - update
{{- end }}

{{- define "kick.writes.own" -}}
'CREATE /events',
'CREATE /secrets',
'CREATE coordination.k8s.io/leases',
'UPDATE /events',
'UPDATE coordination.k8s.io/leases',
{{- end }}

{{- define "kick.rules.secretsStoreCSI" -}}
- apiGroups:
  - secrets-store.csi.x-k8s.io
  resources:
  - secretproviderclasses
  verbs:
  - get
  - list
  - watch
- apiGroups:
  - secrets-store.csi.x-k8s.io
  resources:
  - secretproviderclasspodstatuses
  verbs:
  - list
  - watch
{{- end }}
