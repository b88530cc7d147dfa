package wire_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2/hpack"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
)

const clientPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// remote is a client of etcd that speaks gRPC.
type remote struct {
	*bench
	task *sim.Task
	conn *sim.Conn
	talk wire.Conversation
	in   []byte
	told []string // what each frame says, but those of windows and settings
	head *hpack.Decoder
}

// remote adds such a client, which begins after a while. Settings are the client's, as they are encoded.
func (d *bench) remote(name string, after time.Duration, settings []byte, main func(*remote)) {
	d.AddClient(name, func(task *sim.Task) {
		task.Sleep(after)
		r := &remote{bench: d, task: task, talk: wire.Etcd(), head: hpack.NewDecoder(4096, nil)}
		conn, err := task.Dial(d.server.Node(), r, time.Second)
		require.NoError(d.t, err)
		r.conn = conn
		r.sends([]byte(clientPreface), frame(4, 0, 0, settings))
		main(r)
	})
}

// frame is one of HTTP/2.
func frame(kind, flags byte, stream uint32, body []byte) []byte {
	n := len(body)
	return append(binary.BigEndian.AppendUint32([]byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags}, stream), body...)
}

// call begins a call with a message, and ends it if that is all.
func call(stream uint32, path string, all bool, m []byte) []byte {
	var head bytes.Buffer
	e := hpack.NewEncoder(&head)
	for _, f := range [][2]string{{":method", "POST"}, {":path", path}, {"content-type", "application/grpc"}} {
		_ = e.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	return append(frame(1, 4, stream, head.Bytes()), data(stream, all, m)...)
}

// data is a message of a call.
func data(stream uint32, last bool, m []byte) []byte {
	flags := byte(0)
	if last {
		flags = 1
	}
	return frame(0, flags, stream, append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(m))), m...))
}

// field is a field of a protocol buffer that is shorter than 128 bytes.
func field(number byte, value string) []byte {
	return append([]byte{number<<3 | 2, byte(len(value))}, value...)
}

// sends sends frames, and reports whether the connection goes on.
func (r *remote) sends(frames ...[]byte) bool {
	if r.talk.Receive(slices.Concat(frames...), func(p sim.Payload) error { return r.conn.Send(r.task, p) }) {
		return true
	}
	r.hear(r.talk.Farewell())
	return false
}

func (r *remote) Deliver(p sim.Payload) { r.hear(r.talk.Append(nil, p)) }

func (*remote) Closed() {}

func (r *remote) hear(b []byte) {
	for r.in = append(r.in, b...); len(r.in) >= 9; {
		n := int(r.in[0])<<16 | int(r.in[1])<<8 | int(r.in[2])
		kind, stream, body := r.in[3], r.in[8], r.in[9:9+n]
		r.in = r.in[9+n:]
		if text := r.words(kind, body); text != "" {
			r.told = append(r.told, fmt.Sprintf("%d %s", stream, text))
		}
	}
}

func (r *remote) words(kind byte, body []byte) string {
	switch kind {
	case 0:
		_, known, _ := bytes.Cut(body, []byte{24}) // behind the numbers of the cluster
		return fmt.Sprintf("data of %d: %x", len(body), known[:min(len(known), 16)])
	case 1:
		fields, err := r.head.DecodeFull(body)
		require.NoError(r.t, err)
		text := "header"
		for _, f := range fields {
			text += " " + f.Value
		}
		return text
	case 3:
		return "reset"
	case 6:
		return fmt.Sprintf("ping %s", body)
	case 7:
		return "go away"
	}
	return ""
}

const (
	began     = "header 200 application/grpc"
	ended     = "header 0 "
	etcdRange = "/etcdserverpb.KV/Range"
	etcdPut   = "/etcdserverpb.KV/Put"
	etcdWatch = "/etcdserverpb.Watch/Watch"
)

// TestWatchesOfOneStreamAreCanceledAlone has a watch of a and one of b on one stream, and keys written between what ends them.
func TestWatchesOfOneStreamAreCanceledAlone(t *testing.T) {
	d := newBench(t, lease.Etcd())
	watch := func(key string) []byte { return field(1, string(field(1, key))) }
	var told []string
	d.remote("a", 0, nil, func(r *remote) {
		require.True(t, r.sends(call(1, etcdWatch, false, watch("a")), data(1, false, watch("b"))))
		r.task.Sleep(150 * time.Millisecond)
		require.True(t, r.sends(data(1, false, []byte{2<<3 | 2, 0}))) // cancels the one of a
		r.task.Sleep(100 * time.Millisecond)
		require.True(t, r.sends(frame(3, 0, 1, []byte{0, 0, 0, 8}))) // ends the stream
		r.task.Sleep(time.Second)
		told = r.told
	})
	d.remote("b", 100*time.Millisecond, nil, func(r *remote) {
		for i, key := range []string{"a", "a", "b", "b"} { // at 100, 170, 240 and 310 ms
			require.True(t, r.sends(call(uint32(2*i+1), etcdPut, true, field(1, key))))
			r.task.Sleep(70 * time.Millisecond)
		}
	})
	d.play()
	require.Equal(t, []string{ // fields 1, the rest of the header; 2, the watch; 3, created; 4, canceled; 11, the events
		"1 " + began,
		"1 data of 37: 0120021000" + "1801",
		"1 data of 37: 0120021001" + "1801",
		"1 data of 48: 0220021000" + "5a0b12090a016110021802", // of a, in revision 2
		"1 data of 37: 0220021000" + "2001",
		"1 data of 48: 0420021001" + "5a0b12090a016210041804", // of b
	}, told)
}

// TestAWatchNeedsNoLeader has one begin between two leaders; what was asked for before it waits, and is canceled with its call.
func TestAWatchNeedsNoLeader(t *testing.T) {
	d := newBench(t, lease.Etcd())
	put := func(key string) []byte { return field(1, key) }
	d.remote("a", 0, nil, func(r *remote) {
		require.True(t, r.sends(call(1, etcdPut, true, put("x"))))
		r.task.Sleep(5 * time.Millisecond)
		require.True(t, d.server.Promote())
		require.True(t, r.sends(call(3, etcdPut, true, put("y")), call(5, etcdPut, true, put("z")), call(7, etcdWatch, false, field(1, string(field(1, "z"))))))
		r.task.Sleep(10 * time.Millisecond)
		require.Equal(t, []string{"7 " + began, "7 data of 37: 0220031000" + "1801"}, r.told[3:])
		require.True(t, r.sends(frame(3, 0, 3, make([]byte, 4))))
		r.task.Sleep(2 * time.Second)
		require.Equal(t, "7 data of 48: 0320031000"+"5a0b12090a017a10031803", r.told[len(r.told)-1]) // z has the revision that y would have had
	})
	d.play()
}

// TestAWindowHoldsAnswersBack has windows of ten bytes, of which the client gives more at its leisure.
func TestAWindowHoldsAnswersBack(t *testing.T) {
	d := newBench(t, lease.Etcd())
	d.remote("a", 0, []byte{0, 4, 0, 0, 0, 10}, func(r *remote) {
		require.True(t, r.sends(call(1, etcdRange, true, field(1, "k"))))
		r.task.Sleep(10 * time.Millisecond)
		require.Len(t, r.told, 2, "%q", r.told)
		require.Contains(t, r.told[1], "data of 10:")
		require.True(t, r.sends(frame(8, 0, 1, []byte{0, 0, 0, 100})))
		r.task.Sleep(10 * time.Millisecond)
		require.Len(t, r.told, 4, "%q", r.told)
		require.Equal(t, "1 "+ended, r.told[3])
	})
	d.play()
}

// TestWhatGRPCRefuses is of calls that fail: the connection goes on.
func TestWhatGRPCRefuses(t *testing.T) {
	d := newBench(t, lease.Etcd())
	compressed := data(1, true, field(1, "k"))
	compressed[9] = 1
	large := frame(0, 1, 1, []byte{0, 255, 255, 255, 255})
	open := call(1, etcdRange, false, nil)[:len(call(1, etcdRange, false, nil))-len(data(1, false, nil))]
	for i, c := range []struct {
		frames []byte
		says   string
	}{
		{call(1, "/etcdserverpb.Cluster/MemberList", true, nil), "12 the simulated etcd has no /etcdserverpb.Cluster/MemberList"},
		{call(1, etcdRange, true, []byte{0xff}), "13 grpc: failed to unmarshal the received message: the bytes are no message of a protocol buffer"},
		{call(1, etcdRange, true, nil), "3 etcdserver: key is not provided"},
		{slices.Concat(open, compressed), "12 the message is compressed"},
		{slices.Concat(open, large), "8 grpc: received message larger than max (4294967295 vs. 3145728)"},
		{slices.Concat(open, frame(0, 1, 1, nil)), "13 there is no message"},
		{slices.Concat(open, frame(0, 1, 1, []byte{0, 0, 0, 0, 9, 1})), "13 there is no message"}, // but a part
		{call(1, etcdWatch, false, field(3, "")), "12 the simulated etcd has no requests for watches but their creation"},
		{call(1, "/etcdserverpb.KV/Txn", true, field(2, string(field(4, "")))), "12 the simulated etcd has no transactions in transactions"},
	} {
		d.remote(fmt.Sprint("c", i), 0, nil, func(r *remote) {
			require.True(t, r.sends(c.frames), c.says)
			require.True(t, r.sends(frame(6, 0, 0, []byte("12345678"))))
			r.task.Sleep(10 * time.Millisecond)
			require.Equal(t, fmt.Sprintf("1 %s %s", began, c.says), r.told[0])
			require.Equal(t, "0 ping 12345678", r.told[len(r.told)-1])
		})
	}
	d.play()
}

// TestWhatIsNoHTTP2EndsTheConnection is of frames that break the protocol.
func TestWhatIsNoHTTP2EndsTheConnection(t *testing.T) {
	first := call(3, etcdRange, false, field(1, "k"))
	for name, frames := range map[string][]byte{
		"an even stream":      call(2, etcdRange, true, nil),
		"an older stream":     append(first, call(1, etcdRange, true, nil)...),
		"a long frame":        frame(0, 0, 1, make([]byte, 16_385)),
		"a short ping":        frame(6, 0, 0, nil),
		"a short window":      frame(8, 0, 0, nil),
		"an unknown table":    frame(1, 4, 1, []byte{0xff, 0xff}),
		"a header, then data": append(frame(1, 0, 1, nil), data(1, true, nil)...),
		"data of nothing":     data(9, true, nil),
		"padding without end": frame(0, 8, 3, []byte{9}),
		"a push":              frame(5, 0, 2, nil),
	} {
		talk := wire.Etcd()
		none := func(sim.Payload) error { return nil }
		require.True(t, talk.Receive([]byte(clientPreface), none))
		require.False(t, talk.Receive(frames, none), name)
		require.Equal(t, byte(7), talk.Farewell()[3], name)
	}
}

// TestNoBytesBreakAConversationInGRPC sends frames with any content.
func TestNoBytesBreakAConversationInGRPC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		talk, asked := wire.Etcd(), []*lease.Request(nil)
		frames := []byte(clientPreface)
		for range rapid.IntRange(1, 20).Draw(t, "frames") {
			switch stream := rapid.Uint32Range(0, 5).Draw(t, "stream"); rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				path := rapid.SampledFrom([]string{etcdRange, etcdWatch, "/etcdserverpb.KV/Txn", "x"}).Draw(t, "path")
				frames = append(frames, call(stream, path, rapid.Bool().Draw(t, "all"), rapid.SliceOf(rapid.Byte()).Draw(t, "message"))...)
			case 1:
				frames = append(frames, frame(rapid.ByteRange(0, 12).Draw(t, "type"), rapid.Byte().Draw(t, "flags"), stream, rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "body"))...)
			default:
				frames = append(frames, data(stream, rapid.Bool().Draw(t, "last"), rapid.SliceOf(rapid.Byte()).Draw(t, "message"))...)
			}
		}
		for chunk := range slices.Chunk(frames, rapid.IntRange(1, len(frames)).Draw(t, "chunk")) {
			if !talk.Receive(chunk, func(p sim.Payload) error { asked = append(asked, p.(*lease.Request)); return nil }) {
				break
			}
		}
		for _, r := range asked {
			talk.Append(nil, &lease.Response{Request: r, Err: rapid.SampledFrom([]string{"", lease.NoSession}).Draw(t, "error"), Etcd: &lease.Etcd3Answer{}})
		}
		require.NotPanics(t, func() { talk.Farewell() })
	})
}
