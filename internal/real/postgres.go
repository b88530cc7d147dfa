package real

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"time"
)

// Postgres is a PostgreSQL server. Its superuser is postgres, without a password, and so is its first database.
type Postgres struct {
	*Child
	Address string
}

// Postgres starts a PostgreSQL server with an empty cluster of databases and waits until it accepts connections.
// Options are settings of the command line, such as "deadlock_timeout=20". Commits survive a kill, but not a crash of
// the machine.
func (h *Host) Postgres(name string, options ...string) (*Postgres, error) {
	program, err := findPostgres("postgres")
	if err != nil {
		return nil, err
	}
	initdb, err := findPostgres("initdb")
	if err != nil {
		return nil, err
	}
	addresses, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(h.dir, name, "data")
	owner, err := h.unprivileged(data, "postgres")
	if err != nil {
		return nil, err
	}
	setup := &Child{Name: name + "-initdb", owner: owner, args: []string{
		initdb, "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions",
	}}
	if err := h.launch(setup); err != nil {
		return nil, err
	}
	if <-setup.ended; !setup.succeeded {
		return nil, fmt.Errorf("%s: initdb: %s", name, setup.Log())
	}
	p := &Postgres{Child: &Child{Name: name, owner: owner}, Address: addresses[0]}
	p.args = []string{
		program, "-D", data, "-h", "127.0.0.1", "-p", port(p.Address), "-k", "", "-F",
		"-c", "autovacuum=off", "-c", "max_connections=30", "-c", "shared_buffers=8MB", "-c", "jit=off",
	}
	for _, o := range options {
		p.args = append(p.args, "-c", o)
	}
	if err := h.launch(p.Child); err != nil {
		return nil, err
	}
	return p, p.until(p.accepts)
}

// Restart starts the server again after it was killed. The processes of its sessions end by themselves, but not at
// once, and until then a new server refuses to start.
func (p *Postgres) Restart() error {
	deadline := time.Now().Add(patience)
	for {
		if err := p.start(); err != nil {
			return err
		}
		err := p.until(p.accepts)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		select {
		case <-p.ended:
		default:
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// accepts reports whether the server answers to the first message of a session, rather than that it is starting up.
func (p *Postgres) accepts() bool {
	conn, err := net.DialTimeout("tcp", p.Address, time.Second)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	startup := "\x00\x03\x00\x00user\x00postgres\x00\x00"
	if _, err := conn.Write(append([]byte{0, 0, 0, byte(len(startup) + 4)}, startup...)); err != nil {
		return false
	}
	first := make([]byte, 1)
	_, err = conn.Read(first)
	return err == nil && first[0] == 'R' // authentication; E would be an error
}

// findPostgres finds a program of PostgreSQL, which Debian keeps out of the path.
func findPostgres(program string) (string, error) {
	if path, err := find(program, "postgresql"); err == nil {
		return path, nil
	}
	versions, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + program)
	if err != nil || len(versions) == 0 {
		return "", &Missing{program, "postgresql"}
	}
	return slices.Max(versions), nil
}
