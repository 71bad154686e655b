// Package original finds the CustomResourceDefinitions that the tools themselves
// ship, in their Go modules: the versions are pinned, the modules are downloaded once
// into the module cache and verified, and nothing of them is copied or compiled.
//
//	files, err := original.Files(ctx, "argocd")
package original

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing/fstest"
)

// module is where definitions come from.
type module struct {
	path, version, sum string
	files              []string
}

// modules are those of each tool.
var modules = map[string][]module{
	"argocd": {{
		"github.com/argoproj/argo-cd/v3", "v3.5.7", "h1:Xm1BF+I5OgDKUG3SDK49vn2/Y5AMyaNVko+/JT08gj0=",
		[]string{"manifests/crds/application-crd.yaml", "manifests/crds/appproject-crd.yaml"},
	}},
	"argo-rollouts": {{
		"github.com/argoproj/argo-rollouts", "v1.9.2", "h1:NaAtrUjjm9AFAyurAEFRJjP54mk98s8007B3vsdFEbI=",
		[]string{"manifests/crds/rollout-crd.yaml"},
	}},
	// What its controller wants to watch, and KICK has no business with.
	"argo-rollouts-analysis": {{
		"github.com/argoproj/argo-rollouts", "v1.9.2", "h1:NaAtrUjjm9AFAyurAEFRJjP54mk98s8007B3vsdFEbI=",
		[]string{
			"manifests/crds/analysis-run-crd.yaml", "manifests/crds/analysis-template-crd.yaml",
			"manifests/crds/cluster-analysis-template-crd.yaml", "manifests/crds/experiment-crd.yaml",
		},
	}},
	"flux": {{
		"github.com/fluxcd/kustomize-controller", "v1.9.6", "h1:XB+G3A0mky0j5uVHZWv4oSlS2RvZBoNIUhstIvY0JKE=",
		[]string{"config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml"},
	}, {
		"github.com/fluxcd/helm-controller", "v1.6.3", "h1:MSiDP/s8xRSkO3g11vBiDStxfmJ5ZVdwDEpW7BSE/UA=",
		[]string{"config/crd/bases/helm.toolkit.fluxcd.io_helmreleases.yaml"},
	}, {
		"github.com/fluxcd/source-controller", "v1.9.6", "h1:nG534/bI6nVpyHra7ONAk6xDB3xPsVT+EOLHZHXPrrc=",
		[]string{
			"config/crd/bases/source.toolkit.fluxcd.io_gitrepositories.yaml", "config/crd/bases/source.toolkit.fluxcd.io_ocirepositories.yaml",
			"config/crd/bases/source.toolkit.fluxcd.io_buckets.yaml",
		},
	}},
	"kargo": {{
		"github.com/akuity/kargo", "v1.11.2", "h1:n9qTrpkZxtlzu7eJa509XPZbsIMAYoT0qIvTiMjMTKI=",
		[]string{"charts/kargo/resources/crds/kargo.akuity.io_stages.yaml", "charts/kargo/resources/crds/kargo.akuity.io_promotions.yaml"},
	}},
	"secrets-store-csi": {{
		"sigs.k8s.io/secrets-store-csi-driver", "v1.6.0", "h1:YpKG/2hJkp3EkRGpH5SPxg1/5AkmeD5pwHNKIlE90FU=",
		[]string{
			"config/crd/bases/secrets-store.csi.x-k8s.io_secretproviderclasses.yaml",
			"config/crd/bases/secrets-store.csi.x-k8s.io_secretproviderclasspodstatuses.yaml",
		},
	}},
}

// Files are the definitions that a tool ships, by file name. An unknown tool is an error,
// as is a module that cannot be had or is not the one that was pinned.
func Files(ctx context.Context, tool string) (fs.FS, error) {
	if len(modules[tool]) == 0 {
		return nil, fmt.Errorf("no module of a tool named %q is known", tool)
	}
	files := fstest.MapFS{}
	for _, m := range modules[tool] {
		dir, err := m.download(ctx)
		if err != nil {
			return nil, err
		}
		for _, f := range m.files {
			content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f)))
			if err != nil {
				return nil, fmt.Errorf("%s@%s ships no such definition: %w", m.path, m.version, err)
			}
			files[filepath.Base(f)] = &fstest.MapFile{Data: content}
		}
	}
	return files, nil
}

// download puts a module into the module cache, unless it is there, and says where.
func (m module) download(ctx context.Context) (string, error) {
	var out, complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", m.path+"@"+m.version)
	cmd.Dir, cmd.Env = os.TempDir(), append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off") // not as a part of any module
	cmd.Stdout, cmd.Stderr = &out, &complaint
	failed := cmd.Run()
	var got struct{ Dir, Sum, Error string }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || failed != nil {
		return "", fmt.Errorf("download %s@%s: %w: %s%s", m.path, m.version, errors.Join(failed, err), got.Error, complaint.String())
	}
	if got.Sum != m.sum {
		return "", fmt.Errorf("%s@%s has checksum %s, want %s", m.path, m.version, got.Sum, m.sum)
	}
	return got.Dir, nil
}
