package serve_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// frame builds what a client of ZooKeeper sends.
type frame []byte

func (f frame) int(n int32) frame   { return binary.BigEndian.AppendUint32(f, uint32(n)) }
func (f frame) long(n int64) frame  { return binary.BigEndian.AppendUint64(f, uint64(n)) }
func (f frame) text(s string) frame { return append(f.int(int32(len(s))), s...) }
func (f frame) bool(b bool) frame {
	if b {
		return append(f, 1)
	}
	return append(f, 0)
}

// acl is a list of who may do what, each as what, scheme and id.
func (f frame) acl(list ...entry) frame {
	f = f.int(int32(len(list)))
	for _, e := range list {
		f = f.int(e.may).text(e.scheme).text(e.id)
	}
	return f
}

type entry struct {
	may        int32
	scheme, id string
}

// anyone is the list by which everybody may do everything.
func (f frame) anyone() frame { return f.acl(entry{31, "world", "anyone"}) }

func (f frame) texts(list ...string) frame {
	f = f.int(int32(len(list)))
	for _, s := range list {
		f = f.text(s)
	}
	return f
}

// node is what a create asks for.
func node(path, data string, mode int32) frame {
	return frame{}.text(path).text(data).anyone().int(mode)
}

// inMulti puts an operation into a transaction, and ended says that it was the last.
func (f frame) inMulti(op int32, body frame) frame {
	return append(f.int(op).bool(false).int(-1), body...)
}
func (f frame) ended() frame { return f.int(-1).bool(true).int(-1) }

// zkClient is a connection to a server, spoken to in frames.
type zkClient struct {
	conn     net.Conn
	session  int64
	timeout  time.Duration
	password string
	hello    []byte // what the server has answered to the first frame
	xid      int32
	events   []string
}

// hello is a client's first frame.
func hello(seen int64, timeout time.Duration, session int64, password string) frame {
	if password == "" {
		password = string(make([]byte, 16))
	}
	return frame{}.int(0).long(seen).int(int32(timeout.Milliseconds())).long(session).text(password).bool(false)
}

func dialZK(address string, timeout time.Duration, session int64, password string) (*zkClient, error) {
	return greet(address, hello(0, timeout, session, password))
}

func greet(address string, first frame) (*zkClient, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	c := &zkClient{conn: conn}
	if err := c.write(first); err != nil {
		return nil, err
	}
	if c.hello, err = c.read(); err != nil {
		return nil, err
	}
	c.timeout = time.Duration(int32(binary.BigEndian.Uint32(c.hello[4:]))) * time.Millisecond
	c.session = int64(binary.BigEndian.Uint64(c.hello[8:]))
	c.password = string(c.hello[20:36])
	return c, nil
}

func (c *zkClient) write(f frame) error {
	_, err := c.conn.Write(append(frame{}.int(int32(len(f))), f...))
	return err
}

func (c *zkClient) read() ([]byte, error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return nil, err
	}
	var head [4]byte
	if _, err := io.ReadFull(c.conn, head[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(head[:]))
	_, err := io.ReadFull(c.conn, b)
	return b, err
}

const pingXid = -2

// ask sends a request and returns the answer without its number, or nothing if there is none before that to a ping. Events
// that come before it are kept.
func (c *zkClient) ask(op int32, body frame) ([]byte, error) {
	c.xid++
	xid := c.xid
	switch op {
	case opPing:
		xid = pingXid
	case opAuth:
		xid = -4
	}
	if err := c.write(append(frame{}.int(xid).int(op), body...)); err != nil {
		return nil, err
	}
	if op == opCheck {
		if err := c.write(frame{}.int(pingXid).int(opPing)); err != nil {
			return nil, err
		}
	}
	for answer := []byte(nil); ; {
		b, err := c.read()
		if err != nil {
			return nil, err
		}
		switch got := int32(binary.BigEndian.Uint32(b)); {
		case got == xid && op != opCheck:
			return b[4:], nil
		case got == xid:
			answer = b[4:]
		case got == pingXid:
			return answer, nil
		default:
			c.events = append(c.events, fmt.Sprintf("%x", b))
		}
	}
}

const (
	opCreate, opDelete, opExists, opGetData, opSetData      = 1, 2, 3, 4, 5
	opGetACL, opSetACL                                      = 6, 7
	opGetChildren, opSync, opPing, opGetChildren2, opCheck  = 8, 9, 11, 12, 13
	opMulti, opCreate2, opContainer, opWatches, opCloseSess = 14, 15, 19, 101, -11
	opReconfig, opCheckWatch, opRemoveWatch, opTTL          = 16, 17, 18, 21
	opDeleteContainer, opMultiRead, opAuth, opEphemerals    = 20, 22, 100, 103
	opCount, opWatches2, opAddWatch, opWhoAmI               = 104, 105, 106, 107
)

// told is an answer in words, with zxids counted from a first one, and times compared with the clock.
type told struct {
	rest  []byte
	words []string
	base  int64
	owned func(int64) string
}

func (t *told) say(format string, args ...any) {
	t.words = append(t.words, fmt.Sprintf(format, args...))
}

func (t *told) takeInt() int32 {
	n := int32(binary.BigEndian.Uint32(t.rest))
	t.rest = t.rest[4:]
	return n
}

func (t *told) takeLong() int64 {
	n := int64(binary.BigEndian.Uint64(t.rest))
	t.rest = t.rest[8:]
	return n
}

func (t *told) takeText() string {
	n := t.takeInt()
	if n < 0 {
		return "(nothing)"
	}
	s := string(t.rest[:n])
	t.rest = t.rest[n:]
	return fmt.Sprintf("%q", s)
}

func (t *told) int(name string) int32 {
	n := t.takeInt()
	t.say("%s %d", name, n)
	return n
}

func (t *told) text(name string) { t.say("%s %s", name, t.takeText()) }

// zxid counts from the first one of the side, which no transaction of ZooKeeper's own comes before.
func (t *told) zxid(name string) {
	if n := t.takeLong(); n <= 0 {
		t.say("%s %d", name, n)
	} else {
		t.say("%s +%d", name, n-t.base)
	}
}

// set tells a list whose order servers do not promise.
func (t *told) set(take func() string) {
	var list []string
	for range t.takeInt() {
		list = append(list, take())
	}
	slices.Sort(list)
	t.say("%v", list)
}

func (t *told) stat() {
	czxid := binary.BigEndian.Uint64(t.rest)
	mzxid := binary.BigEndian.Uint64(t.rest[8:])
	t.zxid("czxid")
	t.zxid("mzxid")
	made, changed := t.takeLong(), t.takeLong()
	t.say("made %s, changed %s", clock(made), clock(changed))
	if czxid == mzxid {
		t.say("at once %v", made == changed)
	} else {
		t.say("later %v", made <= changed)
	}
	t.int("version")
	t.int("cversion")
	t.int("aversion")
	t.say("owner %s", t.owned(t.takeLong()))
	t.int("length")
	t.int("children")
	t.zxid("pzxid")
}

// clock tells a time in milliseconds since 1970.
func clock(ms int64) string {
	switch apart := time.Since(time.UnixMilli(ms)); {
	case ms == 0:
		return "never"
	case apart > -time.Minute && apart < 10*time.Minute:
		return "now"
	default:
		return fmt.Sprint(ms)
	}
}

// tell puts an answer into words.
func tell(op int32, b []byte, base int64, owned func(int64) string) string {
	if b == nil {
		return "no answer"
	}
	t := &told{rest: b, base: base, owned: owned}
	if op == opAuth || op > opWhoAmI {
		t.say("zxid %d", t.takeLong())
	} else {
		t.zxid("zxid")
	}
	if code := t.int("err"); code == 0 {
		t.body(op)
	}
	if len(t.rest) > 0 {
		t.say("and %x", t.rest)
	}
	return strings.Join(t.words, ", ")
}

func (t *told) body(op int32) {
	switch op {
	case opCreate, opSync:
		t.text("path")
	case opCreate2, opContainer:
		t.text("path")
		t.stat()
	case opExists, opSetData, opSetACL:
		t.stat()
	case opGetData:
		t.text("data")
		t.stat()
	case opGetChildren, opEphemerals:
		t.set(t.takeText)
	case opGetChildren2:
		t.set(t.takeText)
		t.stat()
	case opGetACL:
		for range t.int("entries") {
			t.say("%d %s %s", t.takeInt(), t.takeText(), t.takeText())
		}
		t.stat()
	case opWhoAmI:
		t.set(func() string { return t.takeText() + " " + t.takeText() })
	case opCount, opAddWatch:
		t.int("number")
	case opMulti, opMultiRead:
		t.results()
	}
}

func (t *told) results() {
	for {
		kind := t.int("result")
		done := t.rest[0] == 1
		t.rest = t.rest[1:]
		t.int("of")
		switch {
		case done:
			return
		case kind == -1:
			t.int("err")
		default:
			t.body(kind)
		}
	}
}

// zkSide is one of the two that are compared: clients of one server, or of an ensemble.
type zkSide struct {
	addresses []string
	clients   []*zkClient
	base      int64
	log       []string
}

func (s *zkSide) say(format string, args ...any) { s.log = append(s.log, fmt.Sprintf(format, args...)) }

func (s *zkSide) owned(id int64) string {
	for i, c := range s.clients {
		if c.session == id && id != 0 {
			return fmt.Sprintf("client %d", i)
		}
	}
	if id == 0 {
		return "nobody"
	}
	return "somebody"
}

// begin opens three sessions and makes the root.
func (s *zkSide) begin(t require.TestingT, root string, timeout time.Duration) {
	s.clients, s.log = nil, nil
	for i := range 3 {
		c, err := dialZK(s.addresses[i%len(s.addresses)], timeout, 0, "")
		require.NoError(t, err)
		s.clients = append(s.clients, c)
	}
	answer, err := s.clients[0].ask(opCreate, node(root, "", 0))
	require.NoError(t, err)
	s.base = int64(binary.BigEndian.Uint64(answer))
}

// step has a client ask for something, and then all of them what they have been told meanwhile.
func (s *zkSide) step(who int, op int32, body frame) {
	answer, err := s.clients[who].ask(op, body)
	if err != nil {
		s.say("client %d: the connection is over", who)
		return
	}
	s.say("client %d: %s", who, tell(op, answer, s.base, s.owned))
	s.hear(op == opCloseSess)
}

// hear has all clients ask what they have been told; those of several servers have theirs catch up before.
func (s *zkSide) hear(unordered bool) {
	op, body := int32(opPing), frame(nil)
	if len(s.addresses) > 1 {
		op, body = opSync, frame{}.text("/")
	}
	for i, c := range s.clients {
		if _, err := c.ask(op, body); err != nil {
			continue // it has closed its session
		}
		if unordered {
			slices.Sort(c.events) // the real server removes a session's nodes in the order of a hash table
		}
		for _, e := range c.events {
			s.say("client %d hears %s", i, e[32:])
		}
		c.events = nil
	}
}

// end closes the sessions one after the other: those that are left hear of the ephemeral nodes that go.
func (s *zkSide) end(t require.TestingT) {
	for i, c := range s.clients {
		s.step(i, opCloseSess, nil)
		require.NoError(t, c.conn.Close())
	}
}

// compare plays a story on both sides, and again if they differ: sessions end on a machine that stands still for so long.
func (z *zkStory) compare(t require.TestingT, sides []*zkSide) {
	for _, root := range []string{"/" + z.name, "/again-" + z.name} {
		for _, s := range sides {
			s.begin(t, root, 10*time.Second)
			z.play(t, s, root)
			s.end(t)
		}
		if slices.Equal(sides[0].log, sides[1].log) {
			return
		}
	}
	same(t, sides)
}

// same compares what two sides have seen.
func same(t require.TestingT, sides []*zkSide) {
	require.Equal(t, strings.Join(sides[0].log, "\n"), strings.Join(sides[1].log, "\n"))
}
