package real

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// RedisConfig configures a Redis server.
type RedisConfig struct {
	Name string
	// Persistence is "none", "rdb" (Debian's save points), or the appendfsync of an append-only file: "no", "everysec",
	// "always".
	Persistence string
	// ReplicaOf is the address of its master, or of a link to it; "" if it is not a replica.
	ReplicaOf string
	// WrongClock gives the server a clock of its own, which [Child.SetClock] sets. It needs the library faketime.
	WrongClock bool
	Options    []string // appended to the command line: "--maxmemory", "10mb"
	_          struct{}
}

// Redis is a redis-server.
type Redis struct {
	*Child
	Address string
}

// Redis starts a redis-server and waits until it answers.
func (h *Host) Redis(c RedisConfig) (*Redis, error) {
	program, err := find("redis-server", "redis-server")
	if err != nil {
		return nil, err
	}
	addresses, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	r := &Redis{Child: &Child{Name: c.Name}, Address: addresses[0]}
	r.args = []string{
		program, "--bind", "127.0.0.1", "--port", port(r.Address), "--daemonize", "no", "--repl-diskless-sync", "no",
	}
	switch c.Persistence {
	case "", "none":
		r.args = append(r.args, "--save", "", "--appendonly", "no")
	case "rdb":
		r.args = append(r.args, "--save", "3600 1 300 100 60 10000", "--appendonly", "no")
	case "no", "everysec", "always":
		r.args = append(r.args, "--save", "", "--appendonly", "yes", "--appendfsync", c.Persistence)
	default:
		return nil, fmt.Errorf("real: no persistence of Redis is called %q", c.Persistence)
	}
	if c.ReplicaOf != "" {
		host, p, err := net.SplitHostPort(c.ReplicaOf)
		if err != nil {
			return nil, err
		}
		r.args = append(r.args, "--replicaof", host+" "+p)
	}
	r.args = append(r.args, c.Options...)
	if c.WrongClock {
		if err := r.ownClock(h.dir); err != nil {
			return nil, err
		}
	}
	if err := h.launch(r.Child); err != nil {
		return nil, err
	}
	return r, r.until(r.answers)
}

// Restart starts the server again after it was killed, with the data that its persistence has kept.
func (r *Redis) Restart() error {
	if err := r.start(); err != nil {
		return err
	}
	return r.until(r.answers)
}

func (r *Redis) answers() bool {
	reply, err := r.Ask("PING")
	return err == nil && reply == "+PONG"
}

// Ask sends an inline command on a separate connection, and returns the first line of the reply. It is for test
// control, not for locks.
func (r *Redis) Ask(command ...string) (string, error) {
	conn, err := net.DialTimeout("tcp", r.Address, time.Second)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintf(conn, "%s\r\n", strings.Join(command, " ")); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if strings.HasPrefix(line, "-") {
		return line, fmt.Errorf("%s: %s: %s", r.Name, command[0], strings.TrimSpace(line))
	}
	return strings.TrimSpace(line), err
}

// Version names the program, with its version.
func (r *Redis) Version() string {
	info, err := r.Info("server")
	if err != nil {
		return "redis-server"
	}
	return "redis-server " + info["redis_version"]
}

// Info returns the fields of a section of INFO.
func (r *Redis) Info(section string) (map[string]string, error) {
	conn, err := net.DialTimeout("tcp", r.Address, time.Second)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(conn, "INFO %s\r\n", section); err != nil {
		return nil, err
	}
	from, size := bufio.NewReader(conn), 0
	if _, err := fmt.Fscanf(from, "$%d\r\n", &size); err != nil {
		return nil, fmt.Errorf("%s: INFO: %w", r.Name, err)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(from, text); err != nil {
		return nil, err
	}
	info := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	return info, nil
}

// Follow makes the server a replica of the server at an address; "" makes it a master.
func (r *Redis) Follow(master string) error {
	host, port := "NO", "ONE"
	if master != "" {
		var err error
		if host, port, err = net.SplitHostPort(master); err != nil {
			return err
		}
	}
	_, err := r.Ask("REPLICAOF", host, port)
	return err
}

// Synced waits until the server, a replica, has its master's data and receives every change.
func (r *Redis) Synced() error {
	return r.until(func() bool {
		info, err := r.Info("replication")
		return err == nil && info["master_link_status"] == "up"
	})
}
