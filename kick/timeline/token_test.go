package timeline_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/benbjohnson/clock"

	"github.com/corewire/kick/kick/timeline"
)

// reviews is a guard that asks an API server which knows one token, of somebody who may
// see namespace shop.
func reviews() timeline.Guard {
	c := fake.NewClientset()
	c.PrependReactor("create", "tokenreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		r := a.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenReview)
		r.Status.Authenticated = r.Spec.Token == "right"
		r.Status.User.Username = "jane"
		return true, r, nil
	})
	c.PrependReactor("create", "subjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		r := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
		r.Status.Allowed = r.Spec.User == "jane" && r.Spec.ResourceAttributes.Namespace == "shop"
		return true, r, nil
	})
	return timeline.NewReviewed(c, clock.New())
}

// sent counts the requests that hold a token where none belongs: in an address.
func sent(next http.Handler, leaked *string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.String()+r.Referer(), "right") {
			*leaked = r.URL.String()
		}
		next.ServeHTTP(w, r)
	})
}

// TestTokenDialog: a page that is reached from elsewhere asks who looks, says what is wrong
// with an answer, keeps the token nowhere, and shows no more than its bearer may see.
func TestTokenDialog(t *testing.T) {
	chromium(t)
	s, h := served(t, &shelf{all: shop()}, reviews())
	leaked := ""
	server := httptest.NewServer(sent(h, &leaked))
	t.Cleanup(server.Close)
	t.Cleanup(s.Hub.Close)
	b := open(t, server.URL+"/timeline/ui#theme=light", 1440, 860)
	why := `document.querySelector("#token-why").textContent`
	b.see(`document.querySelector("#token-dialog").open`, "true")
	b.see(`document.activeElement.id`, "token")
	b.forget("401")
	b.see(why+`.startsWith("send a token of the cluster")`, "true")
	b.shoot("token")
	auditOf(b, "token", map[string]int{"dialog": 1})

	b.press("wrong" + kb.Enter)
	b.see(why, "the API server does not know this token, or it has expired")
	b.see(`document.querySelector("#token").value`, "")
	b.press(kb.Escape) // there is nothing behind it to go back to
	b.see(`document.querySelector("#token-dialog").open`, "true")

	b.press("right" + kb.Enter)
	b.see(laneCount, "3")
	b.see(`[...document.querySelectorAll("#space .group .name")].map(n => n.textContent).join()`, "shop")
	b.see(connected, "Live")
	b.see(`document.querySelector("#token-dialog").open`, "false")
	kept := b.eval(`JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie + location.href + document.documentElement.outerHTML`)
	if strings.Contains(kept, "right") && strings.Contains(kept, "Bearer") || leaked != "" {
		t.Errorf("the token is kept in the page or was sent in an address: %s", leaked)
	}
	b.forget("401")
}

// forget drops what the browser says about answers that were asked for.
func (b *browser) forget(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := b.problems[:0]
	for _, p := range b.problems {
		if !strings.Contains(p, text) {
			left = append(left, p)
		}
	}
	b.problems = left
}
