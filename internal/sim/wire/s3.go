package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locksim/locksim/internal/sim/object"
	"github.com/locksim/locksim/sim"
)

// s3 is the REST API of S3 (version 2006-03-01), as far as locks go: objects are put, read and deleted, also on condition, and listed by
// ListObjectsV2. Every bucket exists, and is the first part of a path. An object is one of the store, named BUCKET/KEY. A body may be in
// aws-chunked encoding, with or without signatures and trailers (Authenticating Requests, Transferring Payload in Multiple Chunks).
//
// Answers are as in the API reference (PutObject, GetObject, HeadObject, DeleteObject, ListObjectsV2, Error Responses). Those to conditions
// are as S3's own, which LocalStack's tests of S3 have recorded (TestS3ObjectWritePrecondition, TestS3DeletePrecondition): a write with
// If-Match of an object that is not there is answered by NoSuchKey. So is a deletion (measured in issue 1475 of ministackorg/ministack).
//
// Left out: signatures and checksums, which are not checked; identifiers of requests; types of content and other metadata; reads on the
// condition of a date, ranges, versions, copies, uploads in parts; addresses whose host is the bucket's; buckets named api and apis, which are
// those of Kubernetes; "100 Continue". What S3 can do besides is refused. A connection ends with what is answered without the store.
type s3 struct{}

// request translates a request. A file that is put makes a holder, and one that is deleted ends it, unless the server's observers know better.
func (s3) request(r *httpRequest) (sim.Payload, *page) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.url.Path, "/"), "/")
	if bucket == "" {
		return nil, s3Lacks("list of buckets")
	}
	if key == "" {
		return bucketRequest(r, bucket)
	}
	o := &object.Request{Name: bucket + "/" + key, Purpose: "look"}
	switch r.method {
	case "GET", "HEAD":
	case "PUT":
		o.Op, o.Purpose, o.Value = object.Put, "acquire", string(r.body)
		if r.header.Get("X-Amz-Decoded-Content-Length") != "" {
			plain, whole := dechunked(r.body)
			if !whole || strconv.Itoa(len(plain)) != r.header.Get("X-Amz-Decoded-Content-Length") {
				return nil, s3Error(statusBadRequest, "IncompleteBody", "The request body terminated unexpectedly")
			}
			o.Value = string(plain)
		}
	case "DELETE":
		o.Op, o.Purpose = object.Delete, "release"
	default:
		return nil, s3Error(statusMethodNotAllowed, "MethodNotAllowed", "The specified method is not allowed against this resource.",
			"Method", r.method, "ResourceType", "OBJECT")
	}
	return o, s3Condition(o, r)
}

// FileEnds is when others may take a file for left, by their wall clocks in nanoseconds since 1970, if it is JSON and says so as that of
// Litestream's lease does (benbjohnson/litestream, leaser.go); 0: it has no end.
func FileEnds(value string) int64 {
	var file struct {
		Ends time.Time `json:"expires_at"`
	}
	if json.Unmarshal([]byte(value), &file) != nil || file.Ends.IsZero() {
		return 0
	}
	return file.Ends.UnixNano()
}

// s3Condition has a write carried out on the condition of its request, and refuses what the simulation has not.
func s3Condition(o *object.Request, r *httpRequest) *page {
	match, none := r.header.Get("If-Match"), r.header.Get("If-None-Match")
	for _, name := range slices.Sorted(maps.Keys(r.url.Query())) {
		if name != "x-id" { // the name of the operation, which SDKs add
			return s3Lacks(name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.header)) {
		if name == "Range" || name == "If-Modified-Since" || name == "If-Unmodified-Since" || strings.HasPrefix(name, "X-Amz-Meta-") ||
			strings.HasPrefix(name, "X-Amz-Copy-") || strings.HasPrefix(name, "X-Amz-If-") {
			return s3Header(name, "")
		}
	}
	switch {
	case match == "" && none == "":
	case match != "" && none != "":
		return s3Header("If-Match,If-None-Match", "Multiple conditional request headers present in the request")
	case o.Op == object.Get && none != "":
		o.When, o.ETag = object.IfNotETag, strings.Trim(none, `"`)
	case none != "" && (none != "*" || o.Op != object.Put):
		return s3Header("If-None-Match", "We don't accept the provided value of If-None-Match header for this API")
	case none != "":
		o.When = object.IfAbsent
	case o.Op == object.Put && match == "*":
		return s3Header("If-Match", "We don't accept the provided value of If-Match header for this API")
	default:
		o.When, o.ETag = object.IfETag, strings.Trim(match, `"`)
	}
	return nil
}

// bucketRequest translates a request for a bucket.
func bucketRequest(r *httpRequest, bucket string) (sim.Payload, *page) {
	q := r.url.Query()
	switch {
	case r.method == "HEAD" || r.method == "PUT" && len(q) == 0:
		return nil, &page{status: statusOK, header: "X-Amz-Bucket-Region: us-east-1\r\n"}
	case r.method == "GET" && q.Has("location"):
		return nil, xmlPage(statusOK, `<LocationConstraint xmlns="`+s3Names+`"/>`)
	case r.method != "GET" || q.Get("list-type") != "2":
		return nil, s3Lacks("other requests for a bucket than its list (version 2)")
	case q.Get("delimiter") != "":
		return nil, s3Lacks("delimiter")
	}
	o := &object.Request{Op: object.List, Name: bucket + "/" + q.Get("prefix"), Most: s3Most, Purpose: "look"}
	if q.Has("max-keys") {
		most, err := strconv.ParseUint(q.Get("max-keys"), 10, 31)
		if err != nil {
			return nil, s3Error(statusBadRequest, "InvalidArgument", "Provided max-keys not an integer or within integer range",
				"ArgumentName", "max-keys", "ArgumentValue", q.Get("max-keys"))
		}
		if o.Most = min(int(most), s3Most); o.Most == 0 {
			return nil, listPage(&object.Response{Request: o}) // it is whole
		}
	}
	if after := max(q.Get("start-after"), q.Get("continuation-token")); after != "" {
		o.After = bucket + "/" + after
	}
	return o, nil
}

// s3Most is how many objects a list has at most.
const s3Most = 1000

// dechunked returns what is in a body in aws-chunked encoding, and whether it is all there. Trailers follow it.
func dechunked(body []byte) (plain []byte, whole bool) {
	for {
		line, rest, _ := bytes.Cut(body, []byte("\r\n"))
		size, _, _ := strings.Cut(string(line), ";")
		n, err := strconv.ParseUint(size, 16, 31)
		switch {
		case err == nil && n == 0:
			return plain, true
		case err != nil || len(rest) < int(n)+2 || string(rest[n:n+2]) != "\r\n":
			return nil, false
		}
		plain, body = append(plain, rest[:n]...), rest[n+2:]
	}
}

// answer translates an answer.
func (s3) answer(p sim.Payload) (sim.Payload, *page) {
	a := p.(*object.Response)
	r := a.Request
	_, key, _ := strings.Cut(r.Name, "/")
	condition := "If-Match"
	if r.When == object.IfAbsent {
		condition = "If-None-Match"
	}
	value := a.Value
	if r.Op == object.Put {
		value = r.Value
	}
	tag := `ETag: "` + object.ETag(value) + "\"\r\n"
	modified := "Last-Modified: " + time.Unix(0, a.Modified).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT") + "\r\n"
	switch {
	case a.Result == object.Failed && r.When == object.IfNotETag:
		return r, &page{status: statusNotModified, header: tag + modified}
	case a.Result == object.Failed:
		return r, s3Error(statusPrecondition, "PreconditionFailed",
			"At least one of the pre-conditions you specified did not hold", "Condition", condition)
	case a.Result == object.Refused:
		return r, s3Refusal(a.Value, condition, key)
	case a.Result == object.NotFound && (r.Op != object.Delete || r.When == object.IfETag):
		return r, s3Error(statusNotFound, "NoSuchKey", "The specified key does not exist.", "Key", key)
	case r.Op == object.Delete:
		return r, &page{status: statusNoContent}
	case r.Op == object.Put:
		return r, &page{status: statusOK, header: tag}
	case r.Op == object.List:
		return r, listPage(a)
	default:
		return r, &page{status: statusOK, kind: "binary/octet-stream", header: tag + modified, body: []byte(value)}
	}
}

// listPage shows a list.
func listPage(a *object.Response) *page {
	bucket, prefix, _ := strings.Cut(a.Request.Name, "/")
	b := []byte(`<ListBucketResult xmlns="` + s3Names + `">`)
	b = appendXML(b, "Name", bucket, "Prefix", prefix, "KeyCount", strconv.Itoa(len(a.All)), "MaxKeys", strconv.Itoa(a.Request.Most))
	last := ""
	for _, o := range a.All {
		last = strings.TrimPrefix(o.Name, bucket+"/")
		b = appendXML(append(b, "<Contents>"...), "Key", last,
			"LastModified", time.Unix(0, o.Modified).UTC().Format("2006-01-02T15:04:05.000Z"), "ETag", `"`+object.ETag(o.Value)+`"`,
			"Size", strconv.Itoa(len(o.Value)), "StorageClass", "STANDARD")
		b = append(b, "</Contents>"...)
	}
	b = appendXML(b, "IsTruncated", strconv.FormatBool(a.More))
	if a.More {
		b = appendXML(b, "NextContinuationToken", last)
	}
	return xmlPage(statusOK, string(b)+"</ListBucketResult>")
}

// s3Refusal is an injected error, whose text begins with its status.
func s3Refusal(text, condition, key string) *page {
	switch status, _, _ := strings.Cut(text, " "); status {
	case "409":
		return s3Error(statusConflict, "ConditionalRequestConflict",
			"The conditional request cannot succeed due to a conflicting operation against this resource.", "Condition", condition, "Key", key)
	case "503":
		return s3Error(statusUnavailable, "SlowDown", "Please reduce your request rate.")
	default:
		return s3Error(statusInternal, "InternalError", "We encountered an internal error. Please try again.")
	}
}

// s3Error is an error of the service, with further elements and their contents.
func s3Error(status int, code, message string, more ...string) *page {
	b := appendXML([]byte("<Error>"), append([]string{"Code", code, "Message", message}, more...)...)
	return xmlPage(status, string(b)+"</Error>")
}

// s3Header refuses a request because of a header, and says more of it if there is more.
func s3Header(name, more string) *page {
	elements := []string{"Header", name}
	if more != "" {
		elements = append(elements, "additionalMessage", more)
	}
	return s3Error(statusNotImplemented, "NotImplemented", "A header you provided implies functionality that is not implemented", elements...)
}

// s3Lacks refuses what S3 has, and the simulation has not.
func s3Lacks(what string) *page {
	return s3Error(statusNotImplemented, "NotImplemented", "the simulated S3 has no "+what)
}

// s3Names is the name space of answers.
const s3Names = "http://s3.amazonaws.com/doc/2006-03-01/"

// xmlPage is an answer in XML.
func xmlPage(status int, text string) *page {
	return &page{status: status, kind: "application/xml", body: []byte(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + text)}
}

// appendXML appends elements, each by its name and its content.
func appendXML(dst []byte, elements ...string) []byte {
	plain := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	for i := 0; i < len(elements); i += 2 {
		dst = fmt.Appendf(dst, "<%s>%s</%[1]s>", elements[i], plain.Replace(elements[i+1]))
	}
	return dst
}
