package redis

import (
	"slices"
	"strconv"
	"strings"
)

// Commands that wait for a key to hold something, as in Redis's blocked.c, t_list.c and t_zset.c. A client that finds nothing
// is blocked until a unit of execution has made one of its keys; clients are served in the order in which they were blocked.

// pop is what a command takes from the first of several keys that holds something.
type pop struct {
	keys    []string
	kind    Kind
	take    func(s *Store, key string) // and answers
	nothing ReplyType                  // the answer in a transaction or script, where nothing blocks
	ms      int64                      // for how long it waits; 0: forever
	never   bool                       // it does not wait
}

// try takes from the first key that holds something, and answers; or it reports that none does.
func (q *pop) try(s *Store) (answered bool) {
	for _, key := range q.keys {
		e := s.keys.find(key)
		switch {
		case e == nil || e.hidden:
			continue
		case e.kind != q.kind:
			s.fail(errType)
			return true
		}
		q.take(s, key)
		return true
	}
	return false
}

// runPop is a command that takes something, at once or when it is there.
func runPop(s *Store, p *Peer, c *command, args []string) {
	q, problem := parsePop(c.name, args)
	switch {
	case problem != "":
		s.fail(problem)
	case q.try(s):
	case q.never || p == nil || p.executing || s.server == nil:
		s.out = Reply{Type: q.nothing}.Append(s.out, RESP2)
	default:
		s.server.block(p, &wait{request: s.request, pop: q, database: p.database}, q.ms)
	}
}

// parsePop reads the arguments of a command that takes something.
func parsePop(name string, args []string) (q *pop, problem string) {
	timeout, last := "", len(args)-1
	switch name {
	case "BLPOP", "BRPOP":
		q, timeout = popFirst(KindList, name[1:], args[1:last]), args[last]
	case "BZPOPMIN", "BZPOPMAX":
		q, timeout = popFirst(KindSortedSet, name[1:], args[1:last]), args[last]
	case "BRPOPLPUSH":
		q, timeout = popAndPush([]string{"RPOPLPUSH", args[1], args[2]}), args[last]
	case "BLMOVE":
		if !isSide(args[3]) || !isSide(args[4]) {
			return nil, errSyntax
		}
		q, timeout = popAndPush([]string{"LMOVE", args[1], args[2], args[3], args[4]}), args[last]
	case "BLMPOP", "BZMPOP":
		q, problem = parsePopSeveral(name[1:], args[2:])
		timeout = args[1]
	default:
		if q, problem = parsePopSeveral(name, args[1:]); problem == "" {
			q.never = true
		}
		return q, problem
	}
	ms, late := parseTimeout(timeout)
	if late != "" || problem != "" {
		return nil, late + problem
	}
	q.ms = ms
	return q, ""
}

func isSide(word string) bool {
	return strings.EqualFold(word, "LEFT") || strings.EqualFold(word, "RIGHT")
}

// popFirst takes one element, and answers with the key too.
func popFirst(kind Kind, command string, keys []string) *pop {
	return &pop{keys: slices.Clone(keys), kind: kind, nothing: ReplyNilArray, take: func(s *Store, key string) {
		r := s.answerOf(command, key)
		elems := []Reply{bulk(key)}
		if r.Type == ReplyArray {
			elems = append(elems, r.Elems...)
		} else {
			elems = append(elems, r)
		}
		s.out = Reply{Type: ReplyArray, Elems: elems}.Append(s.out, s.protocol)
	}}
}

// popAndPush has a command take an element from one list and add it to another.
func popAndPush(line []string) *pop {
	line = slices.Clone(line)
	return &pop{keys: line[1:2], kind: KindList, nothing: ReplyNil, take: func(s *Store, _ string) {
		s.forward(s.commands[line[0]], line)
	}}
}

// parsePopSeveral reads the arguments of LMPOP and ZMPOP.
func parsePopSeveral(name string, words []string) (q *pop, problem string) {
	n, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil || n < 1 {
		return nil, "ERR numkeys should be greater than 0"
	}
	if n >= int64(len(words)-1) {
		return nil, errSyntax
	}
	keys, rest := slices.Clone(words[1:1+n]), words[1+n:]
	kind, command := KindList, ""
	switch where := strings.ToUpper(rest[0]); {
	case name == "LMPOP" && where == "LEFT":
		command = "LPOP"
	case name == "LMPOP" && where == "RIGHT":
		command = "RPOP"
	case name == "ZMPOP" && (where == "MIN" || where == "MAX"):
		kind, command = KindSortedSet, "ZPOP"+where
	default:
		return nil, errSyntax
	}
	count := "1"
	switch {
	case len(rest) == 1:
	case len(rest) != 3 || !strings.EqualFold(rest[1], "COUNT"):
		return nil, errSyntax
	default:
		if n, err := strconv.ParseInt(rest[2], 10, 64); err != nil || n < 1 {
			return nil, "ERR count should be greater than 0"
		}
		count = rest[2]
	}
	return &pop{keys: keys, kind: kind, nothing: ReplyNilArray, take: func(s *Store, key string) {
		r := s.answerOf(command, key, count)
		if kind == KindSortedSet && s.protocol == RESP2 {
			r = inPairs(r)
		}
		s.out = Reply{Type: ReplyArray, Elems: []Reply{bulk(key), r}}.Append(s.out, s.protocol)
	}}, ""
}

// answerOf executes a command and takes its answer back.
func (s *Store) answerOf(words ...string) Reply {
	start := len(s.out)
	c := s.commands[words[0]]
	c.run(s, nil, c, words)
	r, err := ParseReply(s.out[start:])
	if err != nil {
		panic("redis: " + strings.Join(words, " ") + ": " + err.Error())
	}
	s.out = s.out[:start]
	return r
}

// popFor executes the command of a client that waits for a key which is there now. It has no effect if the key has gone again.
func (s *Store) popFor(now int64, p *Peer, w *wait, key watched) (raw []byte, served bool) {
	s.begin(now)
	s.use(key.database)
	if e := s.keys.find(key.key); e == nil || e.kind != w.pop.kind {
		return nil, false
	}
	s.request, s.current, s.protocol = w.request, p, p.protocol
	w.pop.take(s, key.key)
	s.tellPending(p)
	s.request, s.current, s.protocol = nil, nil, RESP2
	s.broadcast()
	return s.out, true
}

// awaits reports whether a wait is for a key.
func (w *wait) awaits(key watched) bool {
	return w != nil && w.pop != nil && w.database == key.database && slices.Contains(w.pop.keys, key.key)
}

// serveReady serves the clients that wait for keys that units of execution have made (blocked.c,
// handleClientsBlockedOnKeys). Each is a separate unit, and may make a key for which another client waits. Commands
// that the served clients have sent meanwhile are executed when all have been served (server.c,
// processUnblockedClients).
func (s *Server) serveReady() {
	var served []*Peer
	for len(s.Store.ready) > 0 {
		key := s.Store.ready[0]
		s.Store.ready = slices.Delete(s.Store.ready, 0, 1)
		for _, p := range slices.Clone(s.waiting) {
			if w := p.wait; w.awaits(key) && s.servePop(p, w, key) {
				served = append(served, p)
			}
		}
	}
	for _, p := range served {
		s.resume(p)
	}
}

// servePop reports whether there was something for the client.
func (s *Server) servePop(p *Peer, w *wait, key watched) bool {
	raw, served := s.Store.popFor(s.node.Wall(), p, w, key)
	if !served {
		s.ended()
		return false
	}
	s.unblock(p)
	if reply, ok := s.conclude(p, w.request, raw); ok {
		s.send(p, w.request, reply)
	}
	return true
}
