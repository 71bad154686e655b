package argocd

import (
	"fmt"
	"strings"

	"github.com/corewire/kick/kick/model/gitops"
)

// What Argo CD writes to the objects it manages.
const (
	TrackingAnnotation     = "argocd.argoproj.io/tracking-id"
	InstallationAnnotation = "argocd.argoproj.io/installation-id"
)

// Ref names an Application.
type Ref struct{ Namespace, Name string }

// String is "Application namespace/name", as messages print it.
func (r Ref) String() string { return "Application " + r.Namespace + "/" + r.Name }

// ParseTrackingID reads "<instance>:<group>/<kind>:<namespace>/<name>". The name may
// hold colons, as those of RBAC do. The instance is an Application of the control
// plane's namespace, or "<namespace>_<application>": no name in Kubernetes holds the
// underscore. An error quotes the part that is wrong.
func ParseTrackingID(id, controlPlane string) (Ref, gitops.Object, error) {
	wrong := func(part, want string) (Ref, gitops.Object, error) {
		return Ref{}, gitops.Object{}, fmt.Errorf("%s %s: %s: want %s", TrackingAnnotation, gitops.Quote(id), gitops.Quote(part), want)
	}
	parts := strings.SplitN(id, ":", 3)
	if len(parts) != 3 {
		return wrong(id, "application:group/Kind:namespace/name")
	}
	kind := strings.Split(parts[1], "/")
	if len(kind) != 2 || kind[1] == "" {
		return wrong(parts[1], "group/Kind")
	}
	name := strings.Split(parts[2], "/")
	if len(name) != 2 || name[1] == "" {
		return wrong(parts[2], "namespace/name")
	}
	app := Ref{Namespace: controlPlane, Name: parts[0]}
	if namespace, bare, elsewhere := strings.Cut(parts[0], "_"); elsewhere {
		app = Ref{Namespace: namespace, Name: bare}
	}
	if app.Name == "" || app.Namespace == "" {
		return wrong(parts[0], "application or namespace_application")
	}
	return app, gitops.Object{Group: kind[0], Kind: kind[1], Namespace: name[0], Name: name[1]}, nil
}

// Track is what a workload's own annotations say about its owner.
type Track struct {
	App     Ref    // zero: they name none that counts
	Foreign bool   // another installation of Argo CD manages it
	Note    string // why they name none, for the message
}

// TrackOf reads the annotations of a workload.
func TrackOf(c *Config, s *Settings, workload gitops.Object, annotations map[string]string) Track {
	id, installation := annotations[TrackingAnnotation], annotations[InstallationAnnotation]
	switch {
	case installation != "" && installation != s.InstallationID:
		return Track{Foreign: true, Note: fmt.Sprintf("%s is %s, and installationID of argocd-cm in %s is %s",
			InstallationAnnotation, gitops.Quote(installation), c.Namespace, gitops.Quote(s.InstallationID))}
	case id == "":
		return Track{Note: "it has no " + TrackingAnnotation}
	case s.ByLabel:
		return Track{Note: TrackingAnnotation + " does not count, since Argo CD tracks by label"}
	case installation != s.InstallationID:
		return Track{Note: fmt.Sprintf("it has no %s, and installationID of argocd-cm in %s is %s",
			InstallationAnnotation, c.Namespace, gitops.Quote(s.InstallationID))}
	}
	app, object, err := ParseTrackingID(id, c.Namespace)
	switch {
	case err != nil:
		return Track{Note: err.Error()}
	case object != workload:
		return Track{Note: fmt.Sprintf("%s %s describes another object, so it was copied", TrackingAnnotation, gitops.Quote(id))}
	}
	return Track{App: app, Note: fmt.Sprintf("%s names %s", TrackingAnnotation, app)}
}
