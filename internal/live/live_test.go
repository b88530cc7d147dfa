package live_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/live"
	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/locks"
)

// servers starts what the locks of the catalogue are played on here.
func servers(t *testing.T) map[string]live.Config {
	t.Helper()
	h, err := real.NewHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	found := map[string]live.Config{}
	missing := func(err error) bool {
		var m *real.Missing
		if errors.As(err, &m) {
			t.Log(m)
			return true
		}
		require.NoError(t, err)
		return false
	}
	var redis []string
	for _, name := range []string{"redis-1", "redis-2", "redis-3"} {
		r, err := h.Redis(real.RedisConfig{Name: name})
		if missing(err) {
			break
		}
		redis = append(redis, r.Address)
	}
	if len(redis) == 3 {
		found["redis"] = live.Config{Redis: redis}
	}
	if list, err := h.ZooKeeper("zk", 1, 100*time.Millisecond); !missing(err) {
		found["zookeeper"] = live.Config{ZooKeeper: []string{list[0].Address}}
	}
	if e, err := h.Etcd("etcd-1"); !missing(err) {
		found["etcd"] = live.Config{Etcd: e.Endpoint}
	}
	if len(found) == 0 {
		t.Skip("none of the servers is installed")
	}
	return found
}

// open opens a process that is closed with the test.
func open(t *testing.T, c live.Config) *live.Process {
	t.Helper()
	p, err := live.Open(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// unfit are locks of the catalogue that cannot pass: everybody gets the first, who does not get the second releases it, and
// the others want replicas.
var unfit = []string{"set-without-nx", "jedis-sample", "set-nx-lua-wait", "set-nx-lua-wait-elsewhere"}

// TestLocksWorkOnRealServers has one process take each lock, another be refused, and then take it when it is released.
func TestLocksWorkOnRealServers(t *testing.T) {
	found := servers(t)
	for _, a := range locks.Catalogue().All() {
		c, ok := found[cmp.Or(a.Servers, "redis")]
		if !ok || slices.Contains(unfit, a.Name) {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			if a.Authority != locks.Majority && len(c.Redis) > 0 {
				c.Redis = c.Redis[:1]
			}
			options := locks.Options{Key: "key-of-" + a.Name, TTL: 2 * time.Second, Timeout: 500 * time.Millisecond}
			one, two := c, c
			one.Owner, two.Owner = "one", "two"
			p, q := open(t, one), open(t, two)
			first, err := a.New(options)(p)
			require.NoError(t, err)
			second, err := a.New(options)(q)
			require.NoError(t, err)
			lease, err := first.Acquire(locks.Forever)
			require.NoError(t, err)
			_, err = second.Acquire(locks.Try)
			require.ErrorIs(t, err, locks.ErrNotAcquired)
			if err = first.Release(lease); err != nil && strings.Contains(err.Error(), "unknown command") {
				t.Skip("the real server is too old for this lock: ", err)
			}
			require.NoError(t, err)
			lease, err = second.Acquire(locks.Forever)
			require.NoError(t, err)
			require.NoError(t, second.Release(lease))
		})
	}
}

func TestUnsentRequestIsCertainlyNotDone(t *testing.T) {
	p := open(t, live.Config{Redis: []string{"127.0.0.1:1"}, Etcd: "http://127.0.0.1:1"})
	_, err := p.Redis(0).Do(time.Second, "SET", "lock", "a")
	require.ErrorIs(t, err, locks.ErrNotDone)
	_, _, err = p.Etcd().Grant(time.Second, time.Second)
	require.ErrorIs(t, err, locks.ErrNotDone)
}

func TestUnansweredRequestIsUnknown(t *testing.T) {
	h, err := real.NewHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	r, err := h.Redis(real.RedisConfig{Name: "redis"})
	if m := (*real.Missing)(nil); errors.As(err, &m) {
		t.Skip(m)
	}
	require.NoError(t, err)
	p := open(t, live.Config{Redis: []string{r.Address}})
	_, err = p.Redis(0).Do(time.Second, "SET", "lock", "a")
	require.NoError(t, err)
	require.NoError(t, r.Stop())
	_, err = p.Redis(0).Do(50*time.Millisecond, "SET", "lock", "b")
	require.ErrorIs(t, err, locks.ErrUnknown)
	require.NoError(t, r.Continue())
	reply, err := p.Redis(0).Do(0, "GET", "lock")
	require.NoError(t, err)
	require.Equal(t, "b", reply.Str, "it was done after all")
	var refused *locks.RedisError
	_, err = p.Redis(0).Do(0, "INCR", "lock")
	require.ErrorAs(t, err, &refused)
}
