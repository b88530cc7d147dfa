package live_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/live"
	"github.com/locksim/locksim/locks"
)

// speakRedis makes a server of Redis's protocol that answers commands, "" by closing the connection, and refuses HELLO as an
// old server does.
func speakRedis(t *testing.T, answer func(command []string) string) (address string) {
	t.Helper()
	return listenTo(t, func(c net.Conn) {
		for from := bufio.NewReader(c); ; {
			var n int
			if _, err := fmt.Fscanf(from, "*%d\r\n", &n); err != nil {
				return
			}
			command := make([]string, n)
			for i := range command {
				var size int
				_, _ = fmt.Fscanf(from, "$%d\r\n", &size)
				word := make([]byte, size+2)
				for at := range word {
					word[at], _ = from.ReadByte()
				}
				command[i] = string(word[:size])
			}
			said := "-ERR unknown command\r\n"
			if command[0] != "HELLO" {
				said = answer(command)
			}
			if _, _ = c.Write([]byte(said)); said == "" {
				return
			}
		}
	})
}

func TestRepliesAreRead(t *testing.T) {
	for raw, want := range map[string]locks.Reply{
		"+OK\r\n":                   {Str: "OK"},
		"+\r\n":                     {},
		":-17\r\n":                  {Int: -17},
		"$-1\r\n":                   {Nil: true},
		"*-1\r\n":                   {Nil: true},
		"$0\r\n\r\n":                {},
		"$4\r\na\r\nb\r\n":          {Str: "a\r\nb"},
		"*0\r\n":                    {Array: []locks.Reply{}},
		"*2\r\n:1\r\n*1\r\n$-1\r\n": {Array: []locks.Reply{{Int: 1}, {Array: []locks.Reply{{Nil: true}}}}},
		"*2\r\n-ERR no\r\n+yes\r\n": {Array: []locks.Reply{{Str: "ERR no"}, {Str: "yes"}}},
	} {
		server := speakRedis(t, func([]string) string { return raw })
		reply, err := open(t, live.Config{Redis: []string{server}}).Redis(0).Do(time.Second, "GET", "k")
		require.NoError(t, err, "%q", raw)
		require.Equal(t, want, reply, "%q", raw)
	}
}

func TestBrokenRepliesLeaveTheOutcomeUnknown(t *testing.T) {
	for _, raw := range []string{
		"\r\n", "+OK\n", "?1\r\n", ":one\r\n", ":\r\n", "$-2\r\n", "*-2\r\n", "$99999999999\r\n", "$1\r\nabc", "%1\r\n+a\r\n+b\r\n",
		"+" + strings.Repeat("x", 1<<16) + "\r\n", strings.Repeat("*1\r\n", 1000) + ":1\r\n",
	} {
		asked := new(atomic.Int32)
		server := speakRedis(t, func([]string) string {
			if asked.Add(1) == 1 {
				return raw
			}
			return "+OK\r\n"
		})
		redis := open(t, live.Config{Redis: []string{server}}).Redis(0)
		_, err := redis.Do(time.Second, "GET", "k")
		require.ErrorIs(t, err, locks.ErrUnknown, "%q", raw)
		reply, err := redis.Do(time.Second, "GET", "k")
		require.NoError(t, err, "the connection is not used again: %q", raw)
		require.Equal(t, "OK", reply.Str)
	}
	for _, cut := range []string{"", "+O", "$3\r\nab", "*2\r\n:1\r\n"} {
		server := listenTo(t, func(c net.Conn) {
			from := bufio.NewReader(c)
			for range 4 + 1 { // HELLO, and the first line of the command
				_, _ = from.ReadString('\n')
			}
			_, _ = c.Write([]byte("+OK\r\n" + cut))
		})
		_, err := open(t, live.Config{Redis: []string{server}}).Redis(0).Do(time.Second, "GET", "k")
		require.ErrorIs(t, err, locks.ErrUnknown, "%q", cut)
	}
}

// TestAConnectionThatIsOverIsNotUsed has a server hang up between two commands: the second is sent on another connection.
func TestAConnectionThatIsOverIsNotUsed(t *testing.T) {
	hungUp := make(chan struct{}, 2)
	server := listenTo(t, func(c net.Conn) {
		from := bufio.NewReader(c)
		for range 5 + 3 { // the lines of HELLO, and of PING
			if line, _ := from.ReadString('\n'); line == "2\r\n" || line == "PING\r\n" {
				_, _ = c.Write([]byte("+OK\r\n"))
			}
		}
		_ = c.Close()
		hungUp <- struct{}{}
	})
	redis := open(t, live.Config{Redis: []string{server}}).Redis(0)
	for range 2 {
		_, err := redis.Do(time.Second, "PING")
		require.NoError(t, err)
		<-hungUp
	}
}

// TestAReplicaIsAskedOnce has a server say that it is a replica. The connection is closed, since its name may by then be
// another server's.
func TestAReplicaIsAskedOnce(t *testing.T) {
	var connections atomic.Int32
	server := listenTo(t, func(c net.Conn) {
		connections.Add(1)
		for from := bufio.NewReader(c); ; {
			switch line, err := from.ReadString('\n'); {
			case err != nil:
				return
			case line == "2\r\n":
				_, _ = c.Write([]byte("+OK\r\n"))
			case line == "PING\r\n":
				_, _ = c.Write([]byte("-READONLY You can't write against a read only replica.\r\n"))
			}
		}
	})
	redis := open(t, live.Config{Redis: []string{server}}).Redis(0)
	for n := range int32(2) {
		var refused *locks.RedisError
		_, err := redis.Do(time.Second, "PING")
		require.ErrorAs(t, err, &refused)
		require.Equal(t, n+1, connections.Load())
	}
}

// TestAMasterIsFollowed has a Sentinel announce another master: what is being asked of the first one ends, and the next
// command goes to the second one.
func TestAMasterIsFollowed(t *testing.T) {
	asked := make(chan struct{}, 1)
	first := listenTo(t, func(c net.Conn) {
		for from := bufio.NewReader(c); ; {
			switch line, err := from.ReadString('\n'); {
			case err != nil:
				return
			case line == "2\r\n":
				_, _ = c.Write([]byte("+OK\r\n"))
			case line == "GET\r\n":
				asked <- struct{}{}
			}
		}
	})
	second := speakRedis(t, func([]string) string { return "+second\r\n" })
	named := map[string]string{"10.0.0.1:1": first, "10.0.0.2:2": second}
	listening, announced, later := make(chan struct{}, 9), make(chan string), atomic.Bool{}
	sentinel := listenTo(t, func(c net.Conn) {
		for from := bufio.NewReader(c); ; {
			switch line, err := from.ReadString('\n'); {
			case err != nil:
				return
			case line == "2\r\n":
				_, _ = c.Write([]byte("+OK\r\n"))
			case line == "sentinels\r\n":
				_, _ = c.Write([]byte("*0\r\n"))
			case line == "get-master-addr-by-name\r\n" && later.Load():
				_, _ = c.Write([]byte("*2\r\n$8\r\n10.0.0.2\r\n$1\r\n2\r\n"))
			case line == "get-master-addr-by-name\r\n":
				_, _ = c.Write([]byte("*2\r\n$8\r\n10.0.0.1\r\n$1\r\n1\r\n"))
			case line == "+switch-master\r\n":
				_, _ = c.Write([]byte("*3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n"))
				listening <- struct{}{}
				text := <-announced
				_, _ = fmt.Fprintf(c, "*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$%d\r\n%s\r\n", len(text), text)
			}
		}
	})
	p := open(t, live.Config{Redis: []string{"127.0.0.1:1", sentinel}, Master: "m", Routes: named})
	ended := p.Go(func(p locks.Process) {
		_, err := p.Redis(0).Do(20*time.Second, "GET", "k")
		require.ErrorIs(t, err, locks.ErrUnknown)
	})
	p.Block(func() { <-listening; <-asked })
	later.Store(true)
	announced <- "m 10.0.0.1 1 10.0.0.2 2"
	require.Equal(t, 0, p.Wait(10*time.Second, ended), "it is not waited for")
	reply, err := p.Redis(0).Do(time.Second, "GET", "k")
	require.NoError(t, err)
	require.Equal(t, "second", reply.Str)
}

func TestWithoutAMasterNothingIsDone(t *testing.T) {
	knowsNone := speakRedis(t, func([]string) string { return "*-1\r\n" })
	p := open(t, live.Config{Redis: []string{"127.0.0.1:1", knowsNone}, Master: "m"})
	_, err := p.Redis(0).Do(time.Second, "GET", "k")
	require.ErrorIs(t, err, locks.ErrNotDone)
	require.NotErrorIs(t, err, locks.ErrUnknown)
	require.ErrorContains(t, err, `no Sentinel names the master "m": `)
	require.NotContains(t, err.Error(), "\n")
	require.Equal(t, 1, strings.Count(err.Error(), locks.ErrNotDone.Error()), err.Error())
}
