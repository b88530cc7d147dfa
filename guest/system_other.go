//go:build !wasip1

package guest

import (
	"context"
	"net"
)

const onlyInside = "guest: this program is a client for simulations: " +
	"build it with GOOS=wasip1 GOARCH=wasm -buildmode=c-shared"

func register() {}

// Dial opens a connection to a server of the simulation. Network is "tcp", and address one of Config's. It can
// be used as a library's dialer.
func Dial(context.Context, string, string) (net.Conn, error) { panic(onlyInside) }
