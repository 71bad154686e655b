package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/corewire/kick/kick/operator"
)

// tools are the API groups of other tools, by the value that turns one on.
var tools = map[string]string{
	"argoproj.io":                 "argocd",
	"helm.toolkit.fluxcd.io":      "flux",
	"kustomize.toolkit.fluxcd.io": "flux",
	"source.toolkit.fluxcd.io":    "flux",
	"kargo.akuity.io":             "kargo",
	"secrets-store.csi.x-k8s.io":  "secretsStoreCSI",
}

// shared are resources of a tool that has its API group in common with another.
var shared = map[string]string{"rollouts": "argoRollouts"}

// rules are the chart's templates of the rules of KICK's roles, and of the writes
// that follow from them: kick, own (KICK's own namespace), one for each further role
// and one for each GitOps tool.
func rules() (string, error) {
	roles, err := operator.Roles()
	if err != nil {
		return "", err
	}
	for _, k := range operator.ForeignKinds() {
		if tools[k.Group] == "" {
			return "", fmt.Errorf("say in charts/generate to which tool group %s belongs", k.Group)
		}
	}
	sets := map[string][]rbacv1.PolicyRule{}
	for _, r := range roles {
		for _, rule := range r.Rules {
			set := setOf(r, rule)
			sets[set] = append(sets[set], rule)
		}
	}
	var b strings.Builder
	b.WriteString("{{- /* Written by make generate from kick/operator/rbac/role.yaml. */}}\n")
	for _, set := range slices.Sorted(maps.Keys(sets)) {
		text, err := yaml.Marshal(sets[set])
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n{{- define \"kick.rules.%s\" -}}\n%s{{- end }}\n", set, text)
		if all := writes(sets[set]); len(all) > 0 {
			fmt.Fprintf(&b, "\n{{- define \"kick.writes.%s\" -}}\n%s\n{{- end }}\n", set, strings.Join(all, "\n"))
		}
	}
	return b.String(), nil
}

// setOf is the set to which a rule of a role belongs.
func setOf(r operator.Role, rule rbacv1.PolicyRule) string {
	switch tool := tools[rule.APIGroups[0]]; {
	case shared[rule.Resources[0]] != "":
		return shared[rule.Resources[0]]
	case tool != "":
		return tool
	case r.Own:
		return "own"
	}
	return r.Name
}

// operations are what admission calls the verbs that write.
var operations = map[string]string{"create": "CREATE", "update": "UPDATE", "patch": "UPDATE", "delete": "DELETE", "deletecollection": "DELETE"}

// writes are the lines of a CEL list: operation, group and resource of every write.
func writes(rules []rbacv1.PolicyRule) []string {
	all := map[string]bool{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					if operation := operations[verb]; operation != "" {
						all[fmt.Sprintf("'%s %s/%s',", operation, group, resource)] = true
					}
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}
