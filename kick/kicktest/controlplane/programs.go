package controlplane

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// Program is a program that Build can provide, by the name of its binary.
type Program string

// The control plane and its nodes.
const (
	APIServer         Program = "kube-apiserver"
	ControllerManager Program = "kube-controller-manager"
	Scheduler         Program = "kube-scheduler"
	Kubectl           Program = "kubectl"
	Kubelet           Program = "kubelet"
	Etcd              Program = "etcd"
	Kwok              Program = "kwok"
)

// Tools of the house, pinned in the same way.
const (
	Chainsaw      Program = "chainsaw"
	GolangciLint  Program = "golangci-lint"
	ControllerGen Program = "controller-gen"
	Gotestsum     Program = "gotestsum"
	Helm          Program = "helm"
	Kubeconform   Program = "kubeconform"
)

// Other tools, to be seen beside KICK: the controller of Argo Rollouts, what applies
// manifests as Flux does, and what answers queries as Prometheus does.
const (
	ArgoRollouts Program = "rollouts-controller"
	FluxApply    Program = "fluxapply"
	PromQuery    Program = "promquery"
)

// Binaries says where each program stands.
type Binaries map[Program]string

// source says what a program is built from.
type source struct {
	tool   string // the folder below .tools that pins it
	pkg    string // the main package
	module string // the module whose version names the build
	stamp  string // the variable that tells the program its own version, if it has one
}

var sources = map[Program]source{
	APIServer:         kubernetes("kube-apiserver"),
	ControllerManager: kubernetes("kube-controller-manager"),
	Scheduler:         kubernetes("kube-scheduler"),
	Kubectl:           kubernetes("kubectl"),
	Kubelet:           kubernetes("kubelet"),
	Etcd:              {tool: "etcd", pkg: "go.etcd.io/etcd/server/v3", module: "go.etcd.io/etcd/server/v3"},
	Kwok:              {tool: "kwok", pkg: "sigs.k8s.io/kwok/cmd/kwok", module: "sigs.k8s.io/kwok"},
	Chainsaw:          {tool: "chainsaw", pkg: "github.com/kyverno/chainsaw", module: "github.com/kyverno/chainsaw", stamp: "github.com/kyverno/chainsaw/pkg/version.BuildVersion"},
	GolangciLint:      {tool: "golangci-lint", pkg: "github.com/golangci/golangci-lint/v2/cmd/golangci-lint", module: "github.com/golangci/golangci-lint/v2", stamp: "main.version"},
	ControllerGen:     {tool: "controller-gen", pkg: "sigs.k8s.io/controller-tools/cmd/controller-gen", module: "sigs.k8s.io/controller-tools", stamp: "sigs.k8s.io/controller-tools/pkg/version.version"},
	Gotestsum:         {tool: "gotestsum", pkg: "gotest.tools/gotestsum", module: "gotest.tools/gotestsum"},
	ArgoRollouts:      {tool: "rollouts", pkg: "github.com/argoproj/argo-rollouts/cmd/rollouts-controller", module: "github.com/argoproj/argo-rollouts"},
	FluxApply:         {tool: "fluxapply", pkg: ".", module: "github.com/fluxcd/pkg/ssa"},
	PromQuery:         {tool: "promquery", pkg: ".", module: "github.com/prometheus/prometheus"},
	Kubeconform:       {tool: "kubeconform", pkg: "github.com/yannh/kubeconform/cmd/kubeconform", module: "github.com/yannh/kubeconform"},
	Helm:              {tool: "helm", pkg: "helm.sh/helm/v4/cmd/helm", module: "helm.sh/helm/v4", stamp: "helm.sh/helm/v4/internal/version.version"},
}

func kubernetes(program string) source {
	return source{
		tool: "kubernetes", pkg: "k8s.io/kubernetes/cmd/" + program, module: "k8s.io/kubernetes",
		stamp: "k8s.io/component-base/version.gitVersion",
	}
}

// Programs lists all programs that Build knows, in a fixed order.
func Programs() []Program { return slices.Sorted(maps.Keys(sources)) }

// DefaultPrograms are those that the tests need on this machine.
func DefaultPrograms() []Program {
	programs := programsFor(FakeNode)
	if RealNodeUnavailable() == nil {
		programs = append(programs, Kubelet)
	}
	return programs
}

// programsFor lists the programs of a control plane with the given kind of node, in the order in which
// building them shares most work.
func programsFor(node Node) []Program {
	programs := []Program{Etcd, APIServer, Kubectl}
	if node != NoNode {
		programs = append(programs, ControllerManager, Scheduler)
	}
	switch node {
	case FakeNode:
		programs = append(programs, Kwok)
	case RealNode:
		programs = append(programs, Kubelet)
	case NoNode:
	}
	return programs
}

// ldflags strip the symbols (a third of the size) and stamp the version: without
// it clients see v0.0.0, and generated files would say (devel).
func (s source) ldflags(version string) string {
	flags := []string{"-s", "-w"}
	if s.stamp != "" {
		flags = append(flags, "-X "+s.stamp+"="+version)
	}
	if s.tool == "kubernetes" {
		part := strings.Split(strings.TrimPrefix(version, "v"), ".")
		flags = append(flags, "-X k8s.io/component-base/version.gitMajor="+part[0], "-X k8s.io/component-base/version.gitMinor="+part[1])
	}
	return strings.Join(flags, " ")
}

// pin reads the version of the program from its tool module, and a key that
// changes with anything that goes into the build: a bump makes a new cache folder.
func (s source) pin(root string) (version, key string, err error) {
	dir := filepath.Join(root, ".tools", s.tool)
	sum := sha256.New()
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if path == filepath.Join(dir, "vendor") {
			return fs.SkipDir // left by hand, and not used
		}
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if entry.Name() == "go.mod" {
			line := regexp.MustCompile(`(?m)^(?:require)?\s*` + regexp.QuoteMeta(s.module) + ` (v\S+)`).FindSubmatch(content)
			if line == nil {
				return fmt.Errorf("%s requires no %s", path, s.module)
			}
			version = string(line[1])
		}
		_, err = fmt.Fprintf(sum, "%s %d\n%s", entry.Name(), len(content), content)
		return err
	})
	if err != nil {
		return "", "", fmt.Errorf("read the pinned version of %s: %w", s.tool, err)
	}
	key = fmt.Sprintf("%s-%s-%s-%s-%s", s.tool, version, runtime.GOOS, runtime.GOARCH, hex.EncodeToString(sum.Sum(nil))[:8])
	return version, key, nil
}
