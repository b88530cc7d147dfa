package live_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/live"
	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/locks"
)

func TestAProcessGoesByTheClockThatItIsGiven(t *testing.T) {
	c := live.Config{Redis: []string{"127.0.0.1:1"}}
	right := open(t, c)
	c.Clock = live.Clock{Offset: time.Hour, Rate: 1_000_000}
	wrong := open(t, c)
	require.InDelta(t, float64(time.Hour), float64(wrong.Wall()-right.Wall()), float64(time.Minute))
	wrong.StepWall(-time.Hour)
	require.InDelta(t, 0, float64(wrong.Wall()-right.Wall()), float64(time.Minute))
	require.Equal(t, 50*time.Millisecond, wrong.TrueTime(100*time.Millisecond), "its clocks are twice as fast")
	began, since := wrong.Monotonic(), right.Monotonic()
	wrong.Sleep(40 * time.Millisecond)
	require.GreaterOrEqual(t, wrong.Monotonic().Sub(began), 40*time.Millisecond)
	require.GreaterOrEqual(t, right.Monotonic().Sub(since), 20*time.Millisecond)
}

func TestProcessesWithTheSameRandomnessDrawTheSameValues(t *testing.T) {
	c := live.Config{Redis: []string{"127.0.0.1:1"}}
	c.Random = rand.NewChaCha8([32]byte{1})
	one := open(t, c)
	c.Random = rand.NewChaCha8([32]byte{1})
	require.Equal(t, one.RandomValue(), open(t, c).RandomValue())
	c.Random = nil
	require.NotEqual(t, one.RandomValue(), open(t, c).RandomValue())
}

func TestAProcessTakesTheServerThatItIsToldOf(t *testing.T) {
	h, err := real.NewHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	old, err := h.Redis(real.RedisConfig{Name: "old"})
	if m := (*real.Missing)(nil); errors.As(err, &m) {
		t.Skip(m)
	}
	require.NoError(t, err)
	current, err := h.Redis(real.RedisConfig{Name: "current"})
	require.NoError(t, err)
	p := open(t, live.Config{Redis: []string{old.Address}})
	redis := p.Redis(0)
	_, err = redis.Do(time.Second, "SET", "where", "old")
	require.NoError(t, err)
	p.Redirect(current.Address)
	reply, err := redis.Do(time.Second, "GET", "where")
	require.NoError(t, err)
	require.True(t, reply.Nil, "also a client that a lock has had for long")
}

// TestANewConnectionIsGreetedFirst is why a request to a server that stands still is not always executed when that goes on.
func TestANewConnectionIsGreetedFirst(t *testing.T) {
	h, err := real.NewHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	server, err := h.Redis(real.RedisConfig{Name: "redis"})
	if m := (*real.Missing)(nil); errors.As(err, &m) {
		t.Skip(m)
	}
	require.NoError(t, err)
	require.NoError(t, server.Stop())
	c := live.Config{Redis: []string{server.Address}}
	_, err = open(t, c).Redis(0).Do(50*time.Millisecond, "SET", "lock", "a")
	require.ErrorIs(t, err, locks.ErrUnknown)
	require.NoError(t, server.Continue())
	reply, err := open(t, c).Redis(0).Do(0, "GET", "lock")
	require.NoError(t, err)
	require.True(t, reply.Nil, "HELLO was sent and nothing else")
}
