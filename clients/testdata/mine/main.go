// Command mine is a client of a hand-written lock: SET NX PX, and any client may release it.
package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/locksim/locksim/guest"
)

//locksim:lock servers=redis key=mine:{key}

func main() {}

func init() { guest.Register(open) }

func open(c guest.Config) (guest.Mutex, error) {
	conn, err := guest.Dial(context.Background(), "tcp", c.Servers[0])
	if err != nil {
		return guest.Mutex{}, err
	}
	replies := bufio.NewReader(conn)
	return guest.Mutex{
		Lock: func(context.Context) (guest.Lease, error) {
			answer, err := do(conn, replies, "SET mine:%s held NX PX %d", c.Key, c.TTL.Milliseconds())
			if err == nil && answer != "+OK" {
				err = guest.ErrNotAcquired
			}
			return guest.Lease{}, err
		},
		Unlock: func(context.Context) error {
			_, err := do(conn, replies, "DEL mine:%s", c.Key)
			return err
		},
	}, nil
}

// do sends a command in a line, and reads the answer.
func do(conn net.Conn, replies *bufio.Reader, format string, args ...any) (string, error) {
	if _, err := fmt.Fprintf(conn, format+"\r\n", args...); err != nil {
		return "", err
	}
	answer, err := replies.ReadString('\n')
	return strings.TrimSpace(answer), err
}
