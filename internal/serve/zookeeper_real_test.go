package serve_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/long"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/serve"
	"github.com/locksim/locksim/internal/sim/zookeeper"
)

// commands is on how many generated commands real and simulated servers are compared.
func commands() int { return long.Pick(500, 500, 10_000) }

// TestAThrottledRequestIsAnsweredAndNotExecuted has a real server take one request at a time, and refuse those that wait for longer
// than 5 ms: with the error that injected faults answer with by default, and without a trace.
func TestAThrottledRequestIsAnsweredAndNotExecuted(t *testing.T) {
	t.Parallel()
	h, err := real.NewHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	list, err := h.Ensemble(real.EnsembleConfig{Name: "zk", Servers: 1, Tick: time.Second, Properties: []string{
		"zookeeper.throttled_op_wait_time=5", "zookeeper.request_throttle_max_requests=1", "zookeeper.request_throttle_stall_time=20",
	}})
	if m := (*real.Missing)(nil); errors.As(err, &m) {
		t.Skip(m)
	}
	require.NoError(t, err)
	c, err := dialZK(list[0].Address, 10*time.Second, 0, "")
	require.NoError(t, err)
	const requests = 200
	for i := range requests {
		body := node(fmt.Sprintf("/%d", i), "", 1)
		require.NoError(t, c.write(append(frame{}.int(int32(i)).int(opCreate), body...)))
	}
	answers := map[zookeeper.Code]int{}
	for range requests {
		b, err := c.read()
		require.NoError(t, err)
		answers[zookeeper.Code(binary.BigEndian.Uint32(b[12:]))]++ // behind its number and a zxid
	}
	refused := zookeeper.ErrorResponse(&zookeeper.Request{}, "").(*zookeeper.Response).Err
	require.Positive(t, answers[refused], "%v", answers)
	require.Equal(t, requests, answers[refused]+answers[zookeeper.OK], "%v", answers)
	code, left := refused, []byte(nil)
	for code == refused { // as this is too on a busy machine
		b, err := c.ask(opGetChildren, frame{}.text("/").bool(false))
		require.NoError(t, err)
		code, left = zookeeper.Code(binary.BigEndian.Uint32(b[8:])), b[12:] // behind a zxid
	}
	require.Equal(t, zookeeper.OK, code)
	require.Equal(t, answers[zookeeper.OK], int(binary.BigEndian.Uint32(left))-1, "beside /zookeeper")
}

// bothZK starts as many real servers and as many simulated ones.
func bothZK(t *testing.T, servers int, tick time.Duration) []*zkSide {
	t.Helper()
	h, err := real.NewHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	list, err := h.Ensemble(real.EnsembleConfig{Name: "zk", Servers: servers, Tick: tick, SyncLimit: 40}) // a busy machine keeps them waiting
	if m := (*real.Missing)(nil); errors.As(err, &m) {
		t.Skip(m)
	}
	require.NoError(t, err)
	w, err := serve.ZooKeeper(1, anywhere(servers), tick)
	sides := []*zkSide{{}, {addresses: served(t, w, err)}}
	for _, z := range list {
		sides[0].addresses = append(sides[0].addresses, z.Address)
	}
	return sides
}

// TestZooKeeperAnswersAsTheRealOneDoes plays the same requests of three clients on a real server and on ours, and compares
// every answer and every event, byte by byte but for zxids and sessions, which are counted from other numbers, and times,
// which are compared with the clock and with each other. What differs is in the table of zkDifferences.
func TestZooKeeperAnswersAsTheRealOneDoes(t *testing.T) {
	t.Parallel()
	sides := bothZK(t, 1, 500*time.Millisecond)
	for _, story := range zkStories {
		t.Run(story.name, func(t *testing.T) { story.compare(t, sides) })
	}
	for _, d := range zkDifferences {
		t.Run(d.name, func(t *testing.T) {
			t.Log(d.why)
			if d.play == nil {
				return
			}
			for _, s := range sides {
				s.begin(t, "/"+d.name, 10*time.Second)
				d.play(t, s, "/"+d.name)
				s.end(t)
			}
			require.NotEqual(t, sides[0].log, sides[1].log, "they differ no more")
		})
	}
	t.Run("generated", func(t *testing.T) {
		for _, s := range sides { // the end of a session is a transaction too
			require.Eventually(t, func() bool {
				return strings.Contains(s.word("mntr"), "zk_global_sessions\t0\n")
			}, 20*time.Second, 50*time.Millisecond)
		}
		played, rounds := 0, 0
		for played < commands() {
			rapid.Check(t, func(t *rapid.T) {
				rounds++
				root := fmt.Sprintf("/round-%d", rounds)
				steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) zkStep { return drawStep(t, root) }), 1, 40).Draw(t, "steps")
				played += len(steps)
				for _, s := range sides {
					s.begin(t, root, 10*time.Second)
					for i := range steps {
						s.say("-- client %d: %s", steps[i].who, steps[i].text)
						s.step(steps[i].who, steps[i].op, steps[i].body(s))
					}
					s.end(t)
				}
				same(t, sides)
			})
		}
		t.Logf("%d commands in %d rounds", played, rounds)
	})
}

// zkStep is something to be asked for.
type zkStep struct {
	who  int
	op   int32
	body func(*zkSide) frame
	text string
}

// drawn are what steps are drawn from: nodes below a root, and who may do what with them. Containers are not among the
// nodes: servers remove them when they look for some once a minute, each at its own time.
type drawn struct {
	*rapid.T
	root string
}

func (d drawn) path() string {
	names := []string{"", "/a", "/b", "/a/x", "/a/y", "/b/x", "/lock-", "/a/", "/.", "x", "/a//b", "/c\x01", "/d\x00"}
	n := rapid.IntRange(0, 40).Draw(d.T, "path")
	if n >= len(names) {
		n %= 7 // mostly those that can be
	}
	return d.root + names[n]
}

func (d drawn) version() int32 { return int32(rapid.IntRange(-1, 2).Draw(d.T, "version")) }

func (d drawn) acl() []entry {
	may := int32(rapid.SampledFrom([]int{31, 31, 31, 31, 1, 15, 16, 27}).Draw(d.T, "may"))
	return rapid.SampledFrom([][]entry{
		{{may, "world", "anyone"}}, {{31, "world", "anyone"}}, {{31, "world", "anyone"}}, {{may, "auth", ""}},
		{{may, "digest", "u:Jq7wMyA/w2Vd5WIDAKdu4OIIFEQ="}, {1, "world", "anyone"}}, {{may, "ip", "127.0.0.0/8"}},
		{{may, "ip", "10.0.0.1"}, {31, "auth", ""}}, {}, {{31, "nobody", "knows"}}, {{31, "digest", "u"}}, {{31, "ip", "localhost"}},
		{{may, "world", "anyone"}, {may, "world", "anyone"}},
	}).Draw(d.T, "acl")
}

func (d drawn) create() (frame, string) {
	p, mode := d.path(), int32(rapid.SampledFrom([]int{0, 0, 1, 1, 2, 3, 3, 5, 9}).Draw(d.T, "mode"))
	data := rapid.SampledFrom([]string{"", "1", "zwei"}).Draw(d.T, "data")
	acl := []entry{{31, "world", "anyone"}}
	if rapid.IntRange(0, 3).Draw(d.T, "restricted") == 0 {
		acl = d.acl()
	}
	f := frame{}.text(p).text(data)
	if rapid.IntRange(0, 9).Draw(d.T, "none") == 0 {
		f = frame{}.text(p).int(-1)
	}
	return f.acl(acl...).int(mode), fmt.Sprintf("create %q mode %d for %v", p, mode, acl)
}

// drawStep draws a request of one of three clients.
func drawStep(t *rapid.T, root string) zkStep {
	d := drawn{t, root}
	s := zkStep{who: rapid.IntRange(0, 2).Draw(t, "client")}
	s.op = rapid.SampledFrom([]int32{
		opCreate, opCreate, opCreate, opCreate2, opDelete, opDelete, opSetData, opExists, opGetData, opGetChildren,
		opGetChildren2, opSync, opMulti, opMulti, opMultiRead, opGetACL, opSetACL, opAuth, opWhoAmI, opCheck, opAddWatch,
		opCheckWatch, opRemoveWatch, opWatches, opWatches2, opEphemerals, opCount, opReconfig, opTTL,
	}).Draw(t, "op")
	body, text := d.body(s.op)
	s.text = text
	s.body = func(*zkSide) frame { return body }
	if s.op == opWatches || s.op == opWatches2 {
		s.body, s.text = d.watches(s.op == opWatches2)
	}
	if rapid.IntRange(0, 60).Draw(t, "cut") == 0 && len(body) > 0 && s.op != opAuth {
		cut := body[:rapid.IntRange(0, len(body)-1).Draw(t, "short")]
		s.body, s.text = func(*zkSide) frame { return cut }, fmt.Sprintf("%s, cut after %d", s.text, len(cut))
	}
	return s
}

func (d drawn) body(op int32) (frame, string) {
	p, v := d.path(), d.version()
	of := fmt.Sprintf("operation %d of %q", op, p)
	switch op {
	case opCreate, opCreate2:
		return d.create()
	case opTTL:
		f, text := d.create()
		return f.long(1000), text + " with a time to live"
	case opDelete, opCheck:
		return frame{}.text(p).int(v), fmt.Sprintf("%s version %d", of, v)
	case opSetData:
		return frame{}.text(p).text("set").int(v), fmt.Sprintf("%s version %d", of, v)
	case opExists, opGetData, opGetChildren, opGetChildren2:
		w := rapid.Bool().Draw(d.T, "watch")
		return frame{}.text(p).bool(w), fmt.Sprintf("%s watch %v", of, w)
	case opSync, opGetACL, opCount, opEphemerals:
		return frame{}.text(p), of
	case opSetACL:
		acl := d.acl()
		return frame{}.text(p).acl(acl...).int(v), fmt.Sprintf("%s for %v version %d", of, acl, v)
	case opAuth:
		proof := rapid.SampledFrom([]string{"u:p", "v:p", "u:q"}).Draw(d.T, "proof")
		scheme := rapid.SampledFrom([]string{"digest", "digest", "ip"}).Draw(d.T, "scheme")
		return frame{}.int(0).text(scheme).text(proof), scheme + " " + proof
	case opAddWatch, opCheckWatch, opRemoveWatch:
		n := int32(rapid.IntRange(0, 4).Draw(d.T, "kind"))
		return frame{}.text(p).int(n), fmt.Sprintf("%s kind %d", of, n)
	case opReconfig:
		return frame{}.text("").text("").text("").long(-1), of
	case opMulti:
		return d.multi()
	case opMultiRead:
		f, text := frame{}, "reads"
		for range rapid.IntRange(0, 3).Draw(d.T, "reads") {
			p, op := d.path(), rapid.SampledFrom([]int32{opGetData, opGetChildren}).Draw(d.T, "read")
			f, text = f.inMulti(op, frame{}.text(p).bool(false)), fmt.Sprintf("%s, %d of %q", text, op, p)
		}
		return f.ended(), text
	default:
		return nil, of
	}
}

func (d drawn) multi() (f frame, text string) {
	text = "multi"
	for range rapid.IntRange(0, 3).Draw(d.T, "operations") {
		op := rapid.SampledFrom([]int32{opCreate, opCreate, opDelete, opSetData, opCheck, opCreate2}).Draw(d.T, "operation")
		body, of := d.body(op)
		f, text = f.inMulti(op, body), text+", "+of
	}
	return f.ended(), text
}

// watches draws what a client had set on the server that it has left. Of a node that is there the last that it has seen
// decides whether it is told of a change, so that is counted as everything else is.
func (d drawn) watches(standing bool) (func(*zkSide) frame, string) {
	var lists [5][]string
	for i := range lists {
		for range rapid.IntRange(0, 2).Draw(d.T, "watches") {
			lists[i] = append(lists[i], d.path())
		}
	}
	seen := int64(rapid.IntRange(-1, 20).Draw(d.T, "seen"))
	n := 3
	if standing {
		n = 5
	}
	return func(s *zkSide) frame {
		f := frame{}.long(s.base + seen)
		for _, list := range lists[:n] {
			f = f.texts(list...)
		}
		return f
	}, fmt.Sprintf("watches %q, seen +%d", lists[:n], seen)
}
