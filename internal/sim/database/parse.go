package database

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// parser reads the statements that locks use, and a little around them:
//
//	BEGIN | START TRANSACTION | COMMIT | ROLLBACK | SET [SESSION] name {= | TO} value
//	SELECT expression, … [FROM table [WHERE condition] [FOR UPDATE [NOWAIT | SKIP LOCKED]]]
//	INSERT [IGNORE] INTO table (column, …) VALUES (expression, …) [ON CONFLICT [(column)] DO NOTHING] [RETURNING …]
//	INSERT … ON CONFLICT (column) DO UPDATE SET column = expression, … [WHERE condition] [RETURNING …]
//	UPDATE table SET column = expression, … [WHERE condition] [RETURNING …]
//	DELETE FROM table [WHERE condition] [RETURNING …]
//
// IGNORE, INTERVAL and ? are MySQL's; ON CONFLICT, RETURNING and $1 are PostgreSQL's.
type parser struct {
	dialect  Dialect
	tokens   []token
	params   int
	mentions []string
	failed   bool
	near     string // where it failed

	table     string // that columns may be named with; "": not known yet
	qualified string // the table that columns must be named with; "": none
	ambiguous string // a column that is not
}

// parse reads a statement; what it cannot read is refused as a server would refuse it.
func parse(d Dialect, text string) (*statement, error) {
	p := &parser{dialect: d, tokens: tokens(text)}
	s := p.statement()
	if p.tokens[0].kind != end {
		p.fail()
	}
	if p.failed {
		return nil, d.problem(syntax, p.near)
	}
	s.params, s.ambiguous, s.mentions = p.params, p.ambiguous, append(p.mentions, s.columns...)
	return s, nil
}

func (p *parser) fail() {
	if !p.failed {
		p.failed, p.near = true, p.tokens[0].text
	}
}

// next takes a token.
func (p *parser) next() token {
	t := p.tokens[0]
	if t.kind != end {
		p.tokens = p.tokens[1:]
	}
	return t
}

// accept takes the words, if they come next.
func (p *parser) accept(words ...string) bool {
	for i, w := range words {
		if i >= len(p.tokens) || p.tokens[i].text != w || p.tokens[i].kind != word && p.tokens[i].kind != symbol {
			return false
		}
	}
	p.tokens = p.tokens[len(words):]
	return true
}

func (p *parser) expect(words ...string) {
	if !p.accept(words...) {
		p.fail()
	}
}

// only accepts words that one dialect has.
func (p *parser) only(d Dialect, words ...string) bool { return p.dialect == d && p.accept(words...) }

func (p *parser) name() string {
	if p.tokens[0].kind != word {
		p.fail()
	}
	return p.next().text
}

func (p *parser) statement() *statement {
	s := &statement{}
	switch {
	case p.accept("begin"), p.accept("start", "transaction"):
		s.verb = begin
	case p.accept("commit"):
		s.verb = commit
	case p.accept("rollback"):
		s.verb = rollback
	case p.accept("set"):
		p.variable(s)
	case p.accept("select"):
		p.selection(s)
	case p.accept("insert"):
		p.insertion(s)
	case p.accept("update"):
		s.verb, s.table = update, p.ofTable()
		p.expect("set")
		p.assignments(s)
		p.condition(s)
		p.returning(s)
	case p.accept("delete", "from"):
		s.verb, s.table = remove, p.ofTable()
		p.condition(s)
		p.returning(s)
	default:
		p.fail()
	}
	return s
}

func (p *parser) variable(s *statement) {
	s.verb = set
	p.accept("session")
	s.variable = p.name()
	if !p.only(PostgreSQL, "to") {
		p.expect("=")
	}
	s.values = []expression{p.expression()}
}

func (p *parser) selection(s *statement) {
	s.verb, s.list = compute, p.expressions()
	if !p.accept("from") {
		return
	}
	s.verb, s.table = selectRows, p.ofTable()
	p.condition(s)
	switch {
	case !p.accept("for", "update"):
	case p.accept("nowait"):
		s.locking = noWait
	case p.accept("skip", "locked"):
		s.locking = skipLocked
	default:
		s.locking = forUpdate
	}
}

func (p *parser) insertion(s *statement) {
	s.verb = insert
	s.ignore = p.only(MySQL, "ignore")
	p.expect("into")
	s.table = p.name()
	p.expect("(")
	for s.columns = []string{p.name()}; p.accept(","); {
		s.columns = append(s.columns, p.name())
	}
	p.expect(")", "values", "(")
	s.values = p.expressions()
	p.expect(")")
	if len(s.values) != len(s.columns) {
		p.fail()
	}
	if p.table = s.table; p.only(PostgreSQL, "on", "conflict") {
		p.conflict(s)
	}
	p.returning(s)
	if s.instead != nil {
		s.instead.list = s.list
	}
}

// conflict reads what is to become of a row that is there already. In what changes it a column's name alone may mean the row that is
// there or the one that was to be inserted, and is refused for that.
func (p *parser) conflict(s *statement) {
	named := p.accept("(")
	if named {
		p.name()
		p.expect(")")
	}
	p.expect("do")
	if p.accept("nothing") {
		s.ignore = true
		return
	}
	if !named {
		p.fail()
	}
	p.expect("update", "set")
	s.instead = &statement{verb: update, table: s.table}
	p.qualified = s.table
	p.assignments(s.instead)
	p.condition(s.instead)
	p.qualified = ""
	p.mentions = append(p.mentions, s.instead.columns...)
}

func (p *parser) assignments(s *statement) {
	for {
		s.columns = append(s.columns, p.name())
		p.expect("=")
		s.values = append(s.values, p.expression())
		if !p.accept(",") {
			return
		}
	}
}

func (p *parser) condition(s *statement) {
	if p.accept("where") {
		s.where = p.expression()
	}
}

// ofTable reads the name of the table that columns may be named with from now on.
func (p *parser) ofTable() string {
	p.table = p.name()
	return p.table
}

func (p *parser) returning(s *statement) {
	if p.only(PostgreSQL, "returning") {
		s.list = p.expressions()
	}
}

func (p *parser) expressions() []expression {
	list := []expression{p.expression()}
	for p.accept(",") {
		list = append(list, p.expression())
	}
	return list
}

// levels are the operators from the loosest to the closest.
var levels = [...][]string{{"or"}, {"and"}, {"=", "<>", "!=", "<=", ">=", "<", ">"}, {"+", "-"}, {"*"}}

func (p *parser) expression() expression { return p.level(0) }

func (p *parser) level(n int) expression {
	if n == len(levels) {
		return p.operand()
	}
	left := p.level(n + 1)
	for {
		op := p.operator(levels[n])
		if op == "" {
			return p.test(n, left)
		}
		left = binary{op, left, p.level(n + 1)}
	}
}

func (p *parser) operator(of []string) string {
	for _, op := range of {
		if p.accept(op) {
			return op
		}
	}
	return ""
}

// test reads IS [NOT] NULL, which stands where a comparison does.
func (p *parser) test(level int, of expression) expression {
	switch {
	case levels[level][0] != "=":
		return of
	case p.accept("is", "null"):
		return isNull{of: of}
	case p.accept("is", "not", "null"):
		return isNull{of: of, not: true}
	default:
		return of
	}
}

func (p *parser) operand() expression {
	switch {
	case p.accept("("):
		e := p.expression()
		p.expect(")")
		return e
	case p.accept("null"):
		return literal{}
	case p.accept("-"):
		return literal{Int(-p.integer())}
	case p.only(MySQL, "interval"):
		return interval{p.operand(), p.unit()}
	case p.only(PostgreSQL, "interval"):
		return literal{p.length()}
	}
	switch p.tokens[0].kind {
	case number:
		return literal{Int(p.integer())}
	case quoted:
		return literal{Text(p.next().text)}
	case parameter:
		return p.parameter()
	default:
		return p.reference()
	}
}

func (p *parser) integer() int64 {
	n, err := strconv.ParseInt(p.tokens[0].text, 10, 64)
	if err != nil {
		p.fail()
	}
	p.next()
	return n
}

// units are those of lengths of time that both servers know by these names, and their lengths in nanoseconds.
var units = map[string]int64{
	"microsecond": int64(time.Microsecond), "second": int64(time.Second), "minute": int64(time.Minute), "hour": int64(time.Hour),
}

func (p *parser) unit() int64 {
	unit, ok := units[p.tokens[0].text]
	if !ok {
		p.fail()
	}
	p.next()
	return unit
}

// length reads PostgreSQL's quoted length of time: a number and a unit, in the singular or the plural.
func (p *parser) length() Value {
	if p.tokens[0].kind != quoted {
		p.fail()
		return Value{}
	}
	amount, name, _ := strings.Cut(strings.TrimSpace(p.tokens[0].text), " ")
	name = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(name)), "s")
	n, err := strconv.ParseInt(amount, 10, 32)
	unit, ok := units[name]
	if name == "millisecond" {
		unit, ok = int64(time.Millisecond), true
	}
	if err != nil || !ok || max(n, -n) > math.MaxInt64/unit {
		p.fail()
	}
	p.next()
	return Value{Kind: KindInterval, Int: n * unit}
}

// parameter reads a ?, of which each is the next, or $1, which may stand more than once.
func (p *parser) parameter() expression {
	t := p.tokens[0]
	index := p.params
	if t.text != "?" {
		n, err := strconv.Atoi(t.text[1:])
		if err != nil || n == 0 {
			p.fail()
			return literal{}
		}
		index = n - 1
	}
	if (t.text == "?") != (p.dialect == MySQL) {
		p.fail()
	}
	p.next()
	p.params = max(p.params, index+1)
	return argument{index}
}

// reference reads a column, or the call of a function.
func (p *parser) reference() expression {
	name := p.name()
	if p.table != "" && name == p.table && p.accept(".") {
		name = p.name()
		p.mentions = append(p.mentions, name)
		return column{name}
	}
	if !p.accept("(") {
		if p.qualified != "" {
			p.ambiguous = name
		}
		p.mentions = append(p.mentions, name)
		return column{name}
	}
	c := call{name: name}
	if !p.accept(")") {
		c.args = p.expressions()
		p.expect(")")
	}
	return c
}
