package lease_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/lease"
)

func TestDigestsSeeEveryField(t *testing.T) {
	requests := []lease.Request{
		{},
		{Op: lease.Put},
		{Session: 1},
		{Key: "k"},
		{Value: "k"},
		{TTL: 1},
		{LockDelay: 1},
		{Delete: true},
		{If: []lease.Compare{{Key: "k"}}},
		{If: []lease.Compare{{Key: "k", Create: 1}}},
		{Then: []lease.Request{{}}},
		{Else: []lease.Request{{}}},
		{Prefix: true},
		{Order: lease.LastCreated},
		{MaxCreate: 1},
		{Revision: 1},
		{Index: 1},
		{Wait: 1},
		{Epoch: 1},
	}
	seen := map[uint64]int{}
	for i := range requests {
		require.NotContains(t, seen, requests[i].Sum(), "%+v", requests[i])
		seen[requests[i].Sum()] = i
	}
	answers := []lease.Response{
		{},
		{Err: "e"},
		{Succeeded: true},
		{Revision: 1},
		{Session: 1},
		{TTL: 1},
		{Held: 1},
		{Epoch: 1},
		{Keys: []lease.Key{{}}},
		{Keys: []lease.Key{{Name: "k"}}},
		{Keys: []lease.Key{{LockIndex: 1}}},
		{Results: []lease.Response{{Succeeded: true}, {}}},
	}
	seen = map[uint64]int{}
	for i := range answers {
		require.NotContains(t, seen, answers[i].Sum(), "%+v", answers[i])
		seen[answers[i].Sum()] = i
	}
}

func TestMessagesAreShownToAReader(t *testing.T) {
	txn := &lease.Request{
		Op: lease.Txn, Purpose: "acquire", If: []lease.Compare{{Key: "lock/1"}},
		Then: []lease.Request{{Op: lease.Put, Key: "lock/1", Session: 1}},
		Else: []lease.Request{{Op: lease.Range, Key: "lock/", Prefix: true, Order: lease.FirstCreated}},
	}
	what, alt := txn.What()
	require.Equal(t, []string{"Txn", "acquire"}, []string{what, alt})
	require.Equal(t, "Txn if lock/1@0 then Put lock/1 session-1 else Range lock/ prefix first", txn.String())
	for text, r := range map[string]lease.Request{
		"KV.Get lock after 7":         {Op: lease.KVGet, Key: "lock", Index: 7},
		"Watch lock/1 from @3":        {Op: lease.Watch, Key: "lock/1", Revision: 3},
		"Range lock/ prefix up to @3": {Op: lease.Range, Key: "lock/", Prefix: true, MaxCreate: 3},
		"Session.Create ttl 10s":      {Op: lease.SessionCreate, TTL: 10 * time.Second},
		"LeaseKeepAlive session-4":    {Op: lease.LeaseKeepAlive, Session: 4},
		"CheckSequencer lock after 2": {Op: lease.CheckSequencer, Key: "lock", Index: 2},
		"KeepAlive session-1":         {Op: lease.KeepAlive, Session: 1},
		"Session.Destroy session-1":   {Op: lease.SessionDestroy, Session: 1},
		"Acquire lock session-1":      {Op: lease.Acquire, Key: "lock", Session: 1},
		"DeleteRange lock/1":          {Op: lease.DeleteRange, Key: "lock/1"},
		"LeaseGrant ttl 2s":           {Op: lease.LeaseGrant, TTL: 2 * time.Second},
		"KV.Release lock session-1":   {Op: lease.KVRelease, Key: "lock", Session: 1},
		"TryAcquire lock session-1":   {Op: lease.TryAcquire, Key: "lock", Session: 1},
		"Put data":                    {Op: lease.Put, Key: "data", Value: "not shown"},
		"EndSession session-1":        {Op: lease.EndSession, Session: 1},
		"Session.Renew session-1":     {Op: lease.SessionRenew, Session: 1},
		"CreateSession":               {Op: lease.CreateSession},
		"KV.Acquire lock session-1":   {Op: lease.KVAcquire, Key: "lock", Session: 1},
		"LeaseRevoke session-9":       {Op: lease.LeaseRevoke, Session: 9},
		"Release lock session-1":      {Op: lease.Release, Key: "lock", Session: 1},
	} {
		require.Equal(t, text, r.String())
	}
	answer := &lease.Response{
		Request: txn, Succeeded: true, Revision: 5, Session: 1, TTL: time.Second,
		Keys:    []lease.Key{{Name: "lock", Create: 3, LockIndex: 2, Session: 1}},
		Results: []lease.Response{{Request: &txn.Then[0], Revision: 5}},
	}
	require.Equal(t, "yes session-1 ttl 1s lock@3 lock 2 of session-1 (at revision 5) at revision 5", answer.String())
	injected := lease.ErrorResponse(txn, "etcdserver: request timed out")
	require.Equal(t, "etcdserver: request timed out", injected.String())
	what, alt = injected.What()
	require.Equal(t, []string{"Txn", "acquire"}, []string{what, alt})
}
