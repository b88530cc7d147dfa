package wire_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/internal/sim/wire"
)

// told3 sends a request to S3, and returns its answer as a line.
func told3(t *testing.T, s *object.Server, method, path, body string, headers ...string) string {
	t.Helper()
	c := &spoken{Conversation: wire.ObjectStore(), server: s}
	if !c.Receive([]byte(asked(method, path, body, headers...)), c.send) {
		c.answer = c.Farewell()
	}
	rest := bufio.NewReader(bytes.NewReader(c.answer))
	r, err := http.ReadResponse(rest, &http.Request{Method: method})
	require.NoError(t, err)
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	bodiless := r.StatusCode == http.StatusNoContent || r.StatusCode == http.StatusNotModified
	require.Equal(t, bodiless, r.Header.Get("Content-Length") == "", "RFC 9110, 8.6")
	_, err = rest.ReadByte()
	require.ErrorIs(t, err, io.EOF, "%s %s: more bytes than the answer to it has", method, path)
	line := strings.TrimPrefix(string(text), `<?xml version="1.0" encoding="UTF-8"?>`+"\n")
	for _, header := range []string{"Etag", "Last-Modified"} {
		if value := r.Header.Get(header); value != "" {
			line = value + " " + line
		}
	}
	return strings.TrimSpace(r.Status[:3] + " " + line)
}

const (
	noSuchKey    = `404 <Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>test-precondition</Key></Error>`
	header501    = `501 <Error><Code>NotImplemented</Code><Message>A header you provided implies functionality that is not implemented</Message><Header>`
	unmet        = `412 <Error><Code>PreconditionFailed</Code><Message>At least one of the pre-conditions you specified did not hold</Message><Condition>`
	ofNothing    = `200 "d41d8cd98f00b204e9800998ecf8427e"`
	ofTest       = `200 "098f6bcd4621d373cade4e832627b4f6"`
	precondition = "/bucket/test-precondition"
)

// TestS3AnswersConditionsAsTheServiceHasBeenRecorded: the answers of S3 itself that LocalStack's tests have in test_s3_api.snapshot.json,
// whose names the cases have, with the requests of test_s3_api.py, but for identifiers of requests and for checksums.
func TestS3AnswersConditionsAsTheServiceHasBeenRecorded(t *testing.T) {
	type told struct{ method, body, header, answer string }
	for name, all := range map[string][]told{
		"test_put_object_if_none_match": {
			{"PUT", "", "If-None-Match: *", ofNothing},
			{"PUT", "", "If-None-Match: *", unmet + "If-None-Match</Condition></Error>"},
			{"DELETE", "", "", "204"},
			{"PUT", "", "If-None-Match: *", ofNothing},
		},
		"test_put_object_if_none_match_validation": {
			{"PUT", "", "", ofNothing},
			{
				"PUT", "", `If-None-Match: "d41d8cd98f00b204e9800998ecf8427e"`, header501 + "If-None-Match</Header>" +
					"<additionalMessage>We don't accept the provided value of If-None-Match header for this API</additionalMessage></Error>",
			},
		},
		"test_put_object_if_match": {
			{"PUT", "test", "", ofTest},
			{"PUT", "", "If-Match: d41d8cd98f00b204e9800998ecf8427e", unmet + "If-Match</Condition></Error>"},
			{"PUT", "", `If-Match: "098f6bcd4621d373cade4e832627b4f6"`, ofNothing},
			{"DELETE", "", "", "204"},
			{"PUT", "", `If-Match: "d41d8cd98f00b204e9800998ecf8427e"`, noSuchKey},
			{"PUT", "", "", ofNothing},
		},
		"test_put_object_if_match_validation": {
			{
				"PUT", "", "If-Match: *", header501 + "If-Match</Header>" +
					"<additionalMessage>We don't accept the provided value of If-Match header for this API</additionalMessage></Error>",
			},
			{"PUT", "", "If-Match: abcdef", noSuchKey},
			{"PUT", "", "If-Match: #", noSuchKey},
		},
		"test_copy_object_precondition_write_validation": {
			{
				"PUT", "", "If-Match: *\r\nIf-None-Match: *", header501 + "If-Match,If-None-Match</Header>" +
					"<additionalMessage>Multiple conditional request headers present in the request</additionalMessage></Error>",
			},
		},
		"test_delete_object_if_match_non_express":      {{"PUT", "", "", ofNothing}, {"DELETE", "", "If-Match: badvalue", unmet + "If-Match</Condition></Error>"}},
		"test_delete_object_if_match_size_non_express": {{"DELETE", "", "X-Amz-If-Match-Size: 10", header501 + "X-Amz-If-Match-Size</Header></Error>"}},
		"issue 1475 of ministackorg/ministack, unversioned": {
			{"DELETE", "", "If-Match: *", noSuchKey},
			{"DELETE", "", "If-Match: badetag", noSuchKey},
			{"PUT", "test", "", ofTest},
			{"DELETE", "", "If-Match: *", "204"},
			{"PUT", "test", "", ofTest},
			{"DELETE", "", `If-Match: "098f6bcd4621d373cade4e832627b4f6"`, "204"},
			{"DELETE", "", "", "204"}, // of what is not there, by the API reference
		},
	} {
		s := object.New(nil)
		for _, x := range all {
			headers := []string{x.header}
			if x.header == "" {
				headers = nil
			}
			require.Equal(t, x.answer, told3(t, s, x.method, precondition, x.body, headers...), "%s: %s %s", name, x.method, x.header)
		}
	}
}

// TestS3KeepsObjectsAndListsThem as the API reference shows it.
func TestS3KeepsObjectsAndListsThem(t *testing.T) {
	const (
		chunked = "X-Amz-Decoded-Content-Length: 11"
		signed  = "6;chunk-signature=00\r\nhello \r\n5;chunk-signature=01\r\nworld\r\n0;chunk-signature=02\r\n\r\n"
		trailer = "b\r\nhello world\r\n0\r\nx-amz-checksum-crc32:DUoRhQ==\r\n\r\n"
		head    = `Thu, 01 Jan 1970 00:00:00 GMT "5eb63bbbe01eeed093cb22bb8f5acdc3"`
		entry   = "<LastModified>1970-01-01T00:00:00.000Z</LastModified>" +
			`<ETag>"5eb63bbbe01eeed093cb22bb8f5acdc3"</ETag><Size>11</Size><StorageClass>STANDARD</StorageClass></Contents>`
		list  = `200 <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name>`
		short = "400 <Error><Code>IncompleteBody</Code><Message>The request body terminated unexpectedly</Message></Error>"
		none  = "501 <Error><Code>NotImplemented</Code><Message>the simulated S3 has no "
	)
	s := object.New(nil)
	for _, x := range []struct{ method, path, body, header, answer string }{
		{"HEAD", "/b", "", "", "200"},
		{"PUT", "/b", "", "", "200"},
		{"GET", "/b?location", "", "", `200 <LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>`},
		{"HEAD", "/b/a", "", "", "404"},
		{"PUT", "/b/a?x-id=PutObject", signed, chunked, `200 "5eb63bbbe01eeed093cb22bb8f5acdc3"`},
		{"PUT", "/b/c%26d", trailer, chunked, `200 "5eb63bbbe01eeed093cb22bb8f5acdc3"`},
		{"PUT", "/b/e", trailer[:8], chunked, short},
		{"PUT", "/b/e", "z\r\n\r\n", chunked, short},
		{"PUT", "/b/e", "5\r\nhello\r\n0\r\n\r\n", chunked, short},
		{"GET", "/b/a", "", "", "200 " + head + " hello world"},
		{"HEAD", "/b/a", "", "", "200 " + head},
		{"GET", "/b/e", "", "", "404 <Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>e</Key></Error>"},
		{"GET", "/b?list-type=2&prefix=x", "", "", list + "<Prefix>x</Prefix><KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated></ListBucketResult>"},
		{
			"GET", "/b?list-type=2&max-keys=1", "", "", list + "<Prefix></Prefix><KeyCount>1</KeyCount><MaxKeys>1</MaxKeys><Contents><Key>a</Key>" + entry +
				"<IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken></ListBucketResult>",
		},
		{
			"GET", "/b?list-type=2&max-keys=1&continuation-token=a", "", "", list + "<Prefix></Prefix><KeyCount>1</KeyCount><MaxKeys>1</MaxKeys>" +
				"<Contents><Key>c&amp;d</Key>" + entry + "<IsTruncated>false</IsTruncated></ListBucketResult>",
		},
		{"GET", "/b?list-type=2&delimiter=/", "", "", none + "delimiter</Message></Error>"},
		{"GET", "/b?list-type=2&max-keys=x", "", "", "400 <Error><Code>InvalidArgument</Code><Message>Provided max-keys not an integer or within integer range</Message>" +
			"<ArgumentName>max-keys</ArgumentName><ArgumentValue>x</ArgumentValue></Error>"},
		{"GET", "/b", "", "", none + "other requests for a bucket than its list (version 2)</Message></Error>"},
		{"GET", "/", "", "", none + "list of buckets</Message></Error>"},
		{"GET", "/b/a?acl", "", "", none + "acl</Message></Error>"},
		{"GET", "/b/a", "", "If-None-Match: x", "200 " + head + " hello world"},
		{"GET", "/b/a", "", `If-None-Match: "5eb63bbbe01eeed093cb22bb8f5acdc3"`, "304 " + head},
		{"HEAD", "/b/a", "", "If-None-Match: *", "304 " + head},
		{"GET", "/b/a", "", `If-Match: "5eb63bbbe01eeed093cb22bb8f5acdc3"`, "200 " + head + " hello world"},
		{"GET", "/b/a", "", "If-Match: x", unmet + "If-Match</Condition></Error>"},
		{"GET", "/b/e", "", "If-None-Match: x", "404 <Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message><Key>e</Key></Error>"},
		{"GET", "/b?list-type=2&max-keys=0", "", "", list + "<Prefix></Prefix><KeyCount>0</KeyCount><MaxKeys>0</MaxKeys><IsTruncated>false</IsTruncated></ListBucketResult>"},
		{"GET", "/b/a", "", "Range: bytes=0-1", header501 + "Range</Header></Error>"},
		{"PUT", "/b/a", "", "X-Amz-Meta-Owner: a", header501 + "X-Amz-Meta-Owner</Header></Error>"},
		{"POST", "/b/a", "", "", "405 <Error><Code>MethodNotAllowed</Code><Message>The specified method is not allowed against this resource.</Message>" +
			"<Method>POST</Method><ResourceType>OBJECT</ResourceType></Error>"},
	} {
		headers := []string{"Authorization: AWS4-HMAC-SHA256 any"}
		if x.header != "" {
			headers = append(headers, x.header)
		}
		require.Equal(t, x.answer, told3(t, s, x.method, x.path, x.body, headers...), "%s %s", x.method, x.path)
	}
}

// TestS3TellsErrorsThatFaultsInject: SDKs send a request again that was throttled, and not one that met another.
func TestS3TellsErrorsThatFaultsInject(t *testing.T) {
	for text, want := range map[string]string{
		"503 Slow Down":           "<Code>SlowDown</Code>",
		"500 Internal Error":      "<Code>InternalError</Code>",
		"409 Conflict":            "<Code>ConditionalRequestConflict</Code>",
		"412 Precondition Failed": "<Condition>If-None-Match</Condition>",
	} {
		s := &spoken{Conversation: wire.ObjectStore(), server: object.New(nil), hold: true}
		require.True(t, s.Receive([]byte(asked("PUT", "/b/a", "x", "If-None-Match: *")), s.send))
		answer := string(s.Append(nil, object.ErrorResponse(s.held[0], text)))
		require.Contains(t, answer, "HTTP/1.1 "+text[:4], text)
		require.Contains(t, answer, want, text)
	}
}
