package real_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/real"
)

// newHost makes a host that ends with the test.
func newHost(t *testing.T) *real.Host {
	t.Helper()
	h, err := real.NewHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	return h
}

// unlessMissing skips a test that wants what is not installed.
func unlessMissing(t *testing.T, err error) {
	t.Helper()
	var missing *real.Missing
	if errors.As(err, &missing) {
		t.Skip(missing)
	}
	require.NoError(t, err)
}

// TestWhoMissesAProgramIsToldHowToGetIt from a package, or from its source.
func TestWhoMissesAProgramIsToldHowToGetIt(t *testing.T) {
	h := newHost(t)
	t.Setenv("PATH", "")
	_, err := h.Etcd("etcd")
	require.EqualError(t, err, "etcd is not installed; on Debian: apt-get install etcd-server")
	_, err = h.MinIO("minio")
	require.EqualError(t, err, "minio is not on PATH, and in no package of Debian; to build it in a folder, and put that on PATH: .ci/servers FOLDER minio")
	_, err = h.KubeAPIServer("kube-apiserver")
	require.ErrorContains(t, err, ".ci/servers FOLDER kube-apiserver")
}

func ask(t *testing.T, r *real.Redis, command ...string) string {
	t.Helper()
	reply, err := r.Ask(command...)
	require.NoError(t, err)
	return reply
}

func TestRedisForgetsWhatItsPersistenceDoesNotKeep(t *testing.T) {
	h := newHost(t)
	for persistence, kept := range map[string]string{"none": "$-1", "rdb": "$-1", "no": "$1", "everysec": "$1", "always": "$1"} {
		r, err := h.Redis(real.RedisConfig{Name: "redis-" + persistence, Persistence: persistence})
		unlessMissing(t, err)
		require.Equal(t, "+OK", ask(t, r, "SET", "lock", "a"))
		require.NoError(t, r.Kill())
		_, err = r.Ask("PING")
		require.Error(t, err)
		require.NoError(t, r.Restart())
		require.Equal(t, kept, ask(t, r, "GET", "lock"), persistence)
	}
}

func TestRedisGoesByTheClockThatItIsGiven(t *testing.T) {
	r, err := newHost(t).Redis(real.RedisConfig{Name: "redis", WrongClock: true})
	unlessMissing(t, err)
	require.Equal(t, "+OK", ask(t, r, "SET", "lock", "a", "PX", "60000"))
	require.Equal(t, "$1", ask(t, r, "GET", "lock"))
	require.NoError(t, r.SetClock(61*time.Second, 0))
	require.Equal(t, "$-1", ask(t, r, "GET", "lock"))
	require.Equal(t, "+OK", ask(t, r, "SET", "lock", "a", "PXAT", "1"))
	require.NoError(t, r.SetClock(-500*time.Millisecond, 0))
	require.Equal(t, "+OK", ask(t, r, "SET", "lock", "a", "PX", "100"))
}

func TestAServerThatIsStoppedStandsStill(t *testing.T) {
	r, err := newHost(t).Redis(real.RedisConfig{Name: "redis"})
	unlessMissing(t, err)
	require.NoError(t, r.Stop())
	answered := make(chan error)
	go func() {
		_, err := r.Ask("PING")
		answered <- err
	}()
	select {
	case err := <-answered:
		t.Fatal(err, "it answered while it was stopped")
	default:
	}
	require.NoError(t, r.Continue())
	require.NoError(t, <-answered)
}

func TestALinkHoldsRefusesAndLetsPass(t *testing.T) {
	h := newHost(t)
	r, err := h.Redis(real.RedisConfig{Name: "redis"})
	unlessMissing(t, err)
	l, err := h.Link(real.LinkConfig{Server: r.Address})
	require.NoError(t, err)
	through := &real.Redis{Child: &real.Child{Name: "through the link"}, Address: l.Address}
	require.Equal(t, "+OK", ask(t, through, "SET", "lock", "a"))
	accept := l.Refuse()
	_, err = through.Ask("GET", "lock")
	require.Error(t, err)
	accept()
	require.Equal(t, "$1", ask(t, through, "GET", "lock"))
	release := l.Hold(true, false)
	answered := make(chan error)
	go func() {
		_, err := through.Ask("DEL", "lock")
		answered <- err
	}()
	require.Equal(t, "$1", ask(t, r, "GET", "lock"), "the request waits")
	release()
	require.NoError(t, <-answered)
	require.Equal(t, "$-1", ask(t, r, "GET", "lock"))
}

func TestAnEnsembleServesAndSurvivesTheDeathOfOne(t *testing.T) {
	list, err := newHost(t).ZooKeeper("zk", 3, 100*time.Millisecond)
	unlessMissing(t, err)
	require.NoError(t, list[0].Kill())
	require.NoError(t, list[0].Restart())
	status, err := list[0].Status()
	require.NoError(t, err)
	require.Contains(t, status, "Mode:")
}

func TestEtcdServes(t *testing.T) {
	e, err := newHost(t).Etcd("etcd-1")
	unlessMissing(t, err)
	require.NoError(t, e.Kill())
}

func TestNothingIsLeftOfAHost(t *testing.T) {
	h, err := real.NewHost()
	require.NoError(t, err)
	r, err := h.Redis(real.RedisConfig{Name: "redis"})
	if err != nil {
		require.NoError(t, h.Close())
	}
	unlessMissing(t, err)
	require.NoError(t, h.Close())
	_, err = r.Ask("PING")
	require.Error(t, err)
	_, err = h.Redis(real.RedisConfig{Name: "another"})
	require.ErrorContains(t, err, "closed")
}
