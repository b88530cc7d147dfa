package jute_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/internal/sim/zookeeper"
	"github.com/locksim/locksim/internal/sim/zookeeper/jute"
)

func TestFramesAreReadAsTheProtocolWritesThem(t *testing.T) {
	hello, err := jute.ParseConnect([]byte("\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x07" + "\x00\x00\x27\x10" +
		"\x01\x00\x00\x00\x00\x00\x00\x02" + "\x00\x00\x00\x02ab"))
	require.NoError(t, err)
	require.Equal(t, jute.Hello{
		Session: 0x0100000000000002, Password: "ab", Timeout: 10 * time.Second, Seen: 7, Old: true,
	}, hello)

	acl := "\x00\x00\x00\x01" + "\x00\x00\x00\x1f" + "\x00\x00\x00\x05world" + "\x00\x00\x00\x06anyone"
	h, r, err := jute.ParseRequest([]byte("\x00\x00\x00\x05" + "\x00\x00\x00\x01" + "\x00\x00\x00\x05/lock" + "\x00\x00\x00\x01a" +
		acl + "\x00\x00\x00\x03"))
	require.NoError(t, err)
	require.Equal(t, jute.Header{Xid: 5, Type: jute.Create}, h)
	require.Equal(t, &zookeeper.Request{
		Op: zookeeper.Create, Path: "/lock", Data: "a", Ephemeral: true, Sequential: true, Cxid: 5,
	}, r)

	h, r, err = jute.ParseRequest([]byte("\x00\x00\x00\x06" + "\x00\x00\x00\x0e" +
		"\x00\x00\x00\x0d\x00\xff\xff\xff\xff" + "\x00\x00\x00\x02/a" + "\x00\x00\x00\x03" +
		"\x00\x00\x00\x02\x00\xff\xff\xff\xff" + "\x00\x00\x00\x02/b" + "\xff\xff\xff\xff" +
		"\xff\xff\xff\xff\x01\xff\xff\xff\xff"))
	require.NoError(t, err)
	require.Equal(t, []jute.Type{jute.Check, jute.Delete}, h.Ops)
	require.Equal(t, []zookeeper.Request{
		{Op: zookeeper.Check, Path: "/a", Version: 3}, {Op: zookeeper.Delete, Path: "/b", Version: zookeeper.AnyVersion},
	}, r.Ops)

	_, r, err = jute.ParseRequest([]byte("\x00\x00\x00\x07\x00\x00\x00\x37"))
	require.NoError(t, err)
	require.Equal(t, &zookeeper.Request{Op: zookeeper.Unknown, Cxid: 7}, r)
}

// TestPasswordsAreThoseOfRealServers compares with what one has given.
func TestPasswordsAreThoseOfRealServers(t *testing.T) {
	require.Equal(t, "\xff\x94\x62\x50\x20\xbc\x7f\x15\x75\xa5\xe8\xbf\x69\xd9\x33\x4e", jute.Password(0x100022356630000))
}

// TestArbitraryBytesAreHandled parses random frames: malformed requests are errors, and lists that do not fit take no
// memory.
func TestArbitraryBytesAreHandled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frame := rapid.SliceOf(rapid.Byte()).Draw(t, "frame")
		if rapid.Bool().Draw(t, "request") {
			kind := rapid.SampledFrom([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 14, 15, 16, 17, 18, 19, 21, 22, 100, 101, 103, 105, 106, 107}).Draw(t, "type")
			frame = append([]byte{0, 0, 0, 1, 0, 0, 0, kind}, frame...)
		}
		h, r, err := jute.ParseRequest(frame)
		switch {
		case err != nil:
			require.ErrorIs(t, err, jute.ErrMalformed)
		case !r.Malformed:
			require.Len(t, h.Ops, len(r.Ops))
		}
		if _, err := jute.ParseConnect(frame); err != nil {
			require.ErrorIs(t, err, jute.ErrMalformed)
		}
	})
	watches := []byte("\x00\x00\x00\x01\x00\x00\x00\x65" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x7f\xff\xff\xff")
	_, r, err := jute.ParseRequest(watches)
	require.NoError(t, err)
	require.True(t, r.Malformed)
}

func TestATransactionThatFailedHasNothingButErrors(t *testing.T) {
	r := &zookeeper.Request{Op: zookeeper.Multi, Ops: []zookeeper.Request{{Op: zookeeper.Check}, {Op: zookeeper.Delete}}}
	h := jute.Header{Xid: 9, Type: jute.Multi, Ops: []jute.Type{jute.Check, jute.Delete}}
	header := "\x00\x00\x00\x09" + "\x00\x00\x00\x00\x00\x00\x00\x04" + "\x00\x00\x00\x00"
	end := "\xff\xff\xff\xff\x01\xff\xff\xff\xff"
	failed := jute.AppendAnswer(nil, h, &zookeeper.Response{Request: r, Zxid: 4, Results: []zookeeper.Response{
		{Err: zookeeper.BadVersion}, {Err: zookeeper.RuntimeInconsistency},
	}})
	require.Equal(t, header+"\xff\xff\xff\xff\x00\xff\xff\xff\x99\xff\xff\xff\x99"+
		"\xff\xff\xff\xff\x00\xff\xff\xff\xfe\xff\xff\xff\xfe"+end, string(failed))
	done := jute.AppendAnswer(nil, h, &zookeeper.Response{Request: r, Zxid: 4, Results: make([]zookeeper.Response, 2)})
	require.Equal(t, header+"\x00\x00\x00\x0d\x00\x00\x00\x00\x00"+"\x00\x00\x00\x02\x00\x00\x00\x00\x00"+end, string(done))
}
