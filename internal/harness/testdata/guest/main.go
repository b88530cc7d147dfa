// Command guest is a client that speaks Redis's protocol by hand: the smallest program that runs a lock in a
// simulation.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/guest"
)

func main() {}

func init() { guest.RegisterConnecting(clients, connect, open) }

// redis is a connection to one server.
type redis struct {
	address string
	timeout time.Duration
	conn    net.Conn
	reader  *bufio.Reader
}

// do sends a command and reads the first line of its reply.
func (r *redis) do(ctx context.Context, args ...string) (string, error) {
	if r.conn == nil {
		conn, err := guest.Dial(ctx, "tcp", r.address)
		if err != nil {
			return "", err
		}
		r.conn, r.reader = conn, bufio.NewReader(conn)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	until, _ := ctx.Deadline()
	r.conn.SetDeadline(until)
	if _, err := r.conn.Write([]byte(b.String())); err != nil {
		return "", r.drop(err)
	}
	line, err := r.reader.ReadString('\n')
	if err != nil {
		return "", r.drop(err)
	}
	return strings.TrimSpace(line), nil
}

// isNamed checks the name that the server knows the connection by.
func (r *redis) isNamed() error {
	length, err := r.do(context.Background(), "CLIENT", "GETNAME")
	switch {
	case err != nil:
		return err
	case length != "$"+strconv.Itoa(len(connected)):
		return errors.New("the server has no such name for the connection: " + length)
	}
	_, err = r.reader.ReadString('\n')
	return err
}

func (r *redis) drop(err error) error {
	r.conn.Close()
	r.conn = nil
	return err
}

const extend = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) else return 0 end`

const unlock = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`

// misbehave does what the key asks for, so that one program serves all tests.
func misbehave(key string) {
	switch key {
	case "panics":
		var none *redis
		none.address = "here"
	case "panics-beside":
		try(func() { panic("beside") })
	case "logs-and-exits":
		fmt.Fprintln(os.Stderr, "panic: recovered from")
		fmt.Fprintln(os.Stderr, "enough")
		os.Exit(3)
	case "loops":
		for n := 0; ; n++ {
			sink = n
		}
	case "looks-at-its-clock":
		for began := time.Now(); time.Since(began) < time.Second; {
		}
	case "hoards":
		for {
			hoard = append(hoard, make([]byte, 16<<20))
		}
	case "computes":
		for n := range 60_000_000 {
			sink = n
		}
	case "needs-room":
		hoard = append(hoard, make([]byte, 48<<20))
	case "waits":
		select {}
	case "writes":
		fmt.Fprintln(os.Stderr, "all is well")
	}
}

// try does something beside the program.
func try(do func()) {
	done := make(chan bool)
	go func() {
		defer close(done)
		do()
	}()
	<-done
}

var (
	sink  int
	hoard [][]byte
)

func clients(c guest.Config) (*redis, error) {
	return &redis{address: c.Servers[0], timeout: c.Timeout}, nil
}

// The time-outs with which a program connects in a way that is refused.
const (
	writes  = 1001 * time.Millisecond
	asks    = 1002 * time.Millisecond
	refuses = 1003 * time.Millisecond
	waits   = 1004 * time.Millisecond
)

// connected is the name that a connection is given, which its server keeps.
const connected = "connected"

// connect opens the connection and names it, or does what the time-out asks for.
func connect(ctx context.Context, server *redis) error {
	switch server.timeout {
	case writes:
		_, err := server.do(ctx, "SET", "key", "value")
		return err
	case asks:
		if _, err := server.do(ctx, "PING"); err != nil {
			return err
		}
		_, err := io.WriteString(server.conn, "PING\r\n")
		time.Sleep(time.Second)
		return err
	case refuses:
		return errors.New("the door is shut")
	case waits:
		select {}
	}
	_, err := server.do(ctx, "CLIENT", "SETNAME", connected)
	return err
}

func open(c guest.Config, server *redis) (guest.Mutex, error) {
	if c.Key == "cannot-be-opened" {
		return guest.Mutex{}, errors.New("no lock is to be had here")
	}
	switch c.Key {
	case "panics-unless-named":
		if err := server.isNamed(); err != nil {
			panic(err)
		}
	case "panics-at-once":
		panic("not configured")
	case "panics-unless-connected":
		if _, err := server.do(context.Background(), "PING"); err != nil {
			panic(err)
		}
	}
	value := ""
	try := func(ctx context.Context) (guest.Lease, error) {
		misbehave(c.Key)
		asked := time.Now()
		switch c.Key {
		case "wall":
			asked = asked.Round(0)
		case "refuses":
			return guest.Lease{}, fmt.Errorf("%w: the door is shut", guest.ErrNotAcquired)
		case "breaks":
			return guest.Lease{}, errors.New("the key does not fit")
		}
		bytes := make([]byte, 8)
		rand.Read(bytes)
		value = hex.EncodeToString(bytes)
		reply, err := server.do(ctx, "SET", c.Key, value, "NX", "PX", strconv.Itoa(int(c.TTL.Milliseconds())))
		switch {
		case err != nil:
			return guest.Lease{}, err
		case reply != "+OK":
			return guest.Lease{}, guest.ErrNotAcquired
		}
		return guest.Lease{Value: value, Until: asked.Add(c.TTL)}, nil
	}
	return guest.Mutex{
		TryLock: try,
		Lock: func(ctx context.Context) (guest.Lease, error) {
			for {
				lease, err := try(ctx)
				if err != guest.ErrNotAcquired {
					return lease, err
				}
				select {
				case <-ctx.Done():
					return guest.Lease{}, guest.ErrNotAcquired
				case <-time.After(100 * time.Millisecond):
				}
			}
		},
		Extend: func(ctx context.Context) (until time.Time, err error) {
			asked := time.Now()
			reply, err := server.do(ctx, "EVAL", extend, "1", c.Key, value, strconv.Itoa(int(c.TTL.Milliseconds())))
			if err == nil && reply != ":1" {
				err = guest.ErrNotHeld
			}
			return asked.Add(c.TTL), err
		},
		Unlock: func(ctx context.Context) error {
			if c.Key == "panics-holding" {
				panic("held")
			}
			reply, err := server.do(ctx, "EVAL", unlock, "1", c.Key, value)
			if err == nil && reply != ":1" {
				err = guest.ErrNotHeld
			}
			return err
		},
	}, nil
}
