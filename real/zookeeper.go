package real

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ZooKeeper is one server of an ensemble.
type ZooKeeper struct {
	*Child
	Address string
}

// ZooKeeper starts an ensemble of so many servers and waits until it serves. Sessions live between two and twenty ticks.
func (h *Host) ZooKeeper(name string, servers int, tick time.Duration) ([]*ZooKeeper, error) {
	java, err := find("java", "default-jre-headless")
	if err != nil {
		return nil, err
	}
	const jar = "/usr/share/java/zookeeper.jar"
	if _, err := os.Stat(jar); err != nil {
		return nil, &Missing{"ZooKeeper", "zookeeper"}
	}
	addresses, err := freePorts(3 * servers)
	if err != nil {
		return nil, err
	}
	quorum := ""
	for i := range servers {
		if servers > 1 {
			quorum += fmt.Sprintf("server.%d=127.0.0.1:%s:%s\n", i+1, port(addresses[servers+i]), port(addresses[2*servers+i]))
		}
	}
	var list []*ZooKeeper
	for i := range servers {
		z := &ZooKeeper{Child: &Child{Name: fmt.Sprintf("%s-%d", name, i+1)}, Address: addresses[i]}
		dir := filepath.Join(h.dir, z.Name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		config := fmt.Sprintf("tickTime=%d\ninitLimit=10\nsyncLimit=5\ndataDir=%s\nclientPortAddress=127.0.0.1\nclientPort=%s\n"+
			"admin.enableServer=false\n4lw.commands.whitelist=*\nmaxClientCnxns=0\n%s",
			tick.Milliseconds(), dir, port(z.Address), quorum)
		if err := os.WriteFile(filepath.Join(dir, "zoo.cfg"), []byte(config), 0o644); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, "myid"), fmt.Appendln(nil, i+1), 0o644); err != nil {
			return nil, err
		}
		main := "org.apache.zookeeper.server.ZooKeeperServerMain"
		if servers > 1 {
			main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
		}
		z.args = []string{
			java, "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.forceSync=no",
			"-cp", jar + ":/usr/share/java/slf4j-nop.jar", main, filepath.Join(dir, "zoo.cfg"),
		}
		if err := h.launch(z.Child); err != nil {
			return nil, err
		}
		list = append(list, z)
	}
	for _, z := range list {
		if err := z.until(z.serves); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Restart starts it again after it was killed.
func (z *ZooKeeper) Restart() error {
	if err := z.start(); err != nil {
		return err
	}
	return z.until(z.serves)
}

// serves reports whether the server takes sessions; it says that it is all right somewhat earlier.
func (z *ZooKeeper) serves() bool {
	status, err := z.Status()
	return err == nil && strings.Contains(status, "Mode:")
}

// Status is what the server says of itself: its mode, its last transaction.
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
