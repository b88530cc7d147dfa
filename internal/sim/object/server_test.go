package object_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/object"
)

// seen notes which requests changed something.
type seen []string

func (l *seen) Executed(_ *object.Server, r *object.Request, _ *object.Response, changed bool) {
	if changed {
		*l = append(*l, r.String())
	}
}

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
		{object.Request{Op: object.Delete, When: object.IfVersion, Version: 2, Name: "lock"}, "200 OK"},
		{object.Request{Op: object.Put, When: object.IfAbsent, Name: "lock", Value: "c"}, "200 OK version 6"},
	} {
		s.Crash(false, "") // loses nothing
		s.Restart()
		require.Equal(t, x.answer, s.Execute(nil, &x.request).(*object.Response).String(), x.request.String())
	}
	require.Equal(t, seen{
		"put-if-absent lock a", "put-if-version lock version 1 a2", "put lock/0002 second", "put lock/0001 first", "put locks another",
		"delete-if-version lock version 2", "put-if-absent lock c",
	}, changes)
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
