package timeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/benbjohnson/clock"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/kubernetes"

	"github.com/corewire/kick/kick/api/v1alpha1"
)

// Guard says who asks.
type Guard interface {
	// Viewer is who sent the request; an error of type refusal says why nobody is let in.
	Viewer(*http.Request) (Viewer, error)
}

// Viewer is somebody who looks.
type Viewer interface {
	// May reports whether he may see a namespace; the empty one means all of them.
	May(ctx context.Context, namespace string) (bool, error)
	// Name is who he is, for people.
	Name() string
}

// refusal is an error with the status that answers it.
type refusal struct {
	status int
	say    string
}

func (r refusal) Error() string { return r.say }

// Local is the guard of a loopback address: whoever reaches it may see all there is. Only
// names of this machine are answered to, so that no web page can reach it under a
// name of its own that it points at this machine.
type Local struct{}

// Viewer lets in whoever asks for this machine.
func (Local) Viewer(r *http.Request) (Viewer, error) {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return local{}, nil
	}
	return nil, refusal{http.StatusMisdirectedRequest, fmt.Sprintf(
		"the timeline listens on a loopback address and answers to localhost only, not to %q; use kubectl port-forward, or bind it elsewhere with --timeline-bind-address", host)}
}

type local struct{}

func (local) May(context.Context, string) (bool, error) { return true, nil }
func (local) Name() string                              { return "local" }

// How long an answer of the API server is believed, and how many are kept. A refusal is
// forgotten sooner: rights are granted while somebody waits for them.
const (
	believed = 30 * time.Second
	refused  = 5 * time.Second
	kept     = 4096
)

// Reviewed asks the API server whose a bearer token is, and what he may see: whoever may
// list kickrequests.kick.corewire.io in a namespace.
type Reviewed struct {
	client kubernetes.Interface
	users  *cache.LRUExpireCache // digest of the token -> *authenticationv1.UserInfo, nil: nobody's
	rights *cache.LRUExpireCache // digest of the token and namespace -> bool
}

// NewReviewed returns a guard that asks through c.
func NewReviewed(c kubernetes.Interface, now clock.Clock) *Reviewed {
	return &Reviewed{client: c, users: cache.NewLRUExpireCacheWithClock(kept, now), rights: cache.NewLRUExpireCacheWithClock(kept, now)}
}

// Viewer is the user of the token that a request carries.
func (g *Reviewed) Viewer(r *http.Request) (Viewer, error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return nil, refusal{http.StatusUnauthorized, "send a token of the cluster: Authorization: Bearer $(kubectl create token NAME)"}
	}
	sum := sha256.Sum256([]byte(token))
	id := hex.EncodeToString(sum[:])
	user, err := g.user(r.Context(), id, token)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, refusal{http.StatusUnauthorized, "the API server does not know this token, or it has expired"}
	}
	return &reviewed{g, id, user}, nil
}

func (g *Reviewed) user(ctx context.Context, id, token string) (*authenticationv1.UserInfo, error) {
	if found, ok := g.users.Get(id); ok {
		return found.(*authenticationv1.UserInfo), nil
	}
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	review, err := g.client.AuthenticationV1().TokenReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return nil, unanswered(err)
	}
	if !review.Status.Authenticated {
		g.users.Add(id, (*authenticationv1.UserInfo)(nil), refused)
		return nil, nil
	}
	g.users.Add(id, &review.Status.User, believed)
	return &review.Status.User, nil
}

// unanswered hides the error of a review, which may quote what was sent.
func unanswered(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return refusal{http.StatusServiceUnavailable, "the API server cannot be asked about this token now; try again, and look into KICK's log if it stays"}
}

type reviewed struct {
	*Reviewed
	id   string
	user *authenticationv1.UserInfo
}

func (v *reviewed) Name() string { return v.user.Username }

func (v *reviewed) May(ctx context.Context, namespace string) (bool, error) {
	key := v.id + "/" + namespace
	if allowed, ok := v.rights.Get(key); ok {
		return allowed.(bool), nil
	}
	extra := map[string]authorizationv1.ExtraValue{}
	for name, values := range v.user.Extra {
		extra[name] = authorizationv1.ExtraValue(values)
	}
	review, err := v.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: v.user.Username, UID: v.user.UID, Groups: v.user.Groups, Extra: extra,
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: namespace, Verb: "list", Group: v1alpha1.GroupVersion.Group, Version: v1alpha1.GroupVersion.Version, Resource: "kickrequests",
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, unanswered(err)
	}
	span := refused
	if review.Status.Allowed {
		span = believed
	}
	v.rights.Add(key, review.Status.Allowed, span)
	return review.Status.Allowed, nil
}
