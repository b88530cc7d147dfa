package reports

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wrap breaks text into lines of at most width columns, with an indentation for the lines after the first.
func wrap(text string, width int, indent string) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		word = Visible(word)
		switch {
		case line == "":
			line = word
		case columns(line)+1+columns(word) <= width:
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

func columns(text string) int { return utf8.RuneCountInString(text) }

// pad fills text up with blanks.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-columns(text), 0))
}

func padLeft(text string, width int) string {
	return strings.Repeat(" ", max(width-columns(text), 0)) + text
}

func cutTo(text string, width int) string {
	if columns(text) <= width {
		return text
	}
	return string([]rune(text)[:width])
}
