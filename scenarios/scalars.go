package scenarios

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

var (
	namePattern = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	// A lock is a name, perhaps with a version, or a folder.
	lockPattern     = regexp.MustCompile(`^([a-z][a-z0-9]*(-[a-z0-9]+)*(@v?[0-9a-zA-Z][0-9a-zA-Z.+-]*)?|[^\s]*/[^\s]*|\.\.?|[^\s-][^\s]*( [^\s]+)+)$`)
	durationPattern = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`)
	integerPattern  = regexp.MustCompile(`^-?[0-9]+$`)
	ratioPattern    = regexp.MustCompile(`^([+-]?)([0-9]{1,7})(?:\.([0-9]{1,4}))?(%|ppm)$`)
	seedPattern     = regexp.MustCompile(`^([0-9]+|0x[0-9a-fA-F]+)$`)
)

// scalar makes a kind of value that is one word or line. parse returns what is wrong, or "".
func scalar[V any](allowed string, schema object, parse func(string) (V, string), print func(V) *yaml.Node) kind[V] {
	return kind[V]{
		allowed: allowed,
		schema:  func(*schemas) object { return schema },
		write:   print,
		read: func(r *reader, path string, n *yaml.Node) (V, bool) {
			if !r.is(yaml.ScalarNode, path, n, allowed) {
				var none V
				return none, false
			}
			v, wrong := parse(n.Value)
			if wrong != "" {
				r.report(n, path, wrong, allowed)
			}
			return v, wrong == ""
		},
	}
}

// atLeast is a duration that is not shorter than a bound, nor absurdly long.
func atLeast(shortest time.Duration) kind[time.Duration] {
	const longest = maxDuration
	allowed := fmt.Sprintf("a duration such as 250ms, 10s or 1m30s, from %s to %s", Brief(shortest), Brief(longest))
	parse := func(text string) (time.Duration, string) {
		if !durationPattern.MatchString(text) {
			return 0, shown(text) + " is no duration"
		}
		d, err := time.ParseDuration(text)
		switch {
		case err != nil || d > longest:
			return 0, text + " is too long"
		case d < 0 && shortest >= 0:
			return 0, text + " is negative"
		case d < shortest:
			return 0, text + " is too short"
		}
		return d, ""
	}
	k := scalar(allowed, nil, parse, func(d time.Duration) *yaml.Node { return raw(Brief(d)) })
	k.schema = func(s *schemas) object {
		return s.share("duration", object{"type": "string", "pattern": durationPattern.String()})
	}
	return k
}

// Brief prints a duration without the zeros at its end, as scenarios are written.
func Brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// omitted makes a kind whose zero value is written by leaving the field away.
func omitted[V comparable](k kind[V]) kind[V] {
	write := k.write
	k.write = func(v V) *yaml.Node {
		var none V
		if v == none {
			return nil
		}
		return write(v)
	}
	return k
}

// optional makes a kind for a variable that is nil if the field is absent.
func optional[V any](k kind[V]) kind[*V] {
	return kind[*V]{
		allowed: k.allowed, schema: k.schema, parts: k.parts,
		read: func(r *reader, path string, n *yaml.Node) (*V, bool) {
			v, ok := k.read(r, path, n)
			return &v, ok
		},
		write: func(v *V) *yaml.Node {
			if v == nil {
				return nil
			}
			return k.write(*v)
		},
	}
}

// integer is a whole number between two bounds.
func integer[V int | int64](least, most V) kind[V] {
	allowed := fmt.Sprintf("a whole number from %d to %d", least, most)
	k := scalar(allowed, object{"type": "integer", "minimum": least, "maximum": most},
		func(text string) (V, string) {
			if !integerPattern.MatchString(text) {
				return 0, shown(text) + " is no whole number"
			}
			v, err := strconv.ParseInt(text, 10, 64)
			switch {
			case err != nil || v > int64(most):
				return 0, shown(text) + " is out of range"
			case v < int64(least):
				return 0, shown(text) + " is too small"
			}
			return V(v), ""
		},
		func(v V) *yaml.Node { return raw(strconv.FormatInt(int64(v), 10)) })
	return unquoted(k)
}

// unquoted refuses quoted text where a number or a truth value belongs, as editors do that know the schema.
func unquoted[V any](k kind[V]) kind[V] {
	read := k.read
	k.read = func(r *reader, path string, n *yaml.Node) (V, bool) {
		if n.Kind == yaml.ScalarNode && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
			r.report(n, path, "text in quotes stands here", k.allowed)
			var none V
			return none, false
		}
		return read(r, path, n)
	}
	return k
}

// truth is true or false; false is written by leaving the field away.
func truth() kind[bool] {
	return unquoted(omitted(scalar("true or false", object{"type": "boolean"},
		func(text string) (bool, string) {
			if text != "true" && text != "false" {
				return false, shown(text) + " is neither"
			}
			return text == "true", ""
		},
		func(v bool) *yaml.Node { return raw(strconv.FormatBool(v)) })))
}

// oneOf is one of several words. parse and print are as in the packages that own the words.
func oneOf[V any](names []string, parse func(string) (V, bool), print func(V) string) kind[V] {
	allowed := listing(names)
	if len(names) > 1 {
		allowed = "one of " + allowed
	}
	k := scalar(allowed, object{"enum": names},
		func(text string) (V, string) {
			v, ok := parse(text)
			if !ok {
				return v, "unknown word " + shown(text)
			}
			return v, ""
		},
		func(v V) *yaml.Node { return word(print(v)) })
	read := k.read
	k.read = func(r *reader, path string, n *yaml.Node) (V, bool) {
		before := len(r.problems)
		v, ok := read(r, path, n)
		if !ok && n.Kind == yaml.ScalarNode && len(r.problems) > before {
			last := r.problems[len(r.problems)-1]
			last.Allowed = didYouMean(last.Allowed, n.Value, names)
		}
		return v, ok
	}
	return k
}

// wordOf is oneOf for words that are kept as they are.
func wordOf(names ...string) kind[string] {
	return oneOf(names, func(s string) (string, bool) { return s, slices.Contains(names, s) },
		func(s string) string { return s })
}

// flag is a choice between two words of which the second means true.
func flag(no, yes string) kind[bool] {
	return oneOf([]string{no, yes}, func(s string) (bool, bool) { return s == yes, s == no || s == yes },
		func(v bool) string {
			if v {
				return yes
			}
			return no
		})
}

// name is a word in lower case.
func name(what string) kind[string] {
	allowed := what + ": words of a-z and 0-9 joined by hyphens, beginning with a letter, at most 64 characters"
	return omitted(scalar(allowed, object{"type": "string", "pattern": namePattern.String(), "maxLength": 64},
		func(text string) (string, string) {
			if !namePattern.MatchString(text) || len(text) > 64 {
				return text, shown(text) + " is no name"
			}
			return text, ""
		}, word))
}

// lockName is the name of a lock, or how a program is named that brings one.
func lockName() kind[string] {
	const allowed = "the name of an algorithm, as `locksim list locks` prints them; one of its libraries with a version, as " +
		"redsync@v4.15.0; a folder, as ./mylock; or a program with its arguments, as node client.js"
	return omitted(scalar(allowed, object{"type": "string", "pattern": lockPattern.String(), "maxLength": 500},
		func(text string) (string, string) {
			if !lockPattern.MatchString(text) || len(text) > 500 {
				return text, shown(text) + " is no name"
			}
			return text, ""
		}, word))
}

// line is a line of visible text.
func line(allowed string) kind[string] {
	return omitted(scalar(allowed, object{"type": "string", "minLength": 1},
		func(text string) (string, string) {
			text = strings.TrimSpace(text)
			switch {
			case text == "":
				return "", "an empty text stands here"
			case len(text) > 500:
				return "", shown(text) + " is longer than 500 bytes"
			case !printable(text):
				return "", shown(text) + " has characters that cannot be seen, or more than one line"
			}
			return text, ""
		}, word))
}

// prose is paragraphs of text; how its lines were broken does not matter.
func prose() kind[string] {
	return omitted(scalar("text", object{"type": "string"},
		func(text string) (string, string) {
			if i := strings.IndexFunc(text, unseen); i >= 0 {
				letter, _ := utf8.DecodeRuneInString(text[i:])
				return "", fmt.Sprintf("%s has a character that cannot be seen (%U)", shown(text), letter)
			}
			return tidy(text), ""
		},
		func(text string) *yaml.Node {
			n := word(tidy(text))
			n.Style |= yaml.FoldedStyle
			return n
		}))
}

// unseen reports whether a rune has no place in prose: terminals obey some of them.
func unseen(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }

// tidy collapses white space within paragraphs, and drops empty ones.
func tidy(text string) string {
	var paragraphs []string
	for p := range strings.SplitSeq(text, "\n") {
		if words := strings.Fields(p); len(words) > 0 {
			paragraphs = append(paragraphs, strings.Join(words, " "))
		}
	}
	return strings.Join(paragraphs, "\n")
}

// ratio is a part of something in millionths, written in percent or in parts per million.
func ratio(allowed string, least, most int64, print func(int64) string) kind[int64] {
	return scalar(allowed, object{"type": "string", "pattern": ratioPattern.String()},
		func(text string) (int64, string) {
			v, ok := parseRatio(text)
			switch {
			case !ok:
				return 0, shown(text) + " is neither a percentage nor in ppm"
			case v < least || v > most:
				return 0, text + " is out of range"
			}
			return v, ""
		},
		func(v int64) *yaml.Node { return raw(print(v)) })
}

// parseRatio reads "0.5%" and "5000ppm" as 5000, by integers only.
func parseRatio(text string) (int64, bool) {
	parts := ratioPattern.FindStringSubmatch(text)
	if parts == nil || parts[4] == "ppm" && parts[3] != "" {
		return 0, false
	}
	digits := parts[2]
	if parts[4] == "%" {
		digits += (parts[3] + "0000")[:4] // a hundredth is ten thousand millionths
	}
	v, err := strconv.ParseInt(parts[1]+digits, 10, 64)
	return v, err == nil
}

func ppm(v int64) string { return fmt.Sprintf("%dppm", v) }

// percent prints millionths of 0 and above as a percentage, exactly.
func percent(v int64) string {
	text := fmt.Sprintf("%d.%04d", v/10_000, v%10_000)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + "%"
}

// seed is a number of 64 bits.
func seed() kind[uint64] {
	return unquoted(scalar("a whole number of 64 bits, decimal or hexadecimal, such as 42 or 0x2a",
		object{"anyOf": []object{{"type": "integer", "minimum": 0}, {"type": "string", "pattern": seedPattern.String()}}},
		func(text string) (uint64, string) {
			if !seedPattern.MatchString(text) {
				return 0, shown(text) + " is no seed"
			}
			digits, base := text, 10
			if hex, ok := strings.CutPrefix(text, "0x"); ok {
				digits, base = hex, 16
			}
			v, err := strconv.ParseUint(digits, base, 64)
			if err != nil {
				return 0, shown(text) + " does not fit"
			}
			return v, ""
		},
		func(v uint64) *yaml.Node { return raw(fmt.Sprintf("0x%x", v)) }))
}

// special is a duration, or one of a few words that stand for durations.
func special(k kind[time.Duration], words ...wordFor) kind[time.Duration] {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = w.word
	}
	read, write, plain := k.read, k.write, k.schema
	k.allowed = listing(names) + ", or " + k.allowed
	allowed := k.allowed
	k.schema = func(s *schemas) object { return object{"anyOf": []object{{"enum": names}, plain(s)}} }
	k.read = func(r *reader, path string, n *yaml.Node) (time.Duration, bool) {
		if i := slices.Index(names, n.Value); i >= 0 && n.Kind == yaml.ScalarNode {
			return words[i].means, true
		}
		before := len(r.problems)
		d, ok := read(r, path, n)
		for _, problem := range r.problems[before:] {
			problem.Allowed = didYouMean(allowed, n.Value, names)
		}
		return d, ok
	}
	k.write = func(d time.Duration) *yaml.Node {
		if i := slices.IndexFunc(words, func(w wordFor) bool { return w.means == d }); i >= 0 {
			return raw(words[i].word)
		}
		return write(d)
	}
	return k
}

type wordFor struct {
	word  string
	means time.Duration
}

// forever is what package locks calls so: a wait that does not end by itself.
const forever time.Duration = math.MaxInt64
