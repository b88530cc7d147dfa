package serve

import (
	"fmt"
	"strings"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/sim/redis"
)

// Redis makes a world of Redis servers that know nothing of each other, one for each address; or, with replicas, of one master,
// which listens on the first address, and its replicas. A port of 0 is any that is free.
func Redis(seed uint64, addresses []string, replicas bool) (*World, error) {
	w := newWorld(seed)
	var master *redis.Server
	for i, address := range addresses {
		config := redis.Config{}
		if replicas {
			config.ReplicaOf = master
		}
		s := redis.NewServer(redis.NewStore(), config)
		n := w.engine.AddServer(fmt.Sprintf("redis-%d", i+1), s)
		w.setClock(n)
		s.Attach(n)
		if master == nil {
			master = s
		}
		if err := w.listen(address, &redisFront{n}); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// redisFront speaks RESP2 with the clients of one server.
type redisFront struct{ node *sim.Node }

func (f *redisFront) accept(w *World, out *outbox) conversation {
	c := &redisConversation{out: out}
	c.conn = w.gateway.Connect(f.node, c)
	return c
}

// redisConversation is one client's.
type redisConversation struct {
	out      *outbox
	conn     *sim.Conn
	farewell []byte // what comes after the replies to all that was sent before
}

// receive sends on what are whole commands.
func (c *redisConversation) receive(bytes []byte) ([]byte, bool) {
	for {
		args, rest, err := redis.ParseCommand(bytes)
		switch {
		case err != nil:
			c.farewell = redis.Reply{Type: redis.ReplyError, Text: "ERR Protocol" + strings.TrimPrefix(err.Error(), "protocol")}.Append(nil)
			return nil, false
		case args == nil:
			return rest, true
		case len(args) > 0:
			if quit := strings.EqualFold(args[0], "QUIT"); quit {
				c.farewell = redis.Reply{Type: redis.ReplyStatus, Text: "OK"}.Append(nil)
				return nil, false
			}
			if c.conn.Push(redis.NewRequest(args, "")) != nil {
				return nil, false
			}
		}
		bytes = rest
	}
}

// over closes the server's connection. What was sent before has been answered: the loop goes on before every act.
func (c *redisConversation) over() {
	c.out.add(c.farewell)
	c.conn.Close()
}

// Deliver takes what the server sends.
func (c *redisConversation) Deliver(p sim.Payload) {
	switch p := p.(type) {
	case *redis.Response:
		c.out.add(p.Append(nil))
	case *redis.Message:
		c.out.add(p.Append(nil))
	}
}

// Closed says that the server has closed the connection.
func (c *redisConversation) Closed() { c.out.end() }
