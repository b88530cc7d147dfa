package wire_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/internal/sim/wire"
	"github.com/locksim/locksim/sim"
)

const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"

// asked encodes a request.
func asked(method, path, body string, headers ...string) string {
	text := method + " " + path + " HTTP/1.1\r\nHost: 10.0.0.1\r\n"
	for _, header := range headers {
		text += header + "\r\n"
	}
	return text + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

// spoken is a conversation with a server: it answers at once, or when it is told to.
type spoken struct {
	wire.Conversation
	server *object.Server
	held   []*object.Request
	hold   bool
	answer []byte
}

func (s *spoken) send(p sim.Payload) error {
	r := p.(*object.Request)
	if s.hold {
		s.held = append(s.held, r)
		return nil
	}
	s.answer = s.Append(s.answer, s.server.Execute(nil, r))
	return nil
}

// answered decodes the first answer.
func answered(t *testing.T, answer []byte) (status int, body string) {
	t.Helper()
	r, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), nil)
	require.NoError(t, err)
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))
	require.NoError(t, r.Body.Close())
	return r.StatusCode, strings.TrimSpace(string(text))
}

// TestLeasesOfKubernetesAreAnsweredAsByItsAPI is a conversation: the statuses, reasons and texts are those of a kube-apiserver 1.37, which
// has recorded more of them in internal/serve (TestLeasesAreAnsweredAsByKubeAPIServer).
func TestLeasesOfKubernetesAreAnsweredAsByItsAPI(t *testing.T) {
	lease := func(metadata, spec string) string { return `{"metadata":{` + metadata + `},"spec":{` + spec + `}}` }
	held := `"holderIdentity":"a","leaseDurationSeconds":15`
	made := func(version string) string { return `"uid":"00000000-0000-4000-8000-00000000000` + version + `"` }
	kept := func(version, first, spec string) string {
		return `"metadata":{"creationTimestamp":"1970-01-01T00:00:00Z","labels":{"x":"y"},"name":"lock","namespace":"default","resourceVersion":"` +
			version + `",` + made(first) + `},"spec":{` + spec + `}}`
	}
	const itself = `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1",`
	labelled := `"name":"lock","labels":{"x":"y"}`
	s := &spoken{Conversation: wire.Kubernetes(), server: object.New(nil)}
	for _, x := range []struct {
		method, path, body string
		status             int
		says               []string
	}{
		{"GET", leases + "/lock", "", 404, []string{`"reason":"NotFound"`, `leases.coordination.k8s.io \"lock\" not found`}},
		{"GET", leases, "", 200, []string{`{"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1","metadata":{"resourceVersion":"0"},"items":[]}`}},
		{"PUT", leases + "/lock", lease(`"name":"lock","resourceVersion":"7","uid":"x"`, held), 409, []string{`"reason":"Conflict"`, "UID in precondition: x"}},
		{"POST", leases, lease(labelled, held), 201, []string{itself + kept("1", "1", held)}},
		{"POST", leases, lease(`"name":"lock"`, held), 409, []string{`"reason":"AlreadyExists"`, `\"lock\" already exists`, `"code":409`}},
		{"GET", leases + "/lock?timeout=5s", "", 200, []string{itself + kept("1", "1", held)}},
		{"PUT", leases + "/lock", lease(labelled+`,"resourceVersion":"1",`+made("1"), `"holderIdentity":"b"`), 200, []string{itself + kept("2", "1", `"holderIdentity":"b"`)}},
		{"PUT", leases + "/lock", lease(labelled+`,"resourceVersion":"2"`, `"holderIdentity":"b","unknown":1`), 200, []string{itself + kept("2", "1", `"holderIdentity":"b"`)}},
		{"GET", leases + "?watch=false&fieldSelector=metadata.name=loc", "", 200, []string{`"items":[]`}},
		{"GET", leases + "?fieldSelector=metadata.name%3D%3Dlock,metadata.namespace=default", "", 200, []string{kept("2", "1", `"holderIdentity":"b"`)}},
		{"GET", leases + "?fieldSelector=metadata.name=lock,metadata.namespace=other", "", 200, []string{`"items":[]`}},
		{"GET", leases + "?limit=1", "", 200, []string{kept("2", "1", `"holderIdentity":"b"`)}},
		{"GET", leases + "/lock?watch=1", "", 200, []string{itself + kept("2", "1", `"holderIdentity":"b"`)}},
		{"GET", leases, "", 200, []string{`{"resourceVersion":"2"},"items":[{` + kept("2", "1", `"holderIdentity":"b"`) + `]}`}},
		{"PUT", leases + "/lock", lease(`"name":"lock","resourceVersion":"1"`, held), 409, []string{`"reason":"Conflict"`, "has been modified"}},
		{"PUT", leases + "/lock", lease(`"name":"lock","resourceVersion":"2",`+made("9"), held), 409, []string{`"reason":"Conflict"`, "StorageError"}},
		{
			"PUT", leases + "/lock", lease(`"name":"lock"`, held), 422, []string{`"reason":"Invalid"`, "must be specified for an update",
				`"causes":[{"reason":"FieldValueInvalid","message":"Invalid value: 0: must be specified for an update","field":"metadata.resourceVersion"}]`},
		},
		{"DELETE", leases + "/lock", `{"preconditions":{"resourceVersion":"1"}}`, 409, []string{`"reason":"Conflict"`, "(1) does not match the ResourceVersion in record (2)"}},
		{"DELETE", leases + "/lock", `{"preconditions":{"uid":"x"}}`, 409, []string{`"reason":"Conflict"`, `"kind":"Lease"`, "the UID in the precondition (x)"}},
		{"DELETE", leases + "/lock", `{"preconditions":{"resourceVersion":"2",` + made("1") + `}}`, 200, []string{`"status":"Success"`, made("1")}},
		{"DELETE", leases + "/lock", "", 404, []string{`"reason":"NotFound"`}},
		{"PUT", leases + "/lock", lease(`"name":"lock","resourceVersion":"2",`+made("1"), held), 409, []string{`"reason":"Conflict"`}},
		{"PUT", leases + "/lock", lease(labelled+`,"resourceVersion":"2"`, `"renewTime":"2026-01-01T02:00:00.000000+02:00"`), 201, []string{itself + kept("4", "4", `"renewTime":"2026-01-01T00:00:00.000000Z"`)}},
	} {
		s.answer = nil
		require.True(t, s.Receive([]byte(asked(x.method, x.path, x.body)), s.send), x.body)
		status, body := answered(t, s.answer)
		require.Equal(t, x.status, status, "%s %s: %s", x.method, x.path, body)
		for _, text := range x.says {
			require.Contains(t, body, text)
		}
	}
}

// TestRequestsThatAreNoneOfALeaseAreRefused: the connection ends with the refusal.
func TestRequestsThatAreNoneOfALeaseAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		request, status, says string
	}{
		"another path":        {asked("GET", "/api/v1/namespaces/default/configmaps/lock", ""), "404", `"reason":"NotFound"`},
		"no namespace":        {asked("GET", "/apis/coordination.k8s.io/v1/namespaces//leases/lock", ""), "404", `"reason":"NotFound"`},
		"a list of some":      {asked("GET", leases+"?labelSelector=x", ""), "501", "has no labelSelector"},
		"initial events":      {asked("GET", leases+"?watch=1&sendInitialEvents=true", ""), "501", "has no sendInitialEvents"},
		"a watch of no time":  {asked("GET", leases+"?watch=1&timeoutSeconds=x", ""), "400", `"reason":"BadRequest"`},
		"a watch of no past":  {asked("GET", leases+"?watch=1&resourceVersion=x", ""), "500", `resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid syntax`},
		"a list of no past":   {asked("GET", leases+"?resourceVersion=x", ""), "400", `"reason":"BadRequest"`},
		"a lease of no past":  {asked("GET", leases+"/lock?resourceVersion=x", ""), "500", `invalid syntax`},
		"another field":       {asked("GET", leases+"?fieldSelector=spec.x=y", ""), "400", `\"spec.x\" is not a known field selector`},
		"no value of a field": {asked("GET", leases+"?watch=1&fieldSelector=metadata.name", ""), "400", `can't understand 'metadata.name'`},
		"all but one":         {asked("GET", leases+"?watch=1&fieldSelector=metadata.name!=x", ""), "501", "has no fieldSelector with !="},
		"a trial run":         {asked("POST", leases+"?dryRun=All", `{"metadata":{"name":"lock"}}`), "501", "has no dryRun"},
		"a trial deletion":    {asked("DELETE", leases+"/lock", `{"dryRun":["All"]}`), "501", "has no dryRun"},
		"a finalizer":         {asked("POST", leases, `{"metadata":{"name":"lock","finalizers":["x"]}}`), "501", "has no finalizers"},
		"a version of none":   {asked("POST", leases, `{"metadata":{"name":"lock","resourceVersion":"1"}}`), "500", "should not be set on objects to be created"},
		"no such name":        {asked("POST", leases, `{"metadata":{"name":"Lock"}}`), "422", "RFC 1123 subdomain"},
		"a long name":         {asked("POST", leases, `{"metadata":{"name":"`+strings.Repeat("a", 254)+`"}}`), "422", "no more than 253"},
		"a pod":               {asked("POST", leases, `{"kind":"Pod","metadata":{"name":"lock"}}`), "400", `"reason":"BadRequest"`},
		"no time":             {asked("POST", leases, `{"metadata":{"name":"lock"},"spec":{"renewTime":"now"}}`), "400", `"reason":"BadRequest"`},
		"a patch":             {asked("PATCH", leases+"/lock", "{}"), "405", `"reason":"MethodNotAllowed"`},
		"protobuf":            {asked("POST", leases, "k8s\x00", "Content-Type: application/vnd.kubernetes.protobuf"), "415", "ContentType"},
		"no JSON":             {asked("POST", leases, "lease"), "400", `"reason":"BadRequest"`},
		"no name":             {asked("POST", leases, "{}"), "422", "metadata.name: Required value"},
		"another name":        {asked("PUT", leases+"/lock", `{"metadata":{"name":"other"}}`), "400", "does not match the name on the URL (lock)"},
		"another namespace":   {asked("POST", leases, `{"metadata":{"name":"lock","namespace":"other"}}`), "400", "does not match the namespace"},
		"no name to replace":  {asked("PUT", leases+"/lock", `{}`), "400", "name must be provided"},
		"no number":           {asked("PUT", leases+"/lock", `{"metadata":{"name":"lock","resourceVersion":"x"}}`), "500", "invalid syntax"},
		"a life of nothing":   {asked("POST", leases, `{"metadata":{"name":"lock"},"spec":{"leaseDurationSeconds":0}}`), "422", "must be greater than 0"},
		"a spec of no object": {asked("POST", leases, `{"metadata":{"name":"lock"},"spec":7}`), "400", `"reason":"BadRequest"`},
		"HTTP/2":              {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505", "HTTP Version Not Supported"},
		"no HTTP":             {"lock\r\n\r\n", "400", "Bad Request"},
		"a chunked body":      {asked("POST", leases, "", "Transfer-Encoding: chunked"), "411", "Length Required"},
		"no length":           {"POST " + leases + " HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "400", "Bad Request"},
		"a length of 2 GiB":   {"POST " + leases + " HTTP/1.1\r\nContent-Length: 2147483647\r\n\r\n", "413", "Request Entity Too Large"},
		"no header":           {"GET " + leases + " HTTP/1.1\r\nlock\r\n\r\n", "400", "Bad Request"},
		"no path":             {"GET lock HTTP/1.1\r\n\r\n", "400", "Bad Request"},
		"a body without end":  {asked("POST", leases, strings.Repeat(" ", 3<<20)), "413", "Request Entity Too Large"},
	} {
		s := &spoken{Conversation: wire.Kubernetes(), server: object.New(nil)}
		require.False(t, s.Receive([]byte(c.request), s.send), name)
		require.Empty(t, s.answer, name)
		require.Contains(t, string(s.Farewell()), "HTTP/1.1 "+c.status+" ", name)
		require.Contains(t, string(s.Farewell()), c.says, name)
		require.Contains(t, string(s.Farewell()), "Connection: close\r\n", name)
	}
}

// TestAWatchOfLeasesIsAnsweredInParts: a line for each event, as it happens.
func TestAWatchOfLeasesIsAnsweredInParts(t *testing.T) {
	const header = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n"
	chunk := func(line string) string { return fmt.Sprintf("%x\r\n%s\n\r\n", len(line)+1, line) }
	event := func(kind, version string) string {
		return `{"type":"` + kind + `","object":{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"creationTimestamp":"1970-01-01T00:00:00Z",` +
			`"name":"lock","namespace":"default","resourceVersion":"` + version + `","uid":"00000000-0000-4000-8000-000000000001"},"spec":{}}}`
	}
	s := &spoken{Conversation: wire.Kubernetes(), server: object.New(nil)}
	require.True(t, s.Receive([]byte(asked("POST", leases, `{"metadata":{"name":"lock"}}`)), s.send))
	s.hold = true
	watch := func(parameters string) (*object.Request, string) {
		s.Conversation = wire.Kubernetes()
		require.True(t, s.Receive([]byte(asked("GET", leases+"?watch=true"+parameters, "")), s.send), parameters)
		r := s.held[len(s.held)-1]
		return r, string(s.Append(nil, s.server.Execute(nil, r)))
	}
	r, begins := watch("")
	require.Equal(t, header+chunk(event("ADDED", "1")), begins)
	lock := object.Listed{Name: "default/lock", Value: `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"lock","namespace":"default"},"spec":{}}`,
		Version: 2, Made: object.Made{Version: 1}}
	for kind, name := range map[object.Kind]string{object.Modified: "MODIFIED", object.Deleted: "DELETED"} {
		require.Equal(t, chunk(event(name, "2")), string(s.Append(nil, &object.Response{Request: r, Changes: []object.Change{{Kind: kind, Listed: lock}}})))
	}
	require.Equal(t, "0\r\n\r\n", string(s.Append(nil, &object.Response{Request: r, Over: true})))

	r, begins = watch("&resourceVersion=1&timeoutSeconds=7&allowWatchBookmarks=true&fieldSelector=metadata.name%3Dlock")
	require.Equal(t, header, begins, "nothing has happened")
	require.Equal(t, object.Request{Op: object.Watch, Name: "default/lock", One: true, Version: 1, Lasts: 7 * time.Second, Watched: true}, *r)
	require.Contains(t, string(s.Append(nil, object.ErrorResponse(r, "503 Slow Down"))), "HTTP/1.1 503 ")

	s.server.Crash(false, "")
	s.server.Execute(nil, &object.Request{Op: object.Put, Name: "default/lock", Value: lock.Value})
	s.server.Crash(false, "")
	_, begins = watch("&resourceVersion=1")
	require.Equal(t, header+chunk(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",`+
		`"message":"too old resource version: 1 (2)","reason":"Expired","code":410}}`)+"0\r\n\r\n", begins)
}

// TestErrorsThatFaultsInjectAreStatuses: a client-go knows them by their reasons.
func TestErrorsThatFaultsInjectAreStatuses(t *testing.T) {
	for text, want := range map[string]string{
		"503 Slow Down": `"reason":"ServiceUnavailable"`, "500 Internal Error": `"reason":"InternalError"`,
		"409 Conflict": `"reason":"Conflict"`, "out of order": `"reason":"InternalError"`,
		"412 Precondition Failed": `"reason":"AlreadyExists"`,
	} {
		s := &spoken{Conversation: wire.Kubernetes(), server: object.New(nil), hold: true}
		require.True(t, s.Receive([]byte(asked("POST", leases, `{"metadata":{"name":"lock"}}`)), s.send))
		_, body := answered(t, s.Append(nil, object.ErrorResponse(s.held[0], text)))
		require.Contains(t, body, want, text)
	}
}

// TestRequestsByHTTPAreWholeHoweverTheirBytesCome cuts them everywhere, and answers in their order what is executed in another.
func TestRequestsByHTTPAreWholeHoweverTheirBytesCome(t *testing.T) {
	whole := asked("POST", leases, `{"metadata":{"name":"lock"}}`) + asked("GET", leases+"/other", "")
	for size := 1; size <= len(whole); size++ {
		s := &spoken{Conversation: wire.Kubernetes(), server: object.New(nil), hold: true}
		for rest := []byte(whole); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			require.True(t, s.Receive(rest[:min(size, len(rest))], s.send))
		}
		require.Len(t, s.held, 2)
		require.Empty(t, s.Append(nil, s.server.Execute(nil, s.held[1])))
		both := string(s.Append(nil, s.server.Execute(nil, s.held[0])))
		require.Regexp(t, `(?s)^HTTP/1.1 201 .*HTTP/1.1 404 `, both)
	}
}
