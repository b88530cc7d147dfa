package wire

import (
	"strings"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/sim/redis"
)

// Redis returns a conversation in Redis's protocol. Purpose says what the lock wants with a command, for the trace and for
// faults that wait for it; it may be nil.
func Redis(purpose func(args []string) string) Conversation {
	return &redisConversation{purpose: purpose}
}

type redisConversation struct {
	purpose  func(args []string) string
	rest     []byte // not yet a whole command
	farewell []byte
}

// Receive sends on what are whole commands.
func (c *redisConversation) Receive(bytes []byte, send func(sim.Payload) error) bool {
	bytes = append(c.rest, bytes...)
	for {
		args, rest, err := redis.ParseCommand(bytes)
		switch {
		case err != nil:
			c.farewell = redis.Reply{Type: redis.ReplyError, Text: "ERR Protocol" + strings.TrimPrefix(err.Error(), "protocol")}.Append(nil)
			return false
		case args == nil:
			c.rest = rest
			return true
		case len(args) == 0:
		case strings.EqualFold(args[0], "QUIT"):
			c.farewell = redis.Reply{Type: redis.ReplyStatus, Text: "OK"}.Append(nil)
			return false
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

// Append writes an answer or a message to a subscriber.
func (c *redisConversation) Append(dst []byte, p sim.Payload) []byte {
	switch p := p.(type) {
	case *redis.Response:
		return p.Append(dst)
	case *redis.Message:
		return p.Append(dst)
	}
	return dst
}

// Farewell is the answer to QUIT, or the error that tells of malformed bytes.
func (c *redisConversation) Farewell() []byte { return c.farewell }
