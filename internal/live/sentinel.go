package live

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locksim/locksim/locks"
)

// sentinels find the master for a client, as go-redis's FailoverClient does (sentinel.go): the Sentinel that answered
// first is asked before a connection is opened, and listened to. If it fails, all are asked.
type sentinels struct {
	master string
	client *redisClient // of the master
	ctx    context.Context

	asking    sync.Mutex // is held while Sentinels are asked
	addresses []string   // of the Sentinels that are known
	chosen    *redisClient
	leave     context.CancelFunc // stops listening to the chosen one

	mu      sync.Mutex
	current string // the master's address
}

// sentinelTimeout is how long a Sentinel has for an answer (go-redis, options.go, ReadTimeout).
const sentinelTimeout = 3 * time.Second

// relisten is the pause before a Sentinel is listened to again whose connection was lost (go-redis, pubsub.go).
const relisten = 100 * time.Millisecond

// newSentinelClient returns a client of the master that Sentinels name. The context is the process's.
func newSentinelClient(ctx context.Context, master string, addresses []string, routes map[string]string) *redisClient {
	s := &sentinels{master: master, ctx: ctx, addresses: slices.Clone(addresses), client: newRedisClient("")}
	s.client.server, s.client.routes = s.find, routes
	return s.client
}

// find returns the master's address. Connections to a former master are closed.
func (s *sentinels) find(ctx context.Context) (string, error) {
	s.asking.Lock()
	defer s.asking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, sentinelTimeout)
	defer cancel()
	if s.chosen != nil {
		address, err := s.ask(ctx, s.chosen)
		if err == nil {
			s.switchTo(address)
			return address, nil
		}
		s.leave()
		s.chosen = nil
		if ctx.Err() != nil {
			return "", err
		}
	}
	address, err := s.askAll(ctx)
	if err != nil {
		return "", err
	}
	s.switchTo(address)
	return address, nil
}

// askAll asks all Sentinels, and chooses the one that answers first.
func (s *sentinels) askAll(ctx context.Context) (string, error) {
	type answer struct {
		client  *redisClient
		address string
		err     error
	}
	answers := make(chan answer, len(s.addresses))
	for _, at := range s.addresses {
		client := newRedisClient(at)
		client.routes = s.client.routes
		go func() {
			address, err := s.ask(ctx, client)
			answers <- answer{client, address, err}
		}()
	}
	var failed []string
	for n := range s.addresses {
		a := <-answers
		if a.err != nil {
			failed = append(failed, plainly(a.err))
			_ = a.client.close()
			continue
		}
		for range len(s.addresses) - n - 1 { // the others are not waited for
			go func() { _ = (<-answers).client.close() }()
		}
		s.choose(ctx, a.client)
		return a.address, nil
	}
	return "", fmt.Errorf("no Sentinel names the master %q: %s", s.master, strings.Join(failed, "; "))
}

// plainly is an error's text without the outcome that it begins with: it is that of the question, not of the lock's command.
func plainly(err error) string {
	text := err.Error()
	for _, outcome := range []error{locks.ErrNotDone, locks.ErrUnknown} {
		text = strings.TrimPrefix(text, outcome.Error()+": ")
	}
	return text
}

// ask asks a Sentinel for the master's address.
func (s *sentinels) ask(ctx context.Context, sentinel *redisClient) (string, error) {
	answers, err := sentinel.ask(ctx, [][]string{{"SENTINEL", "get-master-addr-by-name", s.master}})
	switch {
	case err != nil:
		return "", err
	case answers[0].refused != nil:
		return "", answers[0].refused
	case len(answers[0].reply.Array) != 2:
		return "", fmt.Errorf("a Sentinel knows no master %q", s.master)
	}
	at := answers[0].reply.Array
	return net.JoinHostPort(at[0].Str, at[1].Str), nil
}

// choose makes a Sentinel the one that is asked and listened to, and learns from it of others.
func (s *sentinels) choose(ctx context.Context, sentinel *redisClient) {
	if answers, err := sentinel.ask(ctx, [][]string{{"SENTINEL", "sentinels", s.master}}); err == nil {
		for _, other := range answers[0].reply.Array {
			at := fields(other.Array)
			if a := net.JoinHostPort(at["ip"], at["port"]); at["ip"] != "" && !slices.Contains(s.addresses, a) {
				s.addresses = append(s.addresses, a)
			}
		}
	}
	listening, cancel := context.WithCancel(s.ctx)
	context.AfterFunc(listening, func() { _ = sentinel.close() })
	s.chosen, s.leave = sentinel, cancel
	go s.listen(listening, sentinel)
}

// fields are names and values in turn.
func fields(list []locks.Reply) map[string]string {
	m := make(map[string]string)
	for pair := range slices.Chunk(list, 2) {
		m[pair[0].Str] = pair[len(pair)-1].Str
	}
	return m
}

// listen hears of new masters until the context ends. If the connection is lost it is opened again.
func (s *sentinels) listen(ctx context.Context, sentinel *redisClient) {
	for ctx.Err() == nil {
		conn, err := sentinel.subscribe(ctx, "+switch-master")
		for err == nil {
			var m string // the master's name, its old address and its new one
			if m, err = conn.message(); err != nil {
				sentinel.discard(conn)
			} else if words := strings.Fields(m); len(words) == 5 && words[0] == s.master {
				s.switchTo(net.JoinHostPort(words[3], words[4]))
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(relisten):
		}
	}
}

// switchTo takes a server for the master. Connections to others are closed, also those that are waited on.
func (s *sentinels) switchTo(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != address {
		s.current = address
		s.client.keep(address)
	}
}
