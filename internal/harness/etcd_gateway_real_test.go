//go:build !js

package harness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/lease"
)

// etcdGateway is a real etcd, spoken to in JSON (etcd's documentation, "gRPC gateway"). Every conversation has keys of its
// own, counts revisions from its beginning as those of an empty store, and leases from 1.
type etcdGateway struct {
	endpoint string
	rounds   int

	root   string
	base   int64   // the revision that counts as 1
	now    int64   // the last revision heard of, so counted
	leases []int64 // that have been granted, in their order
}

func newGateway(endpoint string) *etcdGateway { return &etcdGateway{endpoint: endpoint + "/v3"} }

// number is one of 64 bits, which JSON has as a string.
type number int64

func (n number) MarshalJSON() ([]byte, error) {
	return []byte(strconv.Quote(strconv.FormatInt(int64(n), 10))), nil
}

func (n *number) UnmarshalJSON(b []byte) error {
	x, err := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64)
	*n = number(x)
	return err
}

// fields are what a request consists of.
type fields map[string]any

// told is an answer of any kind.
type told struct {
	Header struct {
		Revision number `json:"revision"`
	} `json:"header"`
	ID        number `json:"ID"`
	TTL       number `json:"TTL"`
	Deleted   number `json:"deleted"`
	Succeeded bool   `json:"succeeded"`
	Keys      []struct {
		Key, Value []byte
		Create     number `json:"create_revision"`
		Mod        number `json:"mod_revision"`
		Lease      number `json:"lease"`
	} `json:"kvs"`
	Responses []struct {
		Range  *told `json:"response_range"`
		Put    *told `json:"response_put"`
		Delete *told `json:"response_delete_range"`
	} `json:"responses"`
	Result *told  `json:"result"` // of streams
	Error  string `json:"error"`

	Created  bool `json:"created"`
	Canceled bool `json:"canceled"`
	Events   []struct {
		Type string `json:"type"`
		Key  struct {
			Mod number `json:"mod_revision"`
		} `json:"kv"`
	} `json:"events"`
}

func (g *etcdGateway) post(ctx context.Context, path string, f fields) (io.ReadCloser, error) {
	body, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, g.endpoint+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// etcdPatience is how long an answer may take on a machine under load.
const etcdPatience = 30 * time.Second

func (g *etcdGateway) ask(t require.TestingT, path string, f fields) *told {
	ctx, cancel := context.WithTimeout(context.Background(), etcdPatience)
	defer cancel()
	body, err := g.post(ctx, path, f)
	require.NoError(t, err)
	defer func() { _ = body.Close() }()
	a := &told{}
	require.NoError(t, json.NewDecoder(body).Decode(a))
	_, _ = io.Copy(io.Discard, body) // so that the connection serves again
	return a
}

func (g *etcdGateway) converse(t require.TestingT, c conversation) []string {
	g.rounds++
	g.root, g.leases, g.now = fmt.Sprintf("round-%d/", g.rounds), nil, 1
	g.base = int64(g.ask(t, "/kv/range", fields{"key": []byte("any")}).Header.Revision)
	answers := make([]string, len(c))
	watches := make(map[int]func() string)
	for i := range c {
		r := sent(c[i], g.now)
		if r.Op == lease.Watch {
			watches[i] = g.watch(t, &r)
			continue
		}
		a := g.answer(&r, g.ask(t, paths[r.Op], g.fields(&r)))
		answers[i], g.now = tell(a), max(g.now, a.Revision)
	}
	for i, end := range watches {
		answers[i] = end()
	}
	for i := range g.leases {
		g.ask(t, "/lease/revoke", fields{"ID": number(g.leases[i])})
	}
	return answers
}

var paths = map[lease.Op]string{
	lease.LeaseGrant: "/lease/grant", lease.LeaseKeepAlive: "/lease/keepalive", lease.LeaseRevoke: "/lease/revoke",
	lease.Txn: "/kv/txn", lease.Range: "/kv/range", lease.Put: "/kv/put", lease.DeleteRange: "/kv/deleterange",
}

func (g *etcdGateway) fields(r *lease.Request) fields {
	key := []byte(g.root + r.Key)
	switch r.Op {
	case lease.LeaseGrant:
		return fields{"TTL": number((r.TTL + time.Second - 1) / time.Second)}
	case lease.LeaseKeepAlive, lease.LeaseRevoke:
		return fields{"ID": g.lease(r.Session)}
	case lease.Put:
		return fields{"key": key, "value": []byte(r.Value), "lease": g.lease(r.Session)}
	case lease.Range:
		return g.rangeFields(r, key)
	case lease.Txn:
		conditions := []fields{}
		for _, c := range r.If {
			conditions = append(conditions, fields{
				"target": "CREATE", "result": "EQUAL", "key": []byte(g.root + c.Key), "create_revision": g.revision(c.Create),
			})
		}
		return fields{"compare": conditions, "success": g.operations(r.Then), "failure": g.operations(r.Else)}
	default:
		return fields{"key": key}
	}
}

func (g *etcdGateway) operations(list []lease.Request) []fields {
	names := map[lease.Op]string{
		lease.Put: "request_put", lease.Range: "request_range", lease.DeleteRange: "request_delete_range",
	}
	operations := []fields{}
	for i := range list {
		operations = append(operations, fields{names[list[i].Op]: g.fields(&list[i])})
	}
	return operations
}

func (g *etcdGateway) rangeFields(r *lease.Request, key []byte) fields {
	f := fields{"key": key}
	if !r.Prefix {
		return f
	}
	end := bytes.Clone(key)
	end[len(end)-1]++
	f["range_end"], f["sort_target"], f["sort_order"] = end, "CREATE", "ASCEND"
	if f["max_create_revision"] = g.revision(r.MaxCreate); r.Order == lease.LastCreated {
		f["sort_order"] = "DESCEND"
	}
	if r.Order != lease.All {
		f["limit"] = number(1)
	}
	return f
}

// lease returns the number that etcd has given to a lease.
func (g *etcdGateway) lease(id lease.SessionID) number {
	switch {
	case id == 0:
		return 0
	case int(id) <= len(g.leases):
		return number(g.leases[id-1])
	}
	return number(id) // which it never gives
}

// revision returns what etcd calls one of the conversation's revisions.
func (g *etcdGateway) revision(counted int64) number {
	if counted == 0 {
		return 0
	}
	return number(g.base + counted - 1)
}

// counted is the inverse of revision.
func (g *etcdGateway) counted(n number) int64 {
	if n == 0 {
		return 0
	}
	return int64(n) - g.base + 1
}

// session is the inverse of lease.
func (g *etcdGateway) session(n number) lease.SessionID {
	return lease.SessionID(slices.Index(g.leases, int64(n)) + 1)
}

// answer puts what etcd says into the model's terms.
func (g *etcdGateway) answer(r *lease.Request, a *told) *lease.Response {
	answer := &lease.Response{Request: r, Err: a.Error}
	if a.Result != nil {
		a = a.Result
	}
	switch {
	case strings.Contains(answer.Err, "requested lease not found"), r.Op == lease.LeaseKeepAlive && a.TTL == 0:
		answer.Err = lease.NoSession
	case r.Op == lease.LeaseGrant:
		g.leases = append(g.leases, int64(a.ID))
	}
	if answer.Err != "" {
		return answer
	}
	answer.Revision, answer.TTL = g.counted(a.Header.Revision), time.Duration(a.TTL)*time.Second
	if answer.TTL > 0 {
		answer.Session = g.session(a.ID)
	}
	answer.Succeeded = a.Succeeded || a.Deleted > 0 || r.Op <= lease.LeaseRevoke
	for _, k := range a.Keys {
		answer.Keys = append(answer.Keys, lease.Key{
			Name: strings.TrimPrefix(string(k.Key), g.root), Value: string(k.Value),
			Create: g.counted(k.Create), Mod: g.counted(k.Mod), Session: g.session(k.Lease),
		})
	}
	for i := range a.Responses {
		branch := r.Then
		if !a.Succeeded {
			branch = r.Else
		}
		one := &a.Responses[i]
		for _, result := range []*told{one.Range, one.Put, one.Delete} {
			if result != nil {
				answer.Results = append(answer.Results, *g.answer(&branch[i], result))
			}
		}
	}
	return answer
}

// watch begins to watch a key until it is deleted, and returns what waits for that.
func (g *etcdGateway) watch(t require.TestingT, r *lease.Request) (end func() string) {
	ctx, cancel := context.WithTimeout(context.Background(), etcdPatience)
	body, err := g.post(ctx, "/watch", fields{"create_request": fields{
		"key": []byte(g.root + r.Key), "start_revision": g.revision(r.Revision),
	}})
	require.NoError(t, err)
	stream, since := json.NewDecoder(body), g.now
	next := func() *told {
		var a told
		require.NoError(t, stream.Decode(&a))
		require.NotNil(t, a.Result, a.Error)
		return a.Result
	}
	require.True(t, next().Created)
	return func() string {
		defer cancel()
		defer func() { _ = body.Close() }()
		for {
			a := next()
			require.False(t, a.Canceled)
			for _, e := range a.Events {
				if e.Type == "DELETE" {
					return tellWatch(g.counted(e.Key.Mod), since)
				}
			}
		}
	}
}
