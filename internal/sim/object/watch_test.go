package object_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// told is all that comes on a connection.
type told []string

func (l *told) Deliver(p sim.Payload) { *l = append(*l, p.(*object.Response).String()) }
func (l *told) Closed()               { *l = append(*l, "closed") }

// watched plays writes, one a second, of a server that keeps changes for watches, and returns what watches of the second 2 are told.
func watched(t *testing.T, faults []sim.Fault, watches ...object.Request) []told {
	t.Helper()
	e := sim.New(sim.Config{Seed: 1, Until: trace.Instant(20 * time.Second), Latency: sim.Constant(time.Millisecond)}, nil)
	s := object.New(nil)
	s.Attach(e.AddServer("store-1", s))
	for _, f := range faults {
		e.Inject(f)
	}
	lines := make([]told, len(watches))
	e.AddClient("writer", func(task *sim.Task) {
		for i, r := range []object.Request{
			{Op: object.Put, Name: "x/a", Value: "1"}, {Op: object.Put, Name: "x/b", Value: "2"}, {Op: object.Put, Name: "x/a", Value: "3"},
			{Op: object.Put, Name: "y", Value: "4"}, {Op: object.Delete, Name: "x/b"}, {Op: object.Put, Name: "x/b", Value: "6"},
			{Op: object.Put, Idle: true, Name: "x/b", Value: "6"}, {Op: object.Put, When: object.IfAbsent, Name: "x/b", Value: "7"},
		} {
			task.Sleep(time.Duration(i)*time.Second - time.Duration(e.Now()))
			conn, err := task.Dial(s.Node(), &told{}, time.Second)
			if err == nil {
				r.Watched = true
				_ = conn.Send(task, &r)
				task.Sleep(100 * time.Millisecond)
				conn.Close()
			}
		}
	})
	e.AddClient("watcher", func(task *sim.Task) {
		task.Sleep(1500 * time.Millisecond)
		for i := range watches {
			conn, err := task.Dial(s.Node(), &lines[i], time.Second)
			require.NoError(t, err)
			watches[i].Op, watches[i].Watched = object.Watch, true
			require.NoError(t, conn.Send(task, &watches[i]))
		}
		task.Sleep(12 * time.Second)
	})
	ending := e.Run()
	require.Nil(t, ending.Panic)
	return lines
}

// TestWatchesAreToldOfAllThatHappens from a version on, or of what is there at first; of one object, or of all below a prefix.
func TestWatchesAreToldOfAllThatHappens(t *testing.T) {
	const later = "200 OK added x/b version 6"
	lines := watched(t, nil,
		object.Request{Name: "x/"},
		object.Request{Name: "x/", Version: 1},
		object.Request{Name: "x/b", One: true, Version: 2},
		object.Request{Name: "x/", One: true, Version: 2},
		object.Request{Name: "x/", Version: 5},
		object.Request{Name: "x/", Version: 2, Lasts: 2 * time.Second},
		object.Request{Name: "x/b", Version: 1, Lasts: -1},
	)
	require.Equal(t, told{"200 OK added x/a version 1 added x/b version 2", "200 OK modified x/a version 3", "200 OK deleted x/b version 5", later}, lines[0])
	require.Equal(t, told{"200 OK added x/b version 2", "200 OK modified x/a version 3", "200 OK deleted x/b version 5", later}, lines[1])
	require.Equal(t, told{"200 OK", "200 OK deleted x/b version 5", later}, lines[2])
	require.Equal(t, told{"200 OK"}, lines[3])
	require.Equal(t, told{"200 OK", later}, lines[4], "a version that is to come")
	require.Equal(t, told{"200 OK", "200 OK modified x/a version 3", "200 OK over"}, lines[5])
	require.Equal(t, told{"200 OK added x/b version 2 over"}, lines[6])
}

// TestAWatchEndsWithItsServer: what was before the crash is not told any more, as by an API server that starts again.
func TestAWatchEndsWithItsServer(t *testing.T) {
	crash := func(when time.Duration) []sim.Fault {
		return []sim.Fault{at(when, sim.Action{Kind: sim.Crash, Node: "store-1", Restart: 100 * time.Millisecond}, 0)}
	}
	require.Equal(t, told{"200 OK added x/a version 1 added x/b version 2", "200 OK modified x/a version 3", "closed"},
		watched(t, crash(2500*time.Millisecond), object.Request{Name: "x/"})[0])
	lines := watched(t, crash(1100*time.Millisecond), object.Request{Name: "x/", Version: 1}, object.Request{Name: "x/", Version: 2, Lasts: time.Second})
	require.Equal(t, told{"410 too old resource version: 1 (2)"}, lines[0])
	require.Equal(t, told{"200 OK", "200 OK modified x/a version 3", "200 OK over"}, lines[1])
}

// TestAPausedServerTellsItsWatchesLater: of what it does then, and that their time is over.
func TestAPausedServerTellsItsWatchesLater(t *testing.T) {
	pause := at(1900*time.Millisecond, sim.Action{Kind: sim.Pause, Node: "store-1"}, 3*time.Second)
	lines := watched(t, []sim.Fault{pause}, object.Request{Name: "x/", Version: 2, Lasts: time.Second}, object.Request{Name: "x/", Version: 2})
	require.Equal(t, told{"200 OK", "200 OK over"}, lines[0])
	require.Equal(t, told{"200 OK", "200 OK modified x/a version 3", "200 OK deleted x/b version 4", "200 OK added x/b version 6"}, lines[1])
}

// TestTheLastThousandChangesAreKept: a watch from before them is refused.
func TestTheLastThousandChangesAreKept(t *testing.T) {
	s := object.New(nil)
	for range 1_002 {
		s.Execute(nil, &object.Request{Op: object.Put, Name: "x", Watched: true})
	}
	from := func(version uint64) *object.Response {
		return s.Execute(nil, &object.Request{Op: object.Watch, Name: "x", Version: version, Watched: true}).(*object.Response)
	}
	require.Len(t, from(2).Changes, 1_000)
	require.Equal(t, "410 too old resource version: 1 (2)", from(1).String())
}

// TestNothingIsKeptForNobody: without an API that has watches a deletion has no version, and a watch that comes later begins there.
func TestNothingIsKeptForNobody(t *testing.T) {
	s := object.New(nil)
	for _, op := range []object.Op{object.Put, object.Put, object.Delete, object.Put} {
		s.Execute(nil, &object.Request{Op: op, Name: "x"})
	}
	_, version := s.Find("x")
	require.Equal(t, uint64(3), version)
	answer := s.Execute(nil, &object.Request{Op: object.Watch, Name: "x", Version: 1, Watched: true})
	require.Equal(t, "410 too old resource version: 1 (3)", answer.(*object.Response).String())
}
