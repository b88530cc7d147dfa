package real_test

import (
	"bufio"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/real"
)

// server listens on loopback and hands over each connection that is opened to it.
func server(t *testing.T) (address string, accepted chan net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	accepted = make(chan net.Conn, 10)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- conn
		}
	}()
	return listener.Addr().String(), accepted
}

func dial(t *testing.T, l *real.Link) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", l.Address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func say(t *testing.T, to net.Conn, text string) {
	t.Helper()
	_, err := io.WriteString(to, text)
	require.NoError(t, err)
}

func hear(t *testing.T, from net.Conn) string {
	t.Helper()
	require.NoError(t, from.SetReadDeadline(time.Now().Add(10*time.Second)))
	line, err := bufio.NewReader(from).ReadString('\n')
	require.NoError(t, err)
	return line
}

func TestAConnectionThatWasGivenUpWhileTheLinkWasHeldWasNeverThere(t *testing.T) {
	address, accepted := server(t)
	l, err := newHost(t).Link(real.LinkConfig{Server: address})
	require.NoError(t, err)
	before := dial(t, l)
	say(t, before, "hello\n")
	first := <-accepted
	require.Equal(t, "hello\n", hear(t, first))
	release := l.Hold(true, true)
	during := dial(t, l)
	say(t, during, "SET from a connection that could not be opened\n")
	second := <-accepted
	require.NoError(t, during.Close())
	say(t, before, "SET from one that was\n")
	require.NoError(t, before.Close())
	release()
	require.Equal(t, "SET from one that was\n", hear(t, first), "TCP sends again what was not acknowledged")
	require.NoError(t, second.SetReadDeadline(time.Now().Add(10*time.Second)))
	_, err = second.Read(make([]byte, 1))
	require.Equal(t, io.EOF, err)
}

func TestNobodyHearsOfAMachineThatIsOffUntilItIsOnAgain(t *testing.T) {
	address, accepted := server(t)
	l, err := newHost(t).Link(real.LinkConfig{Server: address})
	require.NoError(t, err)
	client := dial(t, l)
	machine := <-accepted
	l.Desert(false, true)
	require.NoError(t, machine.Close())
	late := dial(t, l)
	say(t, late, "hello\n")
	heard := make(chan error)
	go func() {
		_, err := client.Read(make([]byte, 1))
		heard <- err
	}()
	select {
	case err := <-heard:
		t.Fatal("the client hears", err)
	case <-accepted:
		t.Fatal("a machine that is off accepts")
	default:
	}
	l.Revive()
	require.Error(t, <-heard, "it knows nothing of the connection")
	require.Equal(t, "hello\n", hear(t, <-accepted))
}

func TestBrokenConnectionLosesTheChosenMessages(t *testing.T) {
	for lose, want := range map[real.Loss]string{real.LoseNothing: "a request\n", real.LoseReplies: "a request\n", real.LoseRequests: ""} {
		address, accepted := server(t)
		l, err := newHost(t).Link(real.LinkConfig{Server: address})
		require.NoError(t, err)
		client := dial(t, l)
		machine := <-accepted
		release := l.Hold(true, false)
		say(t, client, "a request\n")
		release()
		if lose != real.LoseRequests {
			require.Equal(t, want, hear(t, machine))
		}
		require.True(t, l.Break(true, lose))
		_, err = client.Read(make([]byte, 1))
		require.Error(t, err)
		require.NoError(t, machine.Close())
	}
}

func TestAFilterSeesWhatIsSentAndDecides(t *testing.T) {
	address, accepted := server(t)
	config := real.LinkConfig{Server: address}
	config.Tap = func(p *real.Passage) (requests, replies real.Filter) {
		return func(arrived []byte, way real.Way) error {
			if string(arrived) == "no\n" {
				return p.Answer([]byte("refused\n"))
			}
			if err := way.Travel(); err != nil {
				return err
			}
			return way.Deliver(append([]byte("passed: "), arrived...))
		}, nil
	}
	l, err := newHost(t).Link(config)
	require.NoError(t, err)
	client := dial(t, l)
	machine := <-accepted
	say(t, client, "no\n")
	require.Equal(t, "refused\n", hear(t, client))
	say(t, client, "yes\n")
	require.Equal(t, "passed: yes\n", hear(t, machine))
	say(t, machine, "thanks\n")
	require.Equal(t, "thanks\n", hear(t, client))
}

func TestASwitchedOffMachineHasWhatItsDiskHasTaken(t *testing.T) {
	r, err := newHost(t).Redis(real.RedisConfig{Name: "redis", Persistence: "always"})
	unlessMissing(t, err)
	require.Equal(t, "+OK", ask(t, r, "SET", "lock", "a"))
	require.NoError(t, r.Flush())
	require.Equal(t, ":1", ask(t, r, "DEL", "lock"))
	require.NoError(t, r.Kill())
	require.NoError(t, r.SwitchOff())
	require.NoError(t, r.Restart())
	require.Equal(t, "$1", ask(t, r, "GET", "lock"))
}

func TestAReplicaFollowsAndIsPromoted(t *testing.T) {
	h := newHost(t)
	master, err := h.Redis(real.RedisConfig{Name: "master"})
	unlessMissing(t, err)
	replica, err := h.Redis(real.RedisConfig{Name: "replica"})
	require.NoError(t, err)
	require.NoError(t, replica.Follow(master.Address))
	require.NoError(t, replica.Synced())
	require.Equal(t, "+OK", ask(t, master, "SET", "lock", "a"))
	require.Equal(t, ":1", ask(t, master, "WAIT", "1", "10000"))
	require.Equal(t, "$1", ask(t, replica, "GET", "lock"))
	_, err = replica.Ask("SET", "lock", "b")
	require.ErrorContains(t, err, "READONLY")
	require.NoError(t, replica.Follow(""))
	require.Equal(t, "+OK", ask(t, replica, "SET", "lock", "b"))
}
