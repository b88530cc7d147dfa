package redis

import (
	"slices"

	"github.com/locksim/locksim/trace"
)

// Message is what a subscriber is sent: at most once, and not at all while it is disconnected.
type Message struct{ Channel, Text string }

// What names the message and its channel.
func (m *Message) What() (what, alt string) { return "message", m.Channel }

// Sum digests the message.
func (m *Message) Sum() uint64 {
	var d trace.Digest
	d.String(m.Channel)
	d.String(m.Text)
	return d.Sum()
}

// String shows the message as redis-cli does.
func (m *Message) String() string {
	return Reply{Type: ReplyArray, Elems: []Reply{
		{Type: ReplyBulk, Text: "message"}, {Type: ReplyBulk, Text: m.Channel}, {Type: ReplyBulk, Text: m.Text},
	}}.String()
}

// runSubscribe confirms each channel. Redis sends one reply for each; here several are one array of them.
func runSubscribe(s *Store, p *Peer, _ *command, args []string) {
	if !slices.Contains(s.subscribers, p) {
		s.subscribers = append(s.subscribers, p)
	}
	if len(args) > 2 {
		s.out = appendArray(s.out, len(args)-1)
	}
	for _, channel := range args[1:] {
		if !slices.Contains(p.channels, channel) {
			p.channels = append(p.channels, channel)
		}
		s.confirm("subscribe", p, channel)
	}
}

// runUnsubscribe leaves the channels that are named, or all.
func runUnsubscribe(s *Store, p *Peer, _ *command, args []string) {
	channels := args[1:]
	if len(channels) == 0 {
		channels = slices.Clone(p.channels)
	}
	switch len(channels) {
	case 0:
		s.out = appendInteger(appendNil(appendBulk(appendArray(s.out, 3), "unsubscribe")), 0)
	case 1:
	default:
		s.out = appendArray(s.out, len(channels))
	}
	for _, channel := range channels {
		p.channels = slices.DeleteFunc(p.channels, func(c string) bool { return c == channel })
		s.confirm("unsubscribe", p, channel)
	}
	if len(p.channels) == 0 {
		s.unsubscribe(p)
	}
}

func (s *Store) confirm(what string, p *Peer, channel string) {
	s.out = appendArray(s.out, 3)
	s.out = appendBulk(s.out, what)
	s.out = appendBulk(s.out, channel)
	s.out = appendInteger(s.out, int64(len(p.channels)))
}

// unsubscribe removes a connection from the subscribers.
func (s *Store) unsubscribe(p *Peer) {
	p.channels = p.channels[:0]
	if i := slices.Index(s.subscribers, p); i >= 0 {
		s.subscribers = slices.Delete(s.subscribers, i, i+1)
	}
}

// runPublish answers with how many subscribers of this server there are.
func runPublish(s *Store, _ *Peer, _ *command, args []string) {
	m := Message{Channel: args[1], Text: args[2]}
	s.published = append(s.published, m)
	receivers := int64(0)
	for _, p := range s.subscribers {
		if slices.Contains(p.channels, m.Channel) {
			receivers++
		}
	}
	s.out = appendInteger(s.out, receivers)
}

// deliver sends messages to the subscribers.
func (s *Server) deliver(messages []Message) {
	if len(messages) == 0 || len(s.Store.subscribers) == 0 {
		return
	}
	subscribers := slices.Clone(s.Store.subscribers)
	for _, m := range messages {
		for _, p := range subscribers {
			if p.conn != nil && slices.Contains(p.channels, m.Channel) {
				p.conn.Reply(&m)
			}
		}
	}
}
