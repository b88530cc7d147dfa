package real

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// EnsembleConfig configures an ensemble of ZooKeeper servers.
type EnsembleConfig struct {
	Name      string
	Servers   int
	Tick      time.Duration // time-outs of sessions are between 2 and 20 ticks
	SyncLimit int           // how many ticks leader and followers tolerate silence; 5 if 0
	// Peer returns the address at which one server reaches another, in place of the other's own: that of a link.
	// Servers are numbered from 0. It may be nil.
	Peer       func(from, to int, port PeerPort, address string) (string, error)
	Properties []string // Java system properties, such as zookeeper.throttled_op_wait_time=5
	_          struct{}
}

// PeerPort is one of the two ports on which servers listen for other servers.
type PeerPort uint8

// The ports.
const (
	QuorumPort   PeerPort = iota // followers connect to it
	ElectionPort                 // servers vote on it
)

// ZooKeeper is one server of an ensemble.
type ZooKeeper struct {
	*Child
	Address string
}

// ZooKeeper starts an ensemble of the given number of servers and waits until it serves.
func (h *Host) ZooKeeper(name string, servers int, tick time.Duration) ([]*ZooKeeper, error) {
	return h.Ensemble(EnsembleConfig{Name: name, Servers: servers, Tick: tick})
}

// Ensemble starts an ensemble and waits until it serves.
//
// Servers that do not get ready are started again at other addresses: one may have been taken meanwhile, and who misses an election waits for
// up to a minute until it asks again (FastLeaderElection.java, maxNotificationInterval).
func (h *Host) Ensemble(c EnsembleConfig) ([]*ZooKeeper, error) {
	for tries := 3; ; tries-- {
		list, err := h.ensemble(&c)
		if missing := (*Missing)(nil); err == nil || tries == 1 || c.Peer != nil || errors.As(err, &missing) {
			return list, err
		}
		for _, z := range list {
			if err := z.Kill(); err != nil {
				return nil, err
			}
		}
	}
}

// ensemble starts servers once. With an error it returns those that it has started.
func (h *Host) ensemble(c *EnsembleConfig) ([]*ZooKeeper, error) {
	java, err := find("java", "default-jre-headless")
	if err != nil {
		return nil, err
	}
	const jar = "/usr/share/java/zookeeper.jar"
	if _, err := os.Stat(jar); err != nil {
		return nil, &Missing{"ZooKeeper", "zookeeper"}
	}
	addresses, err := freePorts(3 * c.Servers)
	if err != nil {
		return nil, err
	}
	var list []*ZooKeeper
	for i := range c.Servers {
		z := &ZooKeeper{Child: &Child{Name: fmt.Sprintf("%s-%d", c.Name, i+1)}, Address: addresses[i]}
		dir := filepath.Join(h.dir, z.Name)
		if err := os.RemoveAll(dir); err != nil {
			return list, err
		}
		if err := c.write(dir, i, addresses); err != nil {
			return list, err
		}
		main := "org.apache.zookeeper.server.ZooKeeperServerMain"
		if c.Servers > 1 {
			main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
		}
		z.args = []string{java, "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.forceSync=no"}
		for _, property := range c.Properties {
			z.args = append(z.args, "-D"+property)
		}
		z.args = append(z.args, "-cp", jar+":/usr/share/java/slf4j-nop.jar", main, filepath.Join(dir, "zoo.cfg"))
		if err := h.launch(z.Child); err != nil {
			return list, err
		}
		list = append(list, z)
	}
	for _, z := range list {
		if err := z.until(z.serves); err != nil {
			return list, err
		}
	}
	return list, nil
}

// write writes the configuration of one server. The addresses are those for clients, then those of the quorum's ports, then
// those of the elections'.
func (c *EnsembleConfig) write(dir string, server int, addresses []string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text := fmt.Sprintf("tickTime=%d\ninitLimit=100\nsyncLimit=%d\ndataDir=%s\nclientPortAddress=127.0.0.1\nclientPort=%s\n"+
		"admin.enableServer=false\n4lw.commands.whitelist=*\nmaxClientCnxns=0\n",
		c.Tick.Milliseconds(), cmp.Or(c.SyncLimit, 5), dir, port(addresses[server]))
	for other := range c.Servers {
		if c.Servers == 1 {
			break
		}
		ports := [2]string{}
		for p := range PeerPort(2) {
			address := addresses[(int(p)+1)*c.Servers+other]
			if other != server && c.Peer != nil {
				var err error
				if address, err = c.Peer(server, other, p, address); err != nil {
					return err
				}
			}
			ports[p] = port(address)
		}
		text += fmt.Sprintf("server.%d=127.0.0.1:%s:%s\n", other+1, ports[QuorumPort], ports[ElectionPort])
	}
	if err := os.WriteFile(filepath.Join(dir, "zoo.cfg"), []byte(text), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "myid"), fmt.Appendln(nil, server+1), 0o644)
}

// Restart starts the server again after it was killed.
func (z *ZooKeeper) Restart() error {
	if err := z.start(); err != nil {
		return err
	}
	return z.until(z.serves)
}

// Leads reports whether the server leads its ensemble.
func (z *ZooKeeper) Leads() bool {
	status, err := z.Status()
	return err == nil && strings.Contains(status, "Mode: leader")
}

// serves reports whether the server takes sessions; it says that it is all right somewhat earlier.
func (z *ZooKeeper) serves() bool {
	status, err := z.Status()
	return err == nil && strings.Contains(status, "Mode:")
}

// Status returns the server's own report: its mode, its last transaction.
func (z *ZooKeeper) Status() (string, error) {
	conn, err := net.DialTimeout("tcp", z.Address, time.Second)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return "", err
	}
	text, err := io.ReadAll(conn)
	return string(text), err
}

// Version names the program, with its version.
func (z *ZooKeeper) Version() string {
	status, _ := z.Status()
	_, status, _ = strings.Cut(status, "Zookeeper version: ")
	version, _, _ := strings.Cut(status, "-")
	return strings.TrimSpace("ZooKeeper " + version)
}

// EndSession makes the server close a session, as its client could on another connection.
func (z *ZooKeeper) EndSession(session int64, password []byte) error {
	conn, err := net.DialTimeout("tcp", z.Address, time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	var frames []byte
	connect := binary.BigEndian.AppendUint32(nil, 0)         // the protocol's version
	connect = binary.BigEndian.AppendUint64(connect, 0)      // the last transaction seen
	connect = binary.BigEndian.AppendUint32(connect, 10_000) // the time-out, in milliseconds
	connect = binary.BigEndian.AppendUint64(connect, uint64(session))
	connect = append(binary.BigEndian.AppendUint32(connect, uint32(len(password))), password...)
	closing := binary.BigEndian.AppendUint32(nil, 1)              // the number of the request
	closing = binary.BigEndian.AppendUint32(closing, 0xffff_fff5) // -11: closeSession
	for _, frame := range [...][]byte{connect, closing} {
		frames = append(binary.BigEndian.AppendUint32(frames, uint32(len(frame))), frame...)
	}
	if _, err := conn.Write(frames); err != nil {
		return err
	}
	_, err = io.ReadAll(conn) // the server closes the connection when the session is over
	return err
}
