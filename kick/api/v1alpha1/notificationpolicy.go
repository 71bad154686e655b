package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NotificationPolicy sends an HTTP request when a KickRequest of its namespace reaches one of the
// phases it lists. Delivery is best effort and never holds up or fails a restart.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=npol,categories=kick
// +kubebuilder:metadata:labels="app.kubernetes.io/name=kick"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the policy is in force"
// +kubebuilder:printcolumn:name="Delivered",type=integer,JSONPath=`.status.delivered`,description="Notifications delivered"
// +kubebuilder:printcolumn:name="Failed",type=integer,JSONPath=`.status.failed`,description="Notifications given up"
// +kubebuilder:printcolumn:name="Last",type=date,JSONPath=`.status.lastDeliveryTime`,description="Time since the last delivery"
// +kubebuilder:printcolumn:name="Suspended",type=boolean,priority=1,JSONPath=`.spec.suspend`,description="Whether delivery is off"
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why the policy is or is not in force"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type NotificationPolicy struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the user wants.
	// +required
	Spec NotificationPolicySpec `json:"spec"`

	// status is what KICK found. Unset until KICK has seen the policy.
	// +optional
	Status NotificationPolicyStatus `json:"status,omitzero"`
}

// NotificationPolicySpec is what the user of a NotificationPolicy wants.
type NotificationPolicySpec struct {
	// suspend turns delivery off without deleting the policy; what happens meanwhile is not
	// delivered later. Default: false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// phases lists the phases that are told, each at most once in an episode of a request: from its
	// opening, or reopening, to its end. Default: the terminal ones (Succeeded, Failed,
	// NoLongerRequired, DryRun).
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:Enum=Pending;WaitingForGate;WaitingForOwner;WaitingForApplicationSync;WaitingForRollout;Executing;Succeeded;NoLongerRequired;Failed;DryRun
	// +kubebuilder:default={Succeeded,Failed,NoLongerRequired,DryRun}
	// +listType=set
	// +optional
	Phases []Phase `json:"phases,omitempty"`

	// workloadSelector picks KickRequests by their labels. Unset or empty: all of the namespace.
	// +kubebuilder:validation:XValidation:rule=`(!has(self.matchLabels) || self.matchLabels.size() <= 64) && (!has(self.matchExpressions) || self.matchExpressions.size() <= 64)`,message=`a selector has at most 64 matchLabels and 64 matchExpressions: split the policy into several`
	// +kubebuilder:validation:XValidation:rule=`!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && e.values.size() > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || e.values.size() == 0))`,message=`operator is In or NotIn with at least one of values, or Exists or DoesNotExist without values`
	// +optional
	WorkloadSelector *metav1.LabelSelector `json:"workloadSelector,omitempty"`

	// webhook is where notifications go. Required.
	// +required
	Webhook Webhook `json:"webhook"`
}

// Webhook is an HTTP endpoint and how to reach it.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.tls) || self.url.startsWith('https://')`,message=`tls is for an https url only: write https:// or leave tls out`,fieldPath=`.tls`
// +kubebuilder:validation:XValidation:rule=`!has(self.auth) || !has(self.headers) || !self.headers.exists(h, h.name.lowerAscii() == 'authorization')`,message=`auth sets the Authorization header: leave that header out of headers, or leave auth out`,fieldPath=`.headers`
// +kubebuilder:validation:XValidation:rule=`!has(self.headers) || self.headers.all(a, self.headers.exists_one(b, b.name.lowerAscii() == a.name.lowerAscii()))`,message=`names of headers differ by more than capital letters: write each once`,fieldPath=`.headers`
type Webhook struct {
	// url is the endpoint, http or https, without user name or password. Required.
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule=`self.matches('^https?://') && isURL(self)`,message=`url is an absolute address that begins with http:// or https://, for example https://hooks.example.com/kick`
	// +kubebuilder:validation:XValidation:rule=`self.matches('^https?://([^/?#]*@)?(\\[[^/?#]+\\]|[^/?#:]+)(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])?)?([/?#]|$)')`,message=`url names a host, and a port from 1 to 65535 if it names one`
	// +kubebuilder:validation:XValidation:rule=`!self.matches('^https?://[^/?#]*@')`,message=`url takes no user name or password: put them into a Secret and refer to it in auth.basic`
	// +required
	URL string `json:"url"`

	// method is the HTTP method: POST or PUT. Default: POST.
	// +kubebuilder:validation:Enum=POST;PUT
	// +kubebuilder:default=POST
	// +optional
	Method string `json:"method,omitempty"`

	// format is what the body looks like. Plain: a JSON object of fixed fields. CloudEvents: the
	// same object as the data of a CloudEvent 1.0 in structured JSON. Default: Plain.
	// +kubebuilder:validation:Enum=Plain;CloudEvents
	// +kubebuilder:default=Plain
	// +optional
	Format WebhookFormat `json:"format,omitempty"`

	// timeoutSeconds is how long one attempt may take, in seconds, 1 to 120. Default: 10.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=120
	// +kubebuilder:default=10
	// +optional
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`

	// headers are added to each request, at most 32, each name once. Unset: none.
	// +kubebuilder:validation:MaxItems=32
	// +listType=map
	// +listMapKey=name
	// +optional
	Headers []Header `json:"headers,omitempty"`

	// auth proves who is calling. Unset: no Authorization header is sent.
	// +optional
	Auth *Auth `json:"auth,omitempty"`

	// tls sets how an https endpoint is verified and whether a client certificate is shown. Unset:
	// the system's roots and no client certificate.
	// +optional
	TLS *TLS `json:"tls,omitempty"`
}

// WebhookFormat is what the body of a notification looks like.
type WebhookFormat string

// The formats.
const (
	// FormatPlain is a JSON object of fixed fields.
	FormatPlain WebhookFormat = "Plain"
	// FormatCloudEvents is a CloudEvent 1.0 in structured JSON with that object as its data.
	FormatCloudEvents WebhookFormat = "CloudEvents"
)

// Header is an HTTP header.
//
// +kubebuilder:validation:XValidation:rule=`has(self.value) != has(self.valueFrom)`,message=`set exactly one of value and valueFrom`
// +kubebuilder:validation:XValidation:rule=`!has(self.value) || self.name.lowerAscii() != 'authorization'`,message=`the Authorization header is a credential: take it from a Secret with valueFrom, or use auth`,fieldPath=`.value`
type Header struct {
	// name is the name of the header, 1 to 128 characters. Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule=`self.matches("^[A-Za-z0-9!#$%&'*+.^_|~-]+$")`,message=`name is a header name: letters, digits and -, without spaces or a colon`
	// +kubebuilder:validation:XValidation:rule=`!(self.lowerAscii() in ['host', 'content-length', 'transfer-encoding', 'trailer', 'te', 'connection', 'upgrade', 'expect', 'idempotency-key'])`,message=`KICK sets this header itself, or sends none: leave it out`
	// +required
	Name string `json:"name"`

	// value is the value in plain text, at most 4096 characters. Exactly one of value and valueFrom
	// is set.
	// +kubebuilder:validation:MaxLength=4096
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[^\\x00-\\x08\\x0a-\\x1f\\x7f]*$')`,message=`value is one line: remove line breaks and control characters`
	// +optional
	Value *string `json:"value,omitempty"`

	// valueFrom takes the value from a Secret. Exactly one of value and valueFrom is set.
	// +optional
	ValueFrom *SecretKeyReference `json:"valueFrom,omitempty"`
}

// SecretKeyReference names a key of a Secret in the namespace of the object that refers to it.
type SecretKeyReference struct {
	// name is the name of the Secret, 1 to 253 characters. Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')`,message=`name is that of the Secret: lower-case letters, digits, - and ., beginning and ending with a letter or digit`
	// +required
	Name string `json:"name"`

	// key is the key within the Secret, 1 to 253 characters. Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[-._a-zA-Z0-9]+$')`,message=`key is a key of the Secret: letters, digits, -, _ and .`
	// +required
	Key string `json:"key"`
}

// SecretReference names a Secret in the namespace of the object that refers to it.
type SecretReference struct {
	// name is the name of the Secret, 1 to 253 characters. Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')`,message=`name is that of the Secret: lower-case letters, digits, - and ., beginning and ending with a letter or digit`
	// +required
	Name string `json:"name"`
}

// Auth is how KICK proves who it is. Credentials are always read from Secrets.
//
// +kubebuilder:validation:XValidation:rule=`has(self.bearerToken) != has(self.basic)`,message=`set exactly one of bearerToken and basic`
type Auth struct {
	// bearerToken is the key of a Secret that holds the token. Exactly one of bearerToken and basic
	// is set.
	// +optional
	BearerToken *SecretKeyReference `json:"bearerToken,omitempty"`

	// basic is a user name and a password. Exactly one of bearerToken and basic is set.
	// +optional
	Basic *BasicAuth `json:"basic,omitempty"`
}

// BasicAuth is a user name and a password for HTTP basic authentication.
type BasicAuth struct {
	// username is the key of a Secret that holds the user name. Required.
	// +required
	Username SecretKeyReference `json:"username"`

	// password is the key of a Secret that holds the password. Required.
	// +required
	Password SecretKeyReference `json:"password"`
}

// TLS sets the trust between KICK and an https endpoint.
type TLS struct {
	// caBundle is the key of a Secret that holds the PEM certificates trusted to sign the
	// endpoint's. Unset: the system's roots.
	// +optional
	CABundle *SecretKeyReference `json:"caBundle,omitempty"`

	// clientCertificate is a Secret of type kubernetes.io/tls whose certificate is shown to the
	// endpoint. Unset: none is shown.
	// +optional
	ClientCertificate *SecretReference `json:"clientCertificate,omitempty"`
}

// NotificationPolicyStatus is what KICK found about a NotificationPolicy.
type NotificationPolicyStatus struct {
	// observedGeneration is the metadata.generation this status was judged at. Unset or 0: not
	// judged yet.
	// +kubebuilder:validation:Minimum=0
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// lastDeliveryTime is when the last notification was delivered. Unset: none was.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`
	// +optional
	LastDeliveryTime *metav1.Time `json:"lastDeliveryTime,omitempty"`

	// lastFailureTime is when a notification was last given up. Unset: none was.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`
	// +optional
	LastFailureTime *metav1.Time `json:"lastFailureTime,omitempty"`

	// lastError tells why the last delivery failed, at most 1024 characters, without anything from
	// a Secret. Unset: the last one did not fail.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	LastError string `json:"lastError,omitempty"`

	// delivered counts the notifications delivered since the policy was made. 0: none was.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Delivered int64 `json:"delivered"`

	// failed counts the notifications given up since the policy was made. 0: none was.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Failed int64 `json:"failed"`

	// dropped counts the notifications that had to make room because too many waited. Unset or 0:
	// none had to.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Dropped int64 `json:"dropped,omitempty"`

	// since is the time from which on transitions are told, by KICK's clock; it moves on with what
	// is settled. Unset: nothing is told, since the policy is suspended or was not judged yet.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`
	// +optional
	Since *metav1.MicroTime `json:"since,omitempty"`

	// settled lists the transitions not before since that were delivered or given up, oldest first,
	// so that none is told twice. At most 128. Unset: none was.
	// +kubebuilder:validation:MaxItems=128
	// +listType=atomic
	// +optional
	Settled []SettledNotification `json:"settled,omitempty"`

	// conditions holds Ready, which says whether the policy is in force and, if not, what to
	// change. Unset until the first visit.
	// +kubebuilder:validation:MaxItems=8
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// SettledNotification is a transition of a KickRequest that needs no telling any more.
type SettledNotification struct {
	// uid is the UID of the KickRequest. Required.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	// +required
	UID string `json:"uid"`

	// phase is the phase that was reached. Required.
	// +kubebuilder:validation:Enum=Pending;WaitingForGate;WaitingForOwner;WaitingForApplicationSync;WaitingForRollout;Executing;Succeeded;NoLongerRequired;Failed;DryRun
	// +required
	Phase Phase `json:"phase"`

	// at is when it was reached, by KICK's clock. Required.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:Pattern=`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$`
	// +required
	At metav1.MicroTime `json:"at"`
}

// NotificationPolicyList is a list of NotificationPolicies.
//
// +kubebuilder:object:root=true
type NotificationPolicyList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the policies.
	Items []NotificationPolicy `json:"items"`
}
