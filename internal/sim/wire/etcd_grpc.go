package wire

import (
	_ "embed"
	"encoding/json"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/sim"
)

//go:embed etcd.proto
var etcdDefinition string

var etcdTypes = definition(etcdDefinition)

// etcdMethod is a method of etcd's gRPC: the request of the gateway that is the same, and its messages.
type etcdMethod struct{ path, request, response string }

var etcdMethods = map[string]etcdMethod{
	"/etcdserverpb.KV/Range":              {"kv/range", "RangeRequest", "RangeResponse"},
	"/etcdserverpb.KV/Put":                {"kv/put", "PutRequest", "PutResponse"},
	"/etcdserverpb.KV/DeleteRange":        {"kv/deleterange", "DeleteRangeRequest", "DeleteRangeResponse"},
	"/etcdserverpb.KV/Txn":                {"kv/txn", "TxnRequest", "TxnResponse"},
	"/etcdserverpb.KV/Compact":            {"kv/compaction", "CompactionRequest", "CompactionResponse"},
	"/etcdserverpb.Watch/Watch":           {"watch", "WatchRequest", "WatchResponse"},
	"/etcdserverpb.Lease/LeaseGrant":      {"lease/grant", "LeaseGrantRequest", "LeaseGrantResponse"},
	"/etcdserverpb.Lease/LeaseRevoke":     {"lease/revoke", "LeaseRevokeRequest", "LeaseRevokeResponse"},
	"/etcdserverpb.Lease/LeaseKeepAlive":  {"lease/keepalive", "LeaseKeepAliveRequest", "LeaseKeepAliveResponse"},
	"/etcdserverpb.Lease/LeaseTimeToLive": {"lease/timetolive", "LeaseTimeToLiveRequest", "LeaseTimeToLiveResponse"},
	"/etcdserverpb.Lease/LeaseLeases":     {"lease/leases", "LeaseLeasesRequest", "LeaseLeasesResponse"},
	"/v3lockpb.Lock/Lock":                 {"lock/lock", "LockRequest", "LockResponse"},
	"/v3lockpb.Lock/Unlock":               {"lock/unlock", "UnlockRequest", "UnlockResponse"},
}

// etcdGRPC is etcd's gRPC, by way of its gateway: a message becomes a request there, and what is answered there a message. Unlike the
// gateway it can cancel a watch, and a call that waits.
type etcdGRPC struct{ watches map[uint32]int64 } // of streams: how many watches they have had

func (etcdGRPC) streams(path string) bool {
	return path == "/etcdserverpb.Watch/Watch" || path == "/etcdserverpb.Lease/LeaseKeepAlive"
}

// beat is a request for what belongs to the connection, which the server's process answers at once.
func (etcdGRPC) beat(of string) sim.Payload {
	return &lease.Request{Op: lease.Status, Key: of, Etcd: &lease.Etcd3{}}
}

// cancel asks for the end of what a stream waits for.
func (g etcdGRPC) cancel(stream uint32) sim.Payload {
	delete(g.watches, stream)
	return &lease.Request{Op: lease.Cancel, Index: lease.CallNumber(stream, 0), Etcd: &lease.Etcd3{}}
}

// request translates a message. A failure is the answer to one that is refused.
func (g etcdGRPC) request(path string, stream uint32, message []byte) (sim.Payload, *grpcError) {
	method, known := etcdMethods[path]
	if !known {
		return nil, &grpcError{unimplementedCode, "the simulated etcd has no " + path}
	}
	body, err := etcdTypes.json(method.request, message)
	if err != nil {
		return nil, &grpcError{internalCode, "grpc: failed to unmarshal the received message: " + err.Error()}
	}
	if path == "/etcdserverpb.Watch/Watch" {
		var cancels struct {
			Request *struct {
				Watch int64 `json:"watch_id"`
			} `json:"cancel_request"`
		}
		if json.Unmarshal(body, &cancels) == nil && cancels.Request != nil {
			return &lease.Request{Op: lease.Cancel, Index: lease.CallNumber(stream, cancels.Request.Watch+1), Etcd: &lease.Etcd3{}}, nil
		}
	}
	p, refused := etcd{}.asked(method.path, body)
	if refused != nil {
		return nil, failureOf(refused)
	}
	r := p.(*lease.Request)
	if r.Op == lease.Watch {
		g.watches[stream]++
	}
	r.Index = lease.CallNumber(stream, g.watches[stream])
	return r, nil
}

func (etcdGRPC) of(p sim.Payload) sim.Payload { return p.(*lease.Response).Request }

// answer translates an answer to a message. That a watch is over is said by its own answer.
func (etcdGRPC) answer(path string, p sim.Payload) (message []byte, more bool, failed *grpcError) {
	a := p.(*lease.Response)
	_, shown := etcd{}.answer(p)
	switch {
	case shown.status != statusOK:
		return nil, false, failureOf(shown)
	case a.Request.Op == lease.Cancel:
		return nil, false, nil
	}
	body := shown.body
	if etcdStreams(a.Request.Op) {
		var streamed struct {
			Result map[string]json.RawMessage `json:"result"`
		}
		_ = json.Unmarshal(body, &streamed) // as it has been made
		if _, its := streamed.Result["watch_id"]; a.Request.Op == lease.Watch && !its {
			streamed.Result["watch_id"], _ = json.Marshal(a.Request.Index&lease.WatchNumber - 1)
		}
		body, _ = json.Marshal(streamed.Result)
	}
	message, err := etcdTypes.message(etcdMethods[path].response, body)
	if err != nil {
		return nil, false, &grpcError{internalCode, err.Error()}
	}
	return message, a.Request.Op == lease.Watch && !a.Etcd.Canceled, nil
}

// failureOf is what a page says of an error.
func failureOf(p *page) *grpcError {
	f := &grpcError{unknownCode, string(p.body)}
	var said struct {
		Message string `json:"message"`
		Code    int    `json:"code"`
	}
	switch {
	case json.Unmarshal(p.body, &said) == nil:
		f.code, f.text = said.Code, said.Message
	case p.status == statusNotImplemented:
		f.code = unimplementedCode
	}
	return f
}
