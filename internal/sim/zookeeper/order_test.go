package zookeeper_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/zookeeper"
)

func TestEventComesBeforeWhatShowsTheChange(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	w.client("a", func(k *keeper) {
		k.open(1, 10*s)
		k.must(create("/p"))
		require.Equal(t, zookeeper.NoNode, k.call(ask(zookeeper.Exists, "/p/c", true)).Err)
		k.must(ask(zookeeper.GetChildren, "/p", true))
		k.stream = nil
		k.must(create("/p/c"))
		k.must(ask(zookeeper.GetData, "/p/c", true))
		k.must(set("/p/c", "x", -1))
		k.must(set("/p/c", "y", -1))
		k.must(ask(zookeeper.GetData, "/p/c", true))
		k.must(ask(zookeeper.GetChildren, "/p/c", true))
		k.must(del("/p/c", -1))
		events := []string{}
		for _, line := range k.stream {
			if strings.Contains(line, " /p") && !strings.Contains(line, "czxid") {
				events = append(events, line)
			} else {
				events = append(events, "answer")
			}
		}
		require.Equal(t, []string{
			"created /p/c", "childrenChanged /p", "answer", // create
			"answer",                     // getData
			"dataChanged /p/c", "answer", // setData
			"answer",           // setData: the watch is used up
			"answer", "answer", // getData, getChildren
			"deleted /p/c", "answer", // one event for both watches
		}, events)
	})
	w.play()
}

func TestWatchesAreSetAgainOnAnotherServer(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	w.client("a", func(k *keeper) {
		k.open(1, 10*s)
		for _, path := range []string{"/gone", "/changed", "/same", "/parent"} {
			k.must(create(path))
		}
		seen := k.seen
		k.must(del("/gone", -1))
		k.must(set("/changed", "x", -1))
		k.must(create("/parent/child"))
		k.must(ask(zookeeper.Sync, "/"))
		k.conn.Close()
		k.open(2, 10*s)
		k.stream, k.events = nil, nil
		k.must(&zookeeper.Request{
			Op: zookeeper.SetWatches, Seen: seen,
			DataWatches:  []string{"/gone", "/changed", "/same"},
			ExistWatches: []string{"/parent/child", "/absent"},
			ChildWatches: []string{"/parent", "/same"},
		})
		require.Equal(t, []string{"deleted /gone", "dataChanged /changed", "created /parent/child", "childrenChanged /parent"}, k.events)
		require.Equal(t, "ok", k.stream[len(k.stream)-1], "the answer follows the events")
		k.events = nil
		k.must(set("/same", "x", -1))
		k.must(create("/absent"))
		require.Equal(t, []string{"dataChanged /same", "created /absent"}, k.events)
	})
	w.play()
}

func TestEverythingWaitsBehindAWrite(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	w.client("a", func(k *keeper) {
		k.open(1, 10*s)
		k.must(create("/p"))
		for _, r := range []*zookeeper.Request{
			set("/p", "x", -1), ask(zookeeper.GetData, "/p"), ask(zookeeper.Ping, ""), ask(zookeeper.Sync, "/"),
			ask(zookeeper.GetData, "/p"), set("/p", "y", -1),
		} {
			k.send(r)
		}
		var got []string
		for range 6 {
			a := k.next()
			got = append(got, a.Request.Op.String()+a.Data)
		}
		require.Equal(t, []string{"setData", "getDatax", "ping", "sync", "getDatax", "setData"}, got)
	})
	w.play()
}

func TestFollowerReadsTheOldUntilItIsAskedToSync(t *testing.T) {
	w := newWorld(t, 1, zookeeper.Config{})
	w.at(5*s, cut("zk-1", "zk-3"), 2*s)
	w.client("writer", func(k *keeper) {
		k.open(2, 10*s)
		k.must(create("/p"))
		w.sleepUntil(k.task, 6*s)
		k.must(set("/p", "new", -1))
	})
	w.client("reader", func(k *keeper) {
		k.open(1, 10*s)
		w.sleepUntil(k.task, 6500*ms)
		require.Empty(t, k.must(ask(zookeeper.GetData, "/p")).Data, "it lags behind")
		before := w.Now()
		k.must(ask(zookeeper.Sync, "/p"))
		require.Greater(t, w.Now().Sub(before), 499*ms, "sync waits for the leader")
		require.Equal(t, "new", k.must(ask(zookeeper.GetData, "/p")).Data)
	})
	w.play()
}
