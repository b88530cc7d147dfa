// Command fragile is a client of a library that assumes that its requests are always answered in time.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/locksim/locksim/guest"
)

//locksim:lock servers=redis

func main() {}

func init() { guest.Register(open) }

// connection is one to a server, which is asked one thing after another.
type connection struct {
	address string
	conn    net.Conn
	replies *bufio.Reader
}

// do sends a command in a line, and reads the answer.
func (c *connection) do(ctx context.Context, format string, args ...any) (string, error) {
	if c.conn == nil {
		conn, err := guest.Dial(ctx, "tcp", c.address)
		if err != nil {
			return "", err
		}
		c.conn, c.replies = conn, bufio.NewReader(conn)
	}
	c.conn.SetDeadline(time.Now().Add(time.Second))
	fmt.Fprintf(c.conn, format+"\r\n", args...)
	answer, err := c.replies.ReadString('\n')
	if err != nil {
		c.conn = nil
	}
	return strings.TrimSpace(answer), answered(err)
}

// answered makes sure that a server has answered, or is gone.
func answered(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		panic("fragile: no answer in time: " + err.Error())
	}
	return err
}

func open(c guest.Config) (guest.Mutex, error) {
	server := &connection{address: c.Servers[0]}
	return guest.Mutex{
		Lock: func(ctx context.Context) (guest.Lease, error) {
			answer, err := server.do(ctx, "SET %s %s NX PX %d", c.Key, c.Name, c.TTL.Milliseconds())
			if err == nil && answer != "+OK" {
				err = guest.ErrNotAcquired
			}
			return guest.Lease{Value: c.Name}, err
		},
		Unlock: func(ctx context.Context) error {
			_, err := server.do(ctx, "DEL %s", c.Key)
			return err
		},
	}, nil
}
