package object_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// TestReadsThatMayBeOldReturnWhatWasThere is a conversation with a table whose eventually consistent reads are 800 ms old. Consistent ones,
// and conditions, see what is there (Amazon DynamoDB Developer Guide, "DynamoDB read consistency").
func TestReadsThatMayBeOldReturnWhatWasThere(t *testing.T) {
	e := sim.New(sim.Config{Seed: 1, Until: trace.Instant(time.Minute), Latency: sim.Constant(0)}, nil)
	s := object.New(nil)
	s.Staleness = 800 * time.Millisecond
	s.Attach(e.AddServer("store-1", s))
	const none = "404 Not Found"
	put := func(version uint64, value string) object.Request {
		return object.Request{Op: object.Put, When: object.IfVersion, Version: version, Value: value}
	}
	steps := []struct {
		at      time.Duration // in milliseconds
		request object.Request
		now     string
		old     string // what an eventually consistent read returns afterwards
	}{
		{0, object.Request{Op: object.Put, When: object.IfAbsent, Value: "a"}, "200 OK version 1", none},
		{700, object.Request{Op: object.Get}, "200 OK version 1 a", none},
		{900, put(1, "b"), "200 OK version 2", "200 OK version 1 of 800ms ago a"},
		{1000, put(1, "c"), "412 Precondition Failed", "200 OK version 1 of 800ms ago a"},
		{1600, object.Request{Op: object.Delete}, "200 OK", "200 OK version 1 of 800ms ago a"},
		{1800, object.Request{Op: object.Get}, none, "200 OK version 2 of 800ms ago b"},
		{2300, object.Request{Op: object.Put, When: object.IfAbsent, Value: "d"}, "200 OK version 3", "200 OK version 2 of 800ms ago b"},
		{2500, object.Request{Op: object.Get}, "200 OK version 3 d", none},
		{9000, object.Request{Op: object.Get}, "200 OK version 3 d", "200 OK version 3 of 800ms ago d"},
	}
	var now, old []string
	e.AddClient("a", func(task *sim.Task) {
		for i := range steps {
			task.Sleep(steps[i].at*time.Millisecond - time.Duration(e.Now()))
			now = append(now, s.Execute(nil, &steps[i].request).(*object.Response).String())
			old = append(old, s.Execute(nil, &object.Request{Op: object.Get, Eventual: true}).(*object.Response).String())
		}
	})
	require.Nil(t, e.Run().Panic)
	require.Len(t, now, len(steps))
	for i, x := range steps {
		require.Equal(t, []string{x.now, x.old}, []string{now[i], old[i]}, "%v ms: %v", int64(x.at), &x.request)
	}
}
