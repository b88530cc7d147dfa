//go:build !js

package harness_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/locks"
)

// forever is longer than anything that is waited for takes on a machine under load.
const forever = 30 * time.Second

// came tells whether a signal fires.
func came(p locks.Process, s locks.Signal) string {
	if p.Wait(forever, s) == 0 {
		return "comes"
	}
	return "does not come"
}

// outcomeOf puts the outcome of a call into words. Of what Redis says no with the first word is the code.
func outcomeOf(err error) string {
	var refused *locks.RedisError
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &refused):
		code, _, _ := strings.Cut(refused.Text, " ")
		return "refused: " + code
	case errors.Is(err, locks.ErrSessionExpired):
		return "session expired"
	case errors.Is(err, locks.ErrNotDone):
		return "not done"
	case errors.Is(err, locks.ErrUnknown):
		return "unknown"
	case errors.Is(err, locks.ErrNoNode), errors.Is(err, locks.ErrNodeExists):
		return err.Error()
	default:
		return "refused"
	}
}

func replyOf(r locks.Reply, err error) string {
	if err != nil {
		return outcomeOf(err)
	}
	return wordsOf(r)
}

func wordsOf(r locks.Reply) string {
	switch {
	case r.Nil:
		return "nil"
	case r.Array != nil:
		var words []string
		for _, element := range r.Array {
			words = append(words, wordsOf(element))
		}
		return fmt.Sprint(words)
	case r.Str != "":
		return strconv.Quote(r.Str)
	}
	return strconv.FormatInt(r.Int, 10)
}

// redisPlays are of Redis's port.
var redisPlays = []play{{
	servers: "redis", name: "replies of every kind",
	run: func(p locks.Process, _ stage, tell func(string, ...any)) {
		for _, command := range []string{
			"SET k v NX PX 100000", "SET k w NX PX 100000", "GET k", "GET none", "INCR k", "INCR n", "PTTL none", "DEL k n", "NOSUCH",
			"EVAL return{1,'a',false,{2}} 0", "EVAL return{ok='FINE'} 0", "EVAL return{err='NO'} 0",
			"WATCH w", "SET w v", "MULTI", "GET w", "EXEC", "BLPOP none 0.01",
		} {
			tell("%s: %s", command, replyOf(p.Redis(0).Do(0, strings.Fields(command)...)))
		}
		replies, err := p.Redis(0).Pipeline(0, []string{"SET", "k", "v"}, []string{"INCR", "k"}, []string{"SET", "l", "v"})
		tell("pipeline: %d, %s", len(replies), outcomeOf(err))
		tell("after the error: %s", replyOf(p.Redis(0).Do(0, "GET", "l")))
	},
}, {
	servers: "redis", name: "an answer that comes too late",
	run: func(p locks.Process, s stage, tell func(string, ...any)) {
		_, err := p.Redis(0).Do(0, "SET", "k", "before")
		tell("before: %s", outcomeOf(err))
		s.pause()
		_, err = p.Redis(0).Do(100*time.Millisecond, "SET", "k", "meanwhile")
		tell("meanwhile: %s", outcomeOf(err))
		_, err = p.Redis(0).Pipeline(100*time.Millisecond, []string{"INCR", "k"})
		tell("several meanwhile: %s", outcomeOf(err))
		_, err = p.Redis(0).Subscribe(100*time.Millisecond, "news")
		tell("listening meanwhile: done %v", err == nil) // whether it was not done or is unknown: nobody has heard anything
		s.resume()
		tell("after: %s", replyOf(p.Redis(0).Do(0, "GET", "k")))
	},
}, {
	servers: "redis", name: "a server that is gone and comes back", direct: true,
	run: func(p locks.Process, s stage, tell func(string, ...any)) {
		_, err := p.Redis(0).Do(0, "SET", "k", "before")
		tell("before: %s", outcomeOf(err))
		s.kill()
		_, err = p.Redis(0).Do(time.Second, "SET", "k", "meanwhile")
		tell("meanwhile: %s", outcomeOf(err))
		s.restart()
		tell("after: %s", replyOf(p.Redis(0).Do(0, "GET", "k")))
	},
}, {
	servers: "redis", name: "a connection that breaks",
	run: func(p locks.Process, s stage, tell func(string, ...any)) {
		s.pause()
		asked := p.Go(func(p locks.Process) {
			_, err := p.Redis(0).Do(0, "SET", "k", "v")
			tell("on it: %s", outcomeOf(err))
		})
		p.Sleep(500 * time.Millisecond)
		s.reset()
		tell("the end %s", came(p, asked))
		s.resume()
		_, err := p.Redis(0).Do(0, "PING")
		tell("on the next: %s", outcomeOf(err))
	},
}, {
	servers: "redis", name: "what is published",
	run: func(p locks.Process, s stage, tell func(string, ...any)) {
		heard, err := p.Redis(0).Subscribe(0, "news")
		tell("listening: %s", outcomeOf(err))
		for range 2 {
			next := heard.Next()
			tell("published: %s", replyOf(p.Redis(0).Do(0, "PUBLISH", "news", "x")))
			tell("it %s, over %v", came(p, next), heard.Over())
		}
		next := heard.Next()
		s.reset()
		tell("the end %s, over %v", came(p, next), heard.Over())
		heard.Close()
		tell("published to nobody: %s", replyOf(p.Redis(0).Do(0, "PUBLISH", "news", "x")))
	},
}}
