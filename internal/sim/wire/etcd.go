package wire

import (
	"slices"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/sim"
)

// Etcd returns a conversation with etcd 3.4 about keys, transactions, leases, watches, and with the service for locks: in gRPC, or in
// the JSON of its gateway if the connection does not begin as one of HTTP/2. In JSON, numbers of 64 bits are strings, keys and
// values base64, and what is zero or empty is left out.
//
// What the simulation does not have is refused with the status 501 or, in gRPC, as unimplemented: transactions within transactions,
// the progress of watches; in JSON several messages in one body and cancelling watches; and everything else that etcd has:
// elections, users, members, maintenance. Left out are the headers for browsers, and etcd's own words for errors of TLS and of users.
func Etcd() Conversation { return &etcdPort{} }

// etcdPort is a connection to etcd's port for clients, on which it speaks what the client begins with (embed/serve.go).
type etcdPort struct {
	talk  Conversation // nil until that is known
	first []byte
}

// Receive finds out what the client speaks.
func (p *etcdPort) Receive(received []byte, send func(sim.Payload) error) bool {
	if p.talk != nil {
		return p.talk.Receive(received, send)
	}
	p.first = append(p.first, received...)
	switch n := min(len(p.first), len(preface)); {
	case string(p.first[:n]) != preface[:n]:
		p.talk = &web{api: etcd{}}
	case n < len(preface):
		return true
	default:
		p.talk = newGRPC(etcdGRPC{watches: map[uint32]int64{}})
	}
	return p.talk.Receive(p.first, send)
}

// Append encodes a message of the server.
func (p *etcdPort) Append(dst []byte, answer sim.Payload) []byte { return p.talk.Append(dst, answer) }

// Farewell returns the last bytes.
func (p *etcdPort) Farewell() []byte {
	if p.talk == nil {
		return nil
	}
	return p.talk.Farewell()
}

type etcd struct{}

// EtcdVersion is the version of etcd that is simulated.
const EtcdVersion = "3.4.23"

// etcdMost is how many operations or conditions a transaction may have (embed/config.go, DefaultMaxTxnOps).
const etcdMost = 128

// etcdCalls reads the bodies of requests.
var etcdCalls = map[string]func(*jsonFields) *lease.Request{
	"kv/range": etcdRange, "kv/put": etcdPut, "kv/deleterange": etcdDelete, "kv/txn": etcdTxn,
	"kv/compaction": func(m *jsonFields) *lease.Request {
		r := &lease.Request{Op: lease.Compact, Etcd: &lease.Etcd3{Revision: m.number("revision")}}
		m.flag("physical") // it always is
		return r
	},
	"lease/grant": func(m *jsonFields) *lease.Request {
		most := int64(lease.Etcd().MaxTTL/time.Second) + 1 // is refused as any more, which would overflow
		ttl := time.Duration(min(max(m.number("TTL"), -1), most)) * time.Second
		return &lease.Request{Op: lease.LeaseGrant, TTL: ttl, Session: lease.SessionID(m.number("ID")), Etcd: &lease.Etcd3{}}
	},
	"lease/revoke": etcdLease(lease.LeaseRevoke), "lease/keepalive": etcdLease(lease.LeaseKeepAlive),
	"lease/timetolive": func(m *jsonFields) *lease.Request {
		r := etcdLease(lease.LeaseTimeToLive)(m)
		r.Etcd.Keys = m.flag("keys")
		return r
	},
	"lease/leases": func(*jsonFields) *lease.Request { return &lease.Request{Op: lease.LeaseLeases, Etcd: &lease.Etcd3{}} },
	"watch":        etcdWatch,
	"lock/lock": func(m *jsonFields) *lease.Request {
		return &lease.Request{Op: lease.Lock, Key: m.text("name"), Session: lease.SessionID(m.number("lease")), Etcd: &lease.Etcd3{}}
	},
	"lock/unlock": func(m *jsonFields) *lease.Request {
		return &lease.Request{Op: lease.Unlock, Key: m.text("key"), Etcd: &lease.Etcd3{}}
	},
}

// etcdStreams reports whether a call is one of those whose requests and answers are streams.
func etcdStreams(op lease.Op) bool { return op == lease.LeaseKeepAlive || op == lease.Watch }

// request translates a request. Those for old names of leases' calls are known, too.
func (etcd) request(r *httpRequest) (sim.Payload, *page) {
	path, version3 := strings.CutPrefix(r.url.Path, "/v3/")
	path = strings.TrimPrefix(path, "kv/lease/")
	if path != strings.TrimPrefix(r.url.Path, "/v3/") {
		path = "lease/" + path
	}
	call := etcdCalls[path]
	switch {
	case r.url.Path == "/health" || r.url.Path == "/version":
		if r.method != "GET" {
			return nil, words(statusMethodNotAllowed)
		}
		return &lease.Request{Op: lease.Status, Key: strings.TrimPrefix(r.url.Path, "/"), Etcd: &lease.Etcd3{}}, nil
	case !version3:
		return nil, says(statusNotFound, "404 page not found\n")
	case slices.ContainsFunc(etcdOthers, func(area string) bool { return strings.HasPrefix(path, area+"/") }):
		return nil, says(statusNotImplemented, "the simulated etcd has no "+path)
	case call == nil:
		return nil, words(statusNotFound)
	case r.method != "POST":
		return nil, words(statusMethodNotAllowed)
	}
	return etcd{}.asked(path, r.body)
}

// asked translates the message of a known call.
func (etcd) asked(path string, body []byte) (sim.Payload, *page) {
	m := messageIn(body)
	q := etcdCalls[path](m)
	switch {
	case m.err != nil && etcdStreams(q.Op):
		return nil, etcdFailure(unknownCode, m.err.Error())
	case m.err != nil:
		return nil, etcdFailure(invalidCode, m.err.Error())
	case m.lacks != "":
		return nil, says(statusNotImplemented, "the simulated etcd has no "+m.lacks)
	case q.Op == lease.LeaseKeepAlive && m.none:
		return nil, &page{status: statusOK, kind: jsonKind}
	case etcdStreams(q.Op) && m.more:
		return nil, says(statusNotImplemented, "the simulated etcd has no streams of several requests")
	}
	if refused := etcdRefusal(q); refused != "" && q.Op != lease.Watch {
		code := etcdCode(refused)
		if q.Op == lease.Unlock {
			code = unknownCode
		}
		return nil, etcdFailure(code, refused)
	}
	return q, nil
}

// etcdOthers is what etcd has besides.
var etcdOthers = []string{"auth", "cluster", "election", "maintenance"}

func words(status int) *page { return says(status, statusText[status]+"\n") }

// etcdRefusal says why a request is refused before it is carried out (etcdserver/api/v3rpc/key.go).
func etcdRefusal(r *lease.Request) string {
	switch r.Op {
	case lease.Range, lease.DeleteRange, lease.Unlock:
		if r.Key == "" {
			return noKey
		}
	case lease.Put:
		switch {
		case r.Key == "":
			return noKey
		case r.Etcd.KeepsValue && r.Value != "":
			return "etcdserver: value is provided"
		case r.Etcd.KeepsLease && r.Session != 0:
			return "etcdserver: lease is provided"
		}
	case lease.Txn:
		return etcdTxnRefusal(r)
	case lease.Status: // of an empty operation in a transaction
		return lease.KeyNotFound
	default:
	}
	return ""
}

const noKey = "etcdserver: key is not provided"

func etcdTxnRefusal(r *lease.Request) string {
	if max(len(r.Etcd.If), len(r.Then), len(r.Else)) > etcdMost {
		return "etcdserver: too many operations in txn request"
	}
	if slices.ContainsFunc(r.Etcd.If, func(c lease.Condition) bool { return c.Key == "" }) {
		return noKey
	}
	for _, ops := range [...][]lease.Request{r.Then, r.Else} {
		for i := range ops {
			if refused := etcdRefusal(&ops[i]); refused != "" {
				return refused
			}
		}
	}
	for _, ops := range [...][]lease.Request{r.Then, r.Else} {
		if writesTwice(ops) {
			return "etcdserver: duplicate key given in txn request"
		}
	}
	return ""
}

// writesTwice reports whether a list of operations puts a key twice, or puts one that it deletes (checkIntervals). A range without an
// end is taken for an empty one there.
func writesTwice(ops []lease.Request) bool {
	for i := range ops {
		if ops[i].Op != lease.Put {
			continue
		}
		if slices.ContainsFunc(ops[:i], func(o lease.Request) bool { return o.Op == lease.Put && o.Key == ops[i].Key }) ||
			slices.ContainsFunc(ops, func(o lease.Request) bool {
				return o.Op == lease.DeleteRange && o.Etcd.End != lease.NoEnd && lease.Between(ops[i].Key, o.Key, o.Etcd.End)
			}) {
			return true
		}
	}
	return false
}

func etcdLease(op lease.Op) func(*jsonFields) *lease.Request {
	return func(m *jsonFields) *lease.Request {
		return &lease.Request{Op: op, Session: lease.SessionID(m.number("ID")), Etcd: &lease.Etcd3{}}
	}
}

func etcdRange(m *jsonFields) *lease.Request {
	r := &lease.Request{Op: lease.Range, Key: m.text("key"), Etcd: &lease.Etcd3{End: m.text("range_end")}}
	e := r.Etcd
	e.Limit, e.Revision = m.number("limit"), m.number("revision")
	order := m.enum("sort_order", "etcdserverpb.RangeRequest_SortOrder", "NONE", "ASCEND", "DESCEND")
	by := m.enum("sort_target", "etcdserverpb.RangeRequest_SortTarget", "KEY", "VERSION", "CREATE", "MOD", "VALUE")
	if by < 0 || by > 4 {
		m.lacks = "sort target of that number, which crashes etcd 3.4"
	}
	e.By, e.NoOrder = lease.Attribute(by), order == 0
	e.Ascends, e.Descends = order == 1 || order == 0 && by != 0, order == 2 // an order of another number is none
	m.flag("serializable")
	e.NoValues, e.Counts = m.flag("keys_only"), m.flag("count_only")
	e.MinMod, e.MaxMod = m.number("min_mod_revision"), m.number("max_mod_revision")
	e.MinCreate, e.MaxCreate = m.number("min_create_revision"), m.number("max_create_revision")
	return r
}

func etcdPut(m *jsonFields) *lease.Request {
	return &lease.Request{
		Op: lease.Put, Key: m.text("key"), Value: m.text("value"), Session: lease.SessionID(m.number("lease")),
		Etcd: &lease.Etcd3{Prev: m.flag("prev_kv"), KeepsValue: m.flag("ignore_value"), KeepsLease: m.flag("ignore_lease")},
	}
}

func etcdDelete(m *jsonFields) *lease.Request {
	return &lease.Request{Op: lease.DeleteRange, Key: m.text("key"), Etcd: &lease.Etcd3{End: m.text("range_end"), Prev: m.flag("prev_kv")}}
}

func etcdTxn(m *jsonFields) *lease.Request {
	r := &lease.Request{Op: lease.Txn, Etcd: &lease.Etcd3{}}
	for _, c := range m.list("compare") {
		r.Etcd.If = append(r.Etcd.If, etcdCondition(m, c))
	}
	for _, side := range []struct {
		name string
		ops  *[]lease.Request
	}{{"success", &r.Then}, {"failure", &r.Else}} {
		for _, op := range m.list(side.name) {
			*side.ops = append(*side.ops, etcdOperation(m, op))
		}
	}
	return r
}

// etcdOperation reads an operation of a transaction. An empty one is a Status, which is refused.
func etcdOperation(m, op *jsonFields) lease.Request {
	defer m.join(op)
	for _, kind := range []struct {
		name string
		read func(*jsonFields) *lease.Request
	}{{"request_range", etcdRange}, {"request_put", etcdPut}, {"request_delete_range", etcdDelete}} {
		if inner := op.message(kind.name); inner != nil {
			r := kind.read(inner)
			op.join(inner)
			return *r
		}
	}
	if op.message("request_txn") != nil {
		op.lacks = "transactions in transactions"
	}
	return lease.Request{Op: lease.Status}
}

func etcdCondition(m, c *jsonFields) lease.Condition {
	is := c.enum("result", "etcdserverpb.Compare_CompareResult", "EQUAL", "GREATER", "LESS", "NOT_EQUAL")
	of := c.enum("target", "etcdserverpb.Compare_CompareTarget", "VERSION", "CREATE", "MOD", "VALUE", "LEASE")
	one := lease.Condition{Key: c.text("key"), End: c.text("range_end"), Is: lease.Relation(is), Of: lease.ByNothing}
	for i, field := range []string{"version", "create_revision", "mod_revision", "value", "lease"} {
		if i == int(lease.ByValue)-1 {
			one.Value = c.text(field)
		} else if n := c.number(field); i == int(of) {
			one.Number = n
		}
	}
	if of >= 0 && of <= 4 {
		one.Of = lease.Attribute(of + 1)
	}
	m.join(c)
	return one
}

func etcdWatch(m *jsonFields) *lease.Request {
	r := &lease.Request{Op: lease.Watch, Etcd: &lease.Etcd3{}}
	create := m.message("create_request")
	if create == nil {
		if m.err == nil {
			m.lacks = "requests for watches but their creation"
		}
		return r
	}
	r.Key, r.Etcd.End = create.text("key"), create.text("range_end")
	r.Etcd.Revision = create.number("start_revision")
	if create.flag("progress_notify") || create.flag("fragment") || create.number("watch_id") != 0 {
		m.lacks = "watches with progress, fragments or their own numbers"
	}
	for _, filter := range create.enums("filters", "etcdserverpb.WatchCreateRequest_FilterType", "NOPUT", "NODELETE") {
		r.Etcd.NoPuts, r.Etcd.NoDeletes = r.Etcd.NoPuts || filter == 0, r.Etcd.NoDeletes || filter == 1
	}
	r.Etcd.Prev = create.flag("prev_kv")
	if r.Key == "" { // watchServer.recvLoop
		r.Key = "\x00"
	}
	m.join(create)
	return r
}
