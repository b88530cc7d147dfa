package serve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// etcdctl is a client of a real etcd, or ours, by gRPC.
type etcdctl struct {
	endpoint string
	leases   []string // those made so far, of which the servers choose the numbers
}

var (
	madeLease  = regexp.MustCompile(`lease ([0-9a-f]{16}) granted`)
	unlikeGRPC = regexp.MustCompile(`"(cluster_id|member_id|raft_term|ClusterID|MemberID)" ?: ?\d+|remaining\(\d+s\)`)
)

// say returns what etcdctl prints, with the leases by their numbers in this conversation, and the error that it ends with.
func (e *etcdctl) say(t *testing.T, line, input string) string {
	t.Helper()
	var out, problems bytes.Buffer
	cmd := e.command(t.Context(), line, &out, &problems)
	cmd.Stdin = strings.NewReader(input)
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if made := madeLease.FindStringSubmatch(out.String()); made != nil {
		e.leases = append(e.leases, made[1])
	}
	text := unlikeGRPC.ReplaceAllString(out.String(), "$1")
	for i, id := range e.leases {
		text = strings.ReplaceAll(text, id, fmt.Sprintf("lease-%d", i))
	}
	for line := range strings.Lines(problems.String()) {
		if !strings.HasPrefix(line, "{") { // but for the log
			text += line
		}
	}
	return fmt.Sprintf("$ %s\n%s%v\n", line, text, err)
}

func (e *etcdctl) command(ctx context.Context, line string, out, problems io.Writer) *exec.Cmd {
	for i, id := range e.leases {
		line = strings.ReplaceAll(line, fmt.Sprintf("lease-%d", i), id)
	}
	args := append([]string{"--endpoints", strings.TrimPrefix(e.endpoint, "http://")}, strings.Fields(line)...)
	cmd := exec.CommandContext(ctx, "etcdctl", args...)
	cmd.Env = append(cmd.Environ(), "ETCDCTL_API=3")
	cmd.Stdout, cmd.Stderr = out, problems
	return cmd
}

// TestEtcdsOwnProgramIsAnsweredAsByTheRealOne has etcdctl say the same to both, and compares what it prints.
func TestEtcdsOwnProgramIsAnsweredAsByTheRealOne(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("etcdctl"); err != nil {
		t.Skip("needs etcdctl (Debian: etcd-client)")
	}
	real, here := bothGateways(t)
	theirs, ours := &etcdctl{endpoint: real.endpoint}, &etcdctl{endpoint: here.endpoint}
	for _, c := range []struct{ line, input string }{
		{"put a 1", ""}, {"put b 2 --prev-kv", ""}, {"put a 3 --prev-kv -w json", ""}, {"get a -w json", ""},
		{"get --prefix a -w fields --limit 1", ""}, {"get a c --order DESCEND --sort-by VALUE", ""}, {"get a --rev 2", ""},
		{"get a --rev 99", ""}, {"get --from-key a --keys-only", ""}, {"put a --ignore-value", ""}, {"put zz --ignore-value", ""},
		{"lease grant 600", ""}, {"put l 1 --lease lease-0", ""}, {"get l", ""}, {"lease timetolive lease-0 --keys", ""},
		{"lease keep-alive --once lease-0", ""}, {"lease grant 700", ""}, {"lease revoke lease-0", ""}, {"get l", ""},
		{"lease revoke lease-0", ""}, {"lease timetolive lease-0", ""}, {"put l 1 --lease 77", ""}, {"lease keep-alive --once 77", ""},
		{"txn", "create(\"n\") = \"0\"\nvalue(\"a\") = \"3\"\n\nput n 1\nget a\n\nget n\n\n"},
		{"txn", "create(\"n\") = \"0\"\n\nput n 1\n\nget n\ndel a\n\n"},
		{"txn", "mod(\"n\") > \"1\"\nver(\"n\") < \"9\"\n\nput m 1\nput m 2\n\n\n"},
		{"del b --prev-kv", ""}, {"del none", ""}, {"del --prefix n", ""}, {"compaction 4", ""}, {"get a --rev 3", ""}, {"compaction 4", ""},
		{"lock m echo got", ""}, {"get --prefix m", ""},
	} {
		require.Equal(t, theirs.say(t, c.line, c.input), ours.say(t, c.line, c.input))
	}
	require.Equal(t, theirs.watched(t), ours.watched(t))
}

// watched returns what a watch tells of the past and of the present.
func (e *etcdctl) watched(t *testing.T) string {
	t.Helper()
	out, in := io.Pipe()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	cmd := e.command(ctx, "watch --prefix w --rev 5 --prev-kv", in, io.Discard)
	require.NoError(t, cmd.Start())
	told, buffer := "", make([]byte, 1<<16)
	until := func(word string) {
		for !strings.Contains(told, word) {
			n, err := out.Read(buffer)
			require.NoError(t, err)
			told += string(buffer[:n])
		}
	}
	e.say(t, "put w1 first", "")
	until("first")
	e.say(t, "put w1 second", "")
	e.say(t, "del w1", "")
	e.say(t, "put w2 last", "")
	until("last\n")
	end()
	_ = cmd.Wait()
	return told
}
