package real

import (
	"net"
	"os/exec"
	"path/filepath"
	"time"
)

// MariaDB is a MariaDB server, which Debian has in place of MySQL. Every user has all privileges, without a
// password.
type MariaDB struct {
	*Child
	Address string
}

// MariaDB starts a MariaDB server without a database and waits until it accepts connections. Options are appended to
// its command line. Commits survive a kill, but not a crash of the machine.
func (h *Host) MariaDB(name string, options ...string) (*MariaDB, error) {
	program, err := exec.LookPath("mariadbd")
	if err != nil {
		if program, err = find("/usr/sbin/mariadbd", "mariadb-server"); err != nil {
			return nil, err
		}
	}
	addresses, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(h.dir, name, "data")
	owner, err := h.unprivileged(data, "mysql")
	if err != nil {
		return nil, err
	}
	m := &MariaDB{Child: &Child{Name: name, owner: owner}, Address: addresses[0]}
	m.args = append([]string{
		program, "--no-defaults", "--datadir=" + data, "--bind-address=127.0.0.1", "--port=" + port(m.Address),
		"--socket=" + filepath.Join(data, "socket"), "--pid-file=" + filepath.Join(data, "pid"),
		"--tmpdir=" + data, // at its start a server deletes all temporary tables in there, also those of others
		"--skip-grant-tables", "--skip-name-resolve", "--skip-slave-start",
		"--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=8M", "--innodb-log-file-size=4M",
	}, options...)
	if err := h.launch(m.Child); err != nil {
		return nil, err
	}
	return m, m.until(m.accepts)
}

// Restart starts the server again after it was killed.
func (m *MariaDB) Restart() error {
	if err := m.start(); err != nil {
		return err
	}
	return m.until(m.accepts)
}

// accepts reports whether the server greets who connects.
func (m *MariaDB) accepts() bool {
	conn, err := net.DialTimeout("tcp", m.Address, time.Second)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	head := make([]byte, 5)
	n, err := conn.Read(head)
	return err == nil && n == len(head) && head[4] == 10 // the version of the protocol; 255 would be an error
}
