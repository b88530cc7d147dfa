package live

import (
	"context"
	"net"
	"time"
)

// dialTimeout is how long the opening of a connection may take where a lock does not say (go-redis, options.go).
const dialTimeout = 5 * time.Second

// errNoConnection marks what happened before anything was sent.
type errNoConnection struct{ error }

func (e errNoConnection) Unwrap() error { return e.error }

// dial opens a connection.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, errNoConnection{err}
	}
	return conn, nil
}
