package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/locks"
)

// etcdClient speaks to etcd's gateway from JSON to its own protocol (etcd's documentation, "gRPC gateway"): numbers of 64
// bits are strings there, keys and values base64.
type etcdClient struct {
	*machine
	endpoint string
	http     *http.Client
	session  locks.EtcdSession // of all tasks
}

func newEtcdClient(m *machine, endpoint string) *etcdClient {
	return &etcdClient{machine: m, endpoint: strings.TrimSuffix(endpoint, "/"), http: &http.Client{
		Transport: &http.Transport{DialContext: dial},
	}}
}

func (c *etcdClient) close() { c.http.CloseIdleConnections() }

// etcdNumber is a number as the gateway writes it.
type etcdNumber int64

// MarshalJSON encodes the number as a string.
func (n etcdNumber) MarshalJSON() ([]byte, error) {
	return []byte(`"` + strconv.FormatInt(int64(n), 10) + `"`), nil
}

// UnmarshalJSON decodes a string or a number.
func (n *etcdNumber) UnmarshalJSON(b []byte) error {
	x, err := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64)
	*n = etcdNumber(x)
	return err
}

// etcdKey is a key as the gateway writes it.
type etcdKey struct {
	Key    []byte     `json:"key"`
	Value  []byte     `json:"value"`
	Create etcdNumber `json:"create_revision"`
}

type etcdHeader struct {
	Revision etcdNumber `json:"revision"`
}

type etcdRange struct {
	Key       []byte     `json:"key"`
	End       []byte     `json:"range_end,omitempty"`
	Limit     etcdNumber `json:"limit,omitempty"`
	Order     string     `json:"sort_order,omitempty"`
	By        string     `json:"sort_target,omitempty"`
	MaxCreate etcdNumber `json:"max_create_revision,omitempty"`
}

type etcdRangeResult struct {
	Header etcdHeader `json:"header"`
	Keys   []etcdKey  `json:"kvs"`
}

// call posts a request, without the turn.
func (c *etcdClient) call(timeout time.Duration, path string, request, response any) error {
	var err error
	c.blocking(func() {
		ctx, cancel := c.within(timeout)
		defer cancel()
		err = c.post(ctx, path, request, response)
	})
	return err
}

// codeNotFound is gRPC's: there is no such lease.
const codeNotFound = 5

func (c *etcdClient) post(ctx context.Context, path string, request, response any) error {
	answer, err := c.open(ctx, path, request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return unanswered(err)
	}
	if answer.StatusCode == http.StatusOK {
		return json.Unmarshal(text, response)
	}
	var refusal struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(text, &refusal); err != nil {
		return fmt.Errorf("%w: etcd: %s", locks.ErrUnknown, answer.Status)
	}
	if refusal.Code == codeNotFound && strings.Contains(refusal.Message, "lease") {
		return locks.ErrSessionExpired
	}
	return fmt.Errorf("%w: etcd: %s", locks.ErrUnknown, refusal.Message)
}

func (c *etcdClient) open(ctx context.Context, path string, request any) (*http.Response, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint+"/v3"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(post)
	if err != nil {
		return nil, unanswered(err)
	}
	return answer, nil
}

func unanswered(err error) error {
	if before := (errNoConnection{}); errors.As(err, &before) {
		return fmt.Errorf("%w: %w", locks.ErrNotDone, err)
	}
	return fmt.Errorf("%w: %w", locks.ErrUnknown, err)
}

// Grant makes a lease. etcd counts in seconds, and raises a TTL below its minimum.
func (c *etcdClient) Grant(timeout, ttl time.Duration) (uint64, time.Duration, error) {
	var a struct {
		ID    etcdNumber `json:"ID"`
		TTL   etcdNumber `json:"TTL"`
		Error string     `json:"error"`
	}
	seconds := int64((ttl + time.Second - 1) / time.Second)
	err := c.call(timeout, "/lease/grant", map[string]any{"TTL": etcdNumber(seconds)}, &a)
	if err == nil && a.Error != "" {
		err = fmt.Errorf("%w: etcd: %s", locks.ErrNotDone, a.Error)
	}
	return uint64(a.ID), time.Duration(a.TTL) * time.Second, err
}

// Revoke ends a lease.
func (c *etcdClient) Revoke(timeout time.Duration, lease uint64) error {
	var a struct{}
	return c.call(timeout, "/lease/revoke", map[string]any{"ID": etcdNumber(lease)}, &a)
}

// The numbers of etcd's Go library (client/v3/lease.go).
const (
	etcdFirstDeadline = 5 * time.Second        // until the first answer is there
	etcdRetry         = 500 * time.Millisecond // between two requests, until one is answered
	etcdLookEvery     = time.Second            // for what is lost
)

// KeepAlive renews a lease in the background, as the Go library does: when a third of its TTL has passed, and again
// every half second until that is answered. A lease whose renewal is unanswered for a TTL is lost; this is checked once
// a second.
func (c *etcdClient) KeepAlive(lease uint64, done locks.Signal) {
	p := &Process{machine: c.machine, owner: c.config.Owner}
	deadline := p.Monotonic().Add(etcdFirstDeadline)
	p.Go(func(own locks.Process) {
		for own.Wait(etcdLookEvery, done) < 0 && !c.isOver() {
			if own.Monotonic() > deadline {
				done.Fire()
			}
		}
	})
	p.Go(func(own locks.Process) {
		for wait := time.Duration(0); own.Wait(wait, done) < 0 && !c.isOver(); {
			ttl, err := c.renew(lease)
			switch {
			case errors.Is(err, locks.ErrSessionExpired):
				done.Fire()
			case err != nil:
				wait = etcdRetry
			default:
				deadline, wait = own.Monotonic().Add(ttl), ttl/3
			}
		}
	})
}

func (c *etcdClient) isOver() bool {
	select {
	case <-c.over:
		return true
	default:
		return false
	}
}

// renew asks for a lease's whole life; one that is over has a life of 0.
func (c *etcdClient) renew(lease uint64) (time.Duration, error) {
	var a struct {
		Result struct {
			TTL etcdNumber `json:"TTL"`
		} `json:"result"`
	}
	err := c.call(etcdFirstDeadline, "/lease/keepalive", map[string]any{"ID": etcdNumber(lease)}, &a)
	if err == nil && a.Result.TTL <= 0 {
		err = locks.ErrSessionExpired
	}
	return time.Duration(a.Result.TTL) * time.Second, err
}

// Session returns where the tasks of the process keep a session.
func (c *etcdClient) Session() *locks.EtcdSession { return &c.session }

// Txn carries out one of two lists of operations.
func (c *etcdClient) Txn(timeout time.Duration, txn locks.EtcdTxn) (locks.EtcdTxnResult, error) {
	type operation map[string]any
	ranges := func(list []operation, gets []locks.EtcdGet) []operation {
		for _, get := range gets {
			list = append(list, operation{"request_range": rangeOf(get)})
		}
		return list
	}
	var then []operation
	if put := txn.Put; put != nil {
		then = append(then, operation{"request_put": map[string]any{
			"key": []byte(put.Key), "value": []byte(put.Value), "lease": etcdNumber(put.Lease),
		}})
	}
	puts := len(then)
	var a struct {
		Header    etcdHeader `json:"header"`
		Succeeded bool       `json:"succeeded"`
		Responses []struct {
			Range etcdRangeResult `json:"response_range"`
		} `json:"responses"`
	}
	err := c.call(timeout, "/kv/txn", map[string]any{
		"compare": []any{map[string]any{
			"target": "CREATE", "result": "EQUAL", "key": []byte(txn.If.Key), "create_revision": etcdNumber(txn.If.Create),
		}},
		"success": ranges(then, txn.Then), "failure": ranges(nil, txn.Else),
	}, &a)
	if err != nil {
		return locks.EtcdTxnResult{}, err
	}
	result := locks.EtcdTxnResult{Succeeded: a.Succeeded, Revision: int64(a.Header.Revision)}
	if !a.Succeeded {
		puts = 0
	}
	for i := puts; i < len(a.Responses); i++ {
		got := gotten(&a.Responses[i].Range)
		got.Revision = result.Revision
		result.Gets = append(result.Gets, got)
	}
	return result, nil
}

func rangeOf(get locks.EtcdGet) etcdRange {
	r := etcdRange{Key: []byte(get.Key), Limit: 1, MaxCreate: etcdNumber(get.UpTo)}
	if get.First || get.Last {
		r.End, r.By, r.Order = afterPrefix(get.Key), "CREATE", "ASCEND"
	}
	if get.Last {
		r.Order = "DESCEND"
	}
	return r
}

// afterPrefix is the end of the range of all keys with a prefix (etcd's client/v3/op.go, GetPrefixRangeEnd).
func afterPrefix(prefix string) []byte {
	end := []byte(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] < 0xff {
			end[i]++
			return end[:i+1]
		}
	}
	return []byte{0}
}

func gotten(a *etcdRangeResult) locks.EtcdGetResult {
	result := locks.EtcdGetResult{Revision: int64(a.Header.Revision)}
	if len(a.Keys) > 0 {
		k := &a.Keys[0]
		result.Found = true
		result.Key = locks.EtcdKey{Name: string(k.Key), Value: string(k.Value), Create: int64(k.Create)}
	}
	return result
}

// Get reads a key.
func (c *etcdClient) Get(timeout time.Duration, get locks.EtcdGet) (locks.EtcdGetResult, error) {
	var a etcdRangeResult
	if err := c.call(timeout, "/kv/range", rangeOf(get), &a); err != nil {
		return locks.EtcdGetResult{}, err
	}
	return gotten(&a), nil
}

// Delete removes a key.
func (c *etcdClient) Delete(timeout time.Duration, key string) (bool, error) {
	var a struct {
		Deleted etcdNumber `json:"deleted"`
	}
	err := c.call(timeout, "/kv/deleterange", map[string]any{"key": []byte(key)}, &a)
	return a.Deleted > 0, err
}

// AwaitDeletion watches a key until it is deleted.
func (c *etcdClient) AwaitDeletion(timeout time.Duration, key string, from int64) error {
	var err error
	c.blocking(func() {
		ctx, cancel := c.within(timeout)
		defer cancel()
		go func() {
			select {
			case <-c.over:
				cancel()
			case <-ctx.Done():
			}
		}()
		err = c.watch(ctx, key, from)
	})
	return err
}

func (c *etcdClient) watch(ctx context.Context, key string, from int64) error {
	answer, err := c.open(ctx, "/watch", map[string]any{"create_request": map[string]any{
		"key": []byte(key), "start_revision": etcdNumber(from),
	}})
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	for d := json.NewDecoder(answer.Body); ; {
		var a struct {
			Result struct {
				Canceled bool `json:"canceled"`
				Events   []struct {
					Type string `json:"type"`
				} `json:"events"`
			} `json:"result"`
		}
		if err := d.Decode(&a); err != nil {
			return unanswered(err)
		}
		for _, e := range a.Result.Events {
			if e.Type == "DELETE" {
				return nil
			}
		}
		if a.Result.Canceled {
			return fmt.Errorf("%w: etcd ended the watch", locks.ErrUnknown)
		}
	}
}
