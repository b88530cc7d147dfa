package redis

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

const (
	errReadonlyTable = "Attempt to modify a readonly table"
	errNotFromScript = "ERR This Redis command is not allowed from script"
)

// engine is one Lua state, used for every script of a Store: building a state for each,
// as miniredis does, costs twenty times what running the script does. The state is
// sealed (sandbox.go), so no script finds a trace of an earlier one.
type engine struct {
	store   *Store
	l       *lua.LState
	globals *lua.LTable // behind the sealed environment
	seals   map[*lua.LTable]bool
	random  lrand48
	budget  *budget
	bytes   int // that the script may still take

	readOnly bool
	protocol Protocol // in which commands answer the script
	inCall   bool     // a panic that crossed redis.call leaves it set
	words    []string
}

// reset puts back the only thing a script may change: where math.random stands.
func (e *engine) reset() { e.random = newLrand48() }

// run executes a script and appends its reply to the store's, in the caller's protocol.
func (e *engine) run(sc *script, keys, argv []string, readOnly bool, caller Protocol) {
	if sc.fn == nil {
		sc.fn = e.l.NewFunctionFromProto(sc.proto)
	}
	e.globals.RawSetString("KEYS", e.list(keys))
	e.globals.RawSetString("ARGV", e.list(argv))
	e.readOnly, e.inCall, e.protocol, e.bytes = readOnly, false, RESP2, maxScriptBytes
	e.budget.left = maxScriptSteps
	if sc.bounded {
		e.l.SetContext(e.budget)
	}
	e.l.Push(sc.fn)
	err := e.l.PCall(0, 1, nil)
	if sc.bounded {
		e.l.RemoveContext()
	}
	if e.inCall {
		panic(fmt.Sprintf("redis: a command called from a script panicked: %v", err))
	}
	s := e.store
	if err != nil {
		s.fail(scriptError(err) + " script: " + sc.sha + ", on @user_script.")
		return
	}
	start := len(s.out)
	reply := answering{e.protocol, caller, start + maxScriptBytes}
	out, ok := reply.append(s.out, e.l.Get(-1), 0)
	e.l.SetTop(0)
	switch {
	case reply.exceeded(out):
		s.out = appendError(out[:start], errScriptReply)
		return
	case !ok:
		s.out = appendError(out[:start], "ERR reached lua stack limit")
		return
	}
	s.out = out
}

func (e *engine) list(words []string) *lua.LTable {
	t := e.l.CreateTable(len(words), 0)
	for _, w := range words {
		t.Append(lua.LString(w))
	}
	return t
}

// scriptError is the text of an error that a script did not catch. An error that redis.call
// raised is a table and keeps its code (script_lua.c, luaExtractErrorInformation).
func scriptError(err error) string {
	var api *lua.ApiError
	if !errors.As(err, &api) {
		return "ERR " + err.Error()
	}
	if t, ok := api.Object.(*lua.LTable); ok {
		if text, ok := t.RawGetString("err").(lua.LString); ok {
			return string(text)
		}
		return "ERR unknown error"
	}
	return "ERR " + lua.LVAsString(api.Object)
}

// call is redis.call and redis.pcall: they differ in what becomes of an error.
func (e *engine) call(l *lua.LState, raise bool) int {
	if e.inCall {
		panic("redis: a panic inside redis.call was swallowed by the script")
	}
	problem := e.arguments(l)
	e.spend(l, lengths(l))
	if problem == "" {
		s := e.store
		start := len(s.out)
		e.inCall = true
		s.protocol = e.protocol
		problem = e.execute()
		e.inCall = false
		if problem == "" {
			reply := s.out[start:]
			s.out = s.out[:start]
			e.spend(l, len(reply))
			if reply[0] != '-' {
				l.Push(e.toLua(reply))
				return 1
			}
			problem = string(reply[1 : len(reply)-2])
		}
	}
	t := e.field("err", problem)
	if raise {
		l.Error(t, 1)
		return 0
	}
	l.Push(t)
	return 1
}

// arguments collects the words of a command from the Lua stack.
func (e *engine) arguments(l *lua.LState) (problem string) {
	top := l.GetTop()
	if top == 0 {
		return "ERR Please specify at least one argument for this redis lib call"
	}
	e.words = e.words[:0]
	for i := 1; i <= top; i++ {
		switch v := l.Get(i).(type) {
		case lua.LString:
			e.words = append(e.words, string(v))
		case lua.LNumber:
			e.words = append(e.words, formatNumber(v, 17))
		default:
			return "ERR Lua redis lib command arguments must be strings or integers"
		}
	}
	return ""
}

// execute runs the collected command with the texts of script.c, scriptCall.
func (e *engine) execute() (problem string) {
	s := e.store
	c, problem := s.lookup(e.words)
	switch {
	case c != nil && c.flags&noScript != 0, c == nil && isUnsimulated(e.words[0]):
		return errNotFromScript
	case strings.HasPrefix(problem, "ERR unknown command"):
		return "ERR Unknown Redis command called from script"
	case strings.HasPrefix(problem, "ERR wrong number"):
		return "ERR Wrong number of args calling Redis command from script"
	case problem != "":
		return problem
	case e.readOnly && c.flags&writes != 0:
		return "ERR Write commands are not allowed from read-only scripts."
	case s.refusal != "" && c.flags&writes != 0:
		return s.refusal
	}
	s.call(nil, c, e.words)
	return ""
}

func (e *engine) field(name, text string) *lua.LTable {
	t := e.l.CreateTable(0, 1)
	t.RawSetString(name, lua.LString(text))
	return t
}

// sha1hex is redis.sha1hex.
func sha1hex(l *lua.LState) int {
	if l.GetTop() != 1 {
		l.RaiseError("wrong number of arguments")
		return 0
	}
	sum := sha1.Sum([]byte(lua.LVAsString(l.Get(1))))
	l.Push(lua.LString(hex.EncodeToString(sum[:])))
	return 1
}

// errorReply is redis.error_reply: a text of one word gets the code ERR, and a leading
// dash is dropped (script_lua.c, luaPushError).
func (e *engine) errorReply(l *lua.LState) int {
	text, ok := l.Get(1).(lua.LString)
	if !ok || l.GetTop() != 1 {
		l.Push(e.field("err", "ERR wrong number or type of arguments"))
		return 1
	}
	msg := strings.TrimPrefix(string(text), "-")
	if !strings.Contains(msg, " ") {
		msg = "ERR " + msg
	}
	l.Push(e.field("err", msg))
	return 1
}

func (e *engine) statusReply(l *lua.LState) int {
	text, ok := l.Get(1).(lua.LString)
	if !ok || l.GetTop() != 1 {
		l.Push(e.field("err", "ERR wrong number or type of arguments"))
		return 1
	}
	l.Push(e.field("ok", string(text)))
	return 1
}
