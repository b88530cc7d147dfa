package redis

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	luajson "github.com/alicebob/miniredis/v2/gopher-json"
	lua "github.com/yuin/gopher-lua"
)

// The globals that scripts may use. Redis has an allow list too (script_lua.c, allow_lists); this one leaves
// out functions that are not deterministic or not needed.
var (
	allowedGlobals = []string{
		"assert", "error", "ipairs", "next", "pairs", "rawequal", "rawget",
		"select", "tonumber", "type", "unpack", "xpcall", "_VERSION",
	}
	allowedMath = []string{
		"abs", "ceil", "floor", "fmod", "huge", "max", "min", "modf", "pi", "pow", "sqrt",
	}
	allowedString = []string{
		"byte", "char", "find", "gmatch", "gsub", "len", "lower", "match", "rep",
		"reverse", "sub", "upper",
	}
	allowedTable = []string{"concat", "getn", "maxn"}
	tableWriters = []string{"insert", "remove", "sort"}
	insertKey    = map[string]int{"insert": 2} // which argument is the key of an element
)

// newEngine builds the Lua state and seals it. A sealed table is an empty one in front of
// the real one, so that every assignment reaches the guard; the functions that write
// past a guard (rawset, table.insert, …) ask for seals themselves. Hence nothing a
// script does can outlive it, and one state serves all.
func newEngine(s *Store) *engine {
	l := lua.NewState(lua.Options{
		SkipOpenLibs:     true,
		CallStackSize:    200,
		RegistrySize:     1 << 10,
		RegistryGrowStep: 1 << 10,
		RegistryMaxSize:  1 << 16,
	})
	for _, open := range []lua.LGFunction{lua.OpenBase, lua.OpenTable, lua.OpenString, lua.OpenMath} {
		l.Push(l.NewFunction(open))
		l.Call(0, 0)
	}
	e := &engine{store: s, l: l, seals: map[*lua.LTable]bool{}, random: newLrand48(), budget: newBudget()}

	e.globals = pick(l, l.G.Global, allowedGlobals)
	e.functions(e.globals, map[string]lua.LGFunction{
		"getmetatable": e.getmetatable,
		"pcall":        pcall,
		"rawset":       e.unsealed(l.GetGlobal("rawset"), 2),
		"setmetatable": e.unsealed(l.GetGlobal("setmetatable"), 0),
		"tostring":     tostring,
		concatGuard:    e.concat,
		indexGuard:     e.index,
	})
	e.globals.RawSetString("redis", e.seal(e.redisLibrary(), nil))
	e.globals.RawSetString("cjson", e.seal(e.jsonLibrary(), nil))
	e.globals.RawSetString("math", e.seal(e.mathLibrary(), nil))
	e.globals.RawSetString("table", e.seal(e.tableLibrary(), nil))
	e.globals.RawSetString("string", e.seal(e.stringLibrary(), nil))

	l.Env = e.seal(e.globals, missingGlobal)
	e.globals.RawSetString("_G", l.Env)
	return e
}

// pick copies the allowed fields of a table.
func pick(l *lua.LState, from *lua.LTable, names []string) *lua.LTable {
	to := l.NewTable()
	for _, name := range names {
		to.RawSetString(name, from.RawGetString(name))
	}
	return to
}

func (e *engine) functions(t *lua.LTable, fns map[string]lua.LGFunction) {
	for _, name := range slices.Sorted(maps.Keys(fns)) {
		t.RawSetString(name, e.l.NewFunction(fns[name]))
	}
}

// seal puts an empty guard in front of a table. Accesses to names in neither call missing.
func (e *engine) seal(t *lua.LTable, missing lua.LGFunction) *lua.LTable {
	if missing != nil {
		behind := e.l.NewTable()
		behind.RawSetString("__index", e.l.NewFunction(missing))
		t.Metatable = behind
	}
	meta := e.l.NewTable()
	meta.RawSetString("__index", t)
	meta.RawSetString("__newindex", e.l.NewFunction(refuseWrite))
	guard := e.l.NewTable()
	guard.Metatable = meta
	e.seals[guard] = true
	return guard
}

func refuseWrite(l *lua.LState) int {
	l.RaiseError(errReadonlyTable)
	return 0
}

func missingGlobal(l *lua.LState) int {
	l.RaiseError("Script attempted to access nonexistent global variable '%s'", lua.LVAsString(l.Get(2)))
	return 0
}

// unsealed lets a function write to any table but a sealed one. Its key-th argument is that of an element; 0: none is.
func (e *engine) unsealed(f lua.LValue, key int) lua.LGFunction {
	write := f.(*lua.LFunction).GFunction
	return func(l *lua.LState) int {
		t, ok := l.Get(1).(*lua.LTable)
		if ok && e.seals[t] {
			return refuseWrite(l)
		}
		if key > 0 && l.GetTop() > key {
			e.spendIndex(l, t, l.Get(key))
		}
		return write(l)
	}
}

// getmetatable hides the guards' metatables, and that of strings.
func (e *engine) getmetatable(l *lua.LState) int {
	t, ok := l.CheckAny(1).(*lua.LTable)
	if !ok || e.seals[t] {
		l.Push(lua.LNil)
		return 1
	}
	l.Push(l.GetMetatable(t))
	return 1
}

// pcall hands an error of redis.call to the script as its text, as Redis does to stay
// compatible (script_lua.c, luaRedisPcall).
func pcall(l *lua.LState) int {
	l.CheckAny(1)
	err := l.PCall(l.GetTop()-1, lua.MultRet, nil)
	if err == nil {
		l.Insert(lua.LTrue, 1)
		return l.GetTop()
	}
	l.Push(lua.LFalse)
	object := lua.LValue(lua.LString(err.Error()))
	if api := (*lua.ApiError)(nil); errors.As(err, &api) {
		object = api.Object
	}
	if t, ok := object.(*lua.LTable); ok {
		if text, ok := t.RawGetString("err").(lua.LString); ok {
			object = text
		}
	}
	l.Push(object)
	return 2
}

// tostring gives no addresses, which differ from process to process, and writes numbers
// as Lua 5.1 does.
func tostring(l *lua.LState) int {
	v := l.CheckAny(1)
	switch v := v.(type) {
	case lua.LNumber:
		l.Push(lua.LString(formatNumber(v, 14)))
	case lua.LString, lua.LBool, *lua.LNilType:
		l.Push(lua.LString(v.String()))
	default:
		if text := l.ToStringMeta(v); l.GetMetaField(v, "__tostring") != lua.LNil {
			l.Push(text)
		} else {
			l.Push(lua.LString(v.Type().String() + ": 0x0"))
		}
	}
	return 1
}

func (e *engine) redisLibrary() *lua.LTable {
	t := e.l.NewTable()
	e.functions(t, map[string]lua.LGFunction{
		"call":               func(l *lua.LState) int { return e.call(l, true) },
		"pcall":              func(l *lua.LState) int { return e.call(l, false) },
		"error_reply":        e.errorReply,
		"status_reply":       e.statusReply,
		"sha1hex":            sha1hex,
		"log":                redisLog,
		"replicate_commands": func(l *lua.LState) int { l.Push(lua.LTrue); return 1 },
		"setresp":            e.setresp,
	})
	for i, name := range []string{"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"} {
		t.RawSetString(name, lua.LNumber(i))
	}
	return t
}

func redisLog(l *lua.LState) int {
	if l.GetTop() < 2 {
		l.RaiseError("redis.log() requires two arguments or more.")
		return 0
	}
	if level := truncate(l.CheckNumber(1)); level < 0 || level > 3 {
		l.RaiseError("Invalid debug level.")
	}
	return 0
}

func (e *engine) setresp(l *lua.LState) int {
	if l.GetTop() != 1 {
		l.RaiseError("redis.setresp() requires one argument.")
		return 0
	}
	switch truncate(lua.LVAsNumber(l.Get(1))) {
	case 2:
		e.protocol = RESP2
	case 3:
		e.protocol = RESP3
	default:
		l.RaiseError("RESP version must be 2 or 3.")
	}
	return 0
}

func (e *engine) mathLibrary() *lua.LTable {
	t := pick(e.l, e.l.GetGlobal("math").(*lua.LTable), allowedMath)
	e.functions(t, map[string]lua.LGFunction{"random": e.mathRandom, "randomseed": e.mathRandomseed})
	return t
}

func (e *engine) tableLibrary() *lua.LTable {
	from := e.l.GetGlobal("table").(*lua.LTable)
	t := pick(e.l, from, allowedTable)
	for _, name := range tableWriters {
		t.RawSetString(name, e.l.NewFunction(e.unsealed(from.RawGetString(name), insertKey[name])))
	}
	t.RawSetString("concat", e.spending(from.RawGetString("concat"), joined))
	return t
}

// stringLibrary also is the metatable of strings, which thereby offer the same methods.
func (e *engine) stringLibrary() *lua.LTable {
	from := e.l.GetGlobal("string").(*lua.LTable)
	t := pick(e.l, from, allowedString)
	format := from.RawGetString("format").(*lua.LFunction).GFunction
	t.RawSetString("format", e.l.NewFunction(func(l *lua.LState) int {
		for i := 2; i <= l.GetTop(); i++ {
			switch l.Get(i).(type) {
			case lua.LString, lua.LNumber:
			default:
				l.ArgError(i, "string expected, got "+l.Get(i).Type().String())
			}
		}
		return format(l)
	}))
	t.RawSetString("format", e.spending(t.RawGetString("format"), formatted))
	t.RawSetString("rep", e.spending(from.RawGetString("rep"), repeated))
	t.RawSetString("find", e.matching(from.RawGetString("find"), 1, true))
	t.RawSetString("match", e.matching(from.RawGetString("match"), 1, true))
	t.RawSetString("gmatch", e.matching(from.RawGetString("gmatch"), -1, false))
	t.RawSetString("gsub", e.gsub(from.RawGetString("gsub").(*lua.LFunction).GFunction))
	for _, name := range []string{"lower", "reverse", "upper"} {
		t.RawSetString(name, e.spending(from.RawGetString(name), lengths))
	}
	from.RawSetString("__index", t)
	return t
}

// jsonLibrary encodes as miniredis does, and decodes objects in the order of their keys:
// the order in which pairs visits a table is the order in which it was filled.
func (e *engine) jsonLibrary() *lua.LTable {
	t := e.l.NewTable()
	e.functions(t, map[string]lua.LGFunction{
		"encode": func(l *lua.LState) int {
			e.spend(l, texts(l.CheckAny(1), map[*lua.LTable]bool{}))
			data, err := luajson.Encode(l.CheckAny(1))
			if err != nil {
				l.RaiseError("%s", err.Error())
			}
			l.Push(lua.LString(data))
			return 1
		},
		"decode": func(l *lua.LState) int {
			e.spend(l, elementBytes*len(l.CheckString(1)))
			var v any
			if err := json.Unmarshal([]byte(l.CheckString(1)), &v); err != nil {
				l.RaiseError("%s", err.Error())
			}
			l.Push(fromJSON(l, v))
			return 1
		},
	})
	return t
}

func fromJSON(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case []any:
		t := l.CreateTable(len(v), 0)
		for i, elem := range v {
			t.RawSetInt(i+1, fromJSON(l, elem))
		}
		return t
	case map[string]any:
		t := l.CreateTable(0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			t.RawSetString(key, fromJSON(l, v[key]))
		}
		return t
	}
	return luajson.DecodeValue(l, v)
}
