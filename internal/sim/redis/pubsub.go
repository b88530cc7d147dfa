package redis

import (
	"slices"
	"strings"

	"github.com/locksim/locksim/trace"
)

// Message is a message to a subscriber: it is delivered at most once, and not at all while the subscriber is
// disconnected.
type Message struct {
	Channel, Text string
	Pattern       string   // the one that the channel matches; "" if the client has subscribed to the channel itself
	Protocol      Protocol // that the connection speaks
}

// What returns "message" and the channel.
func (m *Message) What() (what, alt string) { return "message", m.Channel }

// Sum returns a digest of the message.
func (m *Message) Sum() uint64 {
	var d trace.Digest
	d.String(m.Channel)
	d.String(m.Text)
	if m.Pattern != "" {
		d.String(m.Pattern)
	}
	return d.Sum()
}

// String formats the message as redis-cli does.
func (m *Message) String() string { return m.reply().String() }

func (m *Message) reply() Reply {
	words := []string{"message", m.Channel, m.Text}
	if m.Pattern != "" {
		words = []string{"pmessage", m.Pattern, m.Channel, m.Text}
	}
	r := arrayOf(words...)
	r.Type = ReplyPush
	return r
}

// listens is the channels, or the patterns, of a connection, and what confirms that they are more or fewer.
type listens struct {
	names *[]string
	verb  string // in front of "subscribe"
}

func (p *Peer) listens(c *command) listens {
	if c.name[0] == 'P' {
		return listens{&p.patterns, "p"}
	}
	return listens{&p.channels, ""}
}

// runSubscribe is SUBSCRIBE and PSUBSCRIBE: a reply for each name.
func runSubscribe(s *Store, p *Peer, c *command, args []string) {
	if !slices.Contains(s.subscribers, p) {
		s.subscribers = append(s.subscribers, p)
	}
	l := p.listens(c)
	s.severally(len(args) - 1)
	for _, name := range args[1:] {
		if !slices.Contains(*l.names, name) {
			*l.names = append(*l.names, name)
		}
		s.confirm(l.verb+"subscribe", p, name)
	}
}

// runUnsubscribe is UNSUBSCRIBE and PUNSUBSCRIBE: it leaves those that are named, or all.
func runUnsubscribe(s *Store, p *Peer, c *command, args []string) {
	l := p.listens(c)
	names := args[1:]
	if len(names) == 0 {
		names = slices.Clone(*l.names)
	}
	if len(names) == 0 {
		s.head(ReplyPush, 3)
		s.out = appendNil(appendBulk(s.out, l.verb+"unsubscribe"))
		s.out = appendInteger(s.out, int64(p.subscriptions()))
		return
	}
	s.severally(len(names))
	for _, name := range names {
		*l.names = slices.DeleteFunc(*l.names, func(n string) bool { return n == name })
		s.confirm(l.verb+"unsubscribe", p, name)
	}
	if p.subscriptions() == 0 {
		s.unsubscribe(p)
	}
}

// severally announces several replies to one command.
func (s *Store) severally(n int) {
	if n > 1 {
		s.out = appendHead(s.out, several, int64(n))
	}
}

func (s *Store) confirm(what string, p *Peer, name string) {
	s.head(ReplyPush, 3)
	s.bulks(what, name)
	s.out = appendInteger(s.out, int64(p.subscriptions()))
}

// unsubscribe removes a connection from the subscribers.
func (s *Store) unsubscribe(p *Peer) {
	p.channels, p.patterns = p.channels[:0], p.patterns[:0]
	if i := slices.Index(s.subscribers, p); i >= 0 {
		s.subscribers = slices.Delete(s.subscribers, i, i+1)
	}
}

// runPublish answers with how many subscribers of this server there are.
func runPublish(s *Store, _ *Peer, _ *command, args []string) {
	m := Message{Channel: args[1], Text: args[2]}
	s.published = append(s.published, m)
	s.out = appendInteger(s.out, s.publish(m))
}

// publish sends a message to the subscribers of this server. A client with several matching subscriptions
// receives it several times.
func (s *Store) publish(m Message) (receivers int64) {
	send := func(p *Peer, pattern string) {
		copied := m
		copied.Pattern, copied.Protocol = pattern, p.protocol
		s.pushes.now = append(s.pushes.now, delivery{p, &copied})
		receivers++
	}
	for _, p := range s.subscribers {
		if slices.Contains(p.channels, m.Channel) {
			send(p, "")
		}
	}
	for _, p := range s.subscribers {
		for _, pattern := range p.patterns {
			if matches(pattern, m.Channel) {
				send(p, pattern)
			}
		}
	}
	return receivers
}

// Publish sends a message of the server's own to its subscribers, at once.
func (s *Server) Publish(channel, text string) {
	s.Store.publish(Message{Channel: channel, Text: text})
	s.pushNow()
}

// pubsubRows are the subcommands of PUBSUB.
func pubsubRows() []command {
	return []command{
		{name: "CHANNELS", arity: -2, run: runPubsubChannels},
		{name: "NUMSUB", arity: -2, run: runPubsubNumsub},
		{name: "NUMPAT", arity: 2, run: runPubsubNumpat},
	}
}

// runPubsubChannels lists them in the order of their names; Redis in that of a hash table.
func runPubsubChannels(s *Store, _ *Peer, _ *command, args []string) {
	if len(args) > 3 {
		s.fail("ERR unknown subcommand or wrong number of arguments for '" + args[1] + "'. Try " + strings.ToUpper(args[0]) + " HELP.")
		return
	}
	names := s.listened(func(p *Peer) []string { return p.channels })
	if len(args) == 3 {
		names = slices.DeleteFunc(names, func(n string) bool { return !matches(args[2], n) })
	}
	s.head(ReplyArray, len(names))
	s.bulks(names...)
}

func runPubsubNumsub(s *Store, _ *Peer, _ *command, args []string) {
	s.head(ReplyArray, 2*len(args[2:]))
	for _, channel := range args[2:] {
		n := int64(0)
		for _, p := range s.subscribers {
			if slices.Contains(p.channels, channel) {
				n++
			}
		}
		s.out = appendInteger(appendBulk(s.out, channel), n)
	}
}

func runPubsubNumpat(s *Store, _ *Peer, _ *command, _ []string) {
	s.out = appendInteger(s.out, int64(len(s.listened(func(p *Peer) []string { return p.patterns }))))
}

// listened are the channels, or patterns, that somebody listens to.
func (s *Store) listened(of func(*Peer) []string) (names []string) {
	for _, p := range s.subscribers {
		names = append(names, of(p)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
