package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// expression is a condition or an update of DynamoDB while it is read: AND, OR, NOT, parentheses, = and <>, attribute_exists and
// attribute_not_exists of one attribute; SET to values, and REMOVE. Errors have DynamoDB's own words.
type expression struct {
	body    *dynamoBody
	what    string // "ConditionExpression"
	tokens  []string
	used    map[string]bool // the placeholders, of all expressions of a request
	refused *page           // the first error
}

// longestExpression is how many bytes an expression may have (Amazon DynamoDB Developer Guide, quotas).
const longestExpression = 4 << 10

// operand is a value, or an attribute of the item, which may not be there: then it is nil.
type operand func(attributes) json.RawMessage

// compile reads the expressions of a request.
func (b *dynamoBody) compile(w *itemWrite, updates bool) *page {
	used := map[string]bool{}
	if b.ConditionExpression != nil {
		e := b.expression("ConditionExpression", *b.ConditionExpression, used)
		if w.holds = e.either(); e.end() != nil {
			return e.refused
		}
	}
	if updates {
		w.item = attributes{dynamoKey: b.Key[dynamoKey]}
		if b.UpdateExpression != nil {
			e := b.expression("UpdateExpression", *b.UpdateExpression, used)
			if e.update(w); e.end() != nil {
				return e.refused
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.ExpressionAttributeNames)) {
		if !used[name] {
			return invalidRequest("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.ExpressionAttributeValues)) {
		if !used[name] {
			return invalidRequest("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", name)
		}
	}
	return nil
}

// expression divides a text into tokens: words, which may begin with # or :, and signs.
func (b *dynamoBody) expression(what, text string, used map[string]bool) *expression {
	e := &expression{body: b, what: what, used: used}
	switch {
	case strings.TrimSpace(text) == "":
		e.fail("The expression can not be empty;")
	case len(text) > longestExpression:
		e.fail("Expression size has exceeded the maximum allowed size; expression size: %d", len(text))
		return e
	}
	isWord := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_#:", c) >= 0
	}
	for at := 0; at < len(text); {
		end := at + 1
		switch {
		case strings.IndexByte(" \t\r\n", text[at]) >= 0:
			at = end
			continue
		case isWord(text[at]):
			for end < len(text) && isWord(text[end]) {
				end++
			}
		case end < len(text) && slices.Contains([]string{"<>", "<=", ">="}, text[at:end+1]):
			end++
		}
		e.tokens = append(e.tokens, text[at:end])
		at = end
	}
	return e
}

// fail notes an error, if it is the first.
func (e *expression) fail(format string, args ...any) {
	if e.refused == nil {
		e.refused = invalidRequest("Invalid %s: %s", e.what, fmt.Sprintf(format, args...))
	}
}

// unexpected notes that the next token cannot be here.
func (e *expression) unexpected() {
	token := e.peek()
	near := strings.Join(e.tokens[:min(len(e.tokens), 2)], " ")
	if token == "" {
		token = "<EOF>"
	}
	e.fail("Syntax error; token: %q, near: %q", token, near)
}

// peek returns the next token; "" at the end.
func (e *expression) peek() string {
	if len(e.tokens) == 0 {
		return ""
	}
	return e.tokens[0]
}

// take takes the next token if it is a word or sign, whose case does not matter.
func (e *expression) take(word string) bool {
	if !strings.EqualFold(e.peek(), word) {
		return false
	}
	e.tokens = e.tokens[1:]
	return true
}

// want takes a sign that must be here.
func (e *expression) want(sign string) {
	if !e.take(sign) {
		e.unexpected()
	}
}

// end returns the first error; also if there is more than an expression.
func (e *expression) end() *page {
	if len(e.tokens) > 0 {
		e.unexpected()
	}
	return e.refused
}

// either reads conditions with OR between them.
func (e *expression) either() func(attributes) bool {
	first := e.both()
	for e.refused == nil && e.take("OR") {
		left, right := first, e.both()
		first = func(item attributes) bool { return left(item) || right(item) }
	}
	return first
}

// both reads conditions with AND between them.
func (e *expression) both() func(attributes) bool {
	first := e.one()
	for e.refused == nil && e.take("AND") {
		left, right := first, e.one()
		first = func(item attributes) bool { return left(item) && right(item) }
	}
	return first
}

// one reads a condition without AND and OR.
func (e *expression) one() func(attributes) bool {
	function := strings.ToLower(e.peek())
	switch {
	case e.refused != nil:
		return nil
	case e.take("NOT"):
		inner := e.one()
		return func(item attributes) bool { return !inner(item) }
	case e.take("("):
		inner := e.either()
		e.want(")")
		return inner
	case len(e.tokens) < 2 || e.tokens[1] != "(":
		return e.comparison()
	case function == "attribute_exists" || function == "attribute_not_exists":
		e.tokens = e.tokens[2:]
		name := e.name()
		e.want(")")
		exists := function == "attribute_exists"
		return func(item attributes) bool { return (item[name] != nil) == exists }
	case slices.Contains([]string{"begins_with", "contains", "size", "attribute_type"}, function):
		e.fail("the simulated DynamoDB has no function %s", function)
	default:
		e.fail("Invalid function name; function: %s", e.peek())
	}
	return nil
}

// comparison reads two operands with = or <> between them. An attribute that is not there equals nothing.
func (e *expression) comparison() func(attributes) bool {
	left := e.operand()
	sign := e.peek()
	switch {
	case e.refused != nil:
		return nil
	case slices.Contains([]string{"<", "<=", ">", ">=", "BETWEEN", "IN"}, strings.ToUpper(sign)):
		e.fail("the simulated DynamoDB has no operator %s", sign)
		return nil
	case sign != "=" && sign != "<>":
		e.unexpected()
		return nil
	}
	e.tokens = e.tokens[1:]
	right := e.operand()
	return func(item attributes) bool {
		a, b := left(item), right(item)
		return (a != nil && bytes.Equal(a, b)) == (sign == "=")
	}
}

// operand reads a value or the name of an attribute.
func (e *expression) operand() operand {
	if token := e.peek(); strings.HasPrefix(token, ":") {
		e.tokens = e.tokens[1:]
		value, defined := e.body.ExpressionAttributeValues[token]
		if !defined {
			e.fail("An expression attribute value used in expression is not defined; attribute value: %s", token)
		}
		e.used[token] = true
		return func(attributes) json.RawMessage { return value }
	}
	name := e.name()
	return func(item attributes) json.RawMessage { return item[name] }
}

// name reads the name of an attribute of the item.
func (e *expression) name() string {
	token := e.peek()
	if token == "" || strings.ContainsAny(token, ":()=<>,.[]+-") || strings.LastIndex(token, "#") > 0 {
		e.unexpected()
		return ""
	}
	e.tokens = e.tokens[1:]
	if next := e.peek(); next == "." || next == "[" {
		e.fail("the simulated DynamoDB has no attributes within others")
	}
	if token[0] != '#' {
		return token
	}
	name, defined := e.body.ExpressionAttributeNames[token]
	if !defined {
		e.fail("An expression attribute name used in the document path is not defined; attribute name: %s", token)
	}
	e.used[token] = true
	return name
}

// update reads what an update sets and removes.
func (e *expression) update(w *itemWrite) {
	for e.refused == nil && len(e.tokens) > 0 {
		switch {
		case e.take("SET"):
			e.list(func(name string) {
				e.want("=")
				if token := e.peek(); e.refused == nil && !strings.HasPrefix(token, ":") {
					e.fail("the simulated DynamoDB sets attributes to values only, not to %s", token)
					return
				}
				w.item[name] = e.operand()(nil)
			})
		case e.take("REMOVE"):
			e.list(func(name string) { w.drops = append(w.drops, name) })
		case strings.EqualFold(e.peek(), "ADD"), strings.EqualFold(e.peek(), "DELETE"):
			e.fail("the simulated DynamoDB has no clause %s", e.peek())
		default:
			e.unexpected()
		}
	}
}

// list reads names of attributes with commas between them, and what belongs to each.
func (e *expression) list(each func(name string)) {
	for more := true; more && e.refused == nil; more = e.take(",") {
		name := e.name()
		if name == dynamoKey {
			e.refused = invalidRequest("One or more parameter values were invalid: Cannot update attribute %s. This attribute is part of the key", name)
		}
		if e.refused == nil {
			each(name)
		}
	}
}
