package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/corewire/kick/kick/api/crds"
)

// writeCRDs makes a template of each CRD: it can be left out, kept when the chart
// goes, and carries the labels of the chart. Other files of the folder are removed.
func writeCRDs(dir string) error {
	names, err := fs.Glob(crds.FS, "*.yaml")
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		content, err := crds.FS.ReadFile(name)
		if err != nil {
			return err
		}
		short := strings.TrimPrefix(name, "kick.corewire.io_")
		made, err := crdTemplate(string(content), switches[short])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := write(filepath.Join(dir, short), made); err != nil {
			return err
		}
	}
	return nil
}

const (
	annotations = "  annotations:\n"
	labels      = "  labels:\n    app.kubernetes.io/name: kick\n"
)

// switches are the values besides crds.enabled without which a CRD is left out. That of
// ConfigBundles has none: with their kind the garbage collector would take ConfigMaps that
// are in use.
var switches = map[string]string{"notificationpolicies.yaml": ".Values.notifications.enabled"}

// crdTemplate is the template of a CRD as controller-gen writes it, left out unless the
// further value is set; empty: there is none.
func crdTemplate(crd, further string) (string, error) {
	crd = strings.TrimPrefix(crd, "---\n")
	// Descriptions may hold what helm would take for an action.
	crd = strings.ReplaceAll(crd, "{{", `{{ "{{" }}`)
	if strings.Count(crd, annotations) == 0 || strings.Count(crd, labels) == 0 {
		return "", fmt.Errorf("its metadata does not begin with annotations and the label app.kubernetes.io/name: kick")
	}
	crd = strings.Replace(crd, annotations, annotations+`    {{- if .Values.crds.keep }}
    helm.sh/resource-policy: keep
    {{- end }}
    {{- with .Values.commonAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
`, 1)
	crd = strings.Replace(crd, labels, `  labels:
    {{- mergeOverwrite (include "kick.labels" . | fromYaml) .Values.commonLabels | toYaml | nindent 4 }}
`, 1)
	condition := ".Values.crds.enabled"
	if further != "" {
		condition = "and " + condition + " " + further
	}
	return "{{- /* Written by make generate from kick/api/crds. */}}\n{{- if " + condition + " }}\n" + crd + "{{- end }}\n", nil
}
