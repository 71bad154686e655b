package argocd

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/corewire/kick/kick/model/gitops"
	"github.com/corewire/kick/kick/model/gitops/syncwindow"
)

// DefaultNamespace is where Argo CD's control plane lives if nothing says otherwise.
const DefaultNamespace = "argocd"

// How every Argo CD calls the cluster it runs in.
const (
	inClusterServer = "https://kubernetes.default.svc"
	inClusterName   = "in-cluster"
)

// Config is what the operator is told about Argo CD.
type Config struct {
	Namespace  string        // of the control plane; projects and settings are read there
	Namespaces []string      // where Applications may live besides it; empty: anywhere
	Clusters   []string      // servers and names of this cluster, besides the two that are built in
	StaleAfter time.Duration // a comparison older than this proves nothing; 0: five refresh intervals of Argo CD; below 0: never too old
}

// Watches reports whether Applications of a namespace are looked at.
func (c *Config) Watches(namespace string) bool {
	return len(c.Namespaces) == 0 || namespace == c.Namespace || slices.Contains(c.Namespaces, namespace)
}

// here reports whether a destination is this cluster. A cluster may have any name in
// Argo CD; only its Secrets tell, which KICK does not read.
func (c *Config) here(d Destination) bool {
	server := strings.TrimRight(d.Server, "/")
	return server == inClusterServer || d.Name == inClusterName ||
		server != "" && slices.ContainsFunc(c.Clusters, func(s string) bool { return strings.TrimRight(s, "/") == server }) ||
		d.Name != "" && slices.Contains(c.Clusters, d.Name)
}

// Settings are the parts of ConfigMap argocd-cm that matter. The zero value is an Argo
// CD of which nothing was configured.
type Settings struct {
	InstallationID string
	ByLabel        bool          // objects are tracked by label alone; a tracking-id is a leftover
	Refresh        time.Duration // how often an Application is compared, with jitter; 0: not by time
	globals        []global
	unread         error // why the global projects cannot be read
}

// global is an entry of globalProjects.
type global struct {
	ProjectName   string               `json:"projectName"`
	LabelSelector metav1.LabelSelector `json:"labelSelector"`
}

// refreshDefault is Argo CD's own: two minutes, and one of jitter.
const refreshDefault = 3 * time.Minute

// refreshMax is as good as never; what is computed from it does not overflow.
const refreshMax = 365 * 24 * time.Hour

// ReadSettings reads the data of argocd-cm. Who owns a workload does not depend on the
// global projects, so that only GlobalsOf tells that they cannot be read.
func ReadSettings(where string, data map[string]string) Settings {
	s := Settings{
		InstallationID: data["installationID"],
		ByLabel:        data["application.resourceTrackingMethod"] == "label",
		Refresh:        refreshDefault,
	}
	if d, err := time.ParseDuration(data["timeout.reconciliation"]); err == nil && d >= 0 {
		s.Refresh = min(d, refreshMax)
		if jitter, err := time.ParseDuration(data["timeout.reconciliation.jitter"]); err == nil && jitter > 0 && d > 0 {
			s.Refresh += min(jitter, refreshMax)
		}
	}
	if err := yaml.Unmarshal([]byte(data["globalProjects"]), &s.globals); err != nil {
		s.unread = fmt.Errorf("%s: data.globalProjects %s: want a list of projectName and labelSelector", where, gitops.Quote(data["globalProjects"]))
	}
	return s
}

// GlobalsOf names the global projects whose windows a project has besides its own, in
// order. As in Argo CD, a selector that cannot be read ends the list.
func (s *Settings) GlobalsOf(p *Project) ([]string, error) {
	if s.unread != nil {
		return nil, s.unread
	}
	var names []string
	for i := range s.globals {
		g := &s.globals[i]
		if g.ProjectName == p.Name {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(&g.LabelSelector)
		if err != nil {
			break
		}
		if selector.Matches(labels.Set(p.Labels)) {
			names = append(names, g.ProjectName)
		}
	}
	return names, nil
}

// Project is an AppProject.
type Project struct {
	Name             string
	Labels           map[string]string
	SourceNamespaces []string // patterns of namespaces whose Applications may use it
	Windows          []syncwindow.Window
}

// ReadProject reads an AppProject.
func ReadProject(namespace, name string, object map[string]any) (*Project, error) {
	f := gitops.Read(fmt.Sprintf("AppProject %s/%s", namespace, name), object)
	p := &Project{
		Name: name, Labels: map[string]string{},
		SourceNamespaces: f.Strings("spec", "sourceNamespaces"),
		Windows:          syncwindow.Read(f, "spec", "syncWindows"),
	}
	for key, value := range f.Map("metadata", "labels") {
		p.Labels[key] = fmt.Sprint(value)
	}
	return p, f.Err()
}

// Merge adds the windows of global projects, in their order.
func (p *Project) Merge(globals []*Project) {
	for _, g := range globals {
		p.Windows = append(p.Windows, g.Windows...)
	}
}

// admits reports whether Applications of a namespace may use the project. A pattern
// between slashes is a regular expression, any other a glob.
func (p *Project) admits(namespace string) bool {
	return slices.ContainsFunc(p.SourceNamespaces, func(pattern string) bool {
		if len(pattern) > 1 && strings.HasPrefix(pattern, "/") && strings.HasSuffix(pattern, "/") {
			expression, err := regexp.Compile(pattern[1 : len(pattern)-1])
			return err == nil && expression.MatchString(namespace)
		}
		return syncwindow.Glob(pattern, namespace)
	})
}
