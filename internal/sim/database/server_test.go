package database_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/database"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// holder adds a client that takes the user lock and then goes on as it is told.
func (w *world) holder(name string, then func(t *sim.Task)) {
	w.AddClient(name, func(t *sim.Task) {
		w.send(t, name, "SELECT GET_LOCK('lock', 100)")
		then(t)
	})
}

func (w *world) at(moment time.Duration, a sim.Action) {
	w.Inject(sim.Fault{Trigger: sim.Trigger{When: sim.At, At: moment}, Action: a})
}

func linger(t *sim.Task) { t.Sleep(time.Minute) }

func TestALockOutlivesASilentClientUntilKeepAliveMissesIt(t *testing.T) {
	dies := sim.Action{Kind: sim.Crash, Node: "a", Host: true}
	for _, d := range []struct {
		name   string
		config database.Config
		crash  sim.Action
		want   string // when the next one has the lock
	}{
		{"the process dies", database.Config{}, sim.Action{Kind: sim.Crash, Node: "a"}, "1.001s"},
		{"the host dies", database.Config{}, dies, "never"},
		{"keep-alive", database.Config{KeepAlive: 8 * time.Second}, dies, "8.003s"},
		{"wait_timeout", database.Config{Idle: 20 * time.Second}, dies, "20.003s"},
	} {
		t.Run(d.name, func(t *testing.T) {
			w := newWorld(t, d.config)
			w.holder("a", linger)
			got := "never"
			w.AddClient("b", func(task *sim.Task) {
				task.Sleep(500 * ms)
				w.send(task, "b", "SELECT GET_LOCK('lock', 1000)")
				for task.Sleep(ms); w.clients["b"].waits && w.Now() < 60_000_000_000; {
					task.Sleep(ms)
				}
				if !w.clients["b"].waits {
					got = (w.Now().Add(-ms)).String()
				}
			})
			w.at(time.Second, d.crash)
			require.Nil(t, w.Run().Panic)
			require.Equal(t, d.want, got)
		})
	}
}

func TestACrashLosesTheLocksAndKeepsWhatWasCommitted(t *testing.T) {
	for keep, version := range map[string]string{"": "(1)", "nothing": "(0)"} {
		w := newWorld(t, database.Config{})
		w.at(time.Second, sim.Action{Kind: sim.Crash, Node: "db", Restart: time.Second, Keep: keep})
		w.AddClient("a", func(task *sim.Task) {
			for _, statement := range []string{
				"UPDATE resource SET version = 1 WHERE id = 0", "SELECT GET_LOCK('lock', 1)", "BEGIN",
				"UPDATE resource SET version = 2 WHERE id = 0",
			} {
				w.send(task, "a", statement)
				task.Sleep(10 * ms)
			}
			task.Sleep(3 * time.Second)
			w.send(task, "b", "SELECT GET_LOCK('lock', 0)")
			task.Sleep(10 * ms)
			w.send(task, "b", "SELECT version FROM resource WHERE id = 0 FOR UPDATE")
			task.Sleep(10 * ms)
		})
		require.Nil(t, w.Run().Panic)
		require.Equal(t, []string{
			"  user/lock is freed: crashed", "a: closed",
			"  b takes user/lock", "b: (1)",
			"  b takes resource/0", "  resource/0 is ended by b", "b: " + version,
		}, w.seen[len(w.seen)-7:])
	}
}

func TestAConnectionExecutesWhatItIsSentOneAfterTheOther(t *testing.T) {
	w := newWorld(t, database.Config{})
	w.holder("a", func(task *sim.Task) {
		task.Sleep(time.Second)
		w.clients["a"].conn.Close()
	})
	w.AddClient("b", func(task *sim.Task) {
		task.Sleep(100 * ms)
		w.send(task, "b", "SELECT GET_LOCK('lock', 10)")
		w.send(task, "b", "SELECT RELEASE_LOCK('lock')")
		w.send(task, "b", "SELECT IS_FREE_LOCK('lock')")
		task.Sleep(2 * time.Second)
	})
	require.Nil(t, w.Run().Panic)
	require.Equal(t, []string{
		"  a takes user/lock", "a: (1)", "  user/lock is freed: disconnected",
		"  b takes user/lock", "  user/lock is released by b", "b: (1)", "b: (1)", "b: (1)",
	}, w.seen)
}

func TestInjectedErrorsAreThoseOfTheText(t *testing.T) {
	request := &database.Request{Statement: "SELECT GET_LOCK(?, ?)", Purpose: "acquire"}
	what, alt := request.What()
	require.Equal(t, []string{"GET_LOCK", "acquire"}, []string{what, alt})
	answer := database.ErrorResponse(request, "1040 Too many connections").(*database.Response)
	require.Equal(t, &database.Error{Code: "1040", Text: "Too many connections"}, answer.Err)
}

// A statement that a fault fails does to its transaction what one does that fails by itself.
func TestAnInjectedErrorEndsTheTransactionAsARealOneDoes(t *testing.T) {
	const read = "SELECT version FROM resource WHERE id = 0"
	const aborted = "error 25P02: current transaction is aborted, commands ignored until end of transaction block"
	for _, d := range []struct {
		name, what, text string
		dialect          database.Dialect
		reads            [2]string // what the transaction is answered that has written 1
		commit, left     string    // what COMMIT is, and what another transaction that does not wait for it finds
	}{
		{
			"PostgreSQL, a statement", "SELECT", "40001 conflict", database.PostgreSQL,
			[2]string{"error 40001: conflict", aborted}, "0 rows", "(0)",
		},
		{
			"PostgreSQL, COMMIT", "COMMIT", "40001 conflict", database.PostgreSQL,
			[2]string{"(1)", "(1)"}, "error 40001: conflict", "(0)",
		},
		{
			"MySQL, a statement", "SELECT", "1317 interrupted", database.MySQL,
			[2]string{"error 1317: interrupted", "(1)"}, "0 rows", "(1)",
		},
		{
			"MySQL, a deadlock", "SELECT", "1213 deadlock", database.MySQL,
			[2]string{"error 1213: deadlock", "(0)"}, "0 rows", "(0)",
		},
	} {
		t.Run(d.name, func(t *testing.T) {
			w := newWorld(t, database.Config{Dialect: d.dialect})
			w.ErrorReply = database.ErrorResponse
			w.Inject(sim.Fault{
				Trigger: sim.Trigger{
					When: sim.Before, Nth: 1, Step: sim.Pattern{Node: "db", Does: trace.Execute, What: d.what},
				},
				Action: sim.Action{Kind: sim.Error, Text: d.text},
			})
			var got []string
			w.AddClient("driver", func(task *sim.Task) {
				for _, step := range [][2]string{
					{"a", "BEGIN"},
					{"a", "UPDATE resource SET version = 1 WHERE id = 0"},
					{"a", read},
					{"a", read},
					{"a", "COMMIT"},
					{"b", read + " FOR UPDATE NOWAIT"},
				} {
					w.send(task, step[0], step[1])
					task.Sleep(10 * ms)
					got = append(got, w.seen[len(w.seen)-1])
				}
			})
			require.Nil(t, w.Run().Panic)
			require.Equal(t, []string{
				"a: 0 rows", "a: 1 row", "a: " + d.reads[0], "a: " + d.reads[1], "a: " + d.commit, "b: " + d.left,
			}, got)
		})
	}
}
