package serve_test

import (
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/serve"
)

// cliSession is what somebody types into redis-cli, and what it prints.
var cliSession = []struct{ typed, printed string }{
	{"PING", "PONG"},
	{"SET lock \"a b\" NX PX 60000", "OK"},
	{"SET lock b NX", ""},
	{"GET lock", "a b"},
	{"HSET h f 1 g 2", "2"},
	{"HGETALL h", "f\n1\ng\n2"},
	{"EVAL \"return {1, 'two', false}\" 0", "1\ntwo\n"},
	{"MULTI", "OK"},
	{"INCR n", "QUEUED"},
	{"EXEC", "1"},
	{"CLIENT SETNAME me", "OK"},
	{"CLIENT GETNAME", "me"},
	{"NOSUCH", "ERR unknown command 'NOSUCH', with args beginning with: "},
	{"COMMAND GETKEYS SET k v", "k"},
	{"CONFIG GET maxmemory", "maxmemory\n0"},
}

// TestRedisCLITakesOurServerForRedis types into redis-cli, in either protocol; it asks for COMMAND DOCS by itself.
func TestRedisCLITakesOurServerForRedis(t *testing.T) {
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		t.Skip("redis-cli is not installed; on Debian: apt-get install redis-tools")
	}
	for _, protocol := range []string{"-2", "-3"} {
		t.Run(protocol, func(t *testing.T) {
			w, err := serve.Redis(1, anywhere(1), false)
			_, port, err := net.SplitHostPort(served(t, w, err)[0])
			require.NoError(t, err)
			var typed, printed strings.Builder
			for _, line := range cliSession {
				typed.WriteString(line.typed + "\n")
				printed.WriteString(line.printed + "\n")
				if strings.HasPrefix(line.printed, "ERR") {
					printed.WriteString("\n")
				}
			}
			c := exec.Command(cli, "-p", port, protocol)
			c.Stdin = strings.NewReader(typed.String())
			out, err := c.CombinedOutput()
			require.NoError(t, err)
			want := printed.String()
			if protocol == "-3" {
				want = strings.Replace(want, "f\n1\ng\n2", "f 1\ng 2", 1)
				want = strings.Replace(want, "maxmemory\n0", "maxmemory 0", 1)
			}
			require.Equal(t, want, string(out))
		})
	}
}
