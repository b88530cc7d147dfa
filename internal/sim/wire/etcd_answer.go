package wire

import (
	"encoding/json"
	"time"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/sim"
)

// What is answered, with its fields in the order of their numbers in etcd's rpc.proto and kv.proto.
type (
	etcdHeader struct {
		Cluster  uint64 `json:"cluster_id,omitempty,string"`
		Member   uint64 `json:"member_id,omitempty,string"`
		Revision int64  `json:"revision,omitempty,string"`
		Term     int    `json:"raft_term,omitempty,string"`
	}
	etcdKeyValue struct {
		Key     []byte `json:"key,omitempty"`
		Create  int64  `json:"create_revision,omitempty,string"`
		Mod     int64  `json:"mod_revision,omitempty,string"`
		Version int64  `json:"version,omitempty,string"`
		Value   []byte `json:"value,omitempty"`
		Lease   int64  `json:"lease,omitempty,string"`
	}
	etcdEvent struct {
		Type string        `json:"type,omitempty"`
		Key  etcdKeyValue  `json:"kv"`
		Prev *etcdKeyValue `json:"prev_kv,omitempty"`
	}
	etcdLeaseID struct {
		ID int64 `json:"ID,omitempty,string"`
	}

	// etcdAnswer has the fields of all answers. Those of any one are in the order in which its message has them.
	etcdAnswer struct {
		Header    *etcdHeader    `json:"header,omitempty"`
		Key       []byte         `json:"key,omitempty"` // LockResponse
		ID        int64          `json:"ID,omitempty,string"`
		TTL       int64          `json:"TTL,omitempty,string"`
		Granted   int64          `json:"grantedTTL,omitempty,string"`
		Names     [][]byte       `json:"keys,omitempty"`
		Leases    []etcdLeaseID  `json:"leases,omitempty"`
		Deleted   int64          `json:"deleted,omitempty,string"`
		PrevPut   *etcdKeyValue  `json:"prev_kv,omitempty"`
		Prev      []etcdKeyValue `json:"prev_kvs,omitempty"`
		Keys      []etcdKeyValue `json:"kvs,omitempty"`
		More      bool           `json:"more,omitempty"`
		Count     int64          `json:"count,omitempty,string"`
		Succeeded bool           `json:"succeeded,omitempty"`
		Responses []etcdResponse `json:"responses,omitempty"`
		Watch     int64          `json:"watch_id,omitempty,string"`
		Created   bool           `json:"created,omitempty"`
		Canceled  bool           `json:"canceled,omitempty"`
		Compact   int64          `json:"compact_revision,omitempty,string"`
		Reason    string         `json:"cancel_reason,omitempty"`
		Events    []etcdEvent    `json:"events,omitempty"`
	}
	etcdResponse struct {
		Range  *etcdAnswer `json:"response_range,omitempty"`
		Put    *etcdAnswer `json:"response_put,omitempty"`
		Delete *etcdAnswer `json:"response_delete_range,omitempty"`
	}
)

// The cluster and its member, as they are in etcd's documentation.
const (
	etcdCluster = 14841639068965178418
	etcdMember  = 10276657743932975437
)

// answer translates an answer.
func (etcd) answer(p sim.Payload) (sim.Payload, *page) {
	a := p.(*lease.Response)
	r := a.Request
	text := a.Err
	if text == lease.NoSession {
		text = "etcdserver: requested lease not found"
	}
	switch {
	case r.Op == lease.Status:
		return r, etcdStatus(r, a)
	case r.Op == lease.LeaseKeepAlive && a.Err == lease.NoSession: // it says so by a TTL of 0
	case text != "" && r.Op == lease.Lock:
		return r, etcdFailure(unknownCode, text)
	case text != "":
		return r, etcdFailure(etcdCode(text), text)
	}
	shown := etcdShown(a)
	shown.Header.Cluster, shown.Header.Member = etcdCluster, etcdMember
	if a.Etcd != nil {
		shown.Header.Term = a.Etcd.Term
	}
	if !etcdStreams(r.Op) {
		return r, etcdPage(shown, statusOK)
	}
	answer := etcdPage(struct {
		Result *etcdAnswer `json:"result"`
	}{shown}, statusOK)
	answer.body = append(answer.body, '\n')
	switch {
	case r.Op == lease.LeaseKeepAlive:
		answer.stream = onlyPart
	case a.Etcd.Begins:
		answer.stream = firstPart
	default:
		answer.stream = furtherPart
	}
	return r, answer
}

func etcdPage(v any, status int) *page {
	body, _ := json.Marshal(v) // of numbers and texts
	return &page{status: status, kind: jsonKind, body: body}
}

// etcdStatus answers what is asked of the server itself (etcdserver/api/etcdhttp).
func etcdStatus(r *lease.Request, a *lease.Response) *page {
	switch {
	case r.Key == "version":
		return &page{status: statusOK, kind: jsonKind, body: []byte(`{"etcdserver":"` + EtcdVersion + `","etcdcluster":"3.4.0"}`)}
	case a.Succeeded:
		return says(statusOK, `{"health":"true"}`)
	}
	return says(statusUnavailable, `{"health":"false"}`+"\n")
}

// etcdShown shows what was answered, but for the cluster and its member.
func etcdShown(a *lease.Response) *etcdAnswer {
	v := &etcdAnswer{Header: &etcdHeader{Revision: a.Revision}}
	e := a.Etcd
	if e == nil {
		e = &lease.Etcd3Answer{}
	}
	seconds := int64(a.TTL / time.Second)
	switch r := a.Request; r.Op {
	case lease.Range:
		v.Keys, v.More, v.Count = etcdKeys(a.Keys), e.More, e.Count
	case lease.Put:
		if len(e.Prev) > 0 {
			v.PrevPut = &etcdKeys(e.Prev)[0]
		}
	case lease.DeleteRange:
		v.Deleted, v.Prev = e.Count, etcdKeys(e.Prev)
	case lease.Txn:
		v.Succeeded = a.Succeeded
		for i := range a.Results {
			v.Responses = append(v.Responses, etcdResult(&a.Results[i]))
		}
	case lease.LeaseGrant:
		v.ID, v.TTL = int64(a.Session), seconds
	case lease.LeaseKeepAlive:
		v.ID, v.TTL = int64(r.Session), seconds
	case lease.LeaseTimeToLive:
		v.ID, v.TTL, v.Granted = int64(r.Session), e.Left, seconds
		for _, name := range e.Names {
			v.Names = append(v.Names, []byte(name))
		}
	case lease.LeaseLeases:
		for _, id := range e.Leases {
			v.Leases = append(v.Leases, etcdLeaseID{int64(id)})
		}
	case lease.Lock:
		v.Key = []byte(e.Key)
	case lease.Watch:
		v.Created, v.Canceled, v.Compact, v.Events = e.Begins, e.Canceled, e.Compact, etcdEvents(e.Events)
		if e.Empty {
			v.Watch, v.Reason = -1, "mvcc: watcher range is empty"
		}
	default:
	}
	return v
}

func etcdResult(a *lease.Response) etcdResponse {
	shown := etcdShown(a)
	switch a.Request.Op {
	case lease.Range:
		return etcdResponse{Range: shown}
	case lease.Put:
		return etcdResponse{Put: shown}
	default:
		return etcdResponse{Delete: shown}
	}
}

func etcdKeys(keys []lease.Key) []etcdKeyValue {
	shown := make([]etcdKeyValue, len(keys))
	for i := range keys {
		k := &keys[i]
		shown[i] = etcdKeyValue{
			Key: []byte(k.Name), Create: k.Create, Mod: k.Mod, Version: k.Version, Value: []byte(k.Value), Lease: int64(k.Session),
		}
	}
	return shown
}

func etcdEvents(events []lease.Event) []etcdEvent {
	shown := make([]etcdEvent, len(events))
	for i := range events {
		e := &events[i]
		shown[i].Key = etcdKeys([]lease.Key{e.Key})[0]
		if e.Deleted {
			shown[i].Type = "DELETE"
		}
		if e.Prev.Name != "" {
			shown[i].Prev = &etcdKeys([]lease.Key{e.Prev})[0]
		}
	}
	return shown
}

// The codes of gRPC that errors have here.
const (
	unknownCode      = 2
	invalidCode      = 3
	notFoundCode     = 5
	preconditionCode = 9
	outOfRangeCode   = 11
	unavailableCode  = 14
)

// etcdCode is the code of an error (etcdserver/api/v3rpc/rpctypes/error.go). Those that faults inject are not known, or say that the
// server cannot answer.
func etcdCode(text string) int {
	switch text {
	case noKey, lease.KeyNotFound, "etcdserver: value is provided", "etcdserver: lease is provided",
		"etcdserver: too many operations in txn request", "etcdserver: duplicate key given in txn request":
		return invalidCode
	case lease.Compacted, lease.FutureRev, lease.LargeTTL:
		return outOfRangeCode
	case "etcdserver: requested lease not found":
		return notFoundCode
	case lease.LeaseExists:
		return preconditionCode
	case "etcdserver: request timed out", "etcdserver: no leader", "etcdserver: leader changed",
		"etcdserver: request timed out, possibly due to previous leader failure":
		return unavailableCode
	}
	return unknownCode
}

// etcdFailure is an error, with the status that belongs to its code (grpc-gateway, runtime/errors.go).
func etcdFailure(code int, text string) *page {
	status := map[int]int{
		invalidCode: statusBadRequest, notFoundCode: statusNotFound, preconditionCode: statusPrecondition,
		outOfRangeCode: statusBadRequest, unavailableCode: statusUnavailable,
	}[code]
	if status == 0 {
		status = statusInternal
	}
	return etcdPage(struct {
		Error   string `json:"error"`
		Message string `json:"message"`
		Code    int    `json:"code"`
	}{text, text, code}, status)
}
