package replay

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	commands "github.com/locksim/locksim/internal/backend/redis"
	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/sim/redis"
	"github.com/locksim/locksim/trace"
)

// redisTap looks at what a client and a server of Redis say to each other.
type redisTap struct {
	parties
	servers *redisServers
	server  int
}

// redisTalk is one connection of it.
type redisTalk struct {
	*redisTap
	passage  *real.Passage
	up, down []byte   // what has arrived, and is no whole message yet
	asked    []naming // requests that have been passed on, and not been answered
}

// naming is how a step names a message.
type naming struct {
	what, alt string
	at        trace.Instant // when the server was given the request
	number    uint64        // of the request
}

func (t *redisTap) tap(p *real.Passage) (requests, replies real.Filter) {
	talk := &redisTalk{redisTap: t, passage: p}
	return talk.requests, talk.replies
}

// requests passes commands on, one after the other.
func (t *redisTalk) requests(arrived []byte, way real.Way) error {
	t.up = append(t.up, arrived...)
	for {
		args, rest, err := redis.ParseCommand(t.up)
		if err != nil {
			return err
		}
		if args == nil {
			return nil
		}
		raw := t.up[:len(t.up)-len(rest)]
		t.up = rest
		if err := t.request(args, raw, way); err != nil {
			return err
		}
	}
}

func (t *redisTalk) request(args []string, raw []byte, way real.Way) error {
	s := t.stage
	n := naming{}
	if len(args) > 0 {
		n = naming{what: strings.ToUpper(args[0]), alt: commands.PurposesOf(s.plan.Algorithm.Scripts).Of(args)}
	}
	m := &message{passage: t.passage, route: t.route}
	if err := t.sends(n, m, way); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.arrives(t.route.server, n.what, n.alt, t.actor.name, m) {
		return errDropped
	}
	if m.answer != "" {
		return t.passage.Answer([]byte("-" + m.answer + "\r\n"))
	}
	n.at, n.number = s.Now(), m.number
	t.asked = append(t.asked, n)
	return way.Deliver(raw)
}

// replies passes answers on, one after the other.
func (t *redisTalk) replies(arrived []byte, way real.Way) error {
	t.down = append(t.down, arrived...)
	for {
		n := replyLength(t.down)
		if n == 0 {
			return nil
		}
		raw := t.down[:n]
		t.down = t.down[n:]
		if err := t.reply(raw, way); err != nil {
			return err
		}
	}
}

func (t *redisTalk) reply(raw []byte, way real.Way) error {
	s := t.stage
	s.mu.Lock()
	n := naming{what: "message"}
	m := &message{passage: t.passage, route: t.route, reply: true}
	if raw = t.told(raw); len(t.asked) > 0 && raw[0] != '>' {
		n, t.asked = t.asked[0], t.asked[1:]
		m.answers = n.number
		if !slices.Contains(blocking, n.what) {
			s.served(t.route.server, n.at)
		}
		if n.alt == trace.ToAcquire {
			s.journal.asked(t.actor.name, t.route.server)
		}
	}
	t.servers.wrote(t.server)
	left := s.replies(t.route.server, n.what, n.alt, t.actor.name, m)
	s.mu.Unlock()
	if !left {
		return errDropped
	}
	return t.receives(n, m, raw, way)
}

// blocking are the commands that servers take their time for.
var blocking = []string{
	"WAIT", "WAITAOF", "BLPOP", "BRPOP", "BLMOVE", "BLMPOP", "BRPOPLPUSH", "BZPOPMIN", "BZPOPMAX", "BZMPOP", "XREAD", "XREADGROUP",
}

// told is what a program is told by a Sentinel: where this program finds the servers that it names. All ports have five digits.
func (t *redisTalk) told(raw []byte) []byte {
	if t.server >= 0 || t.actor.part.Command == nil {
		return raw
	}
	for server, route := range t.actor.part.Routes {
		raw = bytes.ReplaceAll(raw, portOf(server), portOf(route))
	}
	return raw
}

// portOf is the port of an address.
func portOf(address string) []byte { return []byte(address[strings.LastIndexByte(address, ':')+1:]) }

// replyLength is how long the first reply or push is; 0 if it is not whole.
func replyLength(b []byte) int {
	end := bytes.Index(b, []byte("\r\n"))
	if end < 0 {
		return 0
	}
	length := end + 2
	n, _ := strconv.Atoi(string(b[1:end])) // of a status, and of an error, there is none
	switch b[0] {
	case '%':
		n *= 2
	case '|': // an attribute precedes what it is of
		n = 2*n + 1
	}
	switch b[0] {
	case '$', '=', '!':
		if n >= 0 {
			length += n + 2
		}
	case '*', '~', '>', '%', '|':
		for range max(n, 0) {
			element := replyLength(b[min(length, len(b)):])
			if element == 0 {
				return 0
			}
			length += element
		}
	}
	if length > len(b) {
		return 0
	}
	return length
}
