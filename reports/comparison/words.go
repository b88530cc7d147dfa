package comparison

import (
	"strings"
	"unicode/utf8"

	"github.com/locksim/locksim/reports"
)

// strong is what headings are printed in.
const strong tone = "strong"

// ink adds the escape sequences of a tone (ECMA-48, Select Graphic Rendition).
func (t *textWriter) ink(k tone, text string) string {
	code := map[tone]string{strong: "1", red: "1;31", amber: "33", green: "32", grey: "2"}[k]
	if !t.Color || code == "" || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// plainASCII replaces the signs that reports are made of, and whatever else is not ASCII by question marks.
func plainASCII(text string) string {
	text = strings.NewReplacer(
		"✗", "x", "✓", "+", "○", "o", "·", ".", "–", "-", "—", "-", "→", "->", "…", "...", "“", `"`, "”", `"`, "’", "'",
		"≥", ">=", "≤", "<=", "×", "x", "µ", "u", "│", "|", "─", "-", "▏", "|",
	).Replace(text)
	return strings.Map(func(r rune) rune {
		if r >= 0x80 {
			return '?'
		}
		return r
	}, text)
}

func columns(text string) int { return utf8.RuneCountInString(text) }

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-columns(text), 0))
}

func padLeft(text string, width int) string {
	return strings.Repeat(" ", max(width-columns(text), 0)) + text
}

// wrap breaks text into lines of at most width columns, between words.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		word = reports.Visible(word)
		switch {
		case line == "":
			line = word
		case columns(line)+1+columns(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
