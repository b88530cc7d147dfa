package sim_test

import (
	"testing"
	"time"

	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// BenchmarkEngine measures bare steps: two processes that sleep in turns.
func BenchmarkEngine(b *testing.B) {
	b.ReportAllocs()
	e := sim.New(sim.Config{Until: trace.Never}, nil)
	for _, name := range []string{"a", "b"} {
		e.AddClient(name, func(t *sim.Task) {
			for range b.N / 2 {
				t.Sleep(time.Millisecond)
			}
		})
	}
	b.ResetTimer()
	e.Run()
	b.ReportMetric(float64(e.Steps())/b.Elapsed().Seconds(), "steps/s")
}

// silent is a message without content.
type silent struct{}

func (silent) What() (what, alt string) { return "PING", "" }
func (silent) Sum() uint64              { return 1 }
func (silent) String() string           { return "PING" }

// pong answers every request.
type pong struct{ answer sim.Payload }

func (p *pong) Execute(*sim.Conn, sim.Payload) sim.Payload { return p.answer }
func (p *pong) Crash(bool, string)                         {}
func (p *pong) Restart()                                   {}

// waiting is a client's end of a connection that waits for one answer at a time.
type waiting struct{ settled sim.Signal }

func (w *waiting) Deliver(sim.Payload) { w.settled.Fire() }
func (w *waiting) Closed()             {}

// BenchmarkRoundTrip measures a call with a time-out: send, receive, execute, reply, receive.
func BenchmarkRoundTrip(b *testing.B) {
	b.ReportAllocs()
	e := sim.New(sim.Config{Until: trace.Never}, nil)
	srv := e.AddServer("redis-1", &pong{silent{}})
	e.AddClient("a", func(t *sim.Task) {
		w := &waiting{}
		conn, err := t.Dial(srv, w, 0)
		if err != nil {
			panic(err)
		}
		for range b.N {
			w.settled = sim.Signal{}
			if err := conn.Send(t, silent{}); err != nil {
				panic(err)
			}
			t.Wait(time.Second, &w.settled)
		}
	})
	b.ResetTimer()
	e.Run()
	b.ReportMetric(float64(e.Steps())/float64(b.N), "steps/op")
}

// BenchmarkPark measures two tasks that wake each other, without the queue.
func BenchmarkPark(b *testing.B) {
	b.ReportAllocs()
	e := sim.New(sim.Config{Until: trace.Never}, nil)
	e.AddClient("a", func(t *sim.Task) {
		var ping, pong sim.Signal
		t.Go(func(t *sim.Task) {
			for {
				t.Wait(sim.Forever, &ping)
				ping = sim.Signal{}
				pong.Fire()
			}
		})
		for i := range b.N {
			if i%10_000 == 0 {
				t.Sleep(1) // as a process that calls too often at one moment is stopped
			}
			ping.Fire()
			t.Wait(sim.Forever, &pong)
			pong = sim.Signal{}
		}
	})
	b.ResetTimer()
	e.Run()
}

// BenchmarkSpawn measures a task that starts and ends.
func BenchmarkSpawn(b *testing.B) {
	b.ReportAllocs()
	e := sim.New(sim.Config{Until: trace.Never}, nil)
	e.AddClient("a", func(t *sim.Task) {
		for i := range b.N {
			if i%10_000 == 0 {
				t.Sleep(1)
			}
			t.Wait(sim.Forever, t.Go(func(*sim.Task) {}))
		}
	})
	b.ResetTimer()
	e.Run()
}

// BenchmarkRun measures a whole short run: three clients that connect to five servers and call each once.
func BenchmarkRun(b *testing.B) {
	b.ReportAllocs()
	spare := &sim.Spare{}
	defer spare.Close()
	names := []string{"redis-1", "redis-2", "redis-3", "redis-4", "redis-5"}
	for seed := range b.N {
		e := sim.New(sim.Config{Seed: uint64(seed), Until: trace.Never}, spare)
		servers := make([]*sim.Node, len(names))
		for i, name := range names {
			servers[i] = e.AddServer(name, &pong{silent{}})
		}
		for _, name := range []string{"a", "b", "c"} {
			e.AddClient(name, func(t *sim.Task) {
				for _, srv := range servers {
					w := &waiting{}
					conn, err := t.Dial(srv, w, time.Second)
					if err != nil || conn.Send(t, silent{}) != nil {
						panic(err)
					}
					t.Wait(time.Second, &w.settled)
				}
			})
		}
		e.Run()
	}
}
