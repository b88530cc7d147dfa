package wording

import (
	"fmt"
	"strings"
)

// Counted prints a number of things: "1 write", "2 writes".
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if strings.HasSuffix(thing, "sh") {
		thing += "e"
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Listing joins names as a sentence does.
func Listing(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Alternatives joins sentences of which one is enough.
func Alternatives(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// Capital is text that begins with a capital letter.
func Capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
