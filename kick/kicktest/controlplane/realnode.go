package controlplane

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// A real node is a kubelet with containerd, in private mount, process, network,
// host name and IPC namespaces: no port, mount, sysctl or firewall rule of the
// machine changes, and when the first process in there ends, everything in there
// ends. The whole control plane runs inside too, so that pods reach it; a relay
// makes the API server reachable on the machine's loopback.

const (
	podRange   = "10.244.0.0/24"
	pauseImage = "test.local/pause:1"
)

//go:embed realnode
var realNodeFiles embed.FS

// nodeSettings fill in the files below realnode.
type nodeSettings struct {
	Dir, CgroupRoot, CNIPlugins                           string
	NodeIP, ServiceIP, ServiceRange, PodRange, PauseImage string
	KubeletPort, KubeletHealthPort                        int
}

// debianPackages by a program that shows whether each is installed.
var debianPackages = map[string]string{
	"containerd": "containerd", "ctr": "containerd", "runc": "runc", "iptables": "iptables",
	"ip": "iproute2", "unshare": "util-linux", "nsenter": "util-linux",
}

// RealNodeUnavailable says why this machine cannot run a real node, or nil.
func RealNodeUnavailable() error { return realNodeUnavailable() }

// startSandbox makes the namespaces and runs containerd in them.
func (cp *ControlPlane) startSandbox(ctx context.Context) error {
	cp.cleanups = append(cp.cleanups, func() error { return removeCgroups(cp.dir) })
	if err := makeCgroups(cp.dir); err != nil {
		return err
	}
	if err := cp.writeNodeFiles(); err != nil {
		return err
	}
	script := cp.nodeFile("node-init.sh")
	sandbox, err := cp.Run("node", nil, "unshare", "--mount", "--propagation=private", "--pid", "--fork", "--kill-child",
		"--net", "--uts", "--ipc", "--mount-proc", "/bin/sh", script, cp.nodeFile(""), strconv.Itoa(cp.ports.apiserver))
	if err != nil {
		return err
	}
	err = waitFor(ctx, "containerd", sandbox, func(context.Context) error {
		_, err := os.Stat(cp.nodeFile("ready"))
		return err
	})
	if err != nil {
		return err
	}
	cp.enter = entering(sandbox)
	return cp.startRelay(ctx, fmt.Sprintf("/proc/%d/ns/net", sandbox.PID))
}

// entering is the command prefix that runs a program in the namespaces of a sandbox.
func entering(sandbox *Process) []string {
	pid := strconv.Itoa(sandbox.PID)
	// unshare itself stays in the old process namespace; its child has the new one.
	return []string{"nsenter", "--target=" + pid, "--mount", "--net", "--uts", "--ipc", "--pid=/proc/" + pid + "/ns/pid_for_children", "--"}
}

func (cp *ControlPlane) nodeFile(name string) string { return filepath.Join(cp.dir, "node", name) }

// writeNodeFiles fills in the configuration; CNI wants a directory of its own.
func (cp *ControlPlane) writeNodeFiles() error {
	settings := nodeSettings{
		Dir: cp.nodeFile(""), CgroupRoot: cgroupRoot(cp.dir), CNIPlugins: cniPlugins(),
		NodeIP: nodeIP, ServiceIP: serviceIP, ServiceRange: serviceRange, PodRange: podRange, PauseImage: pauseImage,
		KubeletPort: cp.ports.kubelet, KubeletHealthPort: cp.ports.kubeletHealth,
	}
	if err := os.MkdirAll(cp.nodeFile("cni"), 0o755); err != nil {
		return err
	}
	files, err := template.ParseFS(realNodeFiles, "realnode/*")
	if err != nil {
		return err
	}
	for _, file := range files.Templates() {
		path := cp.nodeFile(file.Name())
		if filepath.Ext(path) == ".conflist" {
			path = cp.nodeFile(filepath.Join("cni", file.Name()))
		}
		var content bytes.Buffer
		if err := file.Execute(&content, settings); err != nil {
			return err
		}
		if err := os.WriteFile(path, content.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// startKubelet first loads the image that holds a pod's namespaces.
func (cp *ControlPlane) startKubelet(ctx context.Context) error {
	if err := cp.LoadImage(ctx, pauseImage, "./kick/kicktest/printenv", "pause"); err != nil {
		return err
	}
	_, err := cp.run(Kubelet, "--config="+cp.nodeFile("kubelet.yaml"), "--kubeconfig="+cp.Kubeconfig,
		"--root-dir=/run/kubelet", "--cert-dir="+cp.nodeFile("kubelet-certs"),
		"--hostname-override=node-0", "--node-ip="+nodeIP)
	return err
}

// LoadImage builds the static Go program of a main package of this module, packs
// it into an image and hands that to the real node, without any registry. Pods
// find it under the name, which needs a tag other than latest. args come before
// those of the pod.
func (cp *ControlPlane) LoadImage(ctx context.Context, name, pkg string, args ...string) error {
	if cp.opts.Node != RealNode {
		return errors.New("load image: there is no real node")
	}
	root, err := Root()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(cp.dir, "image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	program, archive := filepath.Join(scratch, "program"), filepath.Join(scratch, "image.tar")
	if _, err := goCommand(ctx, root, "build", "-buildvcs=false", "-ldflags=-s -w", "-o", program, pkg); err != nil {
		return fmt.Errorf("build image %s: %w", name, err)
	}
	if err := packImage(archive, name, program, args); err != nil {
		return fmt.Errorf("pack image %s: %w", name, err)
	}
	argv := slices.Concat(cp.enter, []string{"ctr", "--namespace=k8s.io", "images", "import", "--no-unpack", archive})
	if out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("load image %s: %w\n%s", name, err, out)
	}
	return nil
}

// prepareRealNode checks the machine and installs what is missing with apt-get;
// where there is none, it says what to install.
func prepareRealNode(ctx context.Context, out io.Writer) error {
	if err := realNodeUnavailable(); err != nil {
		return err
	}
	missing := missingPackages()
	if len(missing) == 0 {
		return nil
	}
	apt, err := exec.LookPath("apt-get")
	if err != nil {
		return fmt.Errorf("install what your system calls %s", strings.Join(missing, ", "))
	}
	names := strings.Join(missing, ", ")
	return newProgress(out).during("installing "+names, "installed "+names, func() error {
		for _, args := range [][]string{{"update"}, append([]string{"install", "-y", "--no-install-recommends"}, missing...)} {
			cmd := exec.CommandContext(ctx, apt, args...)
			cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("apt-get %s: %w\n%s", strings.Join(args, " "), err, lastLines(string(out), 12))
			}
		}
		return nil
	})
}

func missingPackages() []string {
	var missing []string
	for program, name := range debianPackages {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, name)
		}
	}
	if cniPlugins() == "" {
		missing = append(missing, "containernetworking-plugins")
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// cniPlugins is where the network plugins are, by Debian's or by their own habit.
func cniPlugins() string {
	for _, dir := range []string{"/usr/lib/cni", "/opt/cni/bin"} {
		if isFile(filepath.Join(dir, "bridge")) {
			return dir
		}
	}
	return ""
}

// cgroupRoot is a name of its own for every control plane.
func cgroupRoot(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return "kick-node-" + hex.EncodeToString(sum[:])[:8]
}
