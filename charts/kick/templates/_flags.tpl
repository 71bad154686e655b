{{/*
The operator's flags, one a line. A new flag is a line here and a value. An empty
value leaves a flag at its default.
*/}}
{{- define "kick.flags" -}}
log-level: {{ .Values.logLevel }}
namespace: {{ include "kick.namespace" . }}
watch-namespaces: {{ join "," .Values.watchNamespaces | quote }}
request-retention: {{ .Values.requestRetention }}
rollout-timeout: {{ .Values.rolloutTimeout }}
max-concurrent-restarts: {{ .Values.maxConcurrentRestarts | int | quote }}
enable-notifications: {{ .Values.notifications.enabled }}
notification-queue-size: {{ .Values.notifications.queueSize | int | quote }}
notification-allow-local-targets: {{ .Values.notifications.allowLocalTargets }}
timeline-bind-address: {{ ternary (ternary "0.0.0.0:8090" "127.0.0.1:8090" .Values.ui.exposed) "" .Values.ui.enabled | quote }}
timeline-cert-dir: {{ ternary "/etc/kick/tls" "" (and .Values.ui.enabled (ne .Values.ui.tlsSecret "")) | quote }}
otel-otlp-endpoint: {{ .Values.tracing.endpoint | quote }}
otel-otlp-insecure: {{ .Values.tracing.insecure }}
clock-allowance: {{ .Values.clockAllowance }}
kube-api-qps: {{ .Values.kubeAPI.qps | quote }}
kube-api-burst: {{ .Values.kubeAPI.burst | int | quote }}
leader-elect: {{ .Values.leaderElection.enabled }}
leader-election-lease-duration: {{ .Values.leaderElection.leaseDuration }}
leader-election-renew-deadline: {{ .Values.leaderElection.renewDeadline }}
leader-election-retry-period: {{ .Values.leaderElection.retryPeriod }}
gitops-namespaces: {{ join "," .Values.integrations.namespaces | quote }}
enable-argocd: {{ include "kick.asks" (list . "argocd") | eq "yes" }}
argocd-namespace: {{ .Values.integrations.argocd.namespace }}
argocd-application-namespaces: {{ join "," .Values.integrations.argocd.applicationNamespaces | quote }}
argocd-clusters: {{ join "," .Values.integrations.argocd.clusters | quote }}
argocd-stale-after: {{ .Values.integrations.argocd.staleAfter }}
enable-flux: {{ include "kick.asks" (list . "flux") | eq "yes" }}
enable-kargo: {{ include "kick.asks" (list . "kargo") | eq "yes" }}
kargo-ignore-missing-stages: {{ .Values.integrations.kargo.ignoreMissingStages }}
enable-argo-rollouts: {{ .Values.integrations.argoRollouts.enabled }}
enable-csi-integration: {{ .Values.integrations.secretsStoreCSI.enabled }}
csi-rotation-poll-interval: {{ .Values.integrations.secretsStoreCSI.rotationPollInterval }}
enable-config-bundles: {{ .Values.configBundles.enabled }}
config-bundle-check-interval: {{ .Values.configBundles.checkInterval }}
metrics-bind-address: {{ ternary ":8080" "0" .Values.metrics.enabled | quote }}
health-probe-bind-address: ":8081"
{{- end }}

{{- define "kick.args" -}}
{{- range $flag, $value := include "kick.flags" . | fromYaml }}
{{- if ne (toString $value) "" }}
- {{ printf "--%s=%s" $flag (toString $value) | quote }}
{{- end }}
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}
