package redis

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// greedyScripts take memory without bound, each in a way of its own.
var greedyScripts = map[string]string{
	"joins a text with itself":            "local s = 'x' while true do s = s .. s end",
	"joins it in a function":              "local function double(s) return s .. s end local s = 'x' while true do s = double(s) end",
	"repeats a text":                      "return #string.rep('x', 2^40)",
	"repeats it as a method":              "return #('x'):rep(2^40)",
	"keeps long texts":                    "local t = {} for i = 1, 1000 do t[i] = string.rep(i, 10000000) end",
	"formats with itself":                 "local s = 'xx' while true do s = string.format('%s%s', s, s) end",
	"formats with a width":                "local t = {} for i = 1, 1000 do t[i] = string.format('%999999d', i) end",
	"replaces every letter":               "return #string.gsub(string.rep('x', 3000), 'x', string.rep('y', 100000))",
	"replaces every letter by a function": "local s = string.rep('y', 100000) return #string.gsub(string.rep('x', 3000), 'x', function() return s end)",
	"replaces every letter by a table":    "return #string.gsub(string.rep('x', 3000), 'x', {x = string.rep('y', 100000)})",
	"joins a table":                       "local s, t = string.rep('x', 100000), {} for i = 1, 10000 do t[i] = s end return #table.concat(t)",
	"assigns far beyond the end":          "local t = {} for i = 1, 100 do t[i] = {} t[i][60000000] = 1 end",
	"assigns far beyond the end by name":  "local t = {} for i = 1, 100 do local u = {} u[60000000] = 1 t[i] = u end",
	"constructs far beyond the end":       "local t = {} for i = 1, 100 do t[i] = {[60000000] = 1} end",
	"sets raw far beyond the end":         "local t = {} for i = 1, 100 do t[i] = {} rawset(t[i], 60000000, 1) end",
	"inserts far beyond the end":          "local t = {} for i = 1, 100 do t[i] = {} table.insert(t[i], 60000000, 1) end",
	"returns the same table many times":   "local t = {'x'} for i = 1, 100 do t = {t, t} end return t",
	"writes the same text as JSON":        "local s, t = string.rep('x', 100000), {} for i = 1, 10000 do t[i] = s end return #cjson.encode(t)",
	"reads JSON many times":               "local t, s = {}, '[' .. string.rep('1,', 50000) .. '1]' for i = 1, 1000 do t[i] = cjson.decode(s) end",
	"reads a key many times":              "local t = {} for i = 1, 1000 do t[i] = redis.call('GETRANGE', 'big', 0, -1 - i) end",
	"catches the error":                   "local s = 'x' for i = 1, 1000 do pcall(function() s = s .. s end) end return redis.error_reply('maxScriptBytes')",
}

// TestScriptsThatTakeTooMuchMemoryFail runs scripts that would take all memory there is: each gets an error that names the bound,
// and the store serves others as before.
func TestScriptsThatTakeTooMuchMemoryFail(t *testing.T) {
	for name, script := range greedyScripts {
		t.Run(name, func(t *testing.T) {
			x := newSession(t)
			x.do("SETRANGE big 1048575 x")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			require.Contains(t, x.eval(script), "maxScriptBytes")
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(6*maxScriptBytes))
			require.Equal(t, "(integer) 2", x.eval("return 1 + 1"))
		})
	}
}

// TestScriptsThatTakeLittleMemoryRun: what guards scripts changes nothing for others.
func TestScriptsThatTakeLittleMemoryRun(t *testing.T) {
	x := newSession(t)
	for script, want := range map[string]string{
		"local s = '' for i = 1, 1000 do s = s .. i end return #s":                                                  "(integer) 2893",
		"return 1 .. 2 .. 'x' .. 0.5":                                                                               `"12x0.5"`,
		"return 123456789012345678 .. ''":                                                                           `"1.2345678901235e+17"`,
		"local function two() return 'a', 'b' end return 'x' .. two()":                                              `"xa"`,
		"local t = {} t[5000] = 'far' return t[5000]":                                                               `"far"`,
		"local t = {1, 2} t[1], t[2] = t[2], t[1] return t":                                                         "[(integer) 2, (integer) 1]",
		"local i, t = 1, {} local function n() i = i + 1 return i end t[n()] = n() return t[2]":                     "(integer) 3",
		"local t = setmetatable({}, {__concat = function(a, b) return 'joined' end}) return {t .. 'x', 1 .. t}":     `["joined", "joined"]`,
		"local t = setmetatable({}, {__newindex = function(t, k, v) rawset(t, k, v * 2) end}) t[3] = 4 return t[3]": "(integer) 8",
		"return string.gsub('hello', 'l', {l = 'L'})":                                                               `"heLLo"`,
		"return (string.gsub('hello', '(l)', '<%1>'))":                                                              `"he<l><l>o"`,
		"return (string.gsub('hello', 'l', function(c) return c:upper() end, 1))":                                   `"heLlo"`,
		"return string.format('%5d|%-5s|', 42, 'x')":                                                                `"   42|x    |"`,
		"return table.concat({1, 2, 'x'}, ', ')":                                                                    `"1, 2, x"`,
		"return ('ab'):rep(3)":                                                                                      `"ababab"`,
		"local t = {} table.insert(t, 'a') table.insert(t, 1, 'b') return t":                                        `["b", "a"]`,
		"local ok, err = pcall(function() return 'x' .. nil end) return {ok and 1 or 0, type(err)}":                 `[(integer) 0, "string"]`,
	} {
		require.Equal(t, want, x.eval(script), script)
	}
	require.Contains(t, x.eval("return 'x' .. nil"), "attempt to concatenate a nil value")
	require.Contains(t, x.eval("return {} .. 'x'"), "attempt to concatenate a table value")
}
