package export

import (
	"fmt"
	"strings"
	"unicode"
)

// label is text for a note or an arrow, on several lines of a given number of characters if it is long.
func label(text string, width int) string {
	text = shortened(strings.Join(strings.Fields(text), " "), maxLabel)
	var lines []string
	for _, word := range strings.Fields(text) {
		n := len(lines) - 1
		if n >= 0 && len([]rune(lines[n]))+1+len([]rune(word)) <= width {
			lines[n] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	for i := range lines {
		lines[i] = escaped(lines[i])
	}
	return strings.Join(lines, "<br/>")
}

// shortened cuts text that is longer than a number of characters.
func shortened(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return strings.TrimRight(string(r[:most-1]), " ") + "…"
	}
	return text
}

// Signs that mean nothing to Mermaid: in the name of a participant, and in what stands behind a colon.
const (
	harmlessInNames = " .()/_-+=!?·—–…"
	harmless        = harmlessInNames + ",:'"
)

// escaped is text that Mermaid shows as it is: all that could mean something to it, to HTML or to a terminal is written
// as the number of its character, as in #59; (Mermaid's documentation, "Entity codes to escape characters").
func escaped(text string) string { return numbered(text, harmless) }

// alias is a name that Mermaid shows as it is.
func alias(text string) string { return numbered(text, harmlessInNames) }

func numbered(text, harmless string) string {
	var b strings.Builder
	for _, c := range strings.Join(strings.Fields(text), " ") {
		switch {
		case strings.ContainsRune(harmless, c) || unicode.IsLetter(c) || unicode.IsDigit(c):
			b.WriteRune(c)
		case unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == unicode.ReplacementChar:
			b.WriteByte('?')
		default:
			fmt.Fprintf(&b, "#%d;", c)
		}
	}
	return keywords.Replace(b.String())
}

// keywords are words after which Mermaid takes the semicolon of an entity away (encodeEntities in its utils.ts).
var keywords = strings.NewReplacer("style", "st#121;le", "classDef", "class#68;ef")
