{{/* Names, labels and what else more than one template needs. */}}

{{- define "kick.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The name of all objects in KICK's namespace. Short enough that a suffix still fits. */}}
{{- define "kick.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "kick.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "kick.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "kick.namespace" -}}
{{- default .Release.Namespace .Values.namespace.name }}
{{- end }}

{{/* The name of objects that live in no namespace, or in somebody else's: two releases never share one. */}}
{{- define "kick.clusterName" -}}
{{- printf "%s-%s" (include "kick.fullname" .) (include "kick.namespace" .) }}
{{- end }}

{{- define "kick.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "kick.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* Who the operator is for the API server. */}}
{{- define "kick.user" -}}
system:serviceaccount:{{ include "kick.namespace" . }}:{{ include "kick.serviceAccountName" . }}
{{- end }}

{{- define "kick.selectorLabels" -}}
app.kubernetes.io/name: {{ include "kick.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: operator
{{- end }}

{{- define "kick.labels" -}}
app.kubernetes.io/name: {{ include "kick.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: kick
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/*
Labels and annotations of an object: those of all, then its own.
Use: include "kick.meta" (dict "root" . "labels" map "annotations" map)
*/}}
{{- define "kick.meta" -}}
{{- $labels := mergeOverwrite (include "kick.labels" .root | fromYaml) .root.Values.commonLabels (default dict .labels) }}
{{- $annotations := mergeOverwrite (deepCopy .root.Values.commonAnnotations) (default dict .annotations) -}}
labels:
  {{- toYaml $labels | nindent 2 }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The image; a digest beats the tag. */}}
{{- define "kick.image" -}}
{{- $repository := .Values.image.repository }}
{{- with .Values.global.imageRegistry }}
{{- $parts := splitList "/" $repository }}
{{- if and (gt (len $parts) 1) (or (contains "." (first $parts)) (contains ":" (first $parts))) }}
{{- $repository = join "/" (rest $parts) }}
{{- end }}
{{- $repository = printf "%s/%s" (trimSuffix "/" .) $repository }}
{{- end }}
{{- if .Values.image.digest }}
{{- printf "%s@%s" $repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{- define "kick.imagePullSecrets" -}}
{{- with concat .Values.global.imagePullSecrets .Values.imagePullSecrets | uniq }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Whether something is to be made in each watched namespace instead of once for all. */}}
{{- define "kick.namespaced" -}}
{{- if eq .Values.rbac.mode "Namespaced" }}yes{{ end }}
{{- end }}

{{/*
Whether a GitOps tool is asked: it is enabled, and KICK may read its objects.
Use: include "kick.asks" (list . "argocd")
*/}}
{{- define "kick.asks" -}}
{{- $root := first . }}
{{- if and (index $root.Values.integrations (last .)).enabled (or (not (include "kick.namespaced" $root)) $root.Values.integrations.namespaces) }}yes{{ end }}
{{- end }}

{{/* Whether the timeline is served beyond the pod. */}}
{{- define "kick.exposed" -}}
{{- if and .Values.ui.enabled .Values.ui.exposed }}yes{{ end }}
{{- end }}

{{/* A duration of the values in milliseconds: templates can compare nothing else. */}}
{{- define "kick.milliseconds" -}}
{{- $begin := toDate "2006-01-02" "2000-01-01" }}
{{- ((dateModify . $begin).Sub $begin).Milliseconds }}
{{- end }}

{{/* What cannot work, said before anything is installed. */}}
{{- define "kick.validate" -}}
{{- if and (include "kick.namespaced" .) (not .Values.watchNamespaces) }}
{{- fail "rbac.mode=Namespaced needs watchNamespaces: a Role is made in each of them" }}
{{- end }}
{{- if and (include "kick.namespaced" .) (include "kick.exposed" .) }}
{{- fail "ui.exposed=true needs rbac.mode=Cluster: tokens are reviewed for the whole cluster; or use kubectl port-forward with ui.exposed=false" }}
{{- end }}
{{- if and (gt (int .Values.replicaCount) 1) (not .Values.leaderElection.enabled) }}
{{- fail "replicaCount above 1 needs leaderElection.enabled=true: without it every replica would act" }}
{{- end }}
{{- $lease := include "kick.milliseconds" .Values.leaderElection.leaseDuration | int64 }}
{{- $renew := include "kick.milliseconds" .Values.leaderElection.renewDeadline | int64 }}
{{- $retry := include "kick.milliseconds" .Values.leaderElection.retryPeriod | int64 }}
{{- if or (lt $lease 2000) (mod $lease 1000) }}
{{- fail (printf "leaderElection.leaseDuration=%s must be whole seconds, and at least 2s: the API server stores no less" .Values.leaderElection.leaseDuration) }}
{{- end }}
{{- if ge $renew $lease }}
{{- fail (printf "leaderElection.renewDeadline=%s must be less than leaderElection.leaseDuration=%s" .Values.leaderElection.renewDeadline .Values.leaderElection.leaseDuration) }}
{{- end }}
{{- if or (lt $retry 1) (ge (div (mul $retry 12) 10) $renew) }}
{{- fail (printf "leaderElection.retryPeriod=%s must be more than 0 and, with a fifth added, less than leaderElection.renewDeadline=%s" .Values.leaderElection.retryPeriod .Values.leaderElection.renewDeadline) }}
{{- end }}
{{- if gt (include "kick.milliseconds" .Values.clockAllowance | int64) 60000 }}
{{- fail (printf "clockAllowance=%s must be at most 1m: clocks further apart must be set right" .Values.clockAllowance) }}
{{- end }}
{{- range $name := list "rolloutTimeout" "requestRetention" }}
{{- if lt (include "kick.milliseconds" (index $.Values $name) | int64) 1000 }}
{{- fail (printf "%s=%s must be at least 1s" $name (index $.Values $name)) }}
{{- end }}
{{- end }}
{{- with .Values.integrations.secretsStoreCSI.rotationPollInterval }}
{{- $poll := include "kick.milliseconds" . | int64 }}
{{- if or (lt $poll 1000) (gt $poll 3600000) }}
{{- fail (printf "integrations.secretsStoreCSI.rotationPollInterval=%s must be between 1s and 1h, as that of the driver" .) }}
{{- end }}
{{- end }}
{{- if and .Values.integrations.kargo.enabled (not .Values.integrations.argocd.enabled) }}
{{- fail "integrations.kargo.enabled=true needs integrations.argocd.enabled=true: after its Stages Kargo's gate asks Argo CD" }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled .Values.metrics.podMonitor.enabled }}
{{- fail "metrics.serviceMonitor.enabled and metrics.podMonitor.enabled exclude each other: every sample would be taken twice" }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.service.enabled) }}
{{- fail "metrics.serviceMonitor.enabled=true needs metrics.service.enabled=true; or use metrics.podMonitor.enabled" }}
{{- end }}
{{- if and (not .Values.metrics.enabled) (or .Values.metrics.serviceMonitor.enabled .Values.metrics.podMonitor.enabled) }}
{{- fail "metrics.enabled=false leaves nothing to monitor: turn metrics.serviceMonitor.enabled and metrics.podMonitor.enabled off" }}
{{- end }}
{{- if and .Values.cage.enabled (not (semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version)) }}
{{- fail (printf "cage.enabled=true needs Kubernetes 1.30, this is %s: set cage.enabled=false, and the rights of the service account are bounded by its roles alone" .Capabilities.KubeVersion.Version) }}
{{- end }}
{{- end }}
