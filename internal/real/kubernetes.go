package real

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// KubeAPIServer is an API server of Kubernetes, without any other part of it, and an etcd below it.
type KubeAPIServer struct {
	*Child
	Endpoint, Token string // of an administrator
	Etcd            *Etcd
	certificate     string // the file
}

// KubeAPIServer starts an API server with an etcd of its own, and waits until it is ready.
func (h *Host) KubeAPIServer(name string) (*KubeAPIServer, error) {
	program, err := find("kube-apiserver", "")
	if err != nil {
		return nil, err
	}
	etcd, err := h.Etcd(name + "-etcd")
	if err != nil {
		return nil, err
	}
	addresses, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(h.dir, name)
	k := &KubeAPIServer{
		Child: &Child{Name: name}, Endpoint: "https://" + addresses[0], Token: "locksim", Etcd: etcd,
		certificate: filepath.Join(dir, "apiserver.crt"),
	}
	key, tokens := filepath.Join(dir, "accounts.key"), filepath.Join(dir, "tokens.csv")
	k.args = []string{
		program, "--etcd-servers", etcd.Endpoint, "--cert-dir", dir, "--bind-address", "127.0.0.1", "--secure-port", port(addresses[0]),
		"--service-account-issuer", "https://locksim", "--service-account-key-file", key, "--service-account-signing-key-file", key,
		"--token-auth-file", tokens, "--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.0.0.0/24",
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(tokens, []byte(k.Token+",admin,1,system:masters\n"), 0o600); err != nil {
		return nil, err
	}
	if err := writeKey(key); err != nil {
		return nil, err
	}
	if err := h.launch(k.Child); err != nil {
		return nil, err
	}
	return k, k.until(k.ready)
}

// writeKey writes a new key, by which service accounts would be known.
func writeKey(file string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	text, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text}), 0o600)
}

// Restart starts the server again after it was killed.
func (k *KubeAPIServer) Restart() error {
	if err := k.start(); err != nil {
		return err
	}
	return k.until(k.ready)
}

// Transport carries requests to the server, which has made its certificate itself. It fails until there is one.
func (k *KubeAPIServer) Transport() (*http.Transport, error) {
	text, err := os.ReadFile(k.certificate)
	if err != nil {
		return nil, err
	}
	known := x509.NewCertPool()
	known.AppendCertsFromPEM(text)
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: known}}, nil
}

// ready reports whether the server is, and has made the namespace that everybody uses.
func (k *KubeAPIServer) ready() bool {
	transport, err := k.Transport()
	if err != nil {
		return false
	}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, Timeout: time.Second}
	for _, path := range []string{"/readyz", "/api/v1/namespaces/default"} {
		r, err := http.NewRequest(http.MethodGet, k.Endpoint+path, nil)
		if err != nil {
			return false
		}
		r.Header.Set("Authorization", "Bearer "+k.Token)
		answer, err := client.Do(r)
		if err != nil || answer.Body.Close() != nil || answer.StatusCode != http.StatusOK {
			return false
		}
	}
	return true
}
