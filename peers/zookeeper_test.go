package peers

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/serve"
)

// TestGoZooKeeperSeesWhatItSeesOfTheRealServer has programs that use github.com/go-zookeeper/zk as it is talk to a real server
// and to the simulated one. What they see must be the same.
func TestGoZooKeeperSeesWhatItSeesOfTheRealServer(t *testing.T) {
	const tick = 250 * time.Millisecond
	h, err := real.NewHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	list, err := h.ZooKeeper("zk", 1, tick)
	if m := (*real.Missing)(nil); errors.As(err, &m) {
		t.Skip(m)
	}
	require.NoError(t, err)
	w, err := serve.ZooKeeper(1, []string{"127.0.0.1:0"}, tick)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- w.Serve(t.Context()) }()
	t.Cleanup(func() { require.NoError(t, <-ended) }) // the context of a test ends before its cleanup
	for _, p := range []struct {
		name string
		play func(t *testing.T, s *seen)
	}{
		{"nodes", useNodes}, {"watches", useWatches}, {"access", useAccess}, {"locks", useLocks}, {"expiry", loseASession},
		{"words", useWords},
	} {
		t.Run(p.name, func(t *testing.T) {
			var logs []string
			for _, address := range []string{list[0].Address, w.Addresses()[0]} {
				link, err := h.Link(real.LinkConfig{Server: address})
				require.NoError(t, err)
				s := &seen{address: address, link: link, root: "/" + p.name}
				p.play(t, s)
				logs = append(logs, strings.Join(s.log, "\n"))
			}
			require.NotEmpty(t, logs[0])
			require.Equal(t, logs[0], logs[1])
		})
	}
}

// seen is what a program sees of one server.
type seen struct {
	address string
	link    *real.Link // to the same server
	root    string
	log     []string
}

func (s *seen) say(format string, args ...any) { s.log = append(s.log, fmt.Sprintf(format, args...)) }

// open opens a session of two seconds.
func (s *seen) open(t *testing.T, address string) (*zk.Conn, <-chan zk.Event) {
	t.Helper()
	conn, events, err := zk.Connect([]string{address}, 2*time.Second, zk.WithLogInfo(false), zk.WithLogger(silent{}))
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	return conn, events
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// told is what a node is like, without what differs from server to server.
func told(stat *zk.Stat) string {
	if stat == nil {
		return "nothing"
	}
	made := time.Since(time.UnixMilli(stat.Ctime)).Abs() < time.Minute
	return fmt.Sprintf("version %d cversion %d aversion %d length %d children %d ephemeral %v recent %v in order %v",
		stat.Version, stat.Cversion, stat.Aversion, stat.DataLength, stat.NumChildren, stat.EphemeralOwner != 0, made,
		stat.Ctime <= stat.Mtime && stat.Czxid <= stat.Mzxid)
}

func (s *seen) hear(t *testing.T, who string, events <-chan zk.Event) {
	t.Helper()
	select {
	case e := <-events:
		s.say("%s hears %v of %s", who, e.Type, e.Path)
	case <-time.After(15 * time.Second):
		s.say("%s hears nothing", who)
	}
}

var everybody = zk.WorldACL(zk.PermAll)

func useNodes(t *testing.T, s *seen) {
	c, _ := s.open(t, s.address)
	path, err := c.Create(s.root, []byte("x"), 0, everybody)
	s.say("%s %v", path, err)
	for flags := int32(0); flags < 7; flags++ {
		path, err := c.Create(fmt.Sprintf("%s/%d-", s.root, flags), nil, flags, everybody)
		s.say("mode %d: %s %v", flags, path, err)
	}
	path, err = c.CreateContainer(s.root+"/container", nil, zk.FlagContainer, everybody)
	s.say("container: %s %v", path, err)
	path, err = c.CreateTTL(s.root+"/ttl", nil, zk.FlagTTL, everybody, time.Hour)
	s.say("with a time to live: %s %v", path, err)
	path, err = c.CreateProtectedEphemeralSequential(s.root+"/p-", []byte("p"), everybody)
	s.say("protected: %s %v", path[strings.LastIndex(path, "-")+1:], err)
	data, stat, err := c.Get(s.root)
	s.say("%q %s %v", data, told(stat), err)
	stat, err = c.Set(s.root, []byte("yz"), 0)
	s.say("%s %v", told(stat), err)
	_, err = c.Set(s.root, nil, 0)
	s.say("late: %v", err)
	children, stat, err := c.Children(s.root)
	slices.Sort(children)
	s.say("%d %s %v", len(children), told(stat), err)
	there, stat, err := c.Exists(s.root + "/none")
	s.say("%v %s %v", there, told(stat), err)
	s.say("delete: %v, %v, %v", c.Delete(s.root, -1), c.Delete(s.root+"/0-", 3), c.Delete(s.root+"/0-", 0))
	path, err = c.Sync(s.root)
	s.say("sync %s %v", path, err)
	results, err := c.Multi(&zk.CheckVersionRequest{Path: s.root, Version: 1},
		&zk.CreateRequest{Path: s.root + "/m-", Acl: everybody, Flags: zk.FlagSequence},
		&zk.SetDataRequest{Path: s.root, Data: []byte("m"), Version: 1}, &zk.DeleteRequest{Path: s.root + "/4-", Version: -1})
	for _, r := range results {
		s.say("multi: %s %s %v", r.String, told(r.Stat), r.Error)
	}
	s.say("%v", err)
	results, err = c.Multi(&zk.CreateRequest{Path: s.root + "/f", Acl: everybody}, &zk.CheckVersionRequest{Path: s.root, Version: 9})
	for _, r := range results {
		s.say("failing: %s %v", r.String, r.Error)
	}
	s.say("%v", err)
	_, err = c.IncrementalReconfig(nil, nil, -1)
	s.say("reconfiguration: %v", err)
}

func useWatches(t *testing.T, s *seen) {
	a, _ := s.open(t, s.address)
	b, _ := s.open(t, s.link.Address)
	_, err := a.Create(s.root, nil, 0, everybody)
	require.NoError(t, err)
	_, _, data, err := b.GetW(s.root)
	require.NoError(t, err)
	_, _, children, err := b.ChildrenW(s.root)
	require.NoError(t, err)
	_, _, later, err := b.ExistsW(s.root + "/later")
	require.NoError(t, err)
	_, err = a.Set(s.root, nil, -1)
	require.NoError(t, err)
	_, err = a.Create(s.root+"/later", nil, zk.FlagEphemeral, everybody)
	require.NoError(t, err)
	for name, events := range map[string]<-chan zk.Event{"data": data, "children": children, "later": later} {
		e := <-events
		s.say("%s: %v of %s", name, e.Type, e.Path)
	}
	slices.Sort(s.log)

	// What has happened while a connection was lost is told when there is another.
	_, _, data, err = b.GetW(s.root)
	require.NoError(t, err)
	_, _, children, err = b.ChildrenW(s.root)
	require.NoError(t, err)
	_, _, later, err = b.ExistsW(s.root + "/much-later")
	require.NoError(t, err)
	_, _, gone, err := b.GetW(s.root + "/later")
	require.NoError(t, err)
	session := b.SessionID()
	accept := s.link.Refuse()
	_, err = a.Set(s.root, nil, -1)
	require.NoError(t, err)
	_, err = a.Create(s.root+"/much-later", nil, 0, everybody)
	require.NoError(t, err)
	require.NoError(t, a.Delete(s.root+"/later", -1))
	accept()
	s.hear(t, "data", data)
	s.hear(t, "children", children)
	s.hear(t, "later", later)
	s.hear(t, "gone", gone)
	s.say("the same session %v", b.SessionID() == session)
}

func useAccess(t *testing.T, s *seen) {
	a, _ := s.open(t, s.address)
	b, _ := s.open(t, s.address)
	require.NoError(t, a.AddAuth("digest", []byte("user:secret")))
	_, err := a.Create(s.root, []byte("x"), 0, zk.AuthACL(zk.PermAll))
	s.say("%v", err)
	for _, c := range []*zk.Conn{a, b} {
		data, _, err := c.Get(s.root)
		s.say("get %q %v", data, err)
		acl, stat, err := c.GetACL(s.root)
		s.say("acl %v %s %v", acl, told(stat), err)
		_, err = c.Set(s.root, nil, -1)
		s.say("set %v", err)
	}
	stat, err := a.SetACL(s.root, append(zk.DigestACL(zk.PermAll, "user", "secret"), zk.WorldACL(zk.PermRead)...), 0)
	s.say("%s %v", told(stat), err)
	acl, _, err := b.GetACL(s.root)
	s.say("%v %v", acl, err)
	_, err = b.Create(s.root+"-too", nil, 0, zk.AuthACL(zk.PermAll))
	s.say("%v", err)
	_, err = b.Create(s.root+"-none", nil, 0, nil)
	s.say("%v", err)
}

// useLocks has two clients take turns, and a third come after a holder whose session is closed.
func useLocks(t *testing.T, s *seen) {
	a, _ := s.open(t, s.address)
	b, _ := s.open(t, s.address)
	first, second := zk.NewLock(a, s.root, everybody), zk.NewLock(b, s.root, everybody)
	s.say("%v, again %v", first.Lock(), first.Lock())
	held := make(chan error, 1)
	go func() { held <- second.Lock() }()
	require.Eventually(t, func() bool {
		children, _, err := a.Children(s.root)
		return err == nil && len(children) == 2
	}, 10*time.Second, time.Millisecond)
	select {
	case <-held:
		s.say("two hold")
	default:
	}
	s.say("unlock %v, then %v, again %v", first.Unlock(), <-held, first.Unlock())
	children, stat, err := a.Children(s.root)
	s.say("%d %s %v", len(children), told(stat), err)
	go func() { held <- first.Lock() }()
	require.Eventually(t, func() bool {
		children, _, err := a.Children(s.root)
		return err == nil && len(children) == 2
	}, 10*time.Second, time.Millisecond)
	b.Close()
	s.say("after the holder is gone: %v", <-held)
	s.say("unlock %v", first.Unlock())
}

// loseASession cuts off a holder, whose session expires, so that another gets the lock before the holder knows.
func loseASession(t *testing.T, s *seen) {
	a, events := s.open(t, s.link.Address)
	b, _ := s.open(t, s.address)
	first, second := zk.NewLock(a, s.root, everybody), zk.NewLock(b, s.root, everybody)
	require.NoError(t, first.Lock())
	_, _, watched, err := a.GetW(s.root)
	require.NoError(t, err)
	session := a.SessionID()
	release := s.link.Hold(true, true)
	began := time.Now()
	require.NoError(t, second.Lock())
	took := time.Since(began)
	s.say("not before the session's time %v", took > 1900*time.Millisecond)
	release()
	var states []zk.State
	for e := range events {
		switch e.State {
		case zk.StateHasSession, zk.StateExpired:
			states = append(states, e.State)
		default:
		}
		if len(states) == 3 {
			break
		}
	}
	s.say("%v", states)
	e := <-watched
	s.say("the watch: %v %v", e.Type, e.Err)
	s.say("another session %v", a.SessionID() != session)
	s.say("unlock: %v; the other: %v", first.Unlock(), second.Unlock())
}

func useWords(t *testing.T, s *seen) {
	c, _ := s.open(t, s.address)
	_, err := c.Create(s.root, nil, 0, everybody)
	require.NoError(t, err)
	s.say("ruok %v", zk.FLWRuok([]string{s.address}, 5*time.Second))
	list, ok := zk.FLWCons([]string{s.address}, 5*time.Second)
	for _, servers := range list {
		for _, client := range servers.Clients {
			if client.SessionID == c.SessionID() {
				s.say("a client with a session of %d ms", client.Timeout)
			}
		}
	}
	s.say("cons %v", ok)
}
