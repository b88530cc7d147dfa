// Command undialled opens connections with package net, which does not work in a simulation.
package main

import (
	"context"
	"net"

	"github.com/locksim/locksim/guest"
)

//locksim:lock servers=redis key=undialled

func main() {}

func init() { guest.Register(open) }

func open(c guest.Config) (guest.Mutex, error) {
	return guest.Mutex{
		Lock: func(ctx context.Context) (guest.Lease, error) {
			_, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.Servers[0])
			return guest.Lease{}, err
		},
		Unlock: func(context.Context) error { return nil },
	}, nil
}
