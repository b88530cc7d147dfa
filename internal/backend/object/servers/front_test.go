package servers

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// TestTheLeaseThatIsWrittenTellsWhatARequestIsFor: clients of the Kubernetes API do not say so.
func TestTheLeaseThatIsWrittenTellsWhatARequestIsFor(t *testing.T) {
	const asking = true
	lease := func(holder string) string {
		return fmt.Sprintf(`{"spec":{"holderIdentity":%q,"leaseDurationSeconds":15}}`, holder)
	}
	put := func(when object.When, version uint64, holder string) object.Request {
		return object.Request{Op: object.Put, When: when, Name: "default/lock", Version: version, Value: lease(holder)}
	}
	s := &service{server: object.New(nil)}
	for _, x := range []struct {
		request object.Request
		asking  bool
		purpose string
	}{
		{object.Request{Op: object.Get, Name: "default/lock"}, asking, trace.ToLook},
		{put(object.IfAbsent, 0, "a"), asking, trace.ToAcquire},
		{put(object.IfVersion, 1, "a"), asking, trace.ToRenew}, // Lock has not returned yet
		{put(object.IfVersion, 2, "a"), false, trace.ToRenew},
		{put(object.IfVersion, 3, "b"), asking, trace.ToAcquire},
		{put(object.IfVersion, 3, "c"), asking, trace.ToAcquire}, // too late: b was first
		{put(object.IfVersion, 3, "a"), false, trace.ToRenew},    // too late, too
		{put(object.IfVersion, 4, "a"), false, trace.ToAcquire},  // a client that never asked takes it all the same
		{put(object.IfVersion, 5, ""), false, trace.ToRelease},
		{object.Request{Op: object.Delete, Name: "default/lock"}, false, trace.ToRelease},
	} {
		r := x.request
		s.Stamp(&r, sim.Origin{Client: "a", Asking: x.asking})
		require.Equal(t, x.purpose, r.Purpose, r.String())
		require.Equal(t, "a", r.Client)
		if x.purpose == trace.ToAcquire || x.purpose == trace.ToRenew {
			require.Equal(t, int64(15*time.Second), r.Life)
		} else {
			require.Zero(t, r.Life)
		}
		s.server.Execute(nil, &r)
	}
}

// TestTheItemThatIsWrittenTellsWhatARequestIsFor, as for the lock clients of DynamoDB in Go and in Java.
func TestTheItemThatIsWrittenTellsWhatARequestIsFor(t *testing.T) {
	talk := wire.ObjectStore()
	for _, x := range []struct {
		op, what, purpose string
		life              time.Duration
	}{
		{"GetItem", `"Key":{"key":{"S":"lock"}}`, trace.ToLook, 0},
		{"PutItem", `"Item":{"key":{"S":"lock"},"ownerName":{"S":"a"},"leaseDuration":{"S":"20s"},"recordVersionNumber":{"S":"1"}}`, trace.ToAcquire, 20 * time.Second},
		{"UpdateItem", `"Key":{"key":{"S":"lock"}},"UpdateExpression":"SET leaseDuration = :d, recordVersionNumber = :r",` +
			`"ExpressionAttributeValues":{":d":{"S":"20000"},":r":{"S":"2"}}`, trace.ToRenew, 20 * time.Second},
		{"UpdateItem", `"Key":{"key":{"S":"lock"}},"UpdateExpression":"SET isReleased = :i","ExpressionAttributeValues":{":i":{"S":"1"}}`, trace.ToRelease, 0},
		{"DeleteItem", `"Key":{"key":{"S":"lock"}}`, trace.ToRelease, 0},
	} {
		r := asked(t, talk, x.op, x.what)
		require.Equal(t, x.purpose, r.Purpose, x.op)
		require.Equal(t, int64(x.life), r.Life, x.op)
		require.Equal(t, "locks/lock", r.Name)
		require.Equal(t, "a", r.Client)
	}
}

// TestAFileOnS3IsTakenByAClientThatAsksForTheLock, whatever is written in it. It has an end if it says so.
func TestAFileOnS3IsTakenByAClientThatAsksForTheLock(t *testing.T) {
	talk := wire.ObjectStore()
	for _, x := range []struct {
		request string
		body    string
		asking  bool
		purpose string
		until   int64
	}{
		{"PUT /locks/lock HTTP/1.1\r\nIf-None-Match: *", "worker 1", true, trace.ToAcquire, 0},
		{"PUT /locks/lock HTTP/1.1\r\nIf-Match: x", `{"expires_at":"1970-01-01T01:00:02.5+01:00"}`, true, trace.ToAcquire, 2_500_000_000}, // of a lease that is over
		{"PUT /locks/lock HTTP/1.1\r\nIf-Match: x", `{"expires_at":"1970-01-01T00:00:03Z"}`, false, trace.ToRenew, 3_000_000_000},
		{"PUT /locks/lock HTTP/1.1\r\nIf-Match: x", `{"expires_at":3}`, false, trace.ToRenew, 0},
		{"PUT /locks/lock HTTP/1.1\r\nIf-Match: x", "{}", false, trace.ToRenew, 0},
		{"GET /locks/lock HTTP/1.1", "", true, trace.ToLook, 0},
		{"GET /locks?list-type=2&prefix=lock HTTP/1.1", "", true, trace.ToLook, 0},
		{"DELETE /locks/lock HTTP/1.1", "", false, trace.ToRelease, 0},
		{"DELETE /locks/lock HTTP/1.1", "", true, clear, 0},
	} {
		var r *object.Request
		require.True(t, talk.Receive(fmt.Appendf(nil, "%s\r\nContent-Length: %d\r\n\r\n%s", x.request, len(x.body), x.body), func(p sim.Payload) error {
			r = p.(*object.Request)
			return nil
		}), x.request)
		(&service{server: object.New(nil)}).Stamp(r, sim.Origin{Client: "a", Asking: x.asking})
		require.Equal(t, x.purpose, r.Purpose, x.request)
		require.Equal(t, x.until, r.Until, x.request)
		require.Equal(t, "a", r.Client)
	}
}

// asked is what a client of DynamoDB asks for.
func asked(t *testing.T, talk wire.Conversation, op, what string) *object.Request {
	t.Helper()
	body := `{"TableName":"locks",` + what + "}"
	var r *object.Request
	text := fmt.Sprintf("POST / HTTP/1.1\r\nX-Amz-Target: DynamoDB_20120810.%s\r\nContent-Length: %d\r\n\r\n%s", op, len(body), body)
	require.True(t, talk.Receive([]byte(text), func(p sim.Payload) error {
		r = p.(*object.Request)
		return nil
	}), op)
	(&service{server: object.New(nil)}).Stamp(r, sim.Origin{Client: "a"})
	return r
}

// TestAHeartbeatAfterTheReleaseTakesNothing: dynamolock's release leaves the version as it is, so that a heartbeat which was under way
// succeeds after it, and the item stays released.
func TestAHeartbeatAfterTheReleaseTakesNothing(t *testing.T) {
	talk, server := wire.ObjectStore(), object.New(nil)
	const heartbeat = `"Key":{"key":{"S":"lock"}},"UpdateExpression":"SET recordVersionNumber = :r",` +
		`"ExpressionAttributeValues":{":r":{"S":"2"}}`
	for _, x := range []struct {
		op, what string
		late     bool
	}{
		{"PutItem", `"Item":{"key":{"S":"lock"},"ownerName":{"S":"a"},"recordVersionNumber":{"S":"1"}}`, false},
		{"UpdateItem", heartbeat, false},
		{"UpdateItem", `"Key":{"key":{"S":"lock"}},"UpdateExpression":"SET isReleased = :i","ExpressionAttributeValues":{":i":{"S":"1"}}`, false},
		{"UpdateItem", heartbeat, true},
	} {
		r := asked(t, talk, x.op, x.what)
		server.Execute(nil, r)
		require.Equal(t, x.late, late(server, r), x.what)
	}
}
