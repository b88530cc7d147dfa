package serve_test

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/real"
	"github.com/locksim/locksim/serve"
)

var commands = flag.Int("commands", 4_000, "how many generated commands real and simulated servers are compared on")

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

// anyone is the list of who may do what: everybody everything.
func (f frame) anyone() frame { return f.int(1).int(31).text("world").text("anyone") }

// zkClient is a connection to a server, spoken to in frames.
type zkClient struct {
	conn     net.Conn
	session  int64
	password string
	xid      int32
	events   []string
}

func dialZK(address string, timeout time.Duration, session int64, password string) (*zkClient, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	c := &zkClient{conn: conn}
	if password == "" {
		password = string(make([]byte, 16))
	}
	hello := frame{}.int(0).long(0).int(int32(timeout.Milliseconds())).long(session).text(password).bool(false)
	if err := c.write(hello); err != nil {
		return nil, err
	}
	answer, err := c.read()
	if err != nil {
		return nil, err
	}
	c.session = int64(binary.BigEndian.Uint64(answer[8:]))
	c.password = string(answer[20:36])
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

// ask sends a request and returns the answer without its number; events that come before it are kept.
func (c *zkClient) ask(op int32, body frame) ([]byte, error) {
	c.xid++
	xid := c.xid
	if op == opPing {
		xid = -2
	}
	if err := c.write(append(frame{}.int(xid).int(op), body...)); err != nil {
		return nil, err
	}
	for {
		b, err := c.read()
		if err != nil {
			return nil, err
		}
		if got := int32(binary.BigEndian.Uint32(b)); got == xid {
			return b[4:], nil
		}
		c.events = append(c.events, fmt.Sprintf("%x", b))
	}
}

const (
	opCreate, opDelete, opExists, opGetData, opSetData      = 1, 2, 3, 4, 5
	opGetChildren, opSync, opPing, opGetChildren2, opCheck  = 8, 9, 11, 12, 13
	opMulti, opCreate2, opContainer, opWatches, opCloseSess = 14, 15, 19, 101, -11
)

// told is an answer in words, with zxids counted from a first one, and without times.
type told struct {
	rest  []byte
	words []string
	base  int64
}

func (t *told) int(name string) int32 {
	n := int32(binary.BigEndian.Uint32(t.rest))
	t.rest = t.rest[4:]
	t.words = append(t.words, fmt.Sprintf("%s %d", name, n))
	return n
}

func (t *told) zxid(name string) {
	n := int64(binary.BigEndian.Uint64(t.rest)) - t.base
	t.rest = t.rest[8:]
	t.words = append(t.words, fmt.Sprintf("%s +%d", name, n))
}

func (t *told) text(name string) {
	n := int32(binary.BigEndian.Uint32(t.rest))
	t.rest = t.rest[4:]
	s := ""
	if n >= 0 {
		s = string(t.rest[:n])
		t.rest = t.rest[n:]
	}
	t.words = append(t.words, fmt.Sprintf("%s %q", name, s))
}

func (t *told) stat(owned func(int64) string) {
	t.zxid("czxid")
	t.zxid("mzxid")
	t.rest = t.rest[16:]
	t.int("version")
	t.int("cversion")
	t.int("aversion")
	owner := int64(binary.BigEndian.Uint64(t.rest))
	t.rest = t.rest[8:]
	t.words = append(t.words, "owner "+owned(owner))
	t.int("length")
	t.int("children")
	t.zxid("pzxid")
}

// tell puts an answer into words.
func tell(op int32, b []byte, base int64, owned func(int64) string) string {
	t := &told{rest: b, base: base}
	t.zxid("zxid")
	if code := t.int("err"); code == 0 {
		t.body(op, owned)
	}
	if len(t.rest) > 0 {
		t.words = append(t.words, fmt.Sprintf("and %x", t.rest))
	}
	return strings.Join(t.words, ", ")
}

func (t *told) body(op int32, owned func(int64) string) {
	switch op {
	case opCreate, opSync:
		t.text("path")
	case opCreate2, opContainer:
		t.text("path")
		t.stat(owned)
	case opExists, opSetData:
		t.stat(owned)
	case opGetData:
		t.text("data")
		t.stat(owned)
	case opGetChildren, opGetChildren2:
		names := map[string]bool{}
		for range t.int("names") {
			n := len(t.words)
			t.text("name")
			names[t.words[n]] = true
			t.words = t.words[:n]
		}
		t.words = append(t.words, fmt.Sprint(names)) // a set: servers list them in any order
		if op == opGetChildren2 {
			t.stat(owned)
		}
	case opMulti:
		for {
			kind := t.int("result")
			done := t.rest[0] == 1
			t.rest = t.rest[1:]
			code := t.int("of")
			switch {
			case done:
				return
			case kind == -1:
				t.int("err")
			default:
				_ = code
				t.body(kind, owned)
			}
		}
	}
}

// zkSide is one of the two that are compared: clients of one server.
type zkSide struct {
	address string
	clients []*zkClient
	base    int64
	log     []string
}

func (s *zkSide) owned(id int64) string {
	for i, c := range s.clients {
		if c.session == id {
			return fmt.Sprintf("client %d", i)
		}
	}
	if id == 0 {
		return "nobody"
	}
	return "somebody"
}

// step has a client ask for something, and then all of them what they have been told meanwhile.
func (s *zkSide) step(t require.TestingT, who int, op int32, body frame) {
	answer, err := s.clients[who].ask(op, body)
	if err != nil {
		s.log = append(s.log, fmt.Sprintf("client %d: the connection is over", who))
		return
	}
	s.log = append(s.log, fmt.Sprintf("client %d: %s", who, tell(op, answer, s.base, s.owned)))
	for i, c := range s.clients {
		if _, err := c.ask(opPing, nil); err != nil {
			continue // it has closed its session
		}
		if op == opCloseSess {
			slices.Sort(c.events) // the real server removes a session's nodes in the order of a hash table
		}
		for _, e := range c.events {
			s.log = append(s.log, fmt.Sprintf("client %d hears %s", i, e[32:]))
		}
		c.events = nil
	}
}

// zkStep is something to be asked for.
type zkStep struct {
	who  int
	op   int32
	body frame
	text string
}

// drawStep draws a request of one of three clients about a few nodes below a root. Containers are not among the nodes: servers
// remove them when they look for some once a minute, each at its own time.
func drawStep(t *rapid.T, root string) zkStep {
	names := []string{"", "/a", "/b", "/a/x", "/a/y", "/b/x", "/lock-"}
	path := func() string { return root + rapid.SampledFrom(names).Draw(t, "path") }
	data := func() string { return rapid.SampledFrom([]string{"", "1", "zwei"}).Draw(t, "data") }
	version := func() int32 { return int32(rapid.IntRange(-1, 2).Draw(t, "version")) }
	create := func() (frame, string) {
		p, flags := path(), int32(rapid.IntRange(0, 3).Draw(t, "mode"))
		return frame{}.text(p).text(data()).anyone().int(flags), fmt.Sprintf("create %s mode %d", p, flags)
	}
	s := zkStep{who: rapid.IntRange(0, 2).Draw(t, "client")}
	s.op = rapid.SampledFrom([]int32{
		opCreate, opCreate, opCreate2, opDelete, opDelete, opSetData, opExists, opGetData, opGetChildren, opGetChildren2, opSync,
		opMulti,
	}).Draw(t, "op")
	switch s.op {
	case opCreate, opCreate2:
		s.body, s.text = create()
	case opDelete:
		p, v := path(), version()
		s.body, s.text = frame{}.text(p).int(v), fmt.Sprintf("delete %s version %d", p, v)
	case opSetData:
		p, v := path(), version()
		s.body, s.text = frame{}.text(p).text(data()).int(v), fmt.Sprintf("setData %s version %d", p, v)
	case opExists, opGetData, opGetChildren, opGetChildren2:
		p, w := path(), rapid.Bool().Draw(t, "watch")
		s.body, s.text = frame{}.text(p).bool(w), fmt.Sprintf("look %d at %s watch %v", s.op, p, w)
	case opSync:
		p := path()
		s.body, s.text = frame{}.text(p), "sync "+p
	case opMulti:
		s.text = "multi"
		for range rapid.IntRange(1, 3).Draw(t, "operations") {
			op := rapid.SampledFrom([]int32{opCreate, opDelete, opSetData, opCheck}).Draw(t, "operation")
			s.body = s.body.int(op).bool(false).int(-1)
			p, v := path(), version()
			switch op {
			case opCreate:
				body, text := create()
				s.body, s.text = append(s.body, body...), s.text+", "+text
			case opSetData:
				s.body, s.text = s.body.text(p).text("multi").int(v), s.text+fmt.Sprintf(", setData %s version %d", p, v)
			default:
				s.body, s.text = s.body.text(p).int(v), s.text+fmt.Sprintf(", %d %s version %d", op, p, v)
			}
		}
		s.body = s.body.int(-1).bool(true).int(-1)
	}
	return s
}

// TestZooKeeperAnswersAsTheRealOneDoes plays the same requests of three clients on a real server and on ours, and compares
// every answer and every event, byte by byte but for times, and for zxids and sessions that are counted from other numbers.
func TestZooKeeperAnswersAsTheRealOneDoes(t *testing.T) {
	h, err := real.NewHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	list, err := h.ZooKeeper("zk", 1, 2*time.Second)
	if m := (*real.Missing)(nil); errors.As(err, &m) {
		t.Skip(m)
	}
	require.NoError(t, err)
	w, err := serve.ZooKeeper(1, anywhere(1), 2*time.Second)
	sides := []*zkSide{{address: list[0].Address}, {address: served(t, w, err)[0]}}
	for _, s := range sides {
		s.begin(t, "/container")
		for _, at := range []string{"/container/a", "/container/a", "/container/a/b", "/nowhere/a"} {
			s.step(t, 0, opContainer, frame{}.text(at).text("").anyone().int(4))
		}
		s.end(t)
	}
	require.Equal(t, strings.Join(sides[0].log, "\n"), strings.Join(sides[1].log, "\n"))
	played, rounds := 0, 0
	for played < *commands {
		rapid.Check(t, func(t *rapid.T) {
			if played >= *commands {
				return
			}
			rounds++
			root := fmt.Sprintf("/round-%d", rounds)
			steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) zkStep { return drawStep(t, root) }), 1, 40).Draw(t, "steps")
			played += len(steps)
			for _, s := range sides {
				s.begin(t, root)
				for i := range steps {
					s.log = append(s.log, fmt.Sprintf("-- client %d: %s", steps[i].who, steps[i].text))
					s.step(t, steps[i].who, steps[i].op, steps[i].body)
				}
				s.end(t)
			}
			require.Equal(t, strings.Join(sides[0].log, "\n"), strings.Join(sides[1].log, "\n"))
		})
	}
	t.Logf("%d commands in %d rounds", played, rounds)
}

// begin opens three sessions and makes the root.
func (s *zkSide) begin(t require.TestingT, root string) {
	s.clients, s.log = nil, nil
	for range 3 {
		c, err := dialZK(s.address, 20*time.Second, 0, "")
		require.NoError(t, err)
		s.clients = append(s.clients, c)
	}
	answer, err := s.clients[0].ask(opCreate, frame{}.text(root).text("").anyone().int(0))
	require.NoError(t, err)
	s.base = int64(binary.BigEndian.Uint64(answer))
}

// end closes the sessions one after the other: those that are left hear of the ephemeral nodes that go.
func (s *zkSide) end(t require.TestingT) {
	for i := range s.clients {
		s.step(t, i, opCloseSess, nil)
		require.NoError(t, s.clients[i].conn.Close())
	}
}
