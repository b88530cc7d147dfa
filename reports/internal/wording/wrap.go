// Package wording prints what all reports have in common: times, tokens and lists, in lines of a width.
package wording

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Wrap breaks text into lines of at most width columns, with an indentation for the lines after the first.
func Wrap(text string, width int, indent string) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		word = Visible(word)
		switch {
		case line == "":
			line = word
		case Columns(line)+1+Columns(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = indent + word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Visible shows by escapes what could steer a terminal: control characters, and those that turn the direction of
// writing. Texts of scenarios and names of files may hold anything.
func Visible(text string) string {
	if !strings.ContainsFunc(text, steers) {
		return text
	}
	var b strings.Builder
	for _, c := range text {
		if steers(c) {
			quoted := strconv.QuoteRuneToASCII(c)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

func steers(c rune) bool { return unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) }

// Columns is how many columns text takes.
func Columns(text string) int { return utf8.RuneCountInString(text) }

// Pad fills text up with blanks.
func Pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-Columns(text), 0))
}

// PadLeft puts blanks before text.
func PadLeft(text string, width int) string {
	return strings.Repeat(" ", max(width-Columns(text), 0)) + text
}

// CutTo is the beginning of text, at most so many columns of it.
func CutTo(text string, width int) string {
	if Columns(text) <= width {
		return text
	}
	return string([]rune(text)[:width])
}

// CutMiddle is the beginning and the end of a text that is wider than so many columns, with an ellipsis between them: names that
// are numbered differ in their ends.
func CutMiddle(text string, width int, ellipsis string) string {
	if Columns(text) <= width {
		return text
	}
	letters, left := []rune(text), max(width-Columns(ellipsis), 0)
	return string(letters[:left-left/2]) + ellipsis + string(letters[len(letters)-left/2:])
}

// PlainASCII replaces what is not ASCII: the signs of reports and of typesetting by what is like them, all else by question
// marks.
func PlainASCII(text string) string {
	return strings.Map(func(c rune) rune {
		if c >= 0x80 {
			return '?'
		}
		return c
	}, likeASCII.Replace(text))
}

var likeASCII = strings.NewReplacer(
	"✗", "x", "✓", "+", "○", "o", "◐", "~", "·", ".", "×", "x", "→", "->", "…", "...", "≥", ">=", "≤", "<=", "µ", "u", "μ", "u",
	"│", "|", "─", "-", "▏", "|", "‐", "-", "‑", "-", "‒", "-", "–", "-", "—", "-", "−", "-",
	"‘", "'", "’", "'", "“", `"`, "”", `"`, "«", `"`, "»", `"`, "\u00a0", " ",
)
