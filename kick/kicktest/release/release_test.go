package release

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

const root = "../../.."

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestGoreleaser: every command of the house is built, reproducibly, and knows its
// version.
func TestGoreleaser(t *testing.T) {
	var config struct {
		Builds []struct {
			ID, Main, Binary string
			Goos, Goarch     []string
			Flags, Ldflags   []string
			ModTimestamp     string `yaml:"mod_timestamp"`
		}
		Archives []struct{ IDs []string }
		Kos      []struct {
			Build, Main string
			BaseImage   string `yaml:"base_image"`
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, ".goreleaser.yaml")), &config); err != nil {
		t.Fatal(err)
	}
	commands, err := filepath.Glob(root + "/cmd/*")
	if err != nil {
		t.Fatal(err)
	}
	var built []string
	for _, b := range config.Builds {
		built = append(built, b.Main)
		if _, err := os.Stat(filepath.Join(root, b.Main, "main.go")); err != nil {
			t.Errorf("build %s: %v", b.ID, err)
		}
		if !slices.Contains(b.Flags, "-trimpath") || b.ModTimestamp == "" || !slices.Equal(b.Goarch, []string{"amd64", "arm64"}) {
			t.Errorf("build %s is not the same everywhere: %+v", b.ID, b)
		}
		stamped(t, b.ID, strings.Join(b.Ldflags, " "))
	}
	for _, c := range commands {
		main := "./cmd/" + filepath.Base(c)
		if main != "./cmd/kick-trace" && !slices.Contains(built, main) { // which reads this tree, and nothing else
			t.Errorf("%s is not released", main)
		}
	}
	for _, k := range config.Kos {
		if !strings.HasSuffix(k.BaseImage, ":nonroot") {
			t.Errorf("image of %s runs as root: %s", k.Main, k.BaseImage)
		}
	}
}

// stamped: the variable that ldflags set exists.
func stamped(t *testing.T, what, ldflags string) {
	t.Helper()
	found := regexp.MustCompile(`-X github\.com/corewire/kick/(\S+)\.(\w+)=`).FindStringSubmatch(ldflags)
	if found == nil || !strings.Contains(ldflags, "-buildid=") {
		t.Errorf("%s: ldflags %q stamp no version or leave the build id", what, ldflags)
		return
	}
	files, err := filepath.Glob(filepath.Join(root, found[1], "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if content, err := os.ReadFile(file); err == nil && strings.Contains(string(content), "\nvar "+found[2]+" string\n") {
			return
		}
	}
	t.Errorf("%s: there is no variable %s in %s", what, found[2], found[1])
}

// TestImages: the Dockerfile, ko and goreleaser build the same image, for nobody who is
// root: the kubelet checks that by number.
func TestImages(t *testing.T) {
	dockerfile, ko := read(t, "Dockerfile"), read(t, ".ko.yaml")
	const base = "gcr.io/distroless/static-debian12:nonroot"
	for name, text := range map[string]string{"Dockerfile": dockerfile, ".ko.yaml": ko, ".goreleaser.yaml": read(t, ".goreleaser.yaml")} {
		if !strings.Contains(text, base) || !strings.Contains(text, "-trimpath") || !strings.Contains(text, "CGO_ENABLED") {
			t.Errorf("%s does not build a static program onto %s", name, base)
		}
	}
	if !regexp.MustCompile(`(?m)^USER [1-9]\d*:[1-9]\d*$`).MatchString(dockerfile) {
		t.Error("Dockerfile: USER is no number other than 0")
	}
	stamped(t, "Dockerfile", dockerfile)
	stamped(t, ".ko.yaml", strings.ReplaceAll(ko, ", ", " "))
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod"))
	if version == nil || !strings.Contains(dockerfile, "golang:"+version[1]+" ") {
		t.Errorf("Dockerfile does not build with the Go of go.mod, %v", version)
	}
}

// TestWorkflows: no right is given to all jobs, and an action of somebody else, if one is
// ever used, is named by its commit.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob(root + "/.github/workflows/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var workflow struct {
			Permissions map[string]string
			Jobs        map[string]struct {
				Permissions map[string]string
				Timeout     int `yaml:"timeout-minutes"`
				Steps       []struct{ Name, Uses, Run string }
			}
		}
		if err := yaml.Unmarshal(content, &workflow); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if workflow.Permissions == nil || len(workflow.Permissions) > 0 || len(workflow.Jobs) == 0 {
			t.Errorf("%s: say permissions: {} for all, and more for the job that needs it", file)
		}
		for name, job := range workflow.Jobs {
			if job.Permissions == nil || job.Timeout == 0 {
				t.Errorf("%s: job %s has no permissions or no timeout", file, name)
			}
			for _, step := range job.Steps {
				if step.Uses != "" && !regexp.MustCompile(`@[0-9a-f]{40}$`).MatchString(step.Uses) {
					t.Errorf("%s: %s is not pinned by its commit", file, step.Uses)
				}
				if strings.Contains(step.Run, "${{") {
					t.Errorf("%s: step %q pastes an expression into a script; hand it over in env", file, step.Name)
				}
			}
		}
	}
}
