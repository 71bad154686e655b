package world

import (
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// simHost ends the names of hosts that a ConfigMap plays: <name>.<namespace>.sim.
const simHost = ".sim"

// Endpoint is what a web server answers at the moment: the status code in key answer of
// the ConfigMap that plays it, and the header in key retryAfter. 0: nobody answers,
// because there is no such host, or it hangs or resets the connection.
func (w *World) Endpoint(address string) (code int, retryAfter string) {
	u, err := url.Parse(address)
	if err != nil {
		return 0, ""
	}
	host, played := strings.CutSuffix(u.Hostname(), simHost)
	name, namespace, _ := strings.Cut(host, ".")
	cm, found := w.server.Get(kindConfigMap, types.NamespacedName{Namespace: namespace, Name: name}).(*corev1.ConfigMap)
	if !played || !found {
		return 0, ""
	}
	for _, digit := range cm.Data["answer"] {
		if digit < '0' || digit > '9' {
			return 0, ""
		}
		code = code*10 + int(digit-'0')
	}
	return code, cm.Data["retryAfter"]
}
