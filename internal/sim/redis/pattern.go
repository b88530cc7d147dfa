package redis

import lua "github.com/yuin/gopher-lua"

// gopher-lua matches a pattern in one call that no bound interrupts: "a-a-a-b" can fail in more ways than there is time to try, and
// a long match of "a*" is a deep recursion. So each pattern is first walked here, in the same order but with recursion only where
// it backtracks, and each step counts as one of the script's. A match that would exceed the bound is never started.

// copiedByStep is how many bytes may be compared or copied in the time of a step.
const copiedByStep = 1024

// matching guards a function of the string library that looks for a pattern: for at most limit matches, and from its third
// argument on if init is set.
func (e *engine) matching(f lua.LValue, limit int, init bool) *lua.LFunction {
	library := f.(*lua.LFunction)
	guard := e.l.NewFunction(func(l *lua.LState) int {
		e.walk(l, limit, init)
		return library.GFunction(l)
	})
	guard.Upvalues = library.Upvalues // the iterator of gmatch
	return guard
}

// walk charges the script for the steps that a pattern takes.
func (e *engine) walk(l *lua.LState, limit int, init bool) {
	text, pattern := lua.LVAsString(l.Get(1)), lua.LVAsString(l.Get(2))
	from := 0
	if init && l.GetTop() > 2 {
		from = int(max(min(truncate(lua.LVAsNumber(l.Get(3))), int64(len(text))+1), -int64(len(text))-1))
		if from < 0 {
			from += len(text) + 1
		}
		from = max(from-1, 0)
	}
	w := walker{text: text[min(from, len(text)):], left: &e.budget.left}
	w.spend(1 + (len(w.text)+len(pattern))/copiedByStep)
	plain := limit == 1 && l.GetTop() == 4 && lua.LVAsBool(l.Get(4))
	if p, ok := parsePattern(pattern); ok && !plain {
		w.pattern = p
		matches := w.find(limit)
		w.spend(matches * (len(text) / copiedByStep)) // gsub copies all of it for each
	}
	if e.budget.left < 0 {
		l.RaiseError("%s", errScriptSteps)
	}
}

// piece is what one position of a pattern is to match.
type piece struct {
	kind     byte // 0: one of the set; '*', '+', '-', '?'; 'b'; '(' and ')'; '1': what a capture has matched
	set      [256]bool
	from, to byte // of %b
	capture  int
}

// luaPattern is one as gopher-lua reads it (pm.go, parsePattern), which knows no %f.
type luaPattern struct {
	pieces     []piece
	captures   int
	head, tail bool
}

// parsePattern is false for a pattern that gopher-lua refuses.
func parsePattern(text string) (p luaPattern, ok bool) {
	var open []int
	i := 0
	if p.head = text != "" && text[0] == '^'; p.head {
		i++
	}
	for i < len(text) {
		c := text[i]
		next := piece{}
		i++
		switch last := len(p.pieces) - 1; {
		case c == '(':
			next.kind, next.capture = c, p.captures
			open = append(open, p.captures)
			p.captures++
		case c == ')':
			if len(open) == 0 {
				return p, false
			}
			next.kind, next.capture = c, open[len(open)-1]
			open = open[:len(open)-1]
		case c == '%' && i < len(text) && text[i] >= '0' && text[i] <= '9':
			next.kind, next.capture = '1', int(text[i])-'1'
			i++
		case c == '%' && i+2 < len(text) && text[i] == 'b':
			next.kind, next.from, next.to = 'b', text[i+1], text[i+2]
			i += 3
		case c == '$' && i == len(text) && len(open) == 0:
			p.tail = true
			continue
		case (c == '*' || c == '+' || c == '-' || c == '?') && last >= 0 && p.pieces[last].kind == 0:
			p.pieces[last].kind = c
			continue
		default:
			if i, ok = next.read(text, i-1); !ok {
				return p, false
			}
		}
		p.pieces = append(p.pieces, next)
	}
	return p, len(open) == 0
}

// read reads what one byte is to be, and returns where that ends.
func (p *piece) read(text string, i int) (end int, ok bool) {
	c := text[i]
	i++
	switch c {
	case '.':
		for b := range p.set {
			p.set[b] = true
		}
	case '%':
		if i == len(text) {
			return i, true // it matches nothing
		}
		p.add(text[i])
		i++
	case '[':
		return p.readSet(text, i)
	default:
		p.set[c] = true
	}
	return i, true
}

// readSet reads a set behind its bracket.
func (p *piece) readSet(text string, i int) (end int, ok bool) {
	not := i < len(text) && text[i] == '^'
	if not {
		i++
	}
	for first := true; ; first = false {
		switch {
		case i >= len(text):
			return i, false
		case text[i] == ']' && !first:
			for b := range p.set {
				p.set[b] = p.set[b] != not
			}
			return i + 1, true
		case text[i] == '%' && i+1 < len(text):
			p.add(text[i+1])
			i += 2
		case i+2 < len(text) && text[i+1] == '-' && text[i+2] != ']':
			for b := int(text[i]); b <= int(text[i+2]); b++ {
				p.set[b] = true
			}
			i += 3
		default:
			p.set[text[i]] = true
			i++
		}
	}
}

// add adds a class, or a byte that stands for itself, to the set.
func (p *piece) add(class byte) {
	for b := range p.set {
		in, known := inClass(class|0x20, byte(b))
		p.set[b] = p.set[b] || known && in != (class < 'a') || !known && byte(b) == class
	}
}

// inClass reports whether a byte is in a class of C's ctype.h, and whether there is such a class.
func inClass(class, b byte) (in, known bool) {
	digit, lower, upper := b >= '0' && b <= '9', b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z'
	switch class {
	case 'a':
		return lower || upper, true
	case 'c':
		return b < ' ' || b == 127, true
	case 'd':
		return digit, true
	case 'l':
		return lower, true
	case 'p':
		return b > ' ' && b < 127 && !digit && !lower && !upper, true
	case 's':
		return b == ' ' || b >= '\t' && b <= '\r', true
	case 'u':
		return upper, true
	case 'w':
		return digit || lower || upper, true
	case 'x':
		return digit || b|0x20 >= 'a' && b|0x20 <= 'f', true
	case 'z':
		return b == 0, true
	}
	return false, false
}

// walker matches a pattern as far as its steps reach.
type walker struct {
	text    string
	pattern luaPattern
	marks   [][2]int // of the captures
	left    *int     // steps
}

func (w *walker) spend(steps int) { *w.left -= steps }

// find counts the matches up to a limit; all of them if the limit is negative.
func (w *walker) find(limit int) (matches int) {
	w.marks = make([][2]int, w.pattern.captures)
	for at := 0; at <= len(w.text) && *w.left >= 0; {
		end := w.match(0, at)
		if at++; end >= 0 {
			matches++
			at = max(at, end)
		}
		if matches == limit || w.pattern.head {
			break
		}
	}
	return matches
}

// match returns where a match of the pattern from piece i on ends that begins at a place of the text; -1 if there is none.
func (w *walker) match(i, at int) int {
	for ; ; i++ {
		if w.spend(1); *w.left < 0 {
			return -1
		}
		if i == len(w.pattern.pieces) {
			if w.pattern.tail && at < len(w.text) {
				return -1
			}
			return at
		}
		p := &w.pattern.pieces[i]
		switch p.kind {
		case 0:
			if !w.is(p, at) {
				return -1
			}
			at++
		case '-', '*', '+', '?':
			return w.repeat(p, i, at)
		case '(', ')':
			side := 0
			if p.kind == ')' {
				side = 1
			}
			mark := &w.marks[p.capture][side]
			was := *mark
			*mark = at
			end := w.match(i+1, at)
			if end < 0 {
				*mark = was
			}
			return end
		default:
			if at = w.same(p, at); at < 0 {
				return -1
			}
		}
	}
}

func (w *walker) is(p *piece, at int) bool { return at < len(w.text) && p.set[w.text[at]] }

// repeat matches a piece that may be there several times, and the rest.
func (w *walker) repeat(p *piece, i, at int) int {
	if p.kind == '-' {
		for {
			end := w.match(i+1, at)
			if end >= 0 || !w.is(p, at) {
				return end
			}
			at++
		}
	}
	most, least := at, at
	if p.kind == '+' {
		least++
	}
	for w.is(p, most) && (p.kind != '?' || most == at) {
		most++
	}
	w.spend(most - at)
	for ; most >= least && *w.left >= 0; most-- {
		if end := w.match(i+1, most); end >= 0 {
			return end
		}
	}
	return -1
}

// same matches what is between two bytes that balance each other, or what a capture has matched, and returns where that ends.
func (w *walker) same(p *piece, at int) int {
	if p.kind == '1' {
		if p.capture < 0 || p.capture >= len(w.marks) {
			return -1
		}
		mark := w.marks[p.capture]
		end := at + mark[1] - mark[0]
		if end < at || end > len(w.text) || w.text[mark[0]:mark[1]] != w.text[at:end] {
			return -1
		}
		w.spend(end - at)
		return end
	}
	if at >= len(w.text) || w.text[at] != p.from {
		return -1
	}
	for depth, i := 1, at+1; i < len(w.text); i++ {
		switch w.spend(1); w.text[i] {
		case p.to:
			depth--
		case p.from:
			depth++
		}
		if depth == 0 {
			return i + 1
		}
	}
	return -1
}
