package serve_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSessionsLiveAndEndAsOnARealEnsemble plays what becomes of sessions on three servers: they expire when their time is up,
// they move with their clients, they are closed, and others see their nodes go. Clients of other servers than the one that a
// write went to catch up before they are asked.
func TestSessionsLiveAndEndAsOnARealEnsemble(t *testing.T) {
	t.Parallel()
	sides := bothZK(t, 3, 500*time.Millisecond)
	for _, story := range zkSessions {
		t.Run(story.name, func(t *testing.T) { story.compare(t, sides) })
	}
}

// zkSessions are what becomes of sessions.
var zkSessions = []zkStory{
	{"expiry", func(t require.TestingT, s *zkSide, root string) {
		silent, err := dialZK(s.addresses[0], time.Second, 0, "")
		require.NoError(t, err)
		s.clients = append(s.clients, silent)
		for _, at := range []string{"/e-", "/e-"} {
			s.step(3, opCreate2, node(root+at, "", 3))
		}
		s.step(3, opCreate2, node(root+"/left", "", 0))
		s.step(0, opExists, frame{}.text(root+"/e-0000000000").bool(true))
		s.step(1, opGetData, frame{}.text(root+"/e-0000000001").bool(true))
		s.step(1, opGetChildren, frame{}.text(root).bool(true))
		s.step(2, opGetChildren2, frame{}.text(root).bool(true))
		s.step(2, opAddWatch, frame{}.text(root).int(1))
		s.clients = s.clients[:3]
		began := time.Now()
		for len(s.clients[2].events) == 0 && time.Since(began) < 5*time.Second { // late, or lost to a machine that stood still
			for i, c := range s.clients {
				if _, err := c.ask(opSync, frame{}.text("/")); err != nil {
					s.say("client %d: %v", i, err)
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
		took := time.Since(began)
		s.say("not before its time %v, and within a tick, give or take what machines take %v",
			took > 900*time.Millisecond, took < 4*time.Second)
		s.hear(true)
		s.say("the connection: %s", s.rest(silent.conn))
		s.clients = append(s.clients, silent) // to be known by its nodes, if there were any
		s.step(0, opGetChildren2, frame{}.text(root).bool(false))
		s.clients = s.clients[:3]
		again, err := greet(s.addresses[1], hello(0, time.Second, silent.session, silent.password))
		require.NoError(t, err)
		s.say("its session is gone: %x, and then %s", again.hello, s.rest(again.conn))
	}},
	{"silence", func(t require.TestingT, s *zkSide, root string) { // pings keep a session alive, and so does everything else
		alive, err := dialZK(s.addresses[2], time.Second, 0, "")
		require.NoError(t, err)
		s.clients = append(s.clients, alive)
		s.step(3, opCreate, node(root+"/e", "", 1))
		began := time.Now()
		require.Eventually(t, func() bool {
			_, err := alive.ask(opPing, nil)
			return err != nil || time.Since(began) > 2*time.Second
		}, 20*time.Second, 100*time.Millisecond)
		s.step(0, opExists, frame{}.text(root+"/e").bool(true))
		s.step(3, opCloseSess, nil)
		s.say("the connection: %s", s.rest(alive.conn))
		s.clients = s.clients[:3]
		s.hear(true)
	}},
	{"move", func(t require.TestingT, s *zkSide, root string) {
		s.step(0, opCreate2, node(root+"/e", "1", 1))
		s.step(0, opGetData, frame{}.text(root+"/e").bool(true))
		s.step(0, opGetChildren, frame{}.text(root).bool(true))
		former := s.clients[0]
		moved, err := greet(s.addresses[1], hello(s.base+1, 5*time.Second, former.session, former.password))
		require.NoError(t, err)
		s.clients[0] = moved
		s.say("the same session %v and password %v, for %v", moved.session == former.session,
			moved.password == former.password, moved.timeout)
		s.step(0, opExists, frame{}.text(root+"/e").bool(false))
		s.step(1, opSetData, frame{}.text(root+"/e").text("2").int(0)) // whose watch stayed behind
		s.step(0, opWatches, frame{}.long(s.base+1).texts(root+"/e").texts(root+"/e", root+"/x").texts(root))
		s.step(2, opCreate, node(root+"/x", "", 0))
		s.step(2, opSetData, frame{}.text(root+"/e").text("3").int(-1))
		answer, err := former.ask(opExists, frame{}.text(root).bool(false))
		s.say("who has stayed behind may read %v", err == nil && answer != nil)
		s.say("but not write: %v", s.writes(former, root+"/y"))
		s.step(0, opGetChildren2, frame{}.text(root).bool(false))
		back, err := greet(s.addresses[0], hello(0, 5*time.Second, former.session, former.password))
		require.NoError(t, err)
		s.clients[0] = back
		s.step(0, opDelete, frame{}.text(root+"/e").int(-1))
		s.say("who has stayed behind now: %v", s.writes(moved, root+"/z"))
	}},
	{"first-frames", func(t require.TestingT, s *zkSide, root string) {
		for i := range s.addresses {
			one := &zkSide{addresses: s.addresses[i : i+1], base: s.base}
			one.meet("who has seen more", hello(1<<62, time.Second, 0, ""))
			one.meet("who asks for nothing", hello(0, 0, 0, ""))
			one.meet("who asks for much", hello(0, time.Hour, 0, ""))
			one.hurry(t, hello(0, time.Second, 0, ""), root+"/e")
			s.log = append(s.log, one.log...)
			s.hear(true)
		}
	}},
	{"orders", func(_ require.TestingT, s *zkSide, root string) { // what clients of different servers do in turn
		for i := range 9 {
			s.step(i%3, opCreate2, node(root+"/n-", "", int32(2+i%2)))
			s.step((i+1)%3, opGetChildren2, frame{}.text(root).bool(i%2 == 0))
			s.step((i+2)%3, opMulti, frame{}.inMulti(opCheck, frame{}.text(root).int(0)).
				inMulti(opCreate, node(root+"/m-", "", 3)).inMulti(opDelete, frame{}.text(root+"/n-0000000000").int(-1)).ended())
		}
	}},
}

// writes has a client write, and tells what comes of it.
func (s *zkSide) writes(c *zkClient, at string) string {
	answer, err := c.ask(opCreate, node(at, "", 0))
	if err != nil {
		return "the connection is over"
	}
	return tell(opCreate, answer, s.base, s.owned)
}
