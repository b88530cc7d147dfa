package sentinel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/sim"
)

// listener is a connection that has subscribed to channels.
type listener struct {
	conn     *sim.Conn
	channels []string
}

// Execute answers clients and other Sentinels, which speak Redis's protocol.
func (s *Sentinel) Execute(c *sim.Conn, p sim.Payload) sim.Payload {
	r, ok := p.(*redis.Request)
	if !ok {
		panic(fmt.Sprintf("sentinel: %s was sent a %T", s.node.Name, p))
	}
	return &redis.Response{Request: r, Reply: s.reply(c, r)}
}

func (s *Sentinel) reply(c *sim.Conn, r *redis.Request) redis.Reply {
	switch args := r.Args; {
	case r.Command == "PING":
		return redis.Reply{Type: redis.ReplyStatus, Text: "PONG"}
	case r.Command == "PUBLISH" && len(args) == 3 && args[1] == helloChannel:
		s.hearHello(args[2])
		return redis.Reply{Type: redis.ReplyInteger, Int: 1}
	case r.Command == "SUBSCRIBE" && len(args) > 1:
		return s.subscribe(c, args[1:])
	case r.Command == "SENTINEL" && len(args) == 3 && strings.EqualFold(args[1], "get-master-addr-by-name"):
		return s.masterAddress(args[2])
	case r.Command == "SENTINEL" && len(args) == 6 && strings.EqualFold(args[1], "is-master-down-by-addr"):
		return s.isMasterDown(args)
	default:
		return redis.Reply{Type: redis.ReplyError, Text: "ERR unknown command '" + args[0] + "'"}
	}
}

func (s *Sentinel) masterAddress(name string) redis.Reply {
	if name != MasterName {
		return redis.Reply{}
	}
	return redis.Reply{Type: redis.ReplyArray, Elems: []redis.Reply{
		{Type: redis.ReplyBulk, Text: s.Master().Name}, {Type: redis.ReplyBulk, Text: port},
	}}
}

// subscribe confirms each channel. Redis sends one reply for each; here several are one array of them.
func (s *Sentinel) subscribe(c *sim.Conn, channels []string) redis.Reply {
	l, ok := c.Session.(*listener)
	if !ok {
		l = &listener{conn: c}
		c.Session = l
		s.listeners = append(s.listeners, l)
	}
	var replies []redis.Reply
	for _, channel := range channels {
		l.channels = append(l.channels, channel)
		replies = append(replies, redis.Reply{Type: redis.ReplyArray, Elems: []redis.Reply{
			{Type: redis.ReplyBulk, Text: "subscribe"}, {Type: redis.ReplyBulk, Text: channel},
			{Type: redis.ReplyInteger, Int: int64(len(l.channels))},
		}})
	}
	if len(replies) == 1 {
		return replies[0]
	}
	return redis.Reply{Type: redis.ReplyArray, Elems: replies}
}

// publish tells who has subscribed of an event (sentinelEvent).
func (s *Sentinel) publish(channel, text string) {
	for _, l := range slices.Clone(s.listeners) {
		if slices.Contains(l.channels, channel) {
			l.conn.Reply(&redis.Message{Channel: channel, Text: text})
		}
	}
}

// Disconnected removes the subscriptions of a closed connection.
func (s *Sentinel) Disconnected(c *sim.Conn) {
	if l, ok := c.Session.(*listener); ok {
		s.listeners = slices.DeleteFunc(s.listeners, func(other *listener) bool { return other == l })
	}
}
