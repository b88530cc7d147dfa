package locks

import "time"

// Redis is a client of one Redis server: a pool of connections, each used by one call at a time, as in the
// common client libraries. A call that times out closes its connection. Commands that depend on their
// connection, such as WATCH and MULTI, stay together as long as one task at a time uses the client.
type Redis interface {
	// Do sends one command and waits for its reply, at most timeout; 0 waits forever. An error reply of the server
	// comes back as a *RedisError. If no reply arrived the error is ErrNotDone or ErrUnknown. A client that follows
	// a master from server to server may have its own time-out where timeout is 0, and send the command again.
	Do(timeout time.Duration, args ...string) (Reply, error)
	// Pipeline sends several commands at once on one connection, where they are executed one after another, and
	// waits for all replies, at most timeout. So a command that refers to earlier ones of its connection, such
	// as WAIT, refers to those that precede it here. The replies are those before the first error reply, which
	// comes back as a *RedisError; there are none if the error is ErrNotDone or ErrUnknown.
	Pipeline(timeout time.Duration, commands ...[]string) ([]Reply, error)
	// Subscribe opens a separate connection, on which it receives the messages of a channel.
	Subscribe(timeout time.Duration, channel string) (Subscription, error)
}

// Subscription is a subscription to a channel. Redis delivers a message once or not at all: messages that are
// published while the client is disconnected are lost.
type Subscription interface {
	// Next returns a signal that fires with the next message, or when the connection is lost.
	Next() Signal
	// Over reports whether the connection is lost: it will deliver no more messages.
	Over() bool
	// Close ends the subscription.
	Close()
}

// Eval runs a Lua script as client libraries do: EVALSHA first would save bytes and cost a round trip on the first
// use; locks here send the script itself. Keys come first, then the other arguments.
func Eval(r Redis, timeout time.Duration, s Script, keys []string, args ...string) (Reply, error) {
	command := make([]string, 0, 3+len(keys)+len(args))
	command = append(command, "EVAL", s.Body, itoa(len(keys)))
	command = append(command, keys...)
	command = append(command, args...)
	return r.Do(timeout, command...)
}

// Script is a Lua script and its name in faults and traces: "release", "renew", "acquire".
type Script struct {
	Name string
	Body string
}

// Reply is a reply of a Redis server.
type Reply struct {
	Nil   bool
	Int   int64
	Str   string // status or bulk string
	Array []Reply
}

// OK reports whether the reply is the status OK.
func (r Reply) OK() bool { return r.Str == "OK" }

// RedisError is an error reply: the command was refused or failed.
type RedisError struct{ Text string }

// Error returns the server's text.
func (e *RedisError) Error() string { return e.Text }
