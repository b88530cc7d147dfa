package object_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/sim"
	"github.com/locksim/locksim/trace"
)

// seen notes which requests changed something.
type seen []string

func (l *seen) Executed(_ *object.Server, r *object.Request, _ *object.Response, changed bool) {
	if changed {
		*l = append(*l, r.String())
	}
}

func (*seen) Lacks(*object.Server)      {}
func (*seen) RolledBack(*object.Server) {}

// uidOf is the uid of the object that a version has made.
func uidOf(version uint64) string { return object.Made{Version: version}.UID() }

// TestRequestsAreCarriedOutOnTheirCondition is a conversation: each request with the answer, by the documentation of S3 (conditional
// requests), of the Kubernetes API (resourceVersion) and of Google Cloud Storage (ifGenerationMatch).
func TestRequestsAreCarriedOutOnTheirCondition(t *testing.T) {
	var changes seen
	s := object.New(&changes)
	for _, x := range []struct {
		request object.Request
		answer  string
	}{
		{object.Request{Op: object.Get, Name: "lock"}, "404 Not Found"},
		{object.Request{Op: object.Delete, Name: "lock"}, "404 Not Found"},
		{object.Request{Op: object.Put, When: object.IfVersion, Version: 7, Name: "lock", Value: "x"}, "404 Not Found"},
		{object.Request{Op: object.Put, When: object.IfAbsent, Name: "lock", Value: "a"}, "200 OK version 1"},
		{object.Request{Op: object.Put, When: object.IfAbsent, Name: "lock", Value: "b"}, "412 Precondition Failed"},
		{object.Request{Op: object.Get, Name: "lock"}, "200 OK version 1 a"},
		{object.Request{Op: object.Put, When: object.IfVersion, Version: 1, Name: "lock", Value: "a2"}, "200 OK version 2"},
		{object.Request{Op: object.Put, When: object.IfVersion, Version: 1, Name: "lock", Value: "a3"}, "412 Precondition Failed"},
		{object.Request{Op: object.Delete, When: object.IfVersion, Version: 1, Name: "lock"}, "412 Precondition Failed"},
		{object.Request{Op: object.Put, Name: "lock/0002", Value: "second"}, "200 OK version 3"},
		{object.Request{Op: object.Put, Name: "lock/0001", Value: "first"}, "200 OK version 4"},
		{object.Request{Op: object.Put, Name: "locks", Value: "another"}, "200 OK version 5"},
		{object.Request{Op: object.List, Name: "lock/"}, "200 OK lock/0002 of 00:00:00"},
		{object.Request{Op: object.List, Name: "none"}, "404 Not Found"},
		{object.Request{Op: object.List, Most: 1, After: "lock/0001", Name: "lock/"}, "200 OK 1 objects"},
		{object.Request{Op: object.List, Most: 1, Name: "none"}, "200 OK 0 objects"},
		{object.Request{Op: object.Delete, When: object.IfVersion, Version: 2, Name: "lock"}, "200 OK"},
		{object.Request{Op: object.Put, When: object.IfAbsent, Name: "lock", Value: "c"}, "200 OK version 6"},
		{object.Request{Op: object.Get, When: object.IfNotETag, ETag: object.ETag("b"), Name: "lock"}, "200 OK version 6 c"},
		{object.Request{Op: object.Get, When: object.IfNotETag, ETag: object.ETag("c"), Name: "lock"}, "412 Precondition Failed"},
		{object.Request{Op: object.Get, When: object.IfNotETag, ETag: object.ETag("c"), Name: "none"}, "404 Not Found"},
		{object.Request{Op: object.Get, When: object.IfETag, ETag: object.ETag("b"), Name: "lock"}, "412 Precondition Failed"},
		{object.Request{Op: object.Patch, When: object.IfMeta, Meta: 1, Name: "none", Value: "{}"}, "404 Not Found"},
		{object.Request{Op: object.Put, Name: "data", Value: `{"id":"a","until":1}`}, "200 OK version 7"},
		{object.Request{Op: object.Patch, When: object.IfMeta, Meta: 1, Name: "data", Value: `{"until":2}`}, "200 OK version 7 meta 2"},
		{object.Request{Op: object.Patch, When: object.IfMeta, Meta: 1, Name: "data", Value: `{"until":3}`}, "412 Precondition Failed"},
		{object.Request{Op: object.Get, Name: "data"}, `200 OK version 7 meta 2 {"id":"a","until":2}`},
		{object.Request{Op: object.Delete, When: object.IfMeta, Meta: 2, Version: 6, Name: "data"}, "412 Precondition Failed"},
		{object.Request{Op: object.Put, Name: "data", Value: `{"id":"b"}`}, "200 OK version 8"},
		{object.Request{Op: object.Delete, When: object.IfMeta, Meta: 1, Name: "data"}, "200 OK"}, // of any generation
		{object.Request{Op: object.Put, When: object.IfOver, Now: 5, Until: 9, Once: "x", Name: "doc", Value: "a"}, "200 OK version 9"},
		{object.Request{Op: object.Put, When: object.IfOver, Now: 5, Until: 9, Once: "x", Name: "doc", Value: "a"}, "200 OK version 9"}, // again
		{object.Request{Op: object.Put, When: object.IfOver, Now: 8, Until: 12, Once: "y", Name: "doc", Value: "b"}, "E11000 duplicate key error"},
		{object.Request{Op: object.Put, When: object.IfOver, Now: 9, Until: 13, Once: "z", Name: "doc", Value: "b"}, "200 OK version 10"},
		{object.Request{Op: object.Put, When: object.IfOver, Now: 5, Until: 9, Once: "x", Name: "doc", Value: "a"}, "200 OK version 9"}, // late
		{object.Request{Op: object.Get, Name: "doc"}, "200 OK version 10 b"},
		{object.Request{Op: object.Put, When: object.IfVersion, Version: 7, UID: uidOf(7), Name: "lease", Value: "a"}, "404 Not Found"},
		{object.Request{Op: object.Put, When: object.IfVersion, Version: 7, OrAbsent: true, Idle: true, Name: "lease", Value: "a"}, "200 OK version 11"},
		{object.Request{Op: object.Put, When: object.IfVersion, OrAbsent: true, Name: "lease", Value: "b"}, "412 Precondition Failed"},
		{object.Request{Op: object.Put, When: object.IfVersion, Version: 11, UID: uidOf(7), Name: "lease", Value: "b"}, "412 Precondition Failed"},
		{object.Request{Op: object.Put, When: object.IfVersion, Version: 11, UID: uidOf(11), Idle: true, Name: "lease", Value: "a"}, "200 OK version 11"}, // the same
		{object.Request{Op: object.Put, When: object.IfVersion, Version: 11, UID: uidOf(11), Idle: true, Name: "lease", Value: "b"}, "200 OK version 12"},
		{object.Request{Op: object.Delete, UID: uidOf(12), Name: "lease"}, "412 Precondition Failed"},
		{object.Request{Op: object.Delete, UID: uidOf(11), Name: "lease"}, "200 OK"},
	} {
		s.Crash(false, "") // loses nothing
		s.Restart()
		require.Equal(t, x.answer, s.Execute(nil, &x.request).(*object.Response).String(), x.request.String())
	}
	require.Equal(t, seen{
		"put-if-absent lock a", "put-if-version lock version 1 a2", "put lock/0002 second", "put lock/0001 first", "put locks another",
		"delete-if-version lock version 2", "put-if-absent lock c",
		`put data {"id":"a","until":1}`, `patch-if-meta data meta 1 {"until":2}`, `put data {"id":"b"}`, "delete-if-meta data meta 1",
		"put-if-over doc a", "put-if-over doc b",
		"put-if-version lease version 7 a", "put-if-version lease version 11 b", "delete lease",
	}, changes)
}

// TestLeasesGuardWhatTheyAreOn is a conversation by the documentation of Azure Blob Storage: "Outcomes of lease operations on blobs by
// lease state" and "Outcomes of use attempts on blobs by lease state". The time is that of a server's monotonic clock.
func TestLeasesGuardWhatTheyAreOn(t *testing.T) {
	e := sim.New(sim.Config{Seed: 1, Until: trace.Instant(3 * time.Hour), Latency: sim.Constant(0)}, nil)
	s := object.New(nil)
	s.Attach(e.AddServer("store-1", s))
	const life = int64(15 * time.Second)
	steps := []struct {
		at      time.Duration // seconds
		request object.Request
		answer  string
	}{
		{0, object.Request{Op: object.AcquireLease, Lease: "a", Life: life}, "404 Not Found"},
		{0, object.Request{Op: object.Put, When: object.IfAbsent, Value: "{}"}, "200 OK version 1"},
		{0, object.Request{Op: object.RenewLease, Lease: "a", Life: life}, "409 LeaseIdMismatchWithLeaseOperation"},
		{0, object.Request{Op: object.Patch, Lease: "a", Value: "{}"}, "412 LeaseNotPresentWithBlobOperation"},
		{0, object.Request{Op: object.AcquireLease, Lease: "a", Life: life}, "200 OK"},
		{1, object.Request{Op: object.AcquireLease, Lease: "a", Life: life}, "200 OK"},
		{2, object.Request{Op: object.AcquireLease, Lease: "b", Life: life}, "409 LeaseAlreadyPresent"},
		{2, object.Request{Op: object.RenewLease, Lease: "b", Life: life}, "409 LeaseIdMismatchWithLeaseOperation"},
		{2, object.Request{Op: object.ReleaseLease, Lease: "b"}, "409 LeaseIdMismatchWithLeaseOperation"},
		{2, object.Request{Op: object.Put, Value: "x"}, "412 LeaseIdMissing"},
		{2, object.Request{Op: object.Delete}, "412 LeaseIdMissing"},
		{2, object.Request{Op: object.Put, Lease: "b", Value: "x"}, "412 LeaseIdMismatchWithBlobOperation"},
		{2, object.Request{Op: object.Patch, Lease: "a", Value: `{"0":7}`}, "200 OK version 1 meta 2"},
		{2, object.Request{Op: object.Get}, `200 OK version 1 meta 2 {"0":7}`},
		{2, object.Request{Op: object.Get, Lease: "a", Value: "0"}, "200 OK version 1 meta 2 7"},
		{2, object.Request{Op: object.Get, Lease: "b", Value: "0"}, "412 LeaseIdMismatchWithBlobOperation"},
		{16, object.Request{Op: object.Patch, Lease: "a", Value: "{}"}, "412 LeaseLost"},
		{16, object.Request{Op: object.RenewLease, Lease: "a", Life: life}, "200 OK"}, // nobody has leased or written it since
		{30, object.Request{Op: object.AcquireLease, Lease: "b", Life: life}, "409 LeaseAlreadyPresent"},
		{31, object.Request{Op: object.Patch, Value: "{}"}, "200 OK version 1 meta 3"},
		{31, object.Request{Op: object.RenewLease, Lease: "a", Life: life}, "409 LeaseIdMismatchWithLeaseOperation"},
		{31, object.Request{Op: object.AcquireLease, Lease: "b"}, "200 OK"}, // without an end
		{9999, object.Request{Op: object.AcquireLease, Lease: "a", Life: life}, "409 LeaseAlreadyPresent"},
		{9999, object.Request{Op: object.ReleaseLease, Lease: "b"}, "200 OK"},
		{9999, object.Request{Op: object.AcquireLease, Lease: "a", Life: life}, "200 OK"},
	}
	var answers []string
	e.AddClient("a", func(task *sim.Task) {
		for i := range steps {
			task.Sleep(steps[i].at*time.Second - time.Duration(e.Now()))
			answers = append(answers, s.Execute(nil, &steps[i].request).(*object.Response).String())
		}
	})
	require.Nil(t, e.Run().Panic)
	require.Len(t, answers, len(steps))
	for i, x := range steps {
		require.Equal(t, x.answer, answers[i], "%v s: %v", int64(x.at), &x.request)
	}
}

// TestErrorsThatAreAnswersAreTakenForThem holds what faults may inject.
func TestErrorsThatAreAnswersAreTakenForThem(t *testing.T) {
	r := &object.Request{Op: object.Put, When: object.IfAbsent, Name: "lock"}
	for text, result := range map[string]object.Result{
		"412 Precondition Failed": object.Failed, "404 Not Found": object.NotFound, "503 Slow Down": object.Refused, "200 OK": object.Refused,
	} {
		answer := object.ErrorResponse(r, text)
		require.Equal(t, result, answer.(*object.Response).Result, text)
		require.Equal(t, text, answer.(*object.Response).String())
	}
}
