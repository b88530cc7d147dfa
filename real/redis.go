package real

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// RedisConfig says how a Redis server is to be run.
type RedisConfig struct {
	Name string
	// Persistence is "none", "rdb" (Debian's save points), or the appendfsync of an append-only file: "no", "everysec",
	// "always".
	Persistence string
	// ReplicaOf is the address of its master, or of a link to it; "" if it is none's replica.
	ReplicaOf string
	// WrongClock gives the server a clock of its own, which [Redis.SetClock] sets. It needs the library faketime.
	WrongClock bool
	Options    []string // more of the command line: "--maxmemory", "10mb"
	_          struct{}
}

// Redis is a redis-server.
type Redis struct {
	*Child
	Address string
	clock   string // the file that faketime reads
}

// faketimeLibraries are where Debian has the library, for each architecture.
const faketimeLibraries = "/usr/lib/*/faketime/libfaketimeMT.so.1"

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

// ownClock has the server read its clock through faketime. The C library's malloc must come before jemalloc's, whose
// constructor asks for the time before faketime is ready.
func (r *Redis) ownClock(dir string) error {
	libraries, err := filepath.Glob(faketimeLibraries)
	if err != nil || len(libraries) == 0 {
		return &Missing{"libfaketime", "libfaketime"}
	}
	c := filepath.Join(filepath.Dir(filepath.Dir(libraries[0])), "libc.so.6")
	r.clock = filepath.Join(dir, r.Name+".clock")
	r.env = append(r.env, "LD_PRELOAD="+libraries[0]+" "+c, "FAKETIME_TIMESTAMP_FILE="+r.clock, "FAKETIME_NO_CACHE=1",
		"FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_XRESET=1")
	return r.SetClock(0, 0)
}

// SetClock has the server's clock show another time than this machine's from now on: later by step, or earlier if that is
// negative, and running at another rate, in parts per million.
func (r *Redis) SetClock(step time.Duration, ratePPM int64) error {
	if r.clock == "" {
		return fmt.Errorf("%s has no clock of its own", r.Name)
	}
	text := fmt.Sprintf("%+d.%09d", int64(step/time.Second), int64((step % time.Second).Abs()))
	if step < 0 && step > -time.Second {
		text = "-" + text[1:]
	}
	if ratePPM != 0 {
		text += fmt.Sprintf(" x%d.%06d", (1_000_000+ratePPM)/1_000_000, (1_000_000+ratePPM)%1_000_000)
	}
	next := r.clock + ".next"
	if err := os.WriteFile(next, []byte(text+"\n"), 0o644); err != nil {
		return err
	}
	return os.Rename(next, r.clock)
}

// Restart starts it again after it was killed, with what its persistence has kept.
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

// Ask sends an inline command on a connection of its own, and returns the first line of the reply. It is for the stage, not
// for locks.
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
