package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/sim/lease"
	"github.com/locksim/locksim/sim"
)

// Consul returns a conversation in Consul's HTTP API, as far as its locks go: sessions with a TTL are created, renewed and
// destroyed, a key is acquired and released for a session, and read, also by a blocking query.
//
// What the simulation does not have is refused with the status 501: sessions without a TTL, writes that are bound to no session,
// deletions, reads of several keys or of raw values. Left out are health checks, stale reads (answered as the others), the order
// in which a key's name is checked by newer agents, and of a session that was renewed all but its identifier and its TTL.
// A session that was never made is refused before the lock-delay is looked at.
func Consul() Conversation { return &web{api: consul{}} }

type consul struct{}

// request translates a request (agent/http_register.go).
func (consul) request(r *httpRequest) (sim.Payload, *page) {
	path, version := strings.CutPrefix(r.url.Path, "/v1/")
	area, rest, _ := strings.Cut(path, "/")
	op, id, _ := strings.Cut(rest, "/")
	isKey := version && area == "kv"
	isSession := version && area == "session" && (op == "create" || op == "renew" || op == "destroy")
	switch {
	case isKey && rest == "":
		return nil, says(statusBadRequest, "Missing key name")
	case isKey && r.method == "GET":
		return kvGet(rest, r.url.Query())
	case isKey && r.method == "PUT":
		return kvPut(rest, r.url.Query(), r.body)
	case isKey && r.method == "DELETE":
		return nil, lacking("deletions")
	case isKey || isSession && r.method != "PUT":
		return nil, says(statusMethodNotAllowed, "method "+r.method+" not allowed")
	case isSession && op == "create":
		return sessionCreate(r.body)
	case isSession:
		return sessionOp(op, id)
	}
	return nil, says(statusNotFound, "Invalid URL path: not a recognized HTTP API endpoint")
}

// sessionOp translates the renewal or destruction of a session (agent/session_endpoint.go).
func sessionOp(op, id string) (sim.Payload, *page) {
	q := &lease.Request{Op: lease.SessionRenew, Session: consulSession(id)}
	switch {
	case id == "":
		return nil, says(statusBadRequest, "Missing session")
	case op == "destroy" && q.Session == 0:
		return nil, shown(true)
	case op == "destroy":
		q.Op = lease.SessionDestroy
	case q.Session == 0:
		return nil, noSession(id)
	}
	return q, nil
}

// kvGet translates a read of a key (agent/kvs_endpoint.go, KVSGet). The index and the time of a blocking query are as in
// parseWait (agent/http.go).
func kvGet(key string, q url.Values) (sim.Payload, *page) {
	for _, word := range []string{"recurse", "keys", "raw"} {
		if q.Has(word) {
			return nil, lacking("reads with " + word)
		}
	}
	r := &lease.Request{Op: lease.KVGet, Key: key}
	if text := q.Get("wait"); text != "" {
		wait, err := time.ParseDuration(text)
		if err != nil {
			return nil, says(statusBadRequest, "Invalid wait time")
		}
		r.Wait = wait
	}
	if text := q.Get("index"); text != "" {
		index, err := strconv.ParseUint(text, 10, 63)
		if err != nil {
			return nil, says(statusBadRequest, "Invalid index")
		}
		r.Index = int64(index)
	}
	return r, nil
}

// kvPut translates a write of a key (agent/kvs_endpoint.go, KVSPut).
func kvPut(key string, q url.Values, body []byte) (sim.Payload, *page) {
	op, word := lease.KVAcquire, "acquire"
	if q.Has("release") {
		op, word = lease.KVRelease, "release"
	}
	id := q.Get(word)
	r := &lease.Request{Op: op, Key: key, Value: string(body), Session: consulSession(id)}
	switch {
	case q.Has("cas") && (q.Has("acquire") || q.Has("release")), q.Has("acquire") && q.Has("release"):
		return nil, says(statusBadRequest, "Conflicting flags: "+q.Encode()+"\n")
	case !q.Has(word):
		return nil, lacking("writes without a session")
	case id == "":
		return nil, says(statusInternal, "raft apply failed: missing session")
	case r.Session == 0 && op == lease.KVAcquire:
		return nil, invalidSession(id)
	case r.Session == 0:
		return nil, shown(false)
	}
	if q.Has("flags") {
		flags, err := strconv.ParseUint(q.Get("flags"), 10, 64)
		if err != nil {
			return nil, says(statusInternal, err.Error())
		}
		r.Flags = flags
	}
	return r, nil
}

// sessionCreate translates the creation of a session (agent/session_endpoint.go, SessionCreate).
func sessionCreate(body []byte) (sim.Payload, *page) {
	var asked struct {
		TTL, Behavior string
		LockDelay     json.RawMessage
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &asked); err != nil {
			return nil, says(statusBadRequest, fmt.Sprintf("Request decode failed: %v", err))
		}
	}
	delay, err := lockDelayOf(asked.LockDelay)
	if err != nil {
		return nil, says(statusBadRequest, fmt.Sprintf("Request decode failed: %v", err))
	}
	r := &lease.Request{Op: lease.SessionCreate, LockDelay: delay, Delete: asked.Behavior == "delete"}
	if asked.Behavior != "" && asked.Behavior != "release" && !r.Delete {
		return nil, says(statusInternal, fmt.Sprintf("Invalid Behavior setting '%s'", asked.Behavior))
	}
	if r.TTL, err = time.ParseDuration(cmp.Or(asked.TTL, "0")); err != nil {
		return nil, says(statusInternal, fmt.Sprintf("Session TTL '%s' invalid: %v", asked.TTL, err))
	}
	if r.TTL == 0 {
		return nil, lacking("sessions without a TTL")
	}
	return r, nil
}

// lockDelayOf reads a lock-delay as a request for a session has it: 0 is the service's default, -1 none. A number, or a string,
// that comes to less than 1,000 ns is taken for seconds (agent/session_endpoint.go, fixupLockDelay).
func lockDelayOf(raw json.RawMessage) (delay time.Duration, err error) {
	if raw == nil {
		return 0, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		delay, err = time.ParseDuration(text)
	} else {
		err = json.Unmarshal(raw, &delay)
	}
	switch {
	case err != nil:
		return 0, err
	case delay < 1000:
		delay *= time.Second
	}
	return cmp.Or(max(delay, 0), -1), nil
}

// sessionPrefix begins the identifiers of sessions, which are UUIDs in Consul. Their number follows.
const sessionPrefix = "5e551011-0000-4000-8000-"

// sessionText is a session as clients know it; "" is none.
func sessionText(id lease.SessionID) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprintf("%s%012x", sessionPrefix, uint64(id))
}

// consulSession is the session that a client names; 0 if there never was one.
func consulSession(text string) lease.SessionID {
	number, ours := strings.CutPrefix(text, sessionPrefix)
	id, err := strconv.ParseUint(number, 16, 64)
	if !ours || err != nil || sessionText(lease.SessionID(id)) != text {
		return 0
	}
	return lease.SessionID(id)
}

// consulPair is a key as it is shown (agent/structs/structs.go, DirEntry), and consulLife what is shown of a session.
type (
	consulPair struct {
		LockIndex                int64
		Key                      string
		Flags                    uint64
		Value                    []byte // null if empty
		Session                  string `json:",omitempty"`
		CreateIndex, ModifyIndex int64
	}
	consulLife struct{ ID, TTL string }
)

// answer translates an answer. Errors are texts (agent/http.go, wrap).
func (consul) answer(p sim.Payload) (sim.Payload, *page) {
	a := p.(*lease.Response)
	r := a.Request
	session := sessionText(r.Session)
	switch {
	case a.Err == lease.NoSession && r.Op == lease.SessionRenew:
		return r, noSession(session)
	case a.Err == lease.NoSession && r.Op == lease.SessionDestroy:
		return r, shown(true)
	case a.Err == lease.NoSession && r.Op == lease.KVAcquire:
		return r, invalidSession(session)
	case a.Err == lease.BadTTL:
		bounds := lease.Consul()
		return r, says(statusInternal,
			fmt.Sprintf("Invalid Session TTL '%d', must be between [%v=%v]", r.TTL, bounds.MinTTL, bounds.MaxTTL))
	case a.Err != "":
		return r, says(statusInternal, a.Err)
	case r.Op == lease.SessionCreate:
		return r, shown(struct{ ID string }{sessionText(a.Session)})
	case r.Op == lease.SessionRenew:
		return r, shown([]consulLife{{sessionText(a.Session), a.TTL.String()}})
	case r.Op == lease.KVGet:
		return r, pairOf(a)
	}
	return r, shown(a.Succeeded)
}

// pairOf shows the key that was read, with the index for the next blocking query (agent/http.go, setMeta).
func pairOf(a *lease.Response) *page {
	found := &page{status: statusNotFound}
	if len(a.Keys) > 0 {
		k := &a.Keys[0]
		pair := consulPair{
			LockIndex: k.LockIndex, Key: k.Name, Flags: k.Flags, Session: sessionText(k.Session), CreateIndex: k.Create, ModifyIndex: k.Mod,
		}
		if k.Value != "" {
			pair.Value = []byte(k.Value)
		}
		found = shown([]consulPair{pair})
	}
	found.header = fmt.Sprintf("X-Consul-Index: %d\r\nX-Consul-Knownleader: true\r\nX-Consul-Lastcontact: 0\r\n", a.Revision)
	return found
}

// shown is an answer in JSON.
func shown(v any) *page {
	body, _ := json.Marshal(v) // of numbers and texts
	return &page{status: statusOK, kind: jsonKind, body: body}
}

// noSession is the answer to a renewal of a session that is not there.
func noSession(id string) *page {
	return says(statusNotFound, fmt.Sprintf("Session id '%s' not found", id))
}

// invalidSession is the answer to one who asks for a lock with it.
func invalidSession(id string) *page {
	return says(statusInternal, fmt.Sprintf("raft apply failed: invalid session %q", id))
}

// says is an answer in words, mostly an error.
func says(status int, text string) *page {
	return &page{status: status, kind: "text/plain; charset=utf-8", body: []byte(text)}
}

// lacking refuses what Consul has, and the simulation has not.
func lacking(what string) *page {
	return says(statusNotImplemented, "the simulated Consul has no "+what)
}
