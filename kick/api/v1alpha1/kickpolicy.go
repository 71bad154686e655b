package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KickPolicy says which workloads of its namespace KICK restarts when a Secret or ConfigMap they
// consume has changed, and when it may do so. A namespace without a policy is left alone. A
// workload matched by two policies is not restarted until only one matches.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=kpol,categories=kick
// +kubebuilder:metadata:labels="app.kubernetes.io/name=kick"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the policy is in force"
// +kubebuilder:printcolumn:name="Matched",type=integer,JSONPath=`.status.matchedWorkloads`,description="Workloads the policy manages"
// +kubebuilder:printcolumn:name="Blocked",type=integer,JSONPath=`.status.blockedWorkloads`,description="Managed workloads that are stale and may not restart yet"
// +kubebuilder:printcolumn:name="Suspended",type=boolean,JSONPath=`.spec.suspend`,description="Whether restarts are put off until the policy is resumed"
// +kubebuilder:printcolumn:name="DryRun",type=boolean,priority=1,JSONPath=`.spec.dryRun`,description="Whether restarts are judged and reported, never made"
// +kubebuilder:printcolumn:name="Open",type=boolean,priority=1,JSONPath=`.status.schedule.open`,description="Whether the windows allow restarts now"
// +kubebuilder:printcolumn:name="Next Edge",type=string,priority=1,JSONPath=`.status.schedule.nextEdge`,description="When the windows open or shut next"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why the policy is or is not in force"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type KickPolicy struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the user wants. It may be empty ({}): then all supported workloads of the
	// namespace are managed and restarts are allowed at any time.
	// +required
	Spec KickPolicySpec `json:"spec"`

	// status is what KICK found. Unset until KICK has seen the policy.
	// +optional
	Status KickPolicyStatus `json:"status,omitzero"`
}

// KickPolicySpec is what the user of a KickPolicy wants.
type KickPolicySpec struct {
	// discovery narrows the workloads the policy manages and the sources whose changes count.
	// Unset: all of both.
	// +optional
	Discovery Discovery `json:"discovery,omitzero"`

	// schedule says at which times restarts are allowed. Unset: at any time.
	// +optional
	Schedule Schedule `json:"schedule,omitzero"`

	// gitOps names the GitOps tool that is asked before a restart. Unset: none is.
	// +kubebuilder:default={}
	// +optional
	GitOps GitOps `json:"gitOps,omitzero"`

	// restart sets the pace of restarts. Unset: the defaults of its fields.
	// +kubebuilder:default={}
	// +optional
	Restart Restart `json:"restart,omitzero"`

	// suspend puts restarts off without deleting the policy. Changes are still recorded and are
	// acted on once suspend is false again; a rollout already begun is still watched to its end.
	// Default: false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// dryRun judges every change and reports the outcome in a KickRequest of phase DryRun, and
	// never touches a workload. Default: false.
	// +optional
	DryRun bool `json:"dryRun,omitempty"`
}

// Discovery narrows what a policy looks at.
type Discovery struct {
	// workloadSelector picks, by their labels, the workloads the policy manages. Unset or empty:
	// all Deployments, StatefulSets and DaemonSets of the namespace.
	// +kubebuilder:validation:XValidation:rule=`(!has(self.matchLabels) || self.matchLabels.size() <= 64) && (!has(self.matchExpressions) || self.matchExpressions.size() <= 64)`,message=`a selector has at most 64 matchLabels and 64 matchExpressions: split the policy into several`
	// +kubebuilder:validation:XValidation:rule=`!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && e.values.size() > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || e.values.size() == 0))`,message=`operator is In or NotIn with at least one of values, or Exists or DoesNotExist without values`
	// +optional
	WorkloadSelector *metav1.LabelSelector `json:"workloadSelector,omitempty"`

	// dependencySelector picks, by their labels, the Secrets and ConfigMaps whose changes call for
	// a restart. All others are ignored, also when judging whether a pod is stale. Unset or empty:
	// everything a managed workload consumes.
	// +kubebuilder:validation:XValidation:rule=`(!has(self.matchLabels) || self.matchLabels.size() <= 64) && (!has(self.matchExpressions) || self.matchExpressions.size() <= 64)`,message=`a selector has at most 64 matchLabels and 64 matchExpressions: split the policy into several`
	// +kubebuilder:validation:XValidation:rule=`!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && e.values.size() > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || e.values.size() == 0))`,message=`operator is In or NotIn with at least one of values, or Exists or DoesNotExist without values`
	// +optional
	DependencySelector *metav1.LabelSelector `json:"dependencySelector,omitempty"`
}

// Schedule is the time gate of a policy.
type Schedule struct {
	// windows open or close the gate, at most 64. A restart is allowed inside an Allow window and
	// outside every Deny window; Deny wins where both cover an instant. With Deny windows only, all
	// other times are allowed. Unset or empty: any time is allowed.
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	// +optional
	Windows []Window `json:"windows,omitempty"`
}

// WindowType says what a window does to the gate.
// +kubebuilder:validation:Enum=Allow;Deny
type WindowType string

// The types of windows.
const (
	// WindowAllow: restarts are allowed while the window is open.
	WindowAllow WindowType = "Allow"
	// WindowDeny: restarts are forbidden while the window is open, whatever Allow windows say.
	WindowDeny WindowType = "Deny"
)

// Window is a span of time that recurs.
type Window struct {
	// type says whether the window allows restarts (Allow) or forbids them (Deny). Required.
	// +required
	Type WindowType `json:"type"`

	// cron gives the starts of the window in five fields: minute (0-59), hour (0-23), day of month
	// (1-31), month (1-12 or JAN-DEC) and day of week (0-6 or SUN-SAT; Sunday is 0). A field takes
	// *, numbers, ranges, lists and steps. Required, for example "30 2 * * MON-FRI".
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`!self.contains('@')`,message=`cron takes no descriptor such as @daily or @every 1h: write the five fields, for example 0 0 * * * for @daily`
	// +kubebuilder:validation:XValidation:rule=`!self.contains('=')`,message=`cron takes no TZ= or CRON_TZ= prefix: put the name of the zone into timeZone`
	// +kubebuilder:validation:XValidation:rule=`self.contains('@') || self.contains('=') || self.matches('^ *[^ ]+( +[^ ]+){4} *$')`,message=`cron has exactly five fields separated by spaces: minute, hour, day of month, month, day of week, for example 30 2 * * MON-FRI; leave out a field for seconds or years`
	// +kubebuilder:validation:XValidation:rule=`!self.matches('^ *[^ ]+( +[^ ]+){4} *$') || self.matches('^ *(\\*|\\?|[0-5]?[0-9](-[0-5]?[0-9])?)(/[1-9][0-9]{0,3})?(,(\\*|\\?|[0-5]?[0-9](-[0-5]?[0-9])?)(/[1-9][0-9]{0,3})?)* ')`,message=`the first field of cron is the minute: *, numbers from 0 to 59, ranges (0-29), lists (0,30) or steps (*/15)`
	// +kubebuilder:validation:XValidation:rule=`!self.matches('^ *[^ ]+( +[^ ]+){4} *$') || self.matches('^ *([^ ]+ +){1}(\\*|\\?|(2[0-3]|[01]?[0-9])(-(2[0-3]|[01]?[0-9]))?)(/[1-9][0-9]{0,3})?(,(\\*|\\?|(2[0-3]|[01]?[0-9])(-(2[0-3]|[01]?[0-9]))?)(/[1-9][0-9]{0,3})?)* ')`,message=`the second field of cron is the hour: *, numbers from 0 to 23, ranges (8-17), lists (2,14) or steps (*/6)`
	// +kubebuilder:validation:XValidation:rule=`!self.matches('^ *[^ ]+( +[^ ]+){4} *$') || self.matches('^ *([^ ]+ +){2}(\\*|\\?|(3[01]|[12][0-9]|0?[1-9])(-(3[01]|[12][0-9]|0?[1-9]))?)(/[1-9][0-9]{0,3})?(,(\\*|\\?|(3[01]|[12][0-9]|0?[1-9])(-(3[01]|[12][0-9]|0?[1-9]))?)(/[1-9][0-9]{0,3})?)* ')`,message=`the third field of cron is the day of the month: *, numbers from 1 to 31, ranges (1-7), lists (1,15) or steps (*/2); L and W are not supported`
	// +kubebuilder:validation:XValidation:rule=`!self.matches('^ *[^ ]+( +[^ ]+){4} *$') || self.matches('^ *([^ ]+ +){3}(\\*|\\?|(1[0-2]|0?[1-9]|(?i:JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC))(-(1[0-2]|0?[1-9]|(?i:JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)))?)(/[1-9][0-9]{0,3})?(,(\\*|\\?|(1[0-2]|0?[1-9]|(?i:JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC))(-(1[0-2]|0?[1-9]|(?i:JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)))?)(/[1-9][0-9]{0,3})?)* ')`,message=`the fourth field of cron is the month: *, numbers from 1 to 12, names from JAN to DEC, ranges, lists or steps`
	// +kubebuilder:validation:XValidation:rule=`!self.matches('^ *[^ ]+( +[^ ]+){4} *$') || self.matches('^ *([^ ]+ +){4}(\\*|\\?|(0?[0-6]|(?i:SUN|MON|TUE|WED|THU|FRI|SAT))(-(0?[0-6]|(?i:SUN|MON|TUE|WED|THU|FRI|SAT)))?)(/[1-9][0-9]{0,3})?(,(\\*|\\?|(0?[0-6]|(?i:SUN|MON|TUE|WED|THU|FRI|SAT))(-(0?[0-6]|(?i:SUN|MON|TUE|WED|THU|FRI|SAT)))?)(/[1-9][0-9]{0,3})?)* *$')`,message=`the fifth field of cron is the day of the week: *, numbers from 0 (Sunday) to 6, names from SUN to SAT, ranges, lists or steps; write 0 instead of 7; L and # are not supported`
	// +kubebuilder:validation:XValidation:rule=`!self.matches('(?i)[ ,](MON-(SUN)|TUE-(SUN|MON)|WED-(SUN|MON|TUE)|THU-(SUN|MON|TUE|WED)|FRI-(SUN|MON|TUE|WED|THU)|SAT-(SUN|MON|TUE|WED|THU|FRI)|1-0|2-[0-1]|3-[0-2]|4-[0-3]|5-[0-4]|6-[0-5])(/[0-9]+)?(,[^ ]*)? *$')`,message=`a range of week days runs from SUN (0) to SAT (6): write MON-SAT,SUN instead of MON-SUN, FRI-SAT,SUN-MON instead of FRI-MON`
	// +kubebuilder:validation:XValidation:rule=`!self.matches('^ *[^ ]+ +([^ ]*,)?(1[0-9]|2[0-3])-0?[0-9](/[0-9]+)?[, ]')`,message=`a range of hours does not pass midnight: write 22-23,0-5 instead of 22-5, or start once and use a longer duration`
	// +required
	Cron string `json:"cron"`

	// duration is how long the window stays open from each start: a Go duration in hours (h),
	// minutes (m) and seconds (s), more than 0s and at most 8784h (366 days). Required, for example
	// "1h30m".
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule=`duration(self) > duration('0s') && duration(self) <= duration('8784h')`,message=`duration is longer than 0s and at most 8784h (366 days), in hours, minutes and seconds, for example 1h30m; write 48h instead of 2d`
	// +required
	Duration metav1.Duration `json:"duration"`

	// timeZone is the IANA name of the zone in which cron is read, for example Europe/Berlin. Unset
	// or empty: UTC.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule=`self == '' || (self.matches('^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$') && self != 'Local' && timestamp('2026-01-01T00:00:00Z').getHours(self) >= 0)`,message=`timeZone is a name of the IANA time zone database, for example Europe/Berlin, America/New_York or UTC; abbreviations such as PST, offsets such as +02:00 and Local are not zones`
	// +optional
	TimeZone string `json:"timeZone,omitempty"`
}

// GitOpsProvider names a GitOps tool.
// +kubebuilder:validation:Enum=None;Auto;ArgoCD;Flux;Kargo
type GitOpsProvider string

// The GitOps tools KICK can ask.
const (
	// GitOpsNone: no tool is asked.
	GitOpsNone GitOpsProvider = "None"
	// GitOpsAuto: the one of Argo CD and Flux that owns the workload is asked.
	GitOpsAuto GitOpsProvider = "Auto"
	// GitOpsArgoCD: the Application that owns the workload is asked.
	GitOpsArgoCD GitOpsProvider = "ArgoCD"
	// GitOpsFlux: the Kustomization or HelmRelease that owns the workload is asked.
	GitOpsFlux GitOpsProvider = "Flux"
	// GitOpsKargo: the Stages of the Application that owns the workload are asked, then Argo CD.
	GitOpsKargo GitOpsProvider = "Kargo"
)

// GitOps is the GitOps gate of a policy.
type GitOps struct {
	// provider is the tool that must be at rest before a restart. None: no tool is asked. Auto:
	// Argo CD or Flux, whichever owns the workload; without exactly one owner there is no restart.
	// Kargo is never found by Auto. A tool whose integration is off or not installed shuts the
	// gate. Default: None.
	// +kubebuilder:default=None
	// +optional
	Provider GitOpsProvider `json:"provider,omitempty"`

	// requireReconciled says whether the owner must be reconciled: what the tool declares is in the
	// cluster, and nothing is on its way. If false, the owner must still be known and its sync
	// windows still count. Default: true.
	// +kubebuilder:default=true
	// +optional
	RequireReconciled *bool `json:"requireReconciled,omitempty"`
}

// Restart sets the pace of restarts.
type Restart struct {
	// settleDelay is the quiet time after the last change before a restart, so that sources edited
	// together cause one rollout. A source that keeps changing puts the restart off by no more than
	// ten times this value, counted from its first change. A Go duration, 0s to 1h; 0s restarts at
	// once. Default: 1s.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:default="1s"
	// +kubebuilder:validation:XValidation:rule=`duration(self) >= duration('0s') && duration(self) <= duration('1h')`,message=`settleDelay is from 0s (restart at once) to 1h, for example 1s or 2m30s`
	// +optional
	SettleDelay *metav1.Duration `json:"settleDelay,omitempty"`

	// minInterval is the least time between two restarts of one workload by KICK, counted from the
	// previous restart's stamp. A change that comes earlier waits. A Go duration, 0s to 168h (7
	// days); 0s sets no limit. Default: 30s.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:XValidation:rule=`duration(self) >= duration('0s') && duration(self) <= duration('168h')`,message=`minInterval is from 0s (no limit) to 168h (7 days), for example 30s or 1h; write 24h instead of 1d`
	// +optional
	MinInterval *metav1.Duration `json:"minInterval,omitempty"`

	// maxConcurrent is how many workloads of the policy KICK restarts at a time, so that a source
	// that many of them share does not put all of them into a rollout at once. The next restart
	// begins when one of those under way has ended. The operator's --max-concurrent-restarts holds
	// as well. 0 to 10000; 0 sets no limit. Default: 0.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	// +kubebuilder:default=0
	// +optional
	MaxConcurrent *int32 `json:"maxConcurrent,omitempty"`

	// rolloutTimeout is how long the rollout of a restart may go without any progress until the
	// restart has failed, for workloads that take longer, or are to be given up sooner, than others.
	// A Go duration, 1s to 168h (7 days). Unset: the operator's --rollout-timeout (15m by default).
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule=`duration(self) >= duration('1s') && duration(self) <= duration('168h')`,message=`rolloutTimeout is from 1s to 168h (7 days), for example 15m or 1h; leave it out for the operator's --rollout-timeout; write 24h instead of 1d`
	// +optional
	RolloutTimeout *metav1.Duration `json:"rolloutTimeout,omitempty"`
}

// KickPolicyStatus is what KICK found about a policy.
type KickPolicyStatus struct {
	// observedGeneration is the metadata.generation this status was judged at. A smaller number
	// than the policy's means that the status is out of date. Unset or 0: not judged yet.
	// +kubebuilder:validation:Minimum=0
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// matchedWorkloads counts the workloads the policy manages. 0: it matches none.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	MatchedWorkloads int32 `json:"matchedWorkloads"`

	// blockedWorkloads counts the managed workloads that need a restart which may not be made now;
	// their KickRequests say why. 0: none waits.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	BlockedWorkloads int32 `json:"blockedWorkloads"`

	// schedule is what the windows say. Unset: the policy has none, so that any time is allowed, or
	// they cannot be read.
	// +optional
	Schedule *ScheduleStatus `json:"schedule,omitempty"`

	// conditions holds Ready, which says whether the policy is in force and, if not, what to
	// change. Unset until the first visit.
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ScheduleStatus is what the windows of a policy say.
type ScheduleStatus struct {
	// open tells whether the windows allow restarts. Required.
	// +required
	Open bool `json:"open"`

	// nextEdge is when that changes next, by KICK's clock. Unset: never.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`
	// +optional
	NextEdge *metav1.Time `json:"nextEdge,omitempty"`
}

// KickPolicyList is a list of KickPolicies.
//
// +kubebuilder:object:root=true
type KickPolicyList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the policies.
	Items []KickPolicy `json:"items"`
}
