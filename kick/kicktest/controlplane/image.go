package controlplane

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"runtime"
)

// Just enough of the OCI image layout to hand one static program to containerd.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar"
)

type object = map[string]any

// packImage writes an archive with an image of one layer, in which the program is
// the only file and runs as nobody in particular.
func packImage(archive, name, program string, args []string) error {
	binary, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	layer, err := tarball(file{"program", 0o755, binary})
	if err != nil {
		return err
	}
	platform := object{"os": runtime.GOOS, "architecture": runtime.GOARCH}
	config := marshal(object{
		"os": runtime.GOOS, "architecture": runtime.GOARCH,
		"config": object{"Entrypoint": append([]string{"/program"}, args...), "User": "65532:65532"},
		"rootfs": object{"type": "layers", "diff_ids": []string{digest(layer)}},
	})
	manifest := marshal(object{
		"schemaVersion": 2, "mediaType": typeManifest,
		"config": descriptor(typeConfig, config), "layers": []object{descriptor(typeLayer, layer)},
	})
	entry := descriptor(typeManifest, manifest)
	entry["platform"] = platform
	entry["annotations"] = object{"io.containerd.image.name": name}
	index := marshal(object{"schemaVersion": 2, "mediaType": typeIndex, "manifests": []object{entry}})
	content, err := tarball(
		file{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		file{"index.json", 0o644, index},
		blob(manifest), blob(config), blob(layer),
	)
	if err != nil {
		return err
	}
	return os.WriteFile(archive, content, 0o644)
}

type file struct {
	name    string
	mode    int64
	content []byte
}

func blob(content []byte) file {
	return file{"blobs/sha256/" + digest(content)[len("sha256:"):], 0o644, content}
}

func tarball(files ...file) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content))}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close() // writes the end of the archive
	return out.Bytes(), err
}

func descriptor(mediaType string, content []byte) object {
	return object{"mediaType": mediaType, "digest": digest(content), "size": len(content)}
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// marshal cannot fail: its arguments are maps of strings and numbers.
func marshal(o object) []byte {
	out, _ := json.Marshal(o)
	return out
}
