package real

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// SentinelConfig configures a Sentinel.
type SentinelConfig struct {
	Name      string
	Master    string // the master's name
	Address   string // the master's initial address
	Quorum    int
	DownAfter time.Duration // 0: Sentinel's default
	Failover  time.Duration // the failover-timeout; 0: Sentinel's default
	_         struct{}
}

// Sentinel starts a redis-server as a Sentinel and waits until it answers. It discovers others within seconds:
// see [Redis.Knows].
func (h *Host) Sentinel(c SentinelConfig) (*Redis, error) {
	program, err := find("redis-server", "redis-server")
	if err != nil {
		return nil, err
	}
	addresses, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	r := &Redis{Child: &Child{Name: c.Name}, Address: addresses[0]}
	dir := filepath.Join(h.dir, c.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	text := fmt.Sprintf("bind 127.0.0.1\nport %s\nsentinel monitor %s %s %d\n", port(r.Address), c.Master,
		strings.Replace(c.Address, ":", " ", 1), c.Quorum)
	if c.DownAfter > 0 {
		text += fmt.Sprintf("sentinel down-after-milliseconds %s %d\n", c.Master, c.DownAfter.Milliseconds())
	}
	if c.Failover > 0 {
		text += fmt.Sprintf("sentinel failover-timeout %s %d\n", c.Master, c.Failover.Milliseconds())
	}
	file := filepath.Join(dir, "sentinel.conf")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return nil, err
	}
	r.args = []string{program, file, "--sentinel"}
	if err := h.launch(r.Child); err != nil {
		return nil, err
	}
	return r, r.until(r.answers)
}

// Knows waits until a Sentinel knows the given numbers of replicas and of Sentinels, including itself.
func (r *Redis) Knows(replicas, sentinels int) error {
	want := fmt.Sprintf("slaves=%d,sentinels=%d", replicas, sentinels)
	return r.until(func() bool {
		info, err := r.Info("sentinel")
		return err == nil && strings.Contains(info["master0"], want)
	})
}
