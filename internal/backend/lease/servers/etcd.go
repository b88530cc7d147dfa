package servers

import (
	"time"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/locks"
	"github.com/locksim/locksim/trace"
)

// etcdClient is a task's client of an etcd cluster. The process has one connection, on which all calls are.
type etcdClient struct{ client }

func newEtcdClient(c client) locks.Services { return etcdClient{c} }

// Etcd returns the client.
func (c etcdClient) Etcd() locks.Etcd { return c }

// etcdShared is what the tasks of a process share: its connection, and what keeps its leases alive.
type etcdShared struct {
	connection connection
	lessor     etcdLessor
	session    locks.EtcdSession
}

func (c etcdClient) shared() *etcdShared {
	s, ok := (*c.Process.Own()).(*etcdShared)
	if !ok {
		s = &etcdShared{connection: connection{server: c.server, woken: c.Process.World().Woken}}
		s.lessor.connection = &s.connection
		*c.Process.Own() = s
	}
	return s
}

func (c etcdClient) call(timeout time.Duration, r *lease.Request) (*lease.Response, error) {
	a, err := c.shared().connection.call(c.Process, timeout, r)
	if err != nil {
		return nil, err
	}
	return a, refused(a)
}

// Grant makes a lease.
func (c etcdClient) Grant(timeout, ttl time.Duration) (id uint64, granted time.Duration, err error) {
	a, err := c.call(timeout, &lease.Request{Op: lease.LeaseGrant, TTL: ttl})
	if err != nil {
		return 0, 0, err
	}
	c.tellTTL(ttl, a.TTL)
	return uint64(a.Session), a.TTL, nil
}

// Revoke ends a lease.
func (c etcdClient) Revoke(timeout time.Duration, id uint64) error {
	_, err := c.call(timeout, &lease.Request{Op: lease.LeaseRevoke, Session: lease.SessionID(id)})
	return err
}

// KeepAlive keeps a lease alive.
func (c etcdClient) KeepAlive(id uint64, done locks.Signal) {
	c.shared().lessor.keep(c.Process, lease.SessionID(id), done)
}

// Session returns where the tasks of the process keep a session.
func (c etcdClient) Session() *locks.EtcdSession { return &c.shared().session }

// Txn carries out one of two lists of operations. A Txn that makes a key with a lease makes a holder.
func (c etcdClient) Txn(timeout time.Duration, txn locks.EtcdTxn) (locks.EtcdTxnResult, error) {
	r := &lease.Request{
		Op: lease.Txn, If: []lease.Compare{{Key: txn.If.Key, Create: txn.If.Create}}, Else: rangesOf(txn.Else),
	}
	puts := 0
	if put := txn.Put; put != nil {
		puts = 1
		r.Then = append(r.Then, lease.Request{
			Op: lease.Put, Key: put.Key, Value: put.Value, Session: lease.SessionID(put.Lease),
		})
		if put.Lease != 0 {
			r.Purpose = trace.ToAcquire
		}
	}
	r.Then = append(r.Then, rangesOf(txn.Then)...)
	a, err := c.call(timeout, r)
	if err != nil {
		return locks.EtcdTxnResult{}, err
	}
	result := locks.EtcdTxnResult{Succeeded: a.Succeeded, Revision: a.Revision}
	if !a.Succeeded {
		puts = 0
	}
	for i := range a.Results[puts:] {
		result.Gets = append(result.Gets, gotten(&a.Results[puts+i]))
	}
	return result, nil
}

func rangesOf(gets []locks.EtcdGet) []lease.Request {
	ranges := make([]lease.Request, len(gets))
	for i, get := range gets {
		ranges[i] = rangeOf(get)
	}
	return ranges
}

func rangeOf(get locks.EtcdGet) lease.Request {
	r := lease.Request{Op: lease.Range, Key: get.Key, MaxCreate: get.UpTo, Prefix: get.First || get.Last}
	switch {
	case get.First:
		r.Order = lease.FirstCreated
	case get.Last:
		r.Order = lease.LastCreated
	}
	return r
}

func gotten(a *lease.Response) locks.EtcdGetResult {
	result := locks.EtcdGetResult{Revision: a.Revision}
	if len(a.Keys) > 0 {
		k := &a.Keys[0]
		result.Found, result.Key = true, locks.EtcdKey{Name: k.Name, Value: k.Value, Create: k.Create}
	}
	return result
}

// Get reads a key.
func (c etcdClient) Get(timeout time.Duration, get locks.EtcdGet) (locks.EtcdGetResult, error) {
	r := rangeOf(get)
	r.Purpose = trace.ToLook
	a, err := c.call(timeout, &r)
	if err != nil {
		return locks.EtcdGetResult{}, err
	}
	return gotten(a), nil
}

// Delete removes a key.
func (c etcdClient) Delete(timeout time.Duration, key string) (bool, error) {
	a, err := c.call(timeout, &lease.Request{Op: lease.DeleteRange, Key: key, Purpose: trace.ToRelease})
	if err != nil {
		return false, err
	}
	return a.Succeeded, nil
}

// AwaitDeletion watches a key until it is deleted.
func (c etcdClient) AwaitDeletion(timeout time.Duration, key string, from int64) error {
	_, err := c.call(timeout, &lease.Request{Op: lease.Watch, Key: key, Revision: from, Purpose: trace.ToLook})
	return err
}
