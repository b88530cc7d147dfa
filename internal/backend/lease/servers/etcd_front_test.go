package servers

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/record"
	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// TestRequestsToEtcdSayWhatTheyAreFor is of a lock in the queue under the key "lock", which is bG9jaw== in base64, and of other keys.
func TestRequestsToEtcdSayWhatTheyAreFor(t *testing.T) {
	queue := &truth{key: "lock", Succession: record.NewSuccession(&record.Truth{Authority: locks.Queue})}
	s := &etcdService{&service{locks: truths{queue}}}
	for _, x := range []struct{ path, body, purpose string }{
		{"kv/put", `{"key":"bG9jaw=="}`, trace.ToAcquire},
		{"kv/put", `{"key":"bG9jay8x"}`, trace.ToAcquire}, // lock/1
		{"kv/put", `{"key":"bG9ja3M="}`, ""},              // locks
		{"kv/deleterange", `{"key":"bG9jay8x"}`, trace.ToRelease},
		{"kv/deleterange", `{"key":"bG9jay8=","range_end":"bG9jazA="}`, trace.ToRelease}, // lock/ to lock0
		{"kv/deleterange", `{"key":"YQ=="}`, ""},
		{"kv/txn", `{"success":[{"request_range":{"key":"YQ=="}},{"request_put":{"key":"bG9jaw=="}}]}`, trace.ToAcquire},
		{"kv/txn", `{"success":[{"request_delete_range":{"key":"bG9jaw=="}}]}`, trace.ToRelease},
		{"kv/txn", `{"success":[{"request_range":{"key":"bG9jaw=="}}]}`, trace.ToLook},
		{"kv/range", `{"key":"bG9jaw=="}`, trace.ToLook},
		{"watch", `{"create_request":{"key":"bG9jaw=="}}`, trace.ToLook},
		{"lease/keepalive", `{"ID":1}`, trace.ToRenew},
		{"lease/grant", `{"TTL":1}`, ""},
		{"lock/lock", `{"name":"bG9jaw==","lease":1}`, trace.ToAcquire},
		{"lock/lock", `{"name":"YQ==","lease":1}`, ""},
		{"lock/unlock", `{"key":"bG9jay8x"}`, trace.ToRelease},
	} {
		var r *lease.Request
		text := fmt.Sprintf("POST /v3/%s HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s", x.path, len(x.body), x.body)
		require.True(t, s.Talk(nil).Receive([]byte(text), func(p sim.Payload) error {
			r = p.(*lease.Request)
			return nil
		}), x.body)
		s.Stamp(r, sim.Origin{Client: "a"})
		require.Equal(t, x.purpose, r.Purpose, "%s %s", x.path, x.body)
		require.Equal(t, "a", r.Client)
	}
	require.IsType(t, wire.Etcd(), s.Talk(nil))
}
