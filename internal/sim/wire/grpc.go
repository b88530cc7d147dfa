package wire

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"

	"github.com/locksim/locksim/sim"
)

// service is what is offered by gRPC.
type service interface {
	// streams reports whether a method takes several messages, and answers each.
	streams(path string) bool
	// request translates a message; a failure is the answer to one that cannot be a request of the service.
	request(path string, stream uint32, message []byte) (sim.Payload, *grpcError)
	// of returns the request that is answered.
	of(p sim.Payload) sim.Payload
	// answer translates an answer; nil says nothing. More says that others may follow.
	answer(path string, p sim.Payload) (message []byte, more bool, failed *grpcError)
	// beat is a request that the server answers at once, whatever it says: what belongs to the connection takes as long as that.
	beat(of string) sim.Payload
	// cancel is a request to end what was asked for on a stream.
	cancel(stream uint32) sim.Payload
}

// grpcError is an error of a call, with its code of gRPC.
type grpcError struct {
	code int
	text string
}

// Further codes of gRPC.
const (
	exhaustedCode     = 8
	unimplementedCode = 12
	internalCode      = 13
)

// preface is what a connection of HTTP/2 begins with (RFC 9113, 3.4).
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// The types of frames (RFC 9113, 6), and their flags.
const (
	dataFrame         = 0
	headersFrame      = 1
	resetFrame        = 3
	settingsFrame     = 4
	pushFrame         = 5
	pingFrame         = 6
	goAwayFrame       = 7
	windowUpdateFrame = 8
	continuationFrame = 9

	endStream  = 0x1
	ack        = 0x1
	endHeaders = 0x4
	padded     = 0x8
	priority   = 0x20
)

// The sizes of HTTP/2.
const (
	frameHead     = 9
	frameMost     = 16_384
	firstWindow   = 65_535
	largestWindow = 1<<31 - 1
	mostStreams   = 1_000
	mostHeader    = 64 << 10
)

// grpc is a conversation in gRPC, over HTTP/2 without TLS (gRPC's doc/PROTOCOL-HTTP2.md). Messages that are compressed are refused.
type grpc struct {
	service service
	rest    []byte // not yet a whole frame
	greeted bool   // the preface has come
	head    *hpack.Decoder
	block   []byte // of a header that goes on in the next frame
	opening uint32 // the stream that it opens; 0: none goes on
	ends    bool   // which ends with its header
	streams map[uint32]*grpcStream
	last    uint32 // the newest stream
	calls   map[sim.Payload]*grpcCall
	window  int64 // how many bytes the client takes
	initial int64 // and of each new stream
	taken   int   // bytes of data since the client was last told that it may send as many again
}

// grpcStream is a call, from its header to its trailer.
type grpcStream struct {
	id      uint32
	path    string
	in      []byte // not yet a whole message
	done    bool   // the client sends nothing more
	open    int    // how many requests can be answered yet
	begun   bool   // the header of the answer has been sent
	window  int64
	out     []byte     // waits for the window
	over    bool       // and then for the trailer
	failure *grpcError // which says so
}

// grpcCall is a request that can be answered.
type grpcCall struct {
	stream *grpcStream
	frames []byte     // what is answered at once: of the connection
	failed *grpcError // or of a call
}

func newGRPC(s service) *grpc {
	head := hpack.NewDecoder(4096, nil)
	head.SetMaxStringLength(mostHeader)
	return &grpc{
		service: s, head: head, streams: map[uint32]*grpcStream{}, calls: map[sim.Payload]*grpcCall{},
		window: firstWindow, initial: firstWindow,
	}
}

// inOrder returns the streams by their numbers.
func (g *grpc) inOrder() []*grpcStream {
	return slices.SortedFunc(maps.Values(g.streams), func(s, t *grpcStream) int { return cmp.Compare(s.id, t.id) })
}

// Receive takes all complete frames.
func (g *grpc) Receive(received []byte, send func(sim.Payload) error) bool {
	g.rest = append(g.rest, received...)
	if !g.greeted {
		if len(g.rest) < len(preface) {
			return true
		}
		g.rest, g.greeted = g.rest[len(preface):], true
	}
	for len(g.rest) >= frameHead {
		n := int(g.rest[0])<<16 | int(g.rest[1])<<8 | int(g.rest[2])
		switch {
		case n > frameMost:
			return false
		case len(g.rest) < frameHead+n:
			return true
		}
		kind, flags, stream := g.rest[3], g.rest[4], binary.BigEndian.Uint32(g.rest[5:])&largestWindow
		body := g.rest[frameHead : frameHead+n]
		g.rest = g.rest[frameHead+n:]
		if g.opening != 0 && kind != continuationFrame || !g.take(kind, flags, stream, body, send) {
			return false
		}
	}
	return true
}

// take takes a frame. False ends the connection.
func (g *grpc) take(kind, flags byte, stream uint32, body []byte, send func(sim.Payload) error) bool {
	switch kind {
	case settingsFrame:
		return g.settings(flags, body, send)
	case pingFrame:
		return flags&ack != 0 || len(body) == 8 && g.atOnce("PING", appendFrame(nil, pingFrame, ack, 0, body), send)
	case windowUpdateFrame:
		return len(body) == 4 && g.widen(stream, int64(binary.BigEndian.Uint32(body)&largestWindow), send)
	case headersFrame:
		body, ok := unpadded(flags, body)
		if flags&priority != 0 && ok {
			if ok = len(body) >= 5; ok {
				body = body[5:]
			}
		}
		if !ok || stream <= g.last || stream%2 == 0 {
			return false
		}
		g.last, g.opening, g.ends, g.block = stream, stream, flags&endStream != 0, nil
		return g.header(flags, body, send)
	case continuationFrame:
		return g.opening != 0 && stream == g.opening && g.header(flags, body, send)
	case dataFrame:
		body, ok := unpadded(flags, body)
		return ok && g.data(stream, body, flags&endStream != 0, send)
	case resetFrame:
		return g.reset(stream, send)
	case pushFrame:
		return false
	}
	return true // what is unknown is left out
}

func unpadded(flags byte, body []byte) ([]byte, bool) {
	if flags&padded == 0 {
		return body, true
	}
	if len(body) == 0 || int(body[0]) >= len(body) {
		return nil, false
	}
	return body[1 : len(body)-int(body[0])], true
}

// atOnce has frames sent as soon as the server has been asked.
func (g *grpc) atOnce(name string, frames []byte, send func(sim.Payload) error) bool {
	p := g.service.beat(name)
	g.calls[p] = &grpcCall{frames: frames}
	return send(p) == nil
}

// settings takes the client's settings. The first are answered by those of the server, too: the client may send what it likes.
func (g *grpc) settings(flags byte, body []byte, send func(sim.Payload) error) bool {
	if flags&ack != 0 {
		return true
	}
	for ; len(body) >= 6; body = body[6:] {
		const initialWindowSize = 4
		if size := binary.BigEndian.Uint32(body[2:]); binary.BigEndian.Uint16(body) == initialWindowSize && size <= largestWindow {
			for _, s := range g.inOrder() {
				s.window += int64(size) - g.initial
			}
			g.initial = int64(size)
		}
	}
	var frames []byte
	if g.last == 0 {
		own := binary.BigEndian.AppendUint32([]byte{0, 4}, largestWindow)
		frames = appendFrame(nil, settingsFrame, 0, 0, own)
		frames = appendFrame(frames, windowUpdateFrame, 0, 0, binary.BigEndian.AppendUint32(nil, largestWindow-firstWindow))
	}
	return g.atOnce("SETTINGS", appendFrame(frames, settingsFrame, ack, 0, nil), send)
}

// widen lets more bytes be sent.
func (g *grpc) widen(stream uint32, more int64, send func(sim.Payload) error) bool {
	waits := false
	if s := g.streams[stream]; s != nil {
		s.window += more
		waits = len(s.out) > 0
	} else if stream == 0 {
		g.window += more
		waits = slices.ContainsFunc(g.inOrder(), func(s *grpcStream) bool { return len(s.out) > 0 })
	}
	return !waits || g.atOnce("WINDOW_UPDATE", nil, send)
}

// header takes a part of a header, and opens a stream with the last one.
func (g *grpc) header(flags byte, part []byte, send func(sim.Payload) error) bool {
	if g.block = append(g.block, part...); len(g.block) > mostHeader {
		return false
	}
	if flags&endHeaders == 0 {
		return true
	}
	s := &grpcStream{id: g.opening, window: g.initial, done: g.ends}
	g.opening = 0
	fields, err := g.head.DecodeFull(g.block)
	if err != nil {
		return false
	}
	kind := ""
	for _, f := range fields {
		switch f.Name {
		case ":path":
			s.path = f.Value
		case "content-type":
			kind = f.Value
		}
	}
	g.streams[s.id] = s
	switch {
	case len(g.streams) > mostStreams:
		return g.refuse(s, &grpcError{exhaustedCode, "too many streams"}, send)
	case !strings.HasPrefix(kind, "application/grpc"):
		return g.refuse(s, &grpcError{internalCode, fmt.Sprintf("invalid gRPC request content-type %q", kind)}, send)
	case s.done:
		return g.refuse(s, &grpcError{internalCode, "there is no message"}, send)
	}
	return true
}

// refuse answers a call with a failure.
func (g *grpc) refuse(s *grpcStream, f *grpcError, send func(sim.Payload) error) bool {
	p := g.service.beat("refused")
	g.calls[p] = &grpcCall{stream: s, failed: f}
	s.open++
	return send(p) == nil
}

// data takes a part of a call's messages.
func (g *grpc) data(stream uint32, part []byte, ends bool, send func(sim.Payload) error) bool {
	g.taken += len(part)
	s := g.streams[stream]
	if s == nil || s.done { // it has been ended
		return stream <= g.last
	}
	s.in, s.done = append(s.in, part...), ends
	const prefix = 5
	streams := g.service.streams(s.path)
	for len(s.in) >= prefix && (streams || s.open == 0) {
		n := int(binary.BigEndian.Uint32(s.in[1:]))
		if n <= mostBytes && len(s.in) < prefix+n {
			break
		}
		switch {
		case n > mostBytes:
			s.in, s.done = nil, true
			text := fmt.Sprintf("grpc: received message larger than max (%d vs. %d)", n, mostBytes)
			return g.refuse(s, &grpcError{exhaustedCode, text}, send)
		case s.in[0] != 0:
			s.done = true
			return g.refuse(s, &grpcError{unimplementedCode, "the message is compressed"}, send)
		}
		message := s.in[prefix : prefix+n]
		s.in = s.in[prefix+n:]
		p, failed := g.service.request(s.path, s.id, message)
		if failed != nil {
			s.done = true
			return g.refuse(s, failed, send)
		}
		g.calls[p] = &grpcCall{stream: s}
		s.open++
		if send(p) != nil {
			return false
		}
	}
	switch {
	case s.done && streams: // the server ends it, too
		p := g.service.cancel(s.id)
		g.calls[p] = &grpcCall{stream: s, failed: &grpcError{}}
		return send(p) == nil
	case s.done && s.open == 0:
		return g.refuse(s, &grpcError{internalCode, "there is no message"}, send)
	}
	return true
}

// reset ends a call without an answer.
func (g *grpc) reset(stream uint32, send func(sim.Payload) error) bool {
	if g.streams[stream] == nil {
		return stream <= g.last
	}
	delete(g.streams, stream)
	maps.DeleteFunc(g.calls, func(_ sim.Payload, c *grpcCall) bool { return c.stream != nil && c.stream.id == stream })
	return send(g.service.cancel(stream)) == nil
}

// Append encodes an answer.
func (g *grpc) Append(dst []byte, p sim.Payload) []byte {
	if g.taken > firstWindow {
		dst = appendFrame(dst, windowUpdateFrame, 0, 0, binary.BigEndian.AppendUint32(nil, uint32(g.taken)))
		g.taken = 0
	}
	request := g.service.of(p)
	c := g.calls[request]
	switch {
	case c == nil: // it has been canceled
		return dst
	case c.stream == nil:
		delete(g.calls, request)
		dst = append(dst, c.frames...)
		for _, s := range g.inOrder() {
			dst = g.flush(dst, s)
		}
		return dst
	}
	s := c.stream
	message, more, failed := []byte(nil), false, c.failed
	if failed == nil {
		message, more, failed = g.service.answer(s.path, p)
	}
	if !more {
		delete(g.calls, request)
		s.open--
	}
	if failed == nil && message != nil {
		s.out = append(binary.BigEndian.AppendUint32(append(s.out, 0), uint32(len(message))), message...)
	}
	if failed != nil || !g.service.streams(s.path) {
		s.over, s.failure = true, failed
	}
	return g.flush(dst, s)
}

// flush sends what a stream's window allows, and the trailer after all.
func (g *grpc) flush(dst []byte, s *grpcStream) []byte {
	if !s.begun && (len(s.out) > 0 || s.over && s.failure == nil) {
		s.begun = true
		dst = appendFrame(dst, headersFrame, endHeaders, s.id, answerHead)
	}
	for len(s.out) > 0 {
		n := min(int64(len(s.out)), frameMost, g.window, s.window)
		if n <= 0 {
			return dst
		}
		dst = appendFrame(dst, dataFrame, 0, s.id, s.out[:n])
		s.out, g.window, s.window = s.out[n:], g.window-n, s.window-n
	}
	if !s.over {
		return dst
	}
	delete(g.streams, s.id)
	maps.DeleteFunc(g.calls, func(_ sim.Payload, c *grpcCall) bool { return c.stream == s })
	var trailer []byte
	if !s.begun {
		trailer = answerHead
	}
	f := grpcError{}
	if s.failure != nil {
		f = *s.failure
	}
	trailer = appendField(appendField(slices.Clip(trailer), "grpc-status", strconv.Itoa(f.code)), "grpc-message", percentEncoded(f.text))
	dst = appendFrame(dst, headersFrame, endHeaders|endStream, s.id, trailer)
	if !s.done { // the client need send nothing more (RFC 9113, 8.1)
		dst = appendFrame(dst, resetFrame, 0, s.id, make([]byte, 4))
	}
	return dst
}

// Farewell says that the client has not kept to the protocol.
func (g *grpc) Farewell() []byte {
	const protocolError = 1
	return appendFrame(nil, goAwayFrame, 0, 0, binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, g.last), protocolError))
}

// answerHead is the header of each answer: a status of 200, the eighth entry of the static table (RFC 7541, Appendix A).
var answerHead = appendField([]byte{0x88}, "content-type", "application/grpc")

// appendField encodes a field of a header as a literal that no table keeps (RFC 7541, 6.2.2).
func appendField(dst []byte, name, value string) []byte {
	dst = append(dst, 0)
	for _, text := range []string{name, value} {
		dst = append(appendLength(dst, len(text)), text...)
	}
	return dst
}

// appendLength encodes a length of seven bits or more (RFC 7541, 5.1).
func appendLength(dst []byte, n int) []byte {
	if n < 127 {
		return append(dst, byte(n))
	}
	return binary.AppendUvarint(append(dst, 127), uint64(n-127))
}

// percentEncoded encodes a failure's text (gRPC's doc/PROTOCOL-HTTP2.md, "Status-Message").
func percentEncoded(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c >= ' ' && c <= '~' && c != '%' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func appendFrame(dst []byte, kind, flags byte, stream uint32, body []byte) []byte {
	n := len(body)
	dst = append(dst, byte(n>>16), byte(n>>8), byte(n), kind, flags)
	return append(binary.BigEndian.AppendUint32(dst, stream), body...)
}
