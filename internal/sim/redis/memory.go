package redis

import (
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxScriptBytes bounds the memory that one script takes for texts and tables, whether or not it keeps them. Redis has no such
// bound: there the process ends when the machine has no more memory.
const maxScriptBytes = 256 << 20

// elementBytes is what an element of a table takes.
const elementBytes = 16

// spend has the script that runs pay for memory that it is about to take, and fail if it has taken too much.
func (e *engine) spend(l *lua.LState, bytes int) {
	if bytes > e.bytes || bytes < 0 {
		l.RaiseError("script exceeded maxScriptBytes (%d)", maxScriptBytes)
	}
	e.bytes -= bytes
}

// concat is the operator .. (lvm.c, luaV_concat): numbers are written with 14 digits.
func (e *engine) concat(l *lua.LState) int {
	left, ok1 := textOf(l.Get(1))
	right, ok2 := textOf(l.Get(2))
	if ok1 && ok2 {
		e.spend(l, len(left)+len(right))
		l.Push(lua.LString(left + right))
		return 1
	}
	for i := 1; i <= 2; i++ {
		if f := l.GetMetaField(l.Get(i), "__concat"); f != lua.LNil {
			left, right := l.Get(1), l.Get(2)
			l.Push(f)
			l.Push(left)
			l.Push(right)
			l.Call(2, 1)
			return 1
		}
	}
	wrong := l.Get(1)
	if ok1 {
		wrong = l.Get(2)
	}
	l.RaiseError("attempt to concatenate a %s value", wrong.Type())
	return 0
}

func textOf(v lua.LValue) (text string, ok bool) {
	switch v := v.(type) {
	case lua.LString:
		return string(v), true
	case lua.LNumber:
		return formatNumber(v, 14), true
	}
	return "", false
}

// index is called with a table and the key of an element that it is to have, and answers with the key. If the table is not known
// it is taken for an empty one.
func (e *engine) index(l *lua.LState) int {
	t, _ := l.Get(1).(*lua.LTable)
	e.spendIndex(l, t, l.Get(2))
	l.Push(l.Get(2))
	return 1
}

// spendIndex has a script pay for the elements between the last of a table and one that it is to have.
func (e *engine) spendIndex(l *lua.LState, t *lua.LTable, key lua.LValue) {
	const few = 1024 // elements come with the step that makes them
	n, ok := key.(lua.LNumber)
	if !ok || n <= few || n >= lua.LNumber(lua.MaxArrayIndex) {
		return
	}
	missing := int(truncate(n))
	if t != nil {
		missing -= t.Len()
	}
	if missing > few {
		e.spend(l, missing*elementBytes)
	}
}

// spending is a library's function that is paid for before it is called.
func (e *engine) spending(f lua.LValue, cost func(l *lua.LState) int) *lua.LFunction {
	call := f.(*lua.LFunction).GFunction
	return e.l.NewFunction(func(l *lua.LState) int {
		e.spend(l, cost(l))
		return call(l)
	})
}

// lengths is how long the texts among a function's arguments are, and so at most what it answers with.
func lengths(l *lua.LState) (n int) {
	for i := 1; i <= l.GetTop(); i++ {
		if text, ok := l.Get(i).(lua.LString); ok {
			n += len(text)
		}
	}
	return n
}

func repeated(l *lua.LState) int {
	text, n := len(lua.LVAsString(l.Get(1))), truncate(lua.LVAsNumber(l.Get(2)))
	if text == 0 || n < 1 {
		return 0
	}
	if n > maxScriptBytes {
		return maxScriptBytes + 1
	}
	return text * int(n)
}

// formatted is at most what string.format answers with: its arguments, and what their widths add.
func formatted(l *lua.LState) int {
	n, width := lengths(l), 0
	for _, c := range lua.LVAsString(l.Get(1)) {
		if c < '0' || c > '9' {
			n, width = n+width, 0
			continue
		}
		width = min(width*10+int(c-'0'), maxScriptBytes)
	}
	return n + width
}

// joined is what table.concat answers with.
func joined(l *lua.LState) (n int) {
	t, ok := l.Get(1).(*lua.LTable)
	if !ok {
		return 0
	}
	separator := len(lua.LVAsString(l.Get(2)))
	for i := 1; i <= t.Len(); i++ {
		n += len(lua.LVAsString(t.RawGetInt(i))) + separator
		if n > maxScriptBytes {
			return n
		}
	}
	return n
}

// gsub has the script pay for each replacement, before they are put together.
func (e *engine) gsub(call lua.LGFunction) *lua.LFunction {
	return e.l.NewFunction(func(l *lua.LState) int {
		e.spend(l, len(lua.LVAsString(l.Get(1))))
		limit := -1
		if l.GetTop() > 3 {
			limit = int(truncate(lua.LVAsNumber(l.Get(4))))
		}
		e.walk(l, limit, false)
		switch with := l.Get(3).(type) {
		case lua.LString:
			e.spend(l, e.replacements(l, call)*(len(with)+strings.Count(string(with), "%")*len(lua.LVAsString(l.Get(1)))))
		case *lua.LTable:
			l.Replace(3, e.paid(func(l *lua.LState) lua.LValue { return l.GetTable(with, l.Get(1)) }))
		case *lua.LFunction:
			l.Replace(3, e.paid(func(l *lua.LState) lua.LValue {
				n := l.GetTop()
				l.Push(with)
				for i := 1; i <= n; i++ {
					l.Push(l.Get(i))
				}
				l.Call(n, 1)
				return l.Get(-1)
			}))
		}
		return call(l)
	})
}

// paid is a function that answers with a replacement which has been paid for.
func (e *engine) paid(replacement func(l *lua.LState) lua.LValue) *lua.LFunction {
	return e.l.NewFunction(func(l *lua.LState) int {
		v := replacement(l)
		e.spend(l, len(lua.LVAsString(v)))
		l.Push(v)
		return 1
	})
}

// replacements counts how often string.gsub would replace something.
func (e *engine) replacements(l *lua.LState, gsub lua.LGFunction) int {
	words := []lua.LValue{l.NewFunction(gsub), l.Get(1), l.Get(2), lua.LString("")}
	if l.GetTop() > 3 {
		words = append(words, l.Get(4))
	}
	for _, v := range words {
		l.Push(v)
	}
	l.Call(len(words)-1, 2)
	n := truncate(lua.LVAsNumber(l.Get(-1)))
	l.Pop(2)
	return int(n)
}

// errScriptReply answers a script that returns more than it may take.
var errScriptReply = fmt.Sprintf("ERR script's reply exceeded maxScriptBytes (%d)", maxScriptBytes)

// texts is how long the texts in a value are, in a table and the tables in it too; no longer than that is its JSON but for what
// its marks and escapes take.
func texts(v lua.LValue, seen map[*lua.LTable]bool) (n int) {
	switch v := v.(type) {
	case lua.LString:
		return len(v)
	case *lua.LTable:
		if seen[v] {
			return 0 // which cannot be written
		}
		seen[v] = true
		for key, value := v.Next(lua.LNil); key != lua.LNil && n <= maxScriptBytes; key, value = v.Next(key) {
			n += elementBytes + texts(key, seen) + texts(value, seen)
		}
	}
	return n
}
