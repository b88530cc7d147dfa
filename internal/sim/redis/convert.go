package redis

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"
)

// toLua converts a reply (script_lua.c, redisProtocolToLuaType): a nil becomes false, a status {ok=}, an error
// within an array {err=}. Types of RESP3 appear only if the script has requested RESP3: {map=}, {set=},
// {double=}, and a nil that is one.
func (e *engine) toLua(reply []byte) lua.LValue {
	r, err := ParseReply(reply)
	if err != nil {
		panic(fmt.Sprintf("redis: a command answered a script with %q: %v", reply, err))
	}
	return e.value(&r)
}

func (e *engine) value(r *Reply) lua.LValue {
	switch r.Type {
	case ReplyNil, ReplyNilArray:
		if e.protocol == RESP3 {
			return lua.LNil
		}
		return lua.LFalse
	case ReplyStatus:
		return e.field("ok", r.Text)
	case ReplyError:
		return e.field("err", r.Text)
	case ReplyInteger:
		return lua.LNumber(r.Int)
	case ReplyBool:
		return lua.LBool(r.Int == 1)
	case ReplyDouble:
		return e.typed("double", lua.LVAsNumber(lua.LString(r.Text)))
	case ReplyMap:
		t := e.l.CreateTable(0, len(r.Elems)/2)
		for i := 0; i+1 < len(r.Elems); i += 2 {
			t.RawSet(e.value(&r.Elems[i]), e.value(&r.Elems[i+1]))
		}
		return e.typed("map", t)
	case ReplySet:
		t := e.l.CreateTable(0, len(r.Elems))
		for i := range r.Elems {
			t.RawSet(e.value(&r.Elems[i]), lua.LTrue)
		}
		return e.typed("set", t)
	case ReplyArray, ReplyPush, ReplySeveral:
		t := e.l.CreateTable(len(r.Elems), 0)
		for i := range r.Elems {
			t.RawSetInt(i+1, e.value(&r.Elems[i]))
		}
		return t
	default:
		return lua.LString(r.Text)
	}
}

func (e *engine) typed(name string, v lua.LValue) *lua.LTable {
	t := e.l.CreateTable(0, 1)
	t.RawSetString(name, v)
	return t
}

// maxNesting is where a table that a script returns counts as endless.
const maxNesting = 128

// answering converts what a script returns (script_lua.c, luaReplyToRedisReply), for a caller of one protocol and a script that
// has asked for one.
type answering struct {
	script, caller Protocol
	most           int // bytes that the reply may take
}

func (a *answering) append(dst []byte, value lua.LValue, depth int) (out []byte, ok bool) {
	const each = 64 // bytes that an element takes before it is written
	a.most -= each
	if depth > maxNesting || a.exceeded(dst) {
		return dst, false
	}
	switch v := value.(type) {
	case lua.LString:
		return appendBulk(dst, string(v)), true
	case lua.LNumber:
		return appendInteger(dst, truncate(v)), true
	case lua.LBool:
		return a.appendBool(dst, bool(v)), true
	case *lua.LTable:
		return a.appendTable(dst, v, depth)
	}
	return appendNil(dst), true
}

// exceeded reports whether the reply takes too much memory.
func (a *answering) exceeded(dst []byte) bool { return len(dst) > a.most }

func (a *answering) appendBool(dst []byte, b bool) []byte {
	switch {
	case a.script == RESP3:
		n := int64(0)
		if b {
			n = 1
		}
		return Reply{Type: ReplyBool, Int: n}.Append(dst, a.caller)
	case b:
		return appendInteger(dst, 1)
	}
	return appendNil(dst)
}

// appendTable converts a table: what it is is said by a field of that name, or it is an array, up to the first nil.
func (a *answering) appendTable(dst []byte, t *lua.LTable, depth int) (out []byte, ok bool) {
	if text, ok := t.RawGetString("err").(lua.LString); ok {
		return appendError(dst, string(text)), true
	}
	if text, ok := t.RawGetString("ok").(lua.LString); ok {
		return appendStatus(dst, string(text)), true
	}
	if r, ok := scalar(t); ok {
		return r.Append(dst, a.caller), true
	}
	for _, kind := range []ReplyType{ReplyMap, ReplySet} {
		if entries, ok := t.RawGetString(map[ReplyType]string{ReplyMap: "map", ReplySet: "set"}[kind]).(*lua.LTable); ok {
			return a.appendEntries(dst, kind, entries, depth)
		}
	}
	n := 0
	for t.RawGetInt(n+1) != lua.LNil {
		n++
	}
	dst = appendArray(dst, n)
	for i := 1; i <= n; i++ {
		if dst, ok = a.append(dst, t.RawGetInt(i), depth+1); !ok {
			return dst, false
		}
	}
	return dst, true
}

// scalar is the number or text that a table stands for.
func scalar(t *lua.LTable) (r Reply, ok bool) {
	if n, ok := t.RawGetString("double").(lua.LNumber); ok {
		return Reply{Type: ReplyDouble, Text: formatNumber(n, 17)}, true
	}
	if text, ok := t.RawGetString("big_number").(lua.LString); ok {
		return Reply{Type: ReplyBigNumber, Text: string(text)}, true
	}
	if v, ok := t.RawGetString("verbatim_string").(*lua.LTable); ok {
		format, ok1 := v.RawGetString("format").(lua.LString)
		text, ok2 := v.RawGetString("string").(lua.LString)
		return Reply{Type: ReplyVerbatim, Text: fmt.Sprintf("%.3s:%s", format, text)}, ok1 && ok2
	}
	return Reply{}, false
}

// appendEntries converts a table's entries in the order in which they were made; in Redis it is that of a hash table.
func (a *answering) appendEntries(dst []byte, kind ReplyType, t *lua.LTable, depth int) (out []byte, ok bool) {
	n := 0
	for key, _ := t.Next(lua.LNil); key != lua.LNil; key, _ = t.Next(key) {
		n++
	}
	if kind == ReplyMap && a.caller == RESP2 {
		dst = appendArray(dst, 2*n)
	} else {
		dst = appendHead(dst, heads[kind][a.caller], int64(n))
	}
	for key, value := t.Next(lua.LNil); key != lua.LNil; key, value = t.Next(key) {
		if dst, ok = a.append(dst, key, depth+1); !ok {
			return dst, false
		}
		if kind == ReplySet {
			continue
		}
		if dst, ok = a.append(dst, value, depth+1); !ok {
			return dst, false
		}
	}
	return dst, true
}
