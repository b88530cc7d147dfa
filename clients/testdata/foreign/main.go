// Command foreign speaks a protocol that no simulated server supports.
package main

import (
	"context"
	"fmt"

	"github.com/locksim/locksim/guest"
)

//locksim:lock servers=redis key=foreign

func main() {}

func init() { guest.Register(open) }

func open(c guest.Config) (guest.Mutex, error) {
	return guest.Mutex{
		Lock: func(ctx context.Context) (guest.Lease, error) {
			conn, err := guest.Dial(ctx, "tcp", c.Servers[0])
			if err != nil {
				return guest.Lease{}, err
			}
			defer conn.Close()
			if _, err := conn.Write([]byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n")); err != nil {
				return guest.Lease{}, err
			}
			answer := make([]byte, 64)
			n, err := conn.Read(answer)
			if err == nil {
				err = fmt.Errorf("unexpected answer %q", answer[:n])
			}
			return guest.Lease{}, err
		},
		Unlock: func(context.Context) error { return nil },
	}, nil
}
