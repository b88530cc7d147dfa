package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locksim/locksim/locks"
)

// redisClient is a client of one Redis server, or of the master that Sentinels name. It does what go-redis does if it may
// not send a command again: a call takes the idle connection that was used last, unless that is over, or opens one, which
// is greeted before it is used; and a connection on which a call failed is closed. What became of the call is the lock's
// business.
type redisClient struct {
	server func(context.Context) (string, error) // returns the address of the server to connect to
	routes map[string]string                     // addresses to use in place of others

	mu     sync.Mutex
	idle   []*redisConn
	open   map[*redisConn]bool // all connections, idle or not
	closed bool
}

func newRedisClient(address string) *redisClient {
	return &redisClient{
		server: func(context.Context) (string, error) { return address, nil },
		open:   make(map[*redisConn]bool),
	}
}

// ask sends commands on one connection and waits for their replies. If err is not nil, it wraps locks.ErrNotDone or
// locks.ErrUnknown, and the answers are those to the first commands.
func (c *redisClient) ask(ctx context.Context, commands [][]string) ([]redisAnswer, error) {
	conn, err := c.connection(ctx)
	if err != nil {
		return nil, err
	}
	answers, err := conn.exchange(ctx, commands)
	if err != nil || slices.ContainsFunc(answers, redisAnswer.readOnly) {
		c.discard(conn)
	} else {
		c.release(conn)
	}
	if err != nil {
		return answers, fmt.Errorf("%w: %w", locks.ErrUnknown, err)
	}
	return answers, nil
}

// subscribe opens a connection and subscribes to a channel on it.
func (c *redisClient) subscribe(ctx context.Context, channel string) (*redisConn, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	answers, err := conn.exchange(ctx, [][]string{{"SUBSCRIBE", channel}})
	switch {
	case err != nil:
		err = fmt.Errorf("%w: %w", locks.ErrUnknown, err)
	case answers[0].refused != nil:
		err = answers[0].refused
	default:
		return conn, conn.SetDeadline(time.Time{})
	}
	c.discard(conn)
	return nil, err
}

// connection returns an idle connection that is not over, or opens one.
func (c *redisClient) connection(ctx context.Context) (*redisConn, error) {
	for {
		c.mu.Lock()
		n := len(c.idle) - 1
		if n < 0 {
			c.mu.Unlock()
			return c.connect(ctx)
		}
		conn := c.idle[n]
		c.idle = c.idle[:n]
		c.mu.Unlock()
		if conn.quiet() {
			return conn, nil
		}
		c.discard(conn)
	}
}

// connect opens a connection and greets the server. Before there is a connection a call is certainly not done; later
// the outcome is unknown, as for users of go-redis, which does not say how far it came.
func (c *redisClient) connect(ctx context.Context) (*redisConn, error) {
	address, err := c.server(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", locks.ErrNotDone, err.Error()) // what became of the question to Sentinels is another matter
	}
	to := address
	if other, ok := c.routes[address]; ok {
		to = other
	}
	dialed, err := dial(ctx, "tcp", to)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", locks.ErrNotDone, err)
	}
	conn := &redisConn{Conn: dialed, from: bufio.NewReaderSize(dialed, longestLine), server: address}
	c.mu.Lock()
	closed := c.closed
	if !closed {
		c.open[conn] = true
	}
	c.mu.Unlock()
	if closed {
		return nil, errors.Join(fmt.Errorf("%w: the process is closed", locks.ErrNotDone), conn.Close())
	}
	if _, err := conn.exchange(ctx, [][]string{{"HELLO", "2"}}); err != nil { // old servers refuse it: that is no error
		c.discard(conn)
		return nil, fmt.Errorf("%w: %w", locks.ErrUnknown, err)
	}
	return conn, nil
}

// release makes a connection idle that another call may use.
func (c *redisClient) release(conn *redisConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[conn] {
		c.idle = append(c.idle, conn)
	}
}

// discard closes a connection, and with it what is waited for on it.
func (c *redisClient) discard(conn *redisConn) {
	c.mu.Lock()
	delete(c.open, conn)
	c.mu.Unlock()
	_ = conn.Close()
}

// keep closes the connections to all servers but one.
func (c *redisClient) keep(server string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	other := func(conn *redisConn) bool { return conn.server != server }
	c.idle = slices.DeleteFunc(c.idle, other)
	for conn := range c.open {
		if other(conn) {
			delete(c.open, conn)
			_ = conn.Close()
		}
	}
}

// close closes all connections, and lets none be opened again.
func (c *redisClient) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []error
	for conn := range c.open {
		list = append(list, conn.Close())
	}
	c.closed, c.idle = true, nil
	clear(c.open)
	return errors.Join(list...)
}

// readOnly reports whether a server has said that it is a replica: another connection may lead to the master.
func (a redisAnswer) readOnly() bool {
	return a.refused != nil && strings.HasPrefix(a.refused.Text, "READONLY ")
}
