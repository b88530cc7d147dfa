package real

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"
)

// Etcd is an etcd server.
type Etcd struct {
	*Child
	Endpoint string
}

// Etcd starts an etcd server and waits until it is healthy. With election time-outs as short as here, the minimum TTL
// of a lease is one second; with etcd's defaults it is two.
func (h *Host) Etcd(name string) (*Etcd, error) {
	program, err := find("etcd", "etcd-server")
	if err != nil {
		return nil, err
	}
	addresses, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	e := &Etcd{Child: &Child{Name: name}, Endpoint: "http://" + addresses[0]}
	peer := "http://" + addresses[1]
	e.args = []string{
		program, "--name", name, "--data-dir", filepath.Join(h.dir, name, "data"),
		"--listen-client-urls", e.Endpoint, "--advertise-client-urls", e.Endpoint,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", name + "=" + peer,
		"--heartbeat-interval", "10", "--election-timeout", "100", "--unsafe-no-fsync",
	}
	if err := h.launch(e.Child); err != nil {
		return nil, err
	}
	return e, e.until(e.healthy)
}

// Restart starts the server again after it was killed, with its data.
func (e *Etcd) Restart() error {
	if err := e.start(); err != nil {
		return err
	}
	return e.until(e.healthy)
}

func (e *Etcd) healthy() bool { return strings.Contains(e.ask("/health"), `"true"`) }

// Version names the program, with its version.
func (e *Etcd) Version() string {
	var v struct {
		Server string `json:"etcdserver"`
	}
	_ = json.Unmarshal([]byte(e.ask("/version")), &v)
	return strings.TrimSpace("etcd " + v.Server)
}

// ask returns what the server says about itself; "" if it does not answer.
func (e *Etcd) ask(path string) string {
	client := http.Client{Timeout: time.Second}
	answer, err := client.Get(e.Endpoint + path)
	if err != nil {
		return ""
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return ""
	}
	return string(text)
}
