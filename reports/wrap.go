package reports

import (
	"strings"
	"unicode/utf8"
)

// wrap breaks text into lines of at most width columns, with an indentation for the lines after the first.
func wrap(text string, width int, indent string) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
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
