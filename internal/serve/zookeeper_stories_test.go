package serve_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// zkStory is a sequence of requests by hand.
type zkStory struct {
	name string
	play func(t require.TestingT, s *zkSide, root string)
}

// zkStories are what clients do that generated requests would rarely come to. A side writes down what it sees.
var zkStories = []zkStory{
	{"containers", func(_ require.TestingT, s *zkSide, root string) {
		for _, at := range []string{"/a", "/a", "/a/b", "/nowhere/a"} {
			s.step(0, opContainer, node(root+at, "", 4))
		}
		s.step(0, opContainer, node(root+"/plain", "", 0))
		s.step(0, opContainer, node(root+"/numbered-", "", 3))
		s.step(0, opCreate, node(root+"/no-container", "", 4))
		s.step(0, opMulti, frame{}.inMulti(opContainer, node(root+"/m", "", 4)).inMulti(opCreate, node(root+"/n", "", 4)).
			inMulti(opContainer, node(root+"/o", "", 0)).ended())
		s.step(0, opDeleteContainer, frame{}.text(root+"/a"))
		s.step(0, opGetChildren2, frame{}.text(root).bool(false))
	}},
	{"own-nodes", func(_ require.TestingT, s *zkSide, _ string) {
		for _, at := range []string{"/zookeeper", "/zookeeper/config", "/zookeeper/quota"} {
			s.step(0, opExists, frame{}.text(at).bool(false))
			s.step(0, opGetACL, frame{}.text(at))
			s.step(0, opGetChildren, frame{}.text(at).bool(false))
			s.step(0, opDelete, frame{}.text(at).int(-1))
			s.step(0, opCreate, node(at, "", 0))
		}
		s.step(0, opSetData, frame{}.text("/zookeeper/config").text("").int(-1))
		s.step(0, opDelete, frame{}.text("/").int(-1))
		s.step(0, opCreate, node("/", "", 0))
		s.step(0, opGetACL, frame{}.text("/zookeeper"))
	}},
	{"strange-paths", func(_ require.TestingT, s *zkSide, root string) {
		for _, end := range []string{
			"/", "//a", "/a//b", "/.", "/..", "/a/..", "/\x00", "/\x01", "/\x7f", "/\u0085", "/\ue000", "/ä", "/\xff", "/...", "x",
		} {
			for _, at := range []string{root + end, strings.TrimPrefix(root+end, "/")} {
				s.step(0, opCreate, node(at, "", 0))
				s.step(0, opCreate, node(at, "", 2))
				s.step(0, opSetData, frame{}.text(at).text("").int(7))
				s.step(0, opExists, frame{}.text(at).bool(true))
				s.step(0, opGetData, frame{}.text(at).bool(true))
				s.step(0, opSync, frame{}.text(at))
				s.step(0, opDelete, frame{}.text(at).int(7))
				s.step(0, opDelete, frame{}.text(at).int(-1))
			}
		}
		s.step(0, opCreate, node("", "", 0))
		s.step(0, opSetData, frame{}.text("").text("").int(-1))
		s.step(0, opDelete, frame{}.text("").int(-1))
	}},
	{"missing-fields", func(_ require.TestingT, s *zkSide, root string) {
		none := frame{}.int(-1)
		s.step(0, opCreate, append(none, frame{}.text("").anyone().int(0)...))
		s.step(0, opCreate, frame{}.text(root+"/no-acl").text("").int(-1).int(0))
		s.step(0, opCreate, frame{}.text(root+"/no-data").int(-1).anyone().int(0))
		s.step(0, opGetData, frame{}.text(root+"/no-data").bool(false))
		s.step(0, opSetData, frame{}.text(root+"/no-data").text("").int(0))
		s.step(0, opGetData, frame{}.text(root+"/no-data").bool(false))
		for _, op := range []int32{opExists, opGetData, opGetChildren, opDelete, opSetData, opCheck, opGetACL} {
			s.step(0, op, frame{}.int(-1).int(0).int(0))
			s.step(0, op, nil)
		}
		s.step(0, opMulti, nil)
		s.step(0, opMulti, frame{}.ended())
		s.step(0, opMulti, frame{}.inMulti(77, nil).ended())
		s.step(0, opMulti, frame{}.inMulti(opGetData, frame{}.text(root).bool(false)).ended())
		s.step(0, opMulti, frame{}.inMulti(opCreate, node(root+"/m", "", 9)).ended())
		s.step(0, opMulti, frame{}.inMulti(opCreate, node(root+"/m", "", 5)).ended())
		s.step(0, opWatches, nil)
		s.step(0, opReconfig, nil)
		s.step(0, opReconfig, frame{}.text("").text("").text("").long(-1))
		s.step(0, opExists, append(frame{}.text(root).bool(false), "and more"...))
	}},
	{"access", func(_ require.TestingT, s *zkSide, root string) {
		at, mine := root+"/mine", []entry{{31, "auth", ""}}
		s.step(0, opCreate, frame{}.text(at).text("").acl(mine...).int(0)) // nobody in particular
		s.step(0, opAuth, frame{}.int(0).text("digest").text("u:p"))
		s.step(0, opWhoAmI, nil)
		s.step(0, opCreate, frame{}.text(at).text("secret").acl(mine...).int(0))
		for who := range 2 {
			s.step(who, opGetACL, frame{}.text(at))
			s.step(who, opGetData, frame{}.text(at).bool(true))
			s.step(who, opExists, frame{}.text(at).bool(true))
			s.step(who, opGetChildren2, frame{}.text(at).bool(true))
			s.step(who, opCreate, node(at+"/x", "", 0))
			s.step(who, opSetData, frame{}.text(at).text("").int(-1))
			s.step(who, opDelete, frame{}.text(at+"/x").int(-1))
			s.step(who, opCount, frame{}.text(at))
			s.step(who, opMulti, frame{}.inMulti(opCheck, frame{}.text(at).int(-1)).ended())
			s.step(who, opMultiRead, frame{}.inMulti(opGetData, frame{}.text(at).bool(false)).ended())
		}
		s.step(0, opSetACL, frame{}.text(at).acl(entry{31, "digest", "u:Jq7wMyA/w2Vd5WIDAKdu4OIIFEQ="}, entry{1, "world", "anyone"}).int(7))
		s.step(0, opSetACL, frame{}.text(at).acl(entry{31, "digest", "u:Jq7wMyA/w2Vd5WIDAKdu4OIIFEQ="}, entry{1, "world", "anyone"}).int(0))
		s.step(1, opGetACL, frame{}.text(at))
		s.step(1, opSetACL, frame{}.text(at).anyone().int(-1))
		s.step(1, opAuth, frame{}.int(0).text("digest").text("u:p"))
		s.step(1, opSetACL, frame{}.text(at).anyone().int(-1))
		s.step(2, opAuth, frame{}.int(0).text("digest").text("noname"))
		s.step(2, opAuth, frame{}.int(0).text("ip").text(""))
		s.step(2, opWhoAmI, nil)
		s.step(2, opSetACL, frame{}.text(root).acl(entry{1, "ip", "127.0.0.1/31"}, entry{8, "ip", "127.0.0.2"}).int(-1))
		s.step(2, opDelete, frame{}.text(at).int(-1))
		s.step(2, opGetChildren, frame{}.text(root).bool(false))
	}},
	{"standing-watches", func(_ require.TestingT, s *zkSide, root string) {
		s.step(1, opAddWatch, frame{}.text(root).int(0))
		s.step(2, opAddWatch, frame{}.text(root).int(1))
		s.step(1, opCheckWatch, frame{}.text(root).int(1))
		for range 2 {
			s.step(0, opCreate, node(root+"/a", "", 0))
			s.step(0, opCreate, node(root+"/a/b", "", 1))
			s.step(0, opSetData, frame{}.text(root).text("1").int(-1))
			s.step(0, opSetData, frame{}.text(root+"/a/b").text("1").int(-1))
			s.step(0, opDelete, frame{}.text(root+"/a/b").int(-1))
			s.step(0, opDelete, frame{}.text(root+"/a").int(-1))
		}
		s.step(1, opGetData, frame{}.text(root).bool(true)) // which makes it one that is used up
		s.step(0, opSetData, frame{}.text(root).text("2").int(-1))
		s.step(0, opSetData, frame{}.text(root).text("3").int(-1))
		s.step(0, opCreate, node(root+"/c", "", 0))
		s.step(2, opRemoveWatch, frame{}.text(root).int(2))
		s.step(0, opSetData, frame{}.text(root+"/c").text("3").int(-1))
		s.step(2, opRemoveWatch, frame{}.text(root).int(3))
		s.step(2, opRemoveWatch, frame{}.text(root).int(3))
		s.step(0, opDelete, frame{}.text(root+"/c").int(-1))
		s.step(2, opCheckWatch, frame{}.text(root).int(3))
		s.step(2, opAddWatch, frame{}.text(root).int(9))
	}},
	{"first-frames", func(_ require.TestingT, s *zkSide, _ string) {
		s.meet("old", hello(0, time.Second, 0, "")[:44])
		s.meet("short", hello(0, 5*time.Second, 0, "")[:20])
		s.meet("one that has seen more", hello(1<<50, 5*time.Second, 0, ""))
		s.meet("an unknown session", hello(0, 5*time.Second, 12345, strings.Repeat("x", 16)))
		for _, asked := range []time.Duration{-1, 0, time.Millisecond, 3 * time.Second, time.Hour} {
			s.meet(fmt.Sprint("for ", asked), hello(0, asked, 0, ""))
		}
		s.meet("no frame", nil)
	}},
	{"impatience", func(t require.TestingT, s *zkSide, root string) {
		s.hurry(t, hello(0, time.Second, 0, ""), root+"/e")
		former := s.clients[0]
		s.hurry(t, hello(0, 5*time.Second, former.session, former.password), root+"/f")
		s.clients = s.clients[1:]
	}},
	{"ends", func(t require.TestingT, s *zkSide, root string) {
		for _, last := range []struct {
			name string
			sent frame
		}{
			{"an operation that nobody knows", frame{}.int(7).int(55)},
			{"an event", frame{}.int(7).int(0)},
			{"a scheme that nobody knows", frame{}.int(-4).int(opAuth).int(0).text("none").text("u:p")},
			{"half a proof", frame{}.int(-4).int(opAuth).int(0)},
			{"half a header", frame{}.int(7)},
			{"the end", frame{}.int(7).int(opCloseSess)},
		} {
			c, err := dialZK(s.addresses[0], time.Second, 0, "")
			require.NoError(t, err)
			_, err = c.ask(opCreate, node(root+"/e-", "", 3))
			require.NoError(t, err)
			require.NoError(t, c.write(last.sent))
			s.say("%s: %s", last.name, s.rest(c.conn))
		}
		c, err := dialZK(s.addresses[0], time.Second, 0, "")
		require.NoError(t, err)
		_, err = c.conn.Write(frame{}.int(1 << 20))
		require.NoError(t, err)
		s.say("too long a frame: %s", s.rest(c.conn))
	}},
	{"sessions-go-on", func(t require.TestingT, s *zkSide, root string) {
		first := s.clients[0]
		s.step(0, opCreate, node(root+"/e", "", 1))
		thief, err := greet(s.addresses[0], hello(0, time.Second, first.session, strings.Repeat("x", 16)))
		require.NoError(t, err)
		s.say("a wrong password: %x, and then %s; the owner: %s", thief.hello, s.rest(thief.conn), s.rest(first.conn))
		again, err := dialZK(s.addresses[0], 3*time.Second, first.session, first.password)
		require.NoError(t, err)
		s.say("the right one: the same session %v, for %v", again.session == first.session, again.timeout)
		s.clients[0] = again
		s.step(0, opGetData, frame{}.text(root+"/e").bool(true))
		third, err := dialZK(s.addresses[0], 8*time.Second, first.session, first.password)
		require.NoError(t, err)
		s.say("once more, for %v; before: %s", third.timeout, s.rest(again.conn))
		s.clients[0] = third
		s.step(1, opSetData, frame{}.text(root+"/e").text("x").int(-1)) // whose watch went with the connection
		s.step(0, opWatches, frame{}.long(s.base+1).texts(root+"/e", root+"/gone", root).texts(root+"/e", root+"/later").texts(root, root+"/e"))
		s.step(1, opCreate, node(root+"/later", "", 0))
		s.step(1, opDelete, frame{}.text(root+"/e").int(-1))
	}},
	{"words", func(_ require.TestingT, s *zkSide, _ string) {
		for _, word := range []string{"ruok", "isro", "wchc", "wchp", "wchs", "crst", "srst", "nope"} {
			s.say("%s: %s", word, s.word(word))
		}
		for _, word := range []string{"srvr", "mntr", "conf"} {
			for line := range strings.Lines(s.word(word)) {
				for _, name := range []string{"Mode", "Outstanding", "zk_server_state", "tickTime", "minSessionTimeout", "maxSessionTimeout"} {
					if strings.HasPrefix(line, name) {
						s.say("%s: %s", word, strings.TrimSpace(line))
					}
				}
			}
		}
	}},
}

// meet sends a first frame and tells the answer, and who got a session closes it.
func (s *zkSide) meet(who string, first frame) {
	c, err := greet(s.addresses[0], first)
	if err != nil {
		s.say("%s: no answer", who)
		return
	}
	s.say("%s: %d bytes, a session %v for %v", who, len(c.hello), c.session != 0, c.timeout)
	if c.session != 0 {
		_, _ = c.ask(opCloseSess, nil)
	}
	s.say("and then %s", s.rest(c.conn))
}

// hurry sends requests behind a first frame without waiting for its answer.
func (s *zkSide) hurry(t require.TestingT, first frame, at string) {
	conn, err := net.Dial("tcp", s.addresses[0])
	require.NoError(t, err)
	c := &zkClient{conn: conn}
	for _, f := range []frame{
		first, frame{}.int(-4).int(opAuth).int(0).text("digest").text("u:p"), append(frame{}.int(1).int(opCreate), node(at, "", 1)...),
		frame{}.int(pingXid).int(opPing), frame{}.int(2).int(opCloseSess),
	} {
		require.NoError(t, c.write(f))
	}
	b, err := c.read()
	require.NoError(t, err)
	s.say("hurried: %d bytes", len(b))
	for _, op := range []int32{opAuth, opCreate, opPing, opCloseSess} {
		b, err := c.read()
		require.NoError(t, err)
		s.say("%d: %s", op, tell(op, b[4:], s.base, s.owned))
	}
	s.say("and then %s", s.rest(conn))
}

// rest is what a server still sends, up to the end of the connection, with zxids counted from the first.
func (s *zkSide) rest(conn net.Conn) string {
	defer func() { _ = conn.Close() }()
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	b, err := io.ReadAll(conn)
	if len(b) >= 16 {
		if zxid := int64(binary.BigEndian.Uint64(b[8:])); zxid > s.base {
			binary.BigEndian.PutUint64(b[8:], uint64(zxid-s.base))
		}
	}
	if err != nil && !strings.Contains(err.Error(), "reset") {
		return fmt.Sprintf("%x, which does not end", b)
	}
	return fmt.Sprintf("%x", b)
}

// word sends four letters.
func (s *zkSide) word(word string) string {
	conn, err := net.Dial("tcp", s.addresses[0])
	if err != nil {
		return err.Error()
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.WriteString(conn, word)
	b, err := io.ReadAll(conn)
	if err != nil {
		return "no end"
	}
	return string(b)
}
