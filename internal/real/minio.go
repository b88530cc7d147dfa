package real

import (
	"net/http"
	"path/filepath"
	"time"
)

// MinIO is a MinIO server, which has the API of S3. Requests are signed with its key and secret.
type MinIO struct {
	*Child
	Endpoint, Key, Secret string
}

// MinIO starts a MinIO server on one drive, and waits until it is ready.
func (h *Host) MinIO(name string) (*MinIO, error) {
	program, err := find("minio", "")
	if err != nil {
		return nil, err
	}
	addresses, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	m := &MinIO{Child: &Child{Name: name}, Endpoint: "http://" + addresses[0], Key: "locksim", Secret: "locksim-secret"}
	home := filepath.Join(h.dir, name)
	m.args = []string{program, "server", "--quiet", "--address", addresses[0], filepath.Join(home, "data")}
	m.env = []string{
		"HOME=" + home, "MINIO_ROOT_USER=" + m.Key, "MINIO_ROOT_PASSWORD=" + m.Secret, "MINIO_BROWSER=off", "MINIO_UPDATE=off",
		"MINIO_CI_CD=1", // it may use the drive of the operating system
	}
	if err := h.launch(m.Child); err != nil {
		return nil, err
	}
	return m, m.until(m.ready)
}

// Restart starts the server again after it was killed, with its data.
func (m *MinIO) Restart() error {
	if err := m.start(); err != nil {
		return err
	}
	return m.until(m.ready)
}

// ready reports whether the server knows who may do what. It says of itself that it is ready before it does.
func (m *MinIO) ready() bool {
	client := http.Client{Timeout: time.Second}
	answer, err := client.Get(m.Endpoint)
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil && answer.StatusCode == http.StatusForbidden
}
