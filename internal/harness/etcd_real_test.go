//go:build !js

package harness_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locksim/locksim/internal/long"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/locksim/locksim/internal/real"
	"github.com/locksim/locksim/internal/sim/lease"
)

// commands is on how many generated requests the real and the simulated etcd are compared.
func commands() int { return long.Pick(300, 1_000, 10_000) }

// A conversation is what one client asks of etcd, one request after the other. Leases are named by the order in which they
// were granted, from 1; a revision below 0 counts back from the last that the client has heard of. Watches are answered in
// the background. Both sides begin with an empty store, and tell what they were answered, a line for each request.
type conversation []lease.Request

// sent returns a request with the revisions that it means, if the last one heard of was now.
func sent(r lease.Request, now int64) lease.Request {
	meant := func(revision int64) int64 {
		if revision < 0 {
			return max(now+1+revision, 1)
		}
		return revision
	}
	r.MaxCreate, r.Revision = meant(r.MaxCreate), meant(r.Revision)
	r.If, r.Then, r.Else = slices.Clone(r.If), slices.Clone(r.Then), slices.Clone(r.Else)
	for i := range r.If {
		r.If[i].Create = meant(r.If[i].Create)
	}
	for _, list := range [][]lease.Request{r.Then, r.Else} {
		for i := range list {
			list[i] = sent(list[i], now)
		}
	}
	return r
}

// tell puts an answer into words, all that etcd says.
func tell(a *lease.Response) string {
	if a.Err != "" {
		return a.Err
	}
	words := []string{fmt.Sprintf("at %d", a.Revision)}
	if a.Succeeded {
		words = append(words, "yes")
	}
	if a.TTL > 0 {
		words = append(words, fmt.Sprintf("%v for %v", a.Session, a.TTL))
	}
	for _, k := range a.Keys {
		words = append(words, fmt.Sprintf("%s=%q made at %d, written at %d, of %v", k.Name, k.Value, k.Create, k.Mod, k.Session))
	}
	for i := range a.Results {
		words = append(words, "("+tell(&a.Results[i])+")")
	}
	return strings.Join(words, ", ")
}

// tellWatch puts the end of a watch into words: at which revision the key was deleted, unless that was before.
func tellWatch(revision, since int64) string {
	if revision <= since {
		return "it has been deleted"
	}
	return fmt.Sprintf("deleted at %d", revision)
}

var etcdKeys = []string{"lock/1", "lock/2", "lock", "data"}

// drawRequest draws a request about a few keys and leases, one of which was never granted.
func drawRequest(t *rapid.T) lease.Request {
	return rapid.SampledFrom([]func(*rapid.T) lease.Request{
		drawWrite, drawWrite, drawRange, drawTxn, drawTxn, drawWatch, drawLease,
	}).Draw(t, "request")(t)
}

func drawKey(t *rapid.T) string { return rapid.SampledFrom(etcdKeys).Draw(t, "key") }

func drawSession(t *rapid.T) lease.SessionID {
	return rapid.SampledFrom([]lease.SessionID{1, 1, 2, 3, 77}).Draw(t, "lease")
}

// drawRevision draws 0, or one of the last revisions, or the next.
func drawRevision(t *rapid.T) int64 { return rapid.Int64Range(-6, 0).Draw(t, "revision") }

func drawLease(t *rapid.T) lease.Request {
	r := lease.Request{Op: rapid.SampledFrom([]lease.Op{
		lease.LeaseGrant, lease.LeaseGrant, lease.LeaseKeepAlive, lease.LeaseRevoke,
	}).Draw(t, "op")}
	if r.Op == lease.LeaseGrant { // for longer than a conversation takes
		r.TTL = time.Duration(rapid.IntRange(600_000, 700_000).Draw(t, "ttl")) * time.Millisecond
	} else {
		r.Session = drawSession(t)
	}
	return r
}

func drawWrite(t *rapid.T) lease.Request {
	r := lease.Request{Op: rapid.SampledFrom([]lease.Op{lease.Put, lease.Put, lease.DeleteRange}).Draw(t, "op"), Key: drawKey(t)}
	if r.Op == lease.Put {
		r.Value = rapid.SampledFrom([]string{"", "1", "zwei"}).Draw(t, "value")
		if rapid.Bool().Draw(t, "leased") {
			r.Session = drawSession(t)
		}
	}
	return r
}

func drawRange(t *rapid.T) lease.Request {
	r := lease.Request{Op: lease.Range, Key: rapid.SampledFrom(append([]string{"lock/", ""}, etcdKeys...)).Draw(t, "key")}
	if r.Key == "" || rapid.Bool().Draw(t, "prefix") {
		r.Prefix, r.MaxCreate = true, drawRevision(t)
		r.Order = rapid.SampledFrom([]lease.Order{lease.All, lease.FirstCreated, lease.LastCreated}).Draw(t, "order")
	}
	return r
}

// drawTxn draws a transaction that writes at most once on either side.
func drawTxn(t *rapid.T) lease.Request {
	r := lease.Request{Op: lease.Txn}
	for range rapid.IntRange(0, 2).Draw(t, "conditions") {
		r.If = append(r.If, lease.Compare{Key: drawKey(t), Create: drawRevision(t)})
	}
	for _, side := range []*[]lease.Request{&r.Then, &r.Else} {
		if rapid.Bool().Draw(t, "writes") {
			*side = append(*side, drawWrite(t))
		}
		for range rapid.IntRange(0, 2).Draw(t, "reads") {
			*side = append(*side, drawRange(t))
		}
	}
	return r
}

func drawWatch(t *rapid.T) lease.Request {
	return lease.Request{Op: lease.Watch, Key: drawKey(t), Revision: drawRevision(t)}
}

// drawConversation draws one that ends with all that can be seen of the store, and with every key deleted, so that every watch
// ends.
func drawConversation(t *rapid.T) conversation {
	c := rapid.SliceOfN(rapid.Custom(drawRequest), 12, 60).Draw(t, "requests")
	c = append(c, lease.Request{Op: lease.Range, Prefix: true})
	for _, id := range []lease.SessionID{1, 2, 3} {
		c = append(c, lease.Request{Op: lease.LeaseKeepAlive, Session: id})
	}
	for _, key := range etcdKeys {
		c = append(c, lease.Request{Op: lease.Put, Key: key}, lease.Request{Op: lease.DeleteRange, Key: key})
	}
	return c
}

// transcript is a conversation with its answers.
func transcript(c conversation, answers []string) string {
	var b strings.Builder
	for i := range c {
		fmt.Fprintf(&b, "%v: %s\n", &c[i], answers[i])
	}
	return b.String()
}

// startEtcd starts a server, or skips the test where none is installed.
func startEtcd(t *testing.T) *real.Etcd {
	t.Helper()
	h, err := real.NewHost()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	server, err := h.Etcd("etcd")
	if m := (*real.Missing)(nil); errors.As(err, &m) {
		t.Skip(m)
	}
	require.NoError(t, err)
	return server
}

// TestEtcdAnswersAsTheRealOneDoes carries on the same conversations with a real server and with ours.
func TestEtcdAnswersAsTheRealOneDoes(t *testing.T) {
	t.Parallel()
	gateway := newGateway(startEtcd(t).Endpoint)
	model := &etcdModel{}
	for _, c := range conversations {
		require.Equal(t, transcript(c, gateway.converse(t, c)), transcript(c, model.converse(t, c)))
	}
	played, rounds := 0, 0
	for played < commands() {
		rapid.Check(t, func(t *rapid.T) {
			if played >= commands() {
				return
			}
			c := drawConversation(t)
			played += len(c)
			rounds++
			require.Equal(t, transcript(c, gateway.converse(t, c)), transcript(c, model.converse(t, c)))
		})
	}
	t.Logf("%d requests in %d conversations", played, rounds)
}

// TestConversationsShowWhatIsWrongWithEtcd plants mistakes, which the same conversations must bring to light.
func TestConversationsShowWhatIsWrongWithEtcd(t *testing.T) {
	for name, plant := range map[string]func(*lease.Request){
		"a watch misses what has been":   func(r *lease.Request) { r.Revision = 0 },
		"a watch is from the next on":    func(r *lease.Request) { r.Revision++ },
		"a key outlives its lease":       func(r *lease.Request) { r.Session *= lease.SessionID(min(r.Op, lease.LeaseRevoke)) },
		"the first made is the last":     func(r *lease.Request) { r.Order = (3 - r.Order) % 3 },
		"up to a revision is before it":  func(r *lease.Request) { r.MaxCreate -= min(r.MaxCreate, 1) },
		"a condition is of any revision": func(r *lease.Request) { r.If = nil },
		"of two conditions one will do":  func(r *lease.Request) { r.If = r.If[:min(len(r.If), 1)] },
		"a lease is granted for less":    func(r *lease.Request) { r.TTL = r.TTL.Truncate(time.Second) },
		"a refused condition writes":     func(r *lease.Request) { r.Else = append(r.Then[:min(len(r.Then), 1)], r.Else...) },
	} {
		t.Run(name, func(t *testing.T) {
			story, shown := rapid.Custom(drawConversation), false
			for seed := 0; !shown && seed < 100; seed++ { // -short lowers rapid's own number of tries
				c := story.Example(seed)
				shown = !slices.Equal((&etcdModel{}).converse(t, c), (&etcdModel{plant: plant}).converse(t, c))
			}
			require.True(t, shown)
		})
	}
}
