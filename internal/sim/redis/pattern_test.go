package redis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/gopher-lua/pm"
	"pgregory.net/rapid"
)

// endlessPatterns are scripts whose patterns take too long to match, or recurse too deeply, each in its own way.
var endlessPatterns = map[string]string{
	"backtracks":                "return string.find(string.rep('a', 30), string.rep('a-', 30) .. 'b')",
	"backtracks greedily":       "return string.match(string.rep('a', 40), string.rep('a*', 20) .. 'b')",
	"backtracks in a method":    "return (('a'):rep(40)):gsub(('a?'):rep(40) .. 'b', '')",
	"backtracks in an iterator": "for x in string.gmatch(string.rep('a', 200), '.-.-.-.-.-b') do end",
	"begins at every place":     "return string.find(string.rep('a', 100000), 'a*b')",
	"balances at every place":   "return string.find(string.rep('(', 100000), '%b()')",
	"repeats a capture":         "return string.find(string.rep('a', 20000), '(a*)%1b')",
	"recurses deeply":           "return #string.match(string.rep('a', 50000000), 'a*')",
	"copies all for each":       "return #string.gsub(string.rep('a', 900000), 'a', 'b')",
	"looks often":               "local s = string.rep('a', 100000) for i = 1, 100000 do s:find('b', 1, true) end",
	"catches the error":         "for i = 1, 1000 do pcall(string.find, string.rep('a', 100000), 'a*b') end",
}

func TestEndlessPatternsExceedTheBoundOfAScript(t *testing.T) {
	for name, script := range endlessPatterns {
		t.Run(name, func(t *testing.T) {
			x := newSession(t)
			require.Contains(t, x.eval(script), "maxScriptSteps")
			require.Equal(t, "(integer) 2", x.eval("return 1 + 1"))
		})
	}
}

// TestPatternsOfOrdinaryScriptsAreFound: the library's answers are the same although patterns are walked first.
func TestPatternsOfOrdinaryScriptsAreFound(t *testing.T) {
	x := newSession(t)
	for script, want := range map[string]string{
		"return {string.find('hello', 'l+')}":                                            "[(integer) 3, (integer) 4]",
		"return {string.find('hello', 'l', -2)}":                                         "[(integer) 4, (integer) 4]",
		"return {string.find('a.b', '.', 2, true)}":                                      "[(integer) 2, (integer) 2]",
		"return {string.match('lock:a:7', '^(.-):(.-):(%d+)$')}":                         `["lock", "a", "7"]`,
		"return {string.find('', '')}":                                                   "[(integer) 1, (integer) 0]",
		"return {string.match('f(a(b)c)d', '%b()')}":                                     `["(a(b)c)"]`,
		"local n = 0 for w in string.gmatch('a b c', '%a') do n = n + 1 end return n":    "(integer) 3",
		"local s = string.rep('line\\n', 10000) return select(2, s:gsub('[^\\n]+', ''))": "(integer) 10000",
		"return #string.match(string.rep('a', 400000), '.*')":                            "(integer) 400000",
	} {
		require.Equal(t, want, x.eval(script), script)
	}
	require.Contains(t, x.eval("return string.find('a', '[a')"), "(error) ERR", "the library tells what is wrong with a pattern")
	require.Equal(t, "(error) NOTBUSY No scripts in execution right now.", x.do("SCRIPT KILL"))
}

// TestAWalkFindsWhatTheLibraryFinds compares the matches of drawn patterns with gopher-lua's: else a walk would charge for
// another match than the one that follows.
func TestAWalkFindsWhatTheLibraryFinds(t *testing.T) {
	pieces := []string{"a", "b", ".", "%a", "%A", "%d", "%s", "[ab]", "[^a]", "[a-c]", "[%d-]", "[]]", "*", "+", "-", "?", "(", ")", "()", "%1", "%b()",
		"$", "^", "%%", "%.", "%x", "x", "1"}
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 7).Draw(t, "pattern"), "")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "(", ")", "1", " ", "-", "]", "%", "$"}), 0, 12).Draw(t, "text"), "")
		found, err := func() (found []*pm.MatchData, err error) {
			defer func() { // it indexes what is not there, which Lua catches
				if p := recover(); p != nil {
					err = fmt.Errorf("%v", p)
				}
			}()
			return pm.Find(pattern, []byte(text), 0, -1)
		}()
		if err != nil {
			return
		}
		p, ok := parsePattern(pattern)
		require.True(t, ok, "%q", pattern)
		left := maxScriptSteps
		w := walker{text: text, pattern: p, left: &left}
		require.Equal(t, len(found), w.find(-1), "%q in %q", pattern, text)
		require.Less(t, left, maxScriptSteps)
	})
}
