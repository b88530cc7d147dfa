package redis

import (
	"crypto/sha1"
	"encoding/hex"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// script is one script text, compiled. It is a pure function of the text, so it outlives
// Reset; only whether EVALSHA may know of it belongs to the run.
type script struct {
	sha     string
	proto   *lua.FunctionProto
	problem string // why it does not compile
	twin    twin   // nil: none
	bounded bool   // it can loop, so count its steps
	fn      *lua.LFunction
	run     int // the run that loaded it
}

// scripts are all texts seen, by text and by digest.
type scripts struct {
	byText map[string]*script
	bySHA  map[string]*script
	twins  map[string]twin // by fingerprint
	run    int
}

// maxScripts bounds what is remembered from run to run.
const maxScripts = 1024

func (c *scripts) forget() {
	c.byText, c.bySHA = map[string]*script{}, map[string]*script{}
}

// hide empties the script cache as EVALSHA sees it.
func (c *scripts) hide() {
	c.run++
	if len(c.byText) > maxScripts {
		c.forget()
	}
}

func (c *scripts) compile(text string) *script {
	if sc, ok := c.byText[text]; ok {
		return sc
	}
	digest := sha1.Sum([]byte(text))
	sc := &script{sha: hex.EncodeToString(digest[:]), run: -1}
	proto, err := compileLua(text)
	if err != nil {
		sc.problem = "ERR Error compiling script (new function): " + strings.TrimSpace(err.Error())
	} else {
		if c.twins == nil {
			c.twins = twinTable()
		}
		sc.proto, sc.bounded = proto, canLoop(proto)
		sc.twin = c.twins[fingerprint(proto)]
	}
	c.byText[text], c.bySHA[sc.sha] = sc, sc
	return sc
}

func compileLua(text string) (*lua.FunctionProto, error) {
	const name = "user_script" // as in Redis's messages
	chunk, err := parse.Parse(strings.NewReader(text), name)
	if err != nil {
		return nil, err
	}
	guardBlock(chunk)
	proto, err := lua.Compile(chunk, name)
	if err != nil {
		return nil, err
	}
	proto.IsVarArg &^= lua.VarArgNeedsArg // no table "arg" of Lua 5.0: it costs as much as the script
	return proto, nil
}

func runEval(s *Store, _ *Peer, c *command, args []string) {
	keys, argv, problem := splitKeys(args[2:])
	if problem != "" {
		s.fail(problem)
		return
	}
	sc := s.scripts.compile(args[1])
	if sc.problem != "" {
		s.fail(sc.problem)
		return
	}
	sc.run = s.scripts.run
	s.runScript(sc, keys, argv, c.name == "EVAL_RO")
}

func runEvalsha(s *Store, _ *Peer, c *command, args []string) {
	keys, argv, problem := splitKeys(args[2:])
	if problem != "" {
		s.fail(problem)
		return
	}
	sc, ok := s.loaded(args[1])
	if !ok {
		s.fail("NOSCRIPT No matching script. Please use EVAL.")
		return
	}
	s.runScript(sc, keys, argv, c.name == "EVALSHA_RO")
}

func (s *Store) loaded(sha string) (*script, bool) {
	sc, ok := s.scripts.bySHA[strings.ToLower(sha)]
	return sc, ok && sc.run == s.scripts.run
}

// splitKeys separates KEYS from ARGV (eval.c, evalGenericCommand).
func splitKeys(words []string) (keys, argv []string, problem string) {
	n, err := strconv.Atoi(words[0])
	switch {
	case err != nil:
		return nil, nil, errInteger
	case n > len(words)-1:
		return nil, nil, "ERR Number of keys can't be greater than number of args"
	case n < 0:
		return nil, nil, "ERR Number of keys can't be negative"
	}
	return words[1 : 1+n], words[1+n:], ""
}

// runScript executes a script. Commands that it calls reply in RESP2, whichever protocol the connection speaks.
func (s *Store) runScript(sc *script, keys, argv []string, readOnly bool) {
	protocol, database := s.protocol, s.keys.number
	s.scripted, s.declared, s.protocol = true, keys, RESP2
	if sc.twin == nil || s.LuaOnly || readOnly || s.refusal != "" || !sc.twin(s, keys, argv) {
		if s.engine == nil {
			s.engine = newEngine(s)
		}
		s.engine.run(sc, keys, argv, readOnly, protocol)
	}
	s.scripted, s.declared, s.protocol = false, nil, protocol
	s.use(database)
}

// scriptRows are the subcommands of SCRIPT.
func scriptRows() []command {
	return []command{
		{name: "LOAD", arity: 3, run: runScriptLoad},
		{name: "EXISTS", arity: -3, run: runScriptExists},
		{name: "FLUSH", arity: -2, run: runScriptFlush},
		{name: "KILL", arity: 2, run: runScriptKill},
	}
}

func runScriptLoad(s *Store, _ *Peer, _ *command, args []string) {
	sc := s.scripts.compile(args[2])
	if sc.problem != "" {
		s.fail(sc.problem)
		return
	}
	sc.run = s.scripts.run
	s.out = appendBulk(s.out, sc.sha)
}

func runScriptExists(s *Store, _ *Peer, _ *command, args []string) {
	s.out = appendArray(s.out, len(args)-2)
	for _, sha := range args[2:] {
		n := int64(0)
		if _, ok := s.loaded(sha); ok {
			n = 1
		}
		s.out = appendInteger(s.out, n)
	}
}

func runScriptFlush(s *Store, _ *Peer, _ *command, args []string) {
	if len(args) > 3 || len(args) == 3 && !isSyncOption(args[2]) {
		s.fail("ERR SCRIPT FLUSH only support SYNC|ASYNC option")
		return
	}
	s.scripts.run++
	s.ok()
}

// runScriptKill finds nothing to end: a script is over at the instant at which it began.
func runScriptKill(s *Store, _ *Peer, _ *command, _ []string) {
	s.fail("NOTBUSY No scripts in execution right now.")
}

func isSyncOption(word string) bool {
	return strings.EqualFold(word, "SYNC") || strings.EqualFold(word, "ASYNC")
}
