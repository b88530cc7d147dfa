package wire

import (
	"strings"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
)

// Redis returns a conversation in Redis's protocol. Purpose returns the lock's purpose of a command, for the trace and
// for the triggers of faults; it may be nil.
func Redis(purpose func(args []string) string) Conversation {
	return &redisConversation{purpose: purpose}
}

type redisConversation struct {
	purpose  func(args []string) string
	rest     []byte // not yet a whole command
	farewell []byte
}

// Receive sends on all complete commands.
func (c *redisConversation) Receive(bytes []byte, send func(sim.Payload) error) bool {
	bytes = append(c.rest, bytes...)
	for {
		args, rest, err := redis.ParseCommand(bytes)
		switch {
		case err != nil:
			c.farewell = protocolError(err)
			return false
		case args == nil:
			c.rest = rest
			return true
		case len(args) == 0:
		default:
			if send(redis.NewRequest(args, c.purposeOf(args))) != nil {
				return false
			}
		}
		bytes = rest
	}
}

func (c *redisConversation) purposeOf(args []string) string {
	if c.purpose == nil {
		return ""
	}
	return c.purpose(args)
}

// protocolError is what Redis says before it closes a connection.
func protocolError(err error) []byte {
	text := "ERR Protocol" + strings.TrimPrefix(err.Error(), "protocol")
	return redis.Reply{Type: redis.ReplyError, Text: text}.Append(nil, redis.RESP2)
}

// Append encodes an answer, a message to a subscriber, or an invalidation of tracked keys. Each has the protocol
// version that the connection used when it was sent.
func (c *redisConversation) Append(dst []byte, p sim.Payload) []byte {
	switch p := p.(type) {
	case *redis.Response:
		return p.Append(dst)
	case *redis.Message:
		return p.Append(dst)
	case *redis.Push:
		return p.Append(dst)
	}
	return dst
}

// Farewell returns the error that reports malformed bytes.
func (c *redisConversation) Farewell() []byte { return c.farewell }
