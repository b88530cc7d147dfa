package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/sim"
)

// api is what a service offers by HTTP/1.1: requests and answers in its words.
type api interface {
	// request translates a request; a page is the answer to one that cannot be one of the service's.
	request(r *httpRequest) (sim.Payload, *page)
	// answer translates an answer, and returns the request that it belongs to.
	answer(p sim.Payload) (sim.Payload, *page)
}

// httpRequest is a request with its body. It is not net/http's, which would take longer to link and to check than all else that
// the author of a lock needs for a test.
type httpRequest struct {
	method string
	url    *url.URL
	header textproto.MIMEHeader
	body   []byte
}

// page is an answer.
type page struct {
	status int
	kind   string // its Content-Type; "" without a body
	header string // further lines
	body   []byte
	bare   bool // the answer to a HEAD: all but the body
	stream streaming
}

// streaming says which part an answer is of one whose length is not known when it begins.
type streaming uint8

// The parts.
const (
	whole       streaming = iota
	onlyPart              // the only one
	lastPart              // after which none follows
	firstPart             // more may follow, on the same connection
	furtherPart           // likewise
)

// The statuses of answers.
const (
	statusOK                   = 200
	statusCreated              = 201
	statusNoContent            = 204
	statusNotModified          = 304
	statusBadRequest           = 400
	statusNotFound             = 404
	statusMethodNotAllowed     = 405
	statusConflict             = 409
	statusGone                 = 410
	statusPrecondition         = 412
	statusLengthRequired       = 411
	statusTooLarge             = 413
	statusUnsupportedMediaType = 415
	statusUnprocessable        = 422
	statusInternal             = 500
	statusNotImplemented       = 501
	statusUnavailable          = 503
	statusVersion              = 505
)

// statusText is the words of statuses, as of RFC 9110 but for that of a request that is too large, which has Go's name.
var statusText = map[int]string{
	statusOK: "OK", statusCreated: "Created", statusNoContent: "No Content", statusNotModified: "Not Modified", statusBadRequest: "Bad Request", statusNotFound: "Not Found",
	statusMethodNotAllowed: "Method Not Allowed", statusConflict: "Conflict", statusGone: "Gone", statusPrecondition: "Precondition Failed", statusLengthRequired: "Length Required",
	statusTooLarge: "Request Entity Too Large", statusUnsupportedMediaType: "Unsupported Media Type",
	statusUnprocessable: "Unprocessable Entity", statusInternal: "Internal Server Error", statusNotImplemented: "Not Implemented",
	statusUnavailable: "Service Unavailable", statusVersion: "HTTP Version Not Supported",
}

// mostBytes is how long a request may be, with its body: the limit of the Kubernetes API for what it stores (MaxRequestBodyBytes
// in staging/src/k8s.io/apiserver/pkg/server/config.go).
const mostBytes = 3 << 20

// web is a conversation in HTTP/1.1 on one connection.
type web struct {
	api      api                    // nil until the first request
	choose   func(*httpRequest) api // from the first request; nil if there is no choice
	rest     []byte                 // not yet a whole request
	waiting  []exchange             // in the order of the requests, in which answers are sent too
	farewell []byte
}

// exchange is a request that has not been answered, or whose answer waits for those before it.
type exchange struct {
	request sim.Payload
	answer  []byte
	head    bool // the request is a HEAD
	open    bool // more parts may follow
}

// Receive sends on all complete requests.
func (w *web) Receive(received []byte, send func(sim.Payload) error) bool {
	w.rest = append(w.rest, received...)
	for len(w.rest) > 0 {
		r, length, refused := parseHTTP(w.rest)
		if refused == nil && r == nil {
			return true
		}
		var request sim.Payload
		if refused == nil && w.api == nil {
			w.api = w.choose(r)
		}
		if refused == nil {
			request, refused = w.api.request(r)
		}
		head := r != nil && r.method == "HEAD"
		if refused != nil {
			refused.bare = head
			w.farewell = refused.append(nil, "Connection: close\r\n")
			return false
		}
		w.rest = w.rest[length:]
		w.waiting = append(w.waiting, exchange{request: request, head: head})
		if send(request) != nil {
			return false
		}
	}
	return true
}

// parseHTTP reads the first request and how long it is; nil if it is not all there. A page is the answer to one that is malformed.
func parseHTTP(received []byte) (r *httpRequest, length int, refused *page) {
	if len(received) > mostBytes {
		return nil, 0, plain(statusTooLarge)
	}
	end := bytes.Index(received, []byte("\r\n\r\n"))
	if end < 0 {
		return nil, 0, nil
	}
	end += len("\r\n\r\n")
	r, refused = parseHead(received[:end])
	if refused != nil {
		return nil, 0, refused
	}
	size := 0
	if text := r.header.Get("Content-Length"); text != "" {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return nil, 0, plain(statusBadRequest)
		}
		size = int(n)
	}
	switch {
	case r.header.Get("Transfer-Encoding") != "": // clients know how long their small requests are
		return nil, 0, plain(statusLengthRequired)
	case size > mostBytes-end:
		return nil, 0, plain(statusTooLarge)
	case len(received) < end+size:
		return nil, 0, nil
	}
	r.body = bytes.Clone(received[end : end+size])
	return r, end + size, nil
}

// parseHead reads the first line of a request, and its header.
func parseHead(head []byte) (*httpRequest, *page) {
	lines := textproto.NewReader(bufio.NewReader(bytes.NewReader(head)))
	line, errLine := lines.ReadLine()
	header, errHeader := lines.ReadMIMEHeader()
	method, rest, _ := strings.Cut(line, " ")
	target, version, isRequest := strings.Cut(rest, " ")
	if errors.Join(errLine, errHeader) != nil || !isRequest || !strings.HasPrefix(version, "HTTP/") {
		return nil, plain(statusBadRequest)
	}
	if !strings.HasPrefix(version, "HTTP/1.") { // the preface of HTTP/2 without TLS
		return nil, plain(statusVersion)
	}
	where, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, plain(statusBadRequest)
	}
	return &httpRequest{method: method, url: where, header: header}, nil
}

// Append encodes an answer, and those that have waited for it.
func (w *web) Append(dst []byte, p sim.Payload) []byte {
	request, answer := w.api.answer(p)
	if i := slices.IndexFunc(w.waiting, func(e exchange) bool { return e.request == request }); i >= 0 {
		e := &w.waiting[i]
		answer.bare = e.head
		e.answer, e.open = answer.append(e.answer, ""), answer.stream >= firstPart
	}
	for len(w.waiting) > 0 && w.waiting[0].answer != nil {
		dst = append(dst, w.waiting[0].answer...)
		if w.waiting[0].open {
			w.waiting[0].answer = nil
			break
		}
		w.waiting = w.waiting[1:]
	}
	return dst
}

// Farewell returns the answer to what ends a conversation.
func (w *web) Farewell() []byte { return w.farewell }

// plain is an answer that only says its status, as Go's server words it.
func plain(status int) *page {
	return &page{status: status, kind: "text/plain; charset=utf-8", body: fmt.Appendf(nil, "%d %s", status, statusText[status])}
}

// append encodes an answer with further lines of its header. There is no Date: what a server's wall clock shows is up to no lock.
func (p *page) append(dst []byte, more string) []byte {
	if p.stream == furtherPart {
		return appendChunk(dst, p.body)
	}
	if p.stream == lastPart {
		return append(appendChunk(dst, p.body), lastChunk...)
	}
	length := fmt.Sprintf("Content-Length: %d", len(p.body))
	if p.stream != whole {
		length = "Transfer-Encoding: chunked"
	}
	dst = fmt.Appendf(dst, "HTTP/1.1 %d %s\r\n", p.status, statusText[p.status])
	if p.status != statusNoContent && p.status != statusNotModified { // RFC 9110, 8.6
		dst = append(append(dst, length...), "\r\n"...)
	}
	if p.kind != "" {
		dst = fmt.Appendf(dst, "Content-Type: %s\r\n", p.kind)
	}
	dst = append(append(append(dst, p.header...), more...), "\r\n"...)
	switch {
	case p.bare:
		return dst
	case p.stream == whole:
		return append(dst, p.body...)
	case p.stream == onlyPart:
		return append(appendChunk(dst, p.body), lastChunk...)
	default:
		return appendChunk(dst, p.body)
	}
}

// lastChunk ends a body that has parts.
const lastChunk = "0\r\n\r\n"

// appendChunk encodes a part of a body (RFC 9112, 7.1). An empty one would end it.
func appendChunk(dst, body []byte) []byte {
	if len(body) == 0 {
		return dst
	}
	return append(append(fmt.Appendf(dst, "%x\r\n", len(body)), body...), "\r\n"...)
}
