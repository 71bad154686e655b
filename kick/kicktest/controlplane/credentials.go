package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
)

// Addresses that the API server is reached by, from this machine and from pods.
const (
	loopback     = "127.0.0.1"
	serviceRange = "10.96.0.0/16"
	serviceIP    = "10.96.0.1"
	nodeIP       = "10.244.0.1" // of a real node: kubelet refuses loopback
)

// Client-side limits no test reaches.
const (
	clientQPS   = 5000
	clientBurst = 10000
)

// credentials are the files that let the programs trust each other.
type credentials struct {
	dir   string
	token string
	ca    []byte
}

func (c credentials) file(name string) string { return filepath.Join(c.dir, name) }

// newCredentials makes a serving certificate, the key that signs service account
// tokens and the administrator's token.
func newCredentials(dir string) (credentials, error) {
	c := credentials{dir: dir}
	ips := []net.IP{net.ParseIP(loopback), net.ParseIP(serviceIP), net.ParseIP(nodeIP)}
	names := []string{"localhost", "kubernetes.default.svc"}
	serving, key, err := cert.GenerateSelfSignedCertKey("kubernetes", ips, names)
	if err != nil {
		return c, fmt.Errorf("make the serving certificate: %w", err)
	}
	signing, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, fmt.Errorf("make the signing key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(signing)
	if err != nil {
		return c, fmt.Errorf("encode the signing key: %w", err)
	}
	random := make([]byte, 16)
	_, _ = rand.Read(random) // documented never to fail
	c.token, c.ca = hex.EncodeToString(random), serving
	files := map[string][]byte{
		"apiserver.crt":       serving,
		"apiserver.key":       key,
		"serviceaccounts.key": pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}),
		"tokens.csv":          []byte(c.token + `,admin,admin,"system:masters"` + "\n"),
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return c, err
	}
	for name, content := range files {
		if err := os.WriteFile(c.file(name), content, 0o600); err != nil {
			return c, err
		}
	}
	return c, nil
}

// config is the administrator's, without the client-side limits that would
// otherwise dominate what tests and benchmarks measure.
func (c credentials) config(port int) *rest.Config {
	return &rest.Config{
		Host:            fmt.Sprintf("https://%s:%d", loopback, port),
		BearerToken:     c.token,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.ca},
		QPS:             clientQPS,
		Burst:           clientBurst,
	}
}

// writeKubeconfig stores config as a file, acting as user where that is given.
func writeKubeconfig(path string, config *rest.Config, user string, groups ...string) error {
	const name = "kick"
	file := clientcmdapi.NewConfig()
	file.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	file.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: config.BearerToken, Impersonate: user, ImpersonateGroups: groups}
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	file.CurrentContext = name
	return clientcmd.WriteToFile(*file, path)
}
