package real

import (
	"net"
	"time"
)

// Memcached is a memcached server.
type Memcached struct {
	*Child
	Address string
}

// Memcached starts a memcached server and waits until it accepts connections. Options are appended to its command
// line.
func (h *Host) Memcached(name string, options ...string) (*Memcached, error) {
	program, err := find("memcached", "memcached")
	if err != nil {
		return nil, err
	}
	addresses, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	m := &Memcached{Child: &Child{Name: name}, Address: addresses[0]}
	m.args = append([]string{
		program, "-l", "127.0.0.1", "-p", port(m.Address), "-U", "0", "-t", "1", "-u", "nobody",
	}, options...)
	if err := h.launch(m.Child); err != nil {
		return nil, err
	}
	return m, m.until(m.accepts)
}

// Restart starts the server again after it was killed, without any items.
func (m *Memcached) Restart() error {
	if err := m.start(); err != nil {
		return err
	}
	return m.until(m.accepts)
}

func (m *Memcached) accepts() bool {
	conn, err := net.DialTimeout("tcp", m.Address, time.Second)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}
