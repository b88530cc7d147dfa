package guest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/locksim/locksim/guest"
)

// A program whose lock is one key of Redis, which it asks for over a plain connection. A library is configured to open its
// connections with [guest.Dial] instead.
func ExampleRegister() {
	guest.Register(func(c guest.Config) (guest.Mutex, error) {
		server, err := guest.Dial(context.Background(), "tcp", c.Servers[0])
		if err != nil {
			return guest.Mutex{}, err
		}
		ask := func(command string) (answer string, err error) {
			if _, err := io.WriteString(server, command+"\r\n"); err != nil {
				return "", err
			}
			b := make([]byte, 64)
			n, err := server.Read(b)
			return string(b[:n]), err
		}
		return guest.Mutex{
			TryLock: func(context.Context) (guest.Lease, error) {
				asked := time.Now()
				answer, err := ask(fmt.Sprintf("SET %s %s NX PX %d", c.Key, c.Name, c.TTL.Milliseconds()))
				if err == nil && answer != "+OK\r\n" {
					err = guest.ErrNotAcquired
				}
				return guest.Lease{Until: asked.Add(c.TTL)}, err
			},
			Unlock: func(context.Context) error {
				answer, err := ask("DEL " + c.Key) // even if it is another client's by now: locktest finds that
				if err == nil && answer != ":1\r\n" {
					err = errors.New("the lease was over")
				}
				return err
			},
		}, nil
	})
}
