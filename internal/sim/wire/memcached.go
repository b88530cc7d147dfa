package wire

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/locksim/locksim/internal/sim/memcached"
	"github.com/locksim/locksim/sim"
)

// Memcached returns a conversation in memcached's text protocol (doc/protocol.txt; what is malformed is refused as by proto_text.c
// of 1.6.18): get, gets, set, add, replace, cas, delete, touch, incr, decr, version, verbosity and quit.
//
// Other commands that memcached knows are refused with SERVER_ERROR and their name; the binary protocol ends the connection.
func Memcached() Conversation { return &memcachedConversation{} }

// memcachedVersion is the version that the server tells of itself, and whose text protocol this is.
const memcachedVersion = "1.6.18"

// The bounds of the protocol, in bytes.
const (
	mostKey      = 250
	mostItem     = 1<<20 - 512 // with what an item has besides its value, about a megabyte
	longestWords = 2048        // of a line that is no get
)

type memcachedConversation struct {
	begun   bool
	rest    []byte // not yet a whole command
	skip    int    // bytes of a value that will not be stored
	waiting []memcachedExchange
}

// memcachedExchange is a request that has not been answered.
type memcachedExchange struct {
	request sim.Payload
	quiet   bool // nobody wants the answer, unless it is an error
	more    bool // the answer is continued by the next one
}

// Receive sends on all complete commands.
func (c *memcachedConversation) Receive(received []byte, send func(sim.Payload) error) bool {
	if !c.begun && len(received) > 0 {
		c.begun = true
		if received[0] == 0x80 { // of the binary protocol
			return false
		}
	}
	c.rest = append(c.rest, received...)
	for {
		skipped := min(c.skip, len(c.rest))
		c.rest, c.skip = c.rest[skipped:], c.skip-skipped
		end := bytes.IndexByte(c.rest, '\n')
		if end < 0 {
			line := bytes.TrimLeft(c.rest, " ")
			return len(c.rest) <= longestWords || bytes.HasPrefix(line, []byte("get ")) || bytes.HasPrefix(line, []byte("gets "))
		}
		words := strings.Fields(string(c.rest[:end]))
		if len(words) > 0 && words[0] == "quit" {
			return false
		}
		requests, length := c.command(words, c.rest[end+1:])
		if length < 0 {
			return true
		}
		c.rest = c.rest[end+1+length:]
		for _, r := range requests {
			c.waiting = append(c.waiting, r)
			if send(r.request) != nil {
				return false
			}
		}
	}
}

// command translates a command, and returns how many bytes after its line belong to it; a negative number if they are not all there.
func (c *memcachedConversation) command(words []string, after []byte) (requests []memcachedExchange, length int) {
	name := ""
	if len(words) > 0 {
		name = words[0]
	}
	quiet := len(words) > 1 && words[len(words)-1] == "noreply"
	one := func(r *memcached.Request) []memcachedExchange {
		return []memcachedExchange{{request: r, quiet: quiet && r.Op != memcached.Other}}
	}
	switch name {
	case "get", "gets":
		return reads(name, words[1:]), 0
	case "set", "add", "replace", "cas", "append", "prepend":
		r, size := c.store(name, words)
		switch {
		case size > len(after):
			return nil, -1
		case size > 0:
			r.Value = string(after[:size-2])
			if string(after[size-2:size]) != "\r\n" {
				r = replies("CLIENT_ERROR bad data chunk")
			}
		}
		if name == "append" || name == "prepend" {
			r = lacks(name)
		}
		return one(r), size
	case "ms": // its value is no command
		if len(words) > 2 {
			if n, err := strconv.ParseUint(words[2], 10, 20); err == nil {
				c.skip = int(n) + 2
			}
		}
		return one(lacks(name)), 0
	case "delete", "touch", "incr", "decr":
		return one(change(name, words)), 0
	case "version":
		return one(replies("VERSION " + memcachedVersion)), 0
	case "verbosity":
		if len(words) < 2 {
			return one(replies("ERROR")), 0
		}
		return []memcachedExchange{{request: replies("OK"), quiet: quiet}}, 0
	case "gat", "gats", "flush_all", "stats", "cache_memlimit", "slabs", "lru", "lru_crawler", "watch", "shutdown",
		"me", "mn", "mg", "md", "ma", "mop":
		return one(lacks(name)), 0
	}
	return one(replies("ERROR")), 0
}

// replies is a request that no server has to be asked for: it is answered with a line, in its turn.
func replies(line string) *memcached.Request {
	return &memcached.Request{Op: memcached.Other, Value: line}
}

// lacks answers a command that memcached knows and the simulation does not.
func lacks(name string) *memcached.Request {
	return replies("SERVER_ERROR " + name + " is not simulated")
}

const badFormat = "CLIENT_ERROR bad command line format"

// reads translates get and gets (process_get_command).
func reads(name string, keys []string) (requests []memcachedExchange) {
	op := memcached.Get
	if name == "gets" {
		op = memcached.Gets
	}
	if len(keys) == 0 {
		return []memcachedExchange{{request: replies("ERROR")}}
	}
	if slices.ContainsFunc(keys, func(k string) bool { return len(k) > mostKey }) {
		return []memcachedExchange{{request: replies(badFormat)}}
	}
	for i, key := range keys {
		requests = append(requests, memcachedExchange{request: &memcached.Request{Op: op, Key: key}, more: i < len(keys)-1})
	}
	return requests
}

// store translates the line of a command that carries a value, and returns how many bytes the value has with its end
// (process_update_command).
func (c *memcachedConversation) store(name string, words []string) (r *memcached.Request, size int) {
	ops := map[string]memcached.Op{"set": memcached.Set, "add": memcached.Add, "replace": memcached.Replace, "cas": memcached.CAS}
	want := 5
	if name == "cas" {
		want = 6
	}
	if len(words) != want && len(words) != want+1 {
		return replies("ERROR"), 0
	}
	r = &memcached.Request{Op: ops[name], Key: words[1]}
	flags, isFlags := memcached.Number(words[2])
	exptime, badTime := strconv.ParseInt(words[3], 10, 32)
	length, badLength := strconv.ParseInt(words[4], 10, 32)
	if len(r.Key) > mostKey || !isFlags || badTime != nil || badLength != nil || length < 0 || length > math.MaxInt32-2 {
		return replies(badFormat), 0
	}
	if name == "cas" {
		id, isID := memcached.Number(words[5])
		if !isID {
			return replies(badFormat), 0
		}
		r.CAS = id
	}
	if length > mostItem {
		c.skip = int(length) + 2
		return replies("SERVER_ERROR object too large for cache"), 0
	}
	r.Flags, r.Exptime = uint32(flags), exptime
	return r, int(length) + 2
}

// change translates a command without a value on one key (process_delete_command, process_touch_command, process_arithmetic_command).
func change(name string, words []string) *memcached.Request {
	if name == "delete" {
		return deletion(words)
	}
	if len(words) != 3 && len(words) != 4 {
		return replies("ERROR")
	}
	r := &memcached.Request{Op: memcached.Touch, Key: words[1]}
	exptime, badTime := strconv.ParseInt(words[2], 10, 32)
	delta, isDelta := memcached.Number(words[2])
	switch {
	case len(r.Key) > mostKey:
		return replies(badFormat)
	case name == "touch" && badTime != nil:
		return replies("CLIENT_ERROR invalid exptime argument")
	case name == "touch":
		r.Exptime = exptime
		return r
	case !isDelta:
		return replies("CLIENT_ERROR invalid numeric delta argument")
	}
	r.Op, r.Delta = memcached.Incr, delta
	if name == "decr" {
		r.Op = memcached.Decr
	}
	return r
}

// deletion translates delete, whose time of old versions may be there if it is 0.
func deletion(words []string) *memcached.Request {
	if len(words) < 2 || len(words) > 4 {
		return replies("ERROR")
	}
	rest := strings.Join(words[2:], " ")
	switch {
	case !slices.Contains([]string{"", "0", "noreply", "0 noreply"}, rest):
		return replies(badFormat + ".  Usage: delete <key> [noreply]")
	case len(words[1]) > mostKey:
		return replies(badFormat)
	}
	return &memcached.Request{Op: memcached.Delete, Key: words[1]}
}

// Append encodes an answer.
func (c *memcachedConversation) Append(dst []byte, p sim.Payload) []byte {
	a := p.(*memcached.Response)
	i := slices.IndexFunc(c.waiting, func(e memcachedExchange) bool { return e.request == sim.Payload(a.Request) })
	if i < 0 {
		return dst
	}
	e := c.waiting[i]
	c.waiting = c.waiting[i+1:]
	switch {
	case e.quiet && a.Result != memcached.Failed:
		return dst
	case a.Result == memcached.Hit:
		dst = fmt.Appendf(dst, "VALUE %s %d %d", a.Request.Key, a.Flags, len(a.Value))
		if a.Request.Op == memcached.Gets {
			dst = fmt.Appendf(dst, " %d", a.CAS)
		}
		dst = append(append(append(dst, "\r\n"...), a.Value...), "\r\n"...)
	case a.Result != memcached.Miss:
		text := a.Result.String()
		if a.Result >= memcached.Failed {
			text = a.Value
		}
		return append(append(dst, text...), "\r\n"...)
	}
	if !e.more {
		dst = append(dst, "END\r\n"...)
	}
	return dst
}

// Farewell is empty: memcached closes a connection without a word.
func (*memcachedConversation) Farewell() []byte { return nil }
