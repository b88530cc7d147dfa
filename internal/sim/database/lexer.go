package database

import "strings"

// token is one word of a statement.
type token struct {
	kind tokenKind
	text string // of a word in lower case
}

type tokenKind uint8

const (
	end tokenKind = iota
	word
	number
	quoted
	parameter // ? or $1
	symbol
	unknown
)

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
	digits  = "0123456789"
)

// tokens splits a statement into words.
func tokens(text string) []token {
	var list []token
	for {
		text = strings.TrimLeft(text, " \t\n")
		if text == "" {
			return append(list, token{})
		}
		t, n := first(text)
		list = append(list, t)
		text = text[n:]
	}
}

// first returns the first word of a text, and its length there.
func first(text string) (token, int) {
	switch c := text[0]; {
	case strings.IndexByte(letters, c) >= 0:
		n := span(text, letters+digits)
		return token{word, strings.ToLower(text[:n])}, n
	case strings.IndexByte(digits, c) >= 0:
		n := span(text, digits)
		return token{number, text[:n]}, n
	case c == '\'':
		return quotation(text)
	case c == '?':
		return token{parameter, "?"}, 1
	case c == '$':
		n := 1 + span(text[1:], digits)
		return token{parameter, text[:n]}, n
	}
	for _, s := range []string{"<=", ">=", "<>", "!=", "<", ">", "=", "+", "-", "(", ")", ",", "*", "."} {
		if strings.HasPrefix(text, s) {
			return token{symbol, s}, len(s)
		}
	}
	return token{unknown, text[:1]}, 1
}

// span returns how many of the first bytes of a text are among some.
func span(text, among string) int {
	return len(text) - len(strings.TrimLeft(text, among))
}

// quotation reads a string; a quote within it is doubled.
func quotation(text string) (token, int) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		if text[i] == '\'' {
			if !strings.HasPrefix(text[i+1:], "'") {
				return token{quoted, b.String()}, i + 1
			}
			i++
		}
		b.WriteByte(text[i])
	}
	return token{unknown, text}, len(text)
}
