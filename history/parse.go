package history

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/locksim/locksim/trace"
)

// Parse reads a history's text form. Errors begin with line:column, and say what is allowed. A parsed history
// is [History.Valid].
func Parse(text string) (*History, error) {
	p := parser{history: &History{}, lines: make(map[string][]int, len(recordNames))}
	for n, line := range strings.Split(text, "\n") {
		if err := p.line(n+1, line); err != nil {
			return nil, fmt.Errorf("%d:%w", n+1, err)
		}
	}
	if len(p.lines["history"]) == 0 {
		return nil, errors.New(`1:1: no record "history"`)
	}
	if bad, ok := p.history.invalid(); ok {
		return nil, fmt.Errorf("%d:1: %s: %s", p.lines[bad.record][bad.index], bad.record, bad.problem)
	}
	return p.history, nil
}

type parser struct {
	history *History
	lines   map[string][]int // where the records of each name stand, from 1
}

var recordNames = []string{
	"history", "acquisition", "grant", "copy", "ask", "removal", "access", "wait", "fault", "note", "exit", "load",
}

func (p *parser) line(number int, line string) error {
	words, err := split(line)
	if err != nil || len(words) == 0 {
		return err
	}
	record := words[0]
	if !slices.Contains(recordNames, record.text) {
		return record.unknown("record", record.text, recordNames)
	}
	if (record.text == "history") == (len(p.lines["history"]) > 0) {
		return record.errorf(`the first record, and no other, must be "history"`)
	}
	p.lines[record.text] = append(p.lines[record.text], number)
	return parseFields(words[1:], p.history.grow(record.text))
}

// grown appends an empty element and returns it.
func grown[T any](list *[]T) *T {
	*list = append(*list, *new(T))
	return &(*list)[len(*list)-1]
}

// grow appends an empty record and returns its fields.
func (h *History) grow(name string) []field {
	switch name {
	case "history":
		return h.fields()
	case "acquisition":
		return grown(&h.Acquisitions).fields()
	case "grant":
		return grown(&h.Grants).fields()
	case "copy":
		return grown(&h.Copies).fields()
	case "ask":
		return grown(&h.Asks).fields()
	case "removal":
		return grown(&h.Removals).fields()
	case "access":
		return grown(&h.Accesses).fields()
	case "wait":
		return grown(&h.Waits).fields()
	case "fault":
		return grown(&h.Faults).fields()
	case "note":
		return grown(&h.Notes).fields()
	case "exit":
		return grown(&h.Exits).fields()
	case "load":
		return grown(&h.Loads).fields()
	}
	panic("history: no such record: " + name)
}

func parseFields(words []word, fields []field) error {
	for _, f := range fields {
		f.clear()
	}
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	given := make([]bool, len(fields))
	for _, w := range words {
		i := slices.Index(keys, w.key())
		if i < 0 {
			return w.unknown("field", w.key(), keys)
		}
		if given[i] {
			return w.errorf("field %q stands here twice", w.key())
		}
		given[i] = true
		if err := fields[i].set(w); err != nil {
			return err
		}
	}
	return nil
}

// clear gives the field the value that its absence stands for.
func (f field) clear() {
	switch v := f.value.(type) {
	case never:
		*v.at = trace.Never
	case stated:
		*v.at = trace.Never
	}
}

func (f field) set(w word) error {
	if flag, ok := f.value.(*bool); ok {
		*flag = true
		return w.mustBeFlag()
	}
	text, column, err := w.value()
	if err != nil {
		return err
	}
	ok, allowed := true, ""
	switch v := f.value.(type) {
	case *string:
		*v = text
	case *int:
		*v, err = strconv.Atoi(text)
		ok, allowed = err == nil && *v >= 0, "a whole number from 0"
	case *uint64:
		*v, err = strconv.ParseUint(text, 10, 64)
		ok, allowed = err == nil, "a whole number from 0"
	case *trace.Instant:
		*v, ok = parseInstant(text)
		allowed = instantForm
	case *time.Duration:
		*v, err = time.ParseDuration(text)
		ok, allowed = err == nil && *v >= 0, "a time, such as 10s"
	case never:
		*v.at, ok = parseInstant(text)
		allowed = instantForm
	case stated:
		*v.at, ok = parseInstant(text)
		*v.has, allowed = true, instantForm
	case *[]Shown:
		*v, ok = parseShown(text)
		allowed = "acquisition:token:largest, with commas between them, as in 2:33:34"
	case enum:
		i := slices.Index(v.names, text)
		if i < 0 {
			return word{column: column}.unknown(f.key, text, v.names)
		}
		*v.value = uint8(i)
	}
	if !ok {
		return word{column: column}.errorf("%s: %q: must be %s", f.key, text, allowed)
	}
	return nil
}

const instantForm = `a duration since the start, as in "1.5s", or "never"`

// word is a part of a line between blanks.
type word struct {
	column int // from 1, in bytes
	text   string
}

// split cuts a line into its words; a quoted part holds blanks, and a word that begins with # ends the line.
func split(line string) ([]word, error) {
	var words []word
	for at := 0; at < len(line); {
		rest := line[at:]
		if blank := len(rest) - len(strings.TrimLeftFunc(rest, unicode.IsSpace)); blank > 0 {
			at += blank
			continue
		}
		if rest[0] == '#' {
			break
		}
		n, err := wordLength(rest)
		if err != nil {
			return nil, word{column: at + n + 1}.errorf("%w", err)
		}
		words = append(words, word{at + 1, rest[:n]})
		at += n
	}
	return words, nil
}

var errQuote = errors.New("a quoted text must be a Go string in double quotes, followed by a blank")

// wordLength returns how long the word is that text begins with, or where its quoted text begins that is none.
func wordLength(text string) (int, error) {
	end := strings.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		end = len(text)
	}
	key := strings.Index(text[:end], `="`)
	if key < 0 {
		return end, nil
	}
	quoted, err := strconv.QuotedPrefix(text[key+1:])
	if err != nil {
		return key + 1, errQuote
	}
	end = key + 1 + len(quoted)
	if end < len(text) && !unicode.IsSpace(rune(text[end])) {
		return key + 1, errQuote
	}
	return end, nil
}

func (w word) key() string {
	key, _, _ := strings.Cut(w.text, "=")
	return key
}

// value returns what stands behind the =, without its quotes, and the column where it begins.
func (w word) value() (string, int, error) {
	key, text, found := strings.Cut(w.text, "=")
	if !found || text == "" {
		return "", 0, w.errorf("field %q needs a value: %s=…", key, key)
	}
	column := w.column + len(key) + 1
	if text[0] != '"' {
		return text, column, nil
	}
	plain, err := strconv.Unquote(text)
	if err != nil {
		return "", 0, word{column: column}.errorf("%w", errQuote)
	}
	return plain, column, nil
}

func (w word) mustBeFlag() error {
	if strings.Contains(w.text, "=") {
		return w.errorf("field %q is a flag: it has no value", w.key())
	}
	return nil
}

func (w word) errorf(format string, args ...any) error {
	return fmt.Errorf("%d: "+format, append([]any{w.column}, args...)...)
}

func (w word) unknown(what, name string, allowed []string) error {
	hint := ""
	if near := nearest(name, allowed); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return w.errorf("unknown %s %q%s allowed: %s", what, name, hint+";", strings.Join(allowed, ", "))
}

// nearest returns the name that is reached by the fewest single-letter edits; "" if none is near.
func nearest(name string, names []string) string {
	best, least := "", len(name)/2+1
	for _, candidate := range names {
		if d := distance(name, candidate); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance is Levenshtein's: how many letters must be inserted, deleted or replaced to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
