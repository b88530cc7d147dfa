package sentinel_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/long"

	"github.com/stretchr/testify/require"
)

// realRedis is a redis-server, perhaps as a Sentinel, on loopback.
type realRedis struct {
	t       *testing.T
	port    int
	process *os.Process
}

func startReal(t *testing.T, mode, config string) *realRedis {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("no redis-server on this machine")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &realRedis{t: t, port: listener.Addr().(*net.TCPAddr).Port}
	require.NoError(t, listener.Close())
	dir := t.TempDir()
	file := filepath.Join(dir, "redis.conf")
	config = fmt.Sprintf("bind 127.0.0.1\nport %d\ndir %s\n%s\n", r.port, dir, config)
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	arguments := []string{file}
	if mode != "" {
		arguments = append(arguments, mode)
	}
	server := exec.Command(path, arguments...)
	require.NoError(t, server.Start())
	r.process = server.Process
	t.Cleanup(func() { _, _ = server.Process.Kill(), server.Wait() })
	require.Eventually(t, func() bool { return r.ask("PING") == "PONG" }, 5*time.Second, 10*time.Millisecond)
	return r
}

// ask sends a line and returns the last line of the answer; "" if there is none within half a second.
func (r *realRedis) ask(line string) string {
	conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", r.port), time.Second)
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(500 * time.Millisecond))
	if _, err := fmt.Fprintf(conn, "%s\r\n", line); err != nil {
		return ""
	}
	in := bufio.NewReader(conn)
	answer, err := in.ReadString('\n')
	for err == nil && in.Buffered() > 0 {
		answer, err = in.ReadString('\n')
	}
	return strings.TrimLeft(strings.TrimSpace(answer), "+-")
}

// signal sends a signal by a shell, since package syscall does not have all of them everywhere.
func (r *realRedis) signal(name string) {
	require.NoError(r.t, exec.Command("sh", "-c", fmt.Sprintf("kill -%s %d", name, r.process.Pid)).Run())
}

// until returns after how long a condition holds.
func until(t *testing.T, condition func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	require.Eventually(t, condition, 20*time.Second, 10*time.Millisecond)
	return time.Since(began)
}

func TestRealSentinelsTakeAsLong(t *testing.T) {
	long.Only(t)
	master := startReal(t, "", "save \"\"\nrepl-diskless-sync-delay 0")
	replica := startReal(t, "", fmt.Sprintf("save \"\"\nreplicaof 127.0.0.1 %d", master.port))
	require.Eventually(t, func() bool { return master.ask("WAIT 1 100") == ":1" }, 5*time.Second, 10*time.Millisecond)
	sentinels := make([]*realRedis, 3)
	for i := range sentinels {
		sentinels[i] = startReal(t, "--sentinel", fmt.Sprintf("sentinel monitor mymaster 127.0.0.1 %d 2\n"+
			"sentinel down-after-milliseconds mymaster 2000\nsentinel failover-timeout mymaster 6000", master.port))
	}
	require.Eventually(t, func() bool { return strings.HasPrefix(sentinels[0].ask("SENTINEL ckquorum mymaster"), "OK 3") },
		15*time.Second, 50*time.Millisecond, "the Sentinels do not find each other")

	master.signal("STOP")
	told := until(t, func() bool {
		return sentinels[0].ask("SENTINEL get-master-addr-by-name mymaster") == fmt.Sprint(replica.port)
	})
	time.Sleep(4*time.Second - min(told, 4*time.Second))
	master.signal("CONT")
	late := until(t, func() bool { return strings.HasPrefix(master.ask("SET x y"), "READONLY") })
	t.Logf("real Sentinels: clients are told after %v, the old master is demoted after %v", told, late)
	require.Greater(t, told, 2*time.Second)
	require.Less(t, told, 5*time.Second)
	require.Greater(t, late, 8*time.Second)
	require.Less(t, late, 18*time.Second)
}
